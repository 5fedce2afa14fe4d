import GroupModel
import ServerConfiguration
import Testing

/// Each field holds the value of its own key: all values differ here.
@Suite struct FieldTests {
  let settings: Settings

  init() throws {
    settings = try Settings.load(flags: Sample.together.map { ($0.key, $0.text) } + FieldTests.numbers.map { ($0, "\($1)") })
  }

  /// Every integer key with a number of its own, but those that take no number of 900 or a little
  /// more.
  static let numbers = Settings.keys
    .filter { (Int($0.defaultValue) != nil || followers.contains($0.path)) && !others.contains($0.path) }
    .enumerated().map { ($1.path, 900 + $0) }

  /// Their default follows another key.
  private static let followers: Set = ["limits.deliveriesPerSecond", "limits.deliveredBytesPerSecond"]

  private static let others: Set = [
    "limits.sendQueueBytes", "limits.readReceiptMembers", "limits.ipv6PrefixLength", "fanout.compressionBytes",
    "avChatRoom.recentBytes",
  ]

  private func number(_ key: String) -> Int? { FieldTests.numbers.first { $0.0 == key }?.1 }

  @Test func numbersOfGroupTypes() {
    let limits = settings.limits
    #expect(limits.work.messagesPerSecond == number("limits.work.messagesPerSecond"))
    #expect(limits.public.messagesPerSecond == number("limits.public.messagesPerSecond"))
    #expect(limits.meeting.messagesPerSecond == number("limits.meeting.messagesPerSecond"))
    #expect(limits.avChatRoom.messagesPerSecond == number("limits.avChatRoom.messagesPerSecond"))
    #expect(limits.bChatRoom.messagesPerSecond == number("limits.bChatRoom.messagesPerSecond"))
    #expect(limits.work.maxMemberNum == number("limits.work.maxMemberNum"))
    #expect(limits.public.maxMemberNum == number("limits.public.maxMemberNum"))
    #expect(limits.meeting.maxMemberNum == number("limits.meeting.maxMemberNum"))
  }

  @Test func otherNumbers() {
    let limits = settings.limits
    #expect(limits.requestsPerSecond == number("limits.requestsPerSecond"))
    #expect(limits.requestBurst == number("limits.requestBurst"))
    #expect(limits.deliveriesPerSecond == number("limits.deliveriesPerSecond"))
    #expect(limits.deliveredBytesPerSecond == number("limits.deliveredBytesPerSecond"))
    #expect(limits.strangersPerDay == number("limits.strangersPerDay"))
    #expect(limits.signInsPerSecond == number("limits.signInsPerSecond"))
    #expect(limits.connections == number("limits.connections"))
    #expect(limits.connectionsPerAddress == number("limits.connectionsPerAddress"))
    #expect(limits.groupsPerUser == number("limits.groupsPerUser"))
    #expect(limits.avChatRoomsPerUser == number("limits.avChatRoomsPerUser"))
    #expect(limits.unreadCount == number("limits.unreadCount"))
    #expect(limits.avChatRooms == number("limits.avChatRooms"))
    #expect(limits.sendQueueBytes == 65536)
    #expect(limits.readReceiptMembers == 321)
    #expect(limits.ipv6PrefixLength == 48)
    #expect(limits.statusSubscriptions == number("limits.statusSubscriptions"))
    #expect(limits.signalMembers == number("limits.signalMembers"))
    #expect(settings.loops == number("loops"))
    #expect(limits.reactionsPerMessage == number("limits.reactionsPerMessage"))
    let others = FieldTests.others.union(["limits.revokeWindow", "limits.editWindow"])
    for (key, value) in limits.flattened where !others.contains(key) {
      #expect(number(key).map(Int64.init) == value, "\(key)")
    }
  }

  @Test func sessions() {
    let sessions = settings.sessions.perPlatform
    #expect(sessions.ios == number("sessions.perPlatform.ios"))
    #expect(sessions.android == number("sessions.perPlatform.android"))
    #expect(sessions.windows == number("sessions.perPlatform.windows"))
    #expect(sessions.mac == number("sessions.perPlatform.mac"))
    #expect(sessions.web == number("sessions.perPlatform.web"))
    #expect(sessions.unknown == number("sessions.perPlatform.unknown"))
  }

  @Test func texts() {
    #expect(settings.listen == ListenAddress("127.0.0.1:0") && settings.internalListen.host == "::1")
    #expect(settings.dataDir == "/var/lib/throng" && settings.store.url == "sqlite:other.db" && settings.store.sync == .normal)
    #expect(settings.log.level == .debug && settings.log.format == .text)
    #expect(
      settings.auth.secret == "a-secret-of-the-tests-0123456789" && settings.admin.apiKey == "a-key-of-32-bytes-0123456789abcde")
    #expect(settings.auth.previousSecret == "a-former-secret-of-the-tests-012")
    #expect(settings.admin.previousAPIKey == "a-former-key-of-the-tests-0123456789")
    #expect(settings.auth.algorithms == ["RS256", "HS256"] && settings.auth.jwksFile == Sample.existingFile)
    #expect(settings.auth.jwksRefresh == .seconds(120) && settings.tracing.sampling == 0.5)
    #expect(settings.tracing.otlpEndpoint == "http://localhost:4318/v1/traces")
    #expect(settings.auth.audience == "app" && settings.auth.issuer == "https://issuer.example")
    #expect(settings.allowedOrigins == ["https://a.example", "http://b.example:81"])
    #expect(settings.trustedProxies.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
    #expect(settings.forwardedHeader == .xForwardedFor && settings.internalHosts == ["throng.example.com", "*.corp.example"])
    #expect(settings.attributes.groupTypes == ["AVChatRoom", "Meeting"])
    #expect(settings.demo && settings.users.requireKnown && settings.strictParameters && settings.avChatRoom.moderation)
    #expect(settings.work.ownerMayDisband && !settings.eventStream)
  }

  @Test func presenceWordsAndReports() {
    #expect(settings.presence.visibility == .nobody && settings.presence.grace == .seconds(30))
    #expect(settings.moderation.wordsFile == Sample.existingFile && settings.moderation.action == .mask)
    #expect(settings.reports.retention == .seconds(7 * 86_400))
  }

  @Test func webhooks() {
    let webhook = settings.webhook
    #expect(webhook.url == "https://backend.example/hook" && webhook.secret == Sample.secret)
    #expect(webhook.events == [.messageSent, .beforeSendMessage] && webhook.onFailure == .refuse)
    #expect(webhook.timeout == .milliseconds(500) && webhook.retention == .seconds(7200))
    #expect(webhook.connections == number("webhook.connections") && webhook.maxPending == number("webhook.maxPending"))
  }

  @Test(arguments: [
    ("postgres://throng:s3cr3t@h/d", "postgres://throng:********@h/d"), ("postgresql://h/d?password=s3cr3t&a=b", nil),
    ("postgres:///d?host=/run/postgresql", nil),
  ])
  func storeInPostgreSQLWithoutItsPassword(url: String, shown: String?) throws {
    let settings = try Settings.load(flags: [("store.url", url)])
    #expect(settings.store.postgreSQL == url)
    let text = settings.entries.first { $0.key == "store.url" }?.value
    #expect(text == shown || shown == nil && text?.contains("s3cr3t") == false)
  }

  @Test(arguments: [
    (
      "store.url", "postgres://u:s3cr3t@h:5432/d?sslpassword=hidden&application_name=a@b&%50ASSWORD=hidden",
      "application_name=a@b"
    ),
    ("store.url", "postgresql://u:hidden@h1,h2:5433/d", "postgresql://u:********@h1,h2:5433/d"),
    ("store.url", "postgres://u@[::1]:5432/d", "postgres://u@[::1]:5432/d"),
    ("webhook.url", "https://u:hidden@h/a?token=hidden&b=hidden", "https://********@h/a?token=********&b=********"),
    ("webhook.url", "https://hidden@h/a", "https://********@h/a"),
    ("auth.jwksURL", "https://u:hidden@h/a?key=hidden", "https://********@h/a?key=********"),
    ("tracing.otlpEndpoint", "https://u:hidden@h/a?key=hidden", "https://********@h/a?key=********"),
  ])
  func urlsAreShownWithoutTheirSecrets(key: String, url: String, part: String) throws {
    let settings = try Settings.load(flags: [(key, url), ("webhook.secret", Sample.secret)])
    let text = try #require(settings.entries.first { $0.key == key }?.value)
    #expect(text.contains(part) && !text.contains("hidden") && !text.contains("s3cr3t"), "\(text)")
  }

  /// libpq would look for a part of the password among hosts and ports, and repeat it.
  @Test(arguments: [
    ("store.url", "postgres//u:hidden@h/d"), ("store.url", "postgres://u:p@hidden@h/d"),
    ("store.url", "postgres://u:hidden/x@h/d"),
    ("store.url", "postgres://u:hidden%40h/d"), ("store.url", "postgres://u:hidden%zz@h/d"),
    ("store.url", "host=h password=hidden"),
    ("store.url", "mysql://h/d?PassWord=hidden"), ("store.url", "postgres://u:hidden%00@h/d"),
    ("webhook.url", "htps://h/?token=hidden"), ("webhook.url", "//u:hidden@h"),
  ])
  func aMalformedURLIsRefusedWithoutBeingRepeated(key: String, url: String) {
    let error = #expect(throws: (any Error).self) { try Settings.load(flags: [(key, url), ("webhook.secret", Sample.secret)]) }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("\(key): expected") && !text.contains("hidden"), "\(text)")
  }

  @Test(arguments: [("sqlite:", nil), ("sqlite:a.db", "a.db"), ("sqlite:/x/a b.db", "/x/a b.db"), ("sqlite:../a:b", "../a:b")])
  func databases(url: String, path: String?) throws {
    #expect(try Settings.load(flags: [("store.url", url)]).store.databasePath == path)
  }

  @Test func historyAndSearch() {
    for kept in [settings.history.work, settings.history.public, settings.history.meeting] {
      #expect(kept.retention == .seconds(2_592_000))
    }
    #expect(settings.history.work.maxMessages == number("history.maxMessages.work"))
    #expect(settings.history.public.maxMessages == number("history.maxMessages.public"))
    #expect(settings.history.meeting.maxMessages == number("history.maxMessages.meeting"))
    #expect(settings.search.messages && settings.history.creationTip)
  }

  @Test func durations() {
    #expect(settings.auth.failureDelay == .milliseconds(250) && settings.heartbeat.interval == .seconds(5))
    #expect(settings.heartbeat.timeout == .milliseconds(1500) && settings.drain.duration == .zero)
    #expect(settings.fanout.flushWindow == number("fanout.flushWindow").map { .milliseconds($0) })
    #expect(settings.fanout.compression == .off && settings.fanout.compressionBytes == 2_097_152)
    #expect(settings.avChatRoom.offlineGrace == .seconds(300) && settings.limits.revokeWindow == .seconds(7200))
    #expect(settings.limits.editWindow == .seconds(10_800))
    let rooms = settings.avChatRoom
    #expect(rooms.recentMessages == number("avChatRoom.recentMessages") && rooms.recentDuration == .seconds(7200))
    #expect(rooms.recentBytes == 65_536)
  }
}
