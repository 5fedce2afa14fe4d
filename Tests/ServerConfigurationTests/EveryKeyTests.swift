import Foundation
import ServerConfiguration
import Testing

/// One value for each key, different from its default, written as YAML, as text, and as it is
/// shown.
struct Sample: CustomTestStringConvertible {
  let key: String
  let yaml: String
  let text: String
  let shown: String

  init(_ key: String, _ text: String, yaml: String? = nil, shown: String? = nil) {
    self.key = key
    self.text = text
    self.yaml = yaml ?? text
    self.shown = shown ?? text
  }

  var testDescription: String { key }

  /// Files that exist come from the test's own source.
  static let existingFile = #filePath

  /// A file with a value of its own, which stays behind: keys with files need one that exists.
  private static func file(_ value: String, _ name: String) -> String {
    let path = NSTemporaryDirectory() + "throng-configuration-\(name)"
    try? Data((value + "\n").utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    return path
  }

  /// The keys that name a file with the value of another, which must not be set beside them.
  static let files = [
    Sample("auth.secretFile", file("a-secret-of-the-tests-0123456789", "auth-secret")),
    Sample("auth.previousSecretFile", file("a-former-secret-of-the-tests-012", "previous-secret")),
    Sample("admin.previousAPIKeyFile", file("a-former-key-of-the-tests-0123456789", "previous-api-key")),
    Sample("admin.apiKeyFile", file("a-key-of-32-bytes-0123456789abcde", "api-key")),
    Sample("webhook.secretFile", file(secret, "webhook-secret")), Sample("store.urlFile", file("sqlite:other.db", "store")),
    Sample("bus.urlFile", file("nats://me:secret@host:4222", "bus")),
    Sample("cluster.secretFile", file("a-secret-of-the-tests-0123456789", "cluster-secret")),
  ]

  /// 24 bytes in base64.
  static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  /// Keys that need a store in PostgreSQL, unlike the samples.
  static let ofOtherStores = ["cluster.enabled", "bus.url", "bus.urlFile"]

  /// Keys that are set in place of another sample's.
  static let insteadOfOthers = ["auth.jwksURL"]

  /// Samples that can be set together.
  static let together = all.filter { sample in
    !(ofOtherStores + insteadOfOthers).contains(sample.key) && !files.contains { $0.key == sample.key }
  }

  static let all: [Sample] =
    files + [
      Sample("listen", "127.0.0.1:0"), Sample("internalListen", "[::1]:9", yaml: #""[::1]:9""#),
      Sample("internalHosts", "throng.example.com,*.corp.example", yaml: "[Throng.example.com., '*.corp.example']"),
      Sample("path", "/chat/ws"), Sample("eventStream", "false"), Sample("dataDir", "/var/lib/throng"),
      Sample("demo", "true"), Sample("loops", "3"), Sample("log.level", "debug"), Sample("log.format", "text"),
      Sample("auth.secret", "a-secret-of-the-tests-0123456789", shown: "********"), Sample("auth.jwksFile", existingFile),
      Sample("auth.previousSecret", "a-former-secret-of-the-tests-012", shown: "********"),
      Sample("auth.jwksURL", "https://accounts.example/jwks.json"), Sample("auth.jwksRefresh", "2m", shown: "120s"),
      Sample("tracing.otlpEndpoint", "http://localhost:4318/v1/traces"), Sample("tracing.sampling", "0.5"),
      Sample("auth.algorithms", "RS256,HS256", yaml: "[RS256, HS256]"), Sample("auth.audience", "app"),
      Sample("auth.issuer", "https://issuer.example"), Sample("auth.failureDelay", "250ms", shown: "0.25s"),
      Sample("admin.apiKey", "a-key-of-32-bytes-0123456789abcde", shown: "********"),
      Sample("admin.previousAPIKey", "a-former-key-of-the-tests-0123456789", shown: "********"),
      Sample("allowedOrigins", "https://a.example,http://b.example:81", yaml: "[https://a.example, 'http://b.example:81']"),
      Sample("trustedProxies", "10.0.0.0/8,fd00::/8", yaml: #"["10.0.0.0/8", "fd00::/8"]"#),
      Sample("forwardedHeader", "x-forwarded-for"), Sample("proxyProtocol", "true"),
      Sample("tls.certificateFile", existingFile), Sample("tls.keyFile", existingFile), Sample("store.url", "sqlite:other.db"),
      Sample("cluster.enabled", "true"), Sample("cluster.leaseDuration", "5", shown: "5s"), Sample("cluster.name", "eu-1"),
      Sample("cluster.address", "10.0.0.5:8081"), Sample("bus.url", "nats://me:secret@host:4222,other", shown: "********"),
      Sample("bus.subject", "chat-2"), Sample("cluster.secret", String(repeating: "k", count: 32), shown: "********"),
      Sample("store.sync", "normal"), Sample("users.requireKnown", "true"),
      Sample("attributes.groupTypes", "AVChatRoom,Meeting", yaml: "[AVChatRoom, ChatRoom]"),
      Sample("work.ownerMayDisband", "true"), Sample("avChatRoom.offlineGrace", "5m", shown: "300s"),
      Sample("avChatRoom.moderation", "true"), Sample("avChatRoom.recentMessages", "77"),
      Sample("avChatRoom.recentDuration", "2h", shown: "7200s"), Sample("avChatRoom.recentBytes", "65536"),
      Sample("fanout.flushWindow", "20"), Sample("compression", "off"), Sample("fanout.compressionBytes", "2097152"),
      Sample("heartbeat.interval", "5", shown: "5s"),
      Sample("heartbeat.timeout", "1.5", shown: "1.5s"), Sample("drain.duration", "0", shown: "0s"),
      Sample("strictParameters", "true"),
      Sample("webhook.url", "https://backend.example/hook"), Sample("webhook.secret", secret, shown: "********"),
      Sample("webhook.events", "messageSent,beforeSendMessage", yaml: "[messageSent, beforeSendMessage]"),
      Sample("webhook.timeout", "500ms", shown: "0.5s"), Sample("webhook.onFailure", "refuse"),
      Sample("webhook.retention", "2h", shown: "7200s"), Sample("webhook.connections", "2"), Sample("webhook.maxPending", "9"),
      Sample("limits.revokeWindow", "2h", shown: "7200s"), Sample("limits.sendQueueBytes", "65536"),
      Sample("limits.editWindow", "3h", shown: "10800s"), Sample("limits.reactionsPerMessage", "77"),
    ]
    + ["work", "public", "meeting"].flatMap {
      [Sample("history.retention.\($0)", "30d", shown: "2592000s"), Sample("history.maxMessages.\($0)", "77")]
    }
    + [
      Sample("presence.visibility", "nobody"), Sample("presence.grace", "30s"), Sample("moderation.wordsFile", existingFile),
      Sample("moderation.action", "mask"), Sample("reports.retention", "7d", shown: "604800s"),
    ]
    + [Sample("history.creationTip", "true"), Sample("search.messages", "true")]
    + ["ios", "android", "windows", "mac", "web", "unknown"].map { Sample("sessions.perPlatform.\($0)", "7") }
    + ["work", "public", "meeting", "avChatRoom", "bChatRoom"].map { Sample("limits.\($0).messagesPerSecond", "77") }
    + ["work", "public", "meeting"].map { Sample("limits.\($0).maxMemberNum", "777") }
    + [
      "requestsPerSecond", "requestBurst", "deliveriesPerSecond", "deliveredBytesPerSecond", "strangersPerDay",
      "signInsPerSecond", "connections", "connectionsPerAddress", "groupsPerUser",
      "avChatRoomsPerUser", "avChatRooms", "unreadCount",
    ]
    .map { Sample("limits.\($0)", "7777") }
    + [
      Sample("limits.readReceiptMembers", "321"), Sample("limits.ipv6PrefixLength", "48"),
      Sample("limits.statusSubscriptions", "4321"), Sample("limits.signalMembers", "54321"),
    ]
    + ["groupName", "introduction", "notification", "faceURL", "nameCard", "message", "extension"].map {
      Sample("limits.text.\($0)", "7777")
    }
}

/// Every key through every layer. The variable's name is worked out here by another rule than the
/// product's.
@Suite struct EveryKeyTests {
  /// Other keys that a key needs to be valid.
  private func companions(of key: String) -> [(key: String, value: String)] {
    switch key {
    case "tls.certificateFile": [("tls.keyFile", Sample.existingFile)]
    case "tls.keyFile": [("tls.certificateFile", Sample.existingFile)]
    case "cluster.enabled", "bus.url", "bus.urlFile": [("store.url", "postgres://host/database")]
    case "webhook.url": [("webhook.secret", Sample.secret)]
    case "auth.algorithms": [("auth.jwksFile", Sample.existingFile)]
    default: []
    }
  }

  private func variable(_ key: String) -> String {
    let words = key.replacing(/[A-Z]+(?![a-z])|[A-Z]/) { "_" + $0.output }
    return "THRONG_" + words.replacing(".", with: "_").uppercased()
  }

  @Test func samplesAreComplete() {
    #expect(Set(Sample.all.map(\.key)) == Set(Settings.keys.map(\.path)))
    #expect(Sample.all.count == Settings.keys.count)
  }

  @Test func namesOfVariables() {
    let names = Dictionary(uniqueKeysWithValues: Settings.keys.map { ($0.path, $0.environmentName) })
    #expect(names["limits.avChatRoom.messagesPerSecond"] == "THRONG_LIMITS_AV_CHAT_ROOM_MESSAGES_PER_SECOND")
    #expect(names["listen"] == "THRONG_LISTEN")
    #expect(names["internalListen"] == "THRONG_INTERNAL_LISTEN")
    #expect(names["sessions.perPlatform.ios"] == "THRONG_SESSIONS_PER_PLATFORM_IOS")
    #expect(names["auth.jwksFile"] == "THRONG_AUTH_JWKS_FILE")
    #expect(names["auth.jwksURL"] == "THRONG_AUTH_JWKS_URL")
    #expect(names["tracing.otlpEndpoint"] == "THRONG_TRACING_OTLP_ENDPOINT")
    #expect(names["limits.bChatRoom.messagesPerSecond"] == "THRONG_LIMITS_B_CHAT_ROOM_MESSAGES_PER_SECOND")
    #expect(names["store.url"] == "THRONG_STORE_URL")
    #expect(names["limits.text.faceURL"] == "THRONG_LIMITS_TEXT_FACE_URL")
    #expect(names["admin.apiKeyFile"] == "THRONG_ADMIN_API_KEY_FILE")
    #expect(names["admin.previousAPIKey"] == "THRONG_ADMIN_PREVIOUS_API_KEY")
  }

  @Test(arguments: Sample.all)
  func environment(sample: Sample) throws {
    let settings = try Settings.load(environment: [variable(sample.key): sample.text], flags: companions(of: sample.key))
    let entry = try settings.entry(sample.key)
    #expect(entry.value == sample.shown)
    #expect(entry.source.description == "environment \(variable(sample.key))")
  }

  @Test(arguments: Sample.all)
  func flag(sample: Sample) throws {
    let flags = companions(of: sample.key) + [(sample.key, sample.text)]
    let entry = try Settings.load(flags: flags).entry(sample.key)
    #expect(entry.value == sample.shown)
    #expect(entry.source.description == "flag --set")
  }

  @Test(arguments: Sample.all)
  func fileInSections(sample: Sample) throws {
    let scratch = try Scratch()
    var yaml = ""
    for (depth, name) in sample.key.split(separator: ".").enumerated() {
      yaml += (depth == 0 ? "" : "\n") + String(repeating: "  ", count: depth) + "\(name):"
    }
    let file = try scratch.file(yaml + " \(sample.yaml)\n")
    let entry = try Settings.load(configFile: file, flags: companions(of: sample.key)).entry(sample.key)
    #expect(entry.value == sample.shown)
    #expect(entry.source.description == "file \(file)")
  }

  /// A configuration that `config show` printed can be set again, secrets apart.
  @Test func shownValuesAreGoodValues() throws {
    let all = try Settings.load(flags: Sample.together.map { ($0.key, $0.text) })
    let leftOut = Sample.ofOtherStores + Sample.insteadOfOthers + Sample.files.map(\.key)
    let shown = all.entries.filter { $0.value != "********" && !leftOut.contains($0.key) }
    let secret = (key: "webhook.secret", value: Sample.secret)
    let again = try Settings.load(flags: shown.map { ($0.key, $0.value) } + [secret])
    let left = leftOut + [secret.key]
    #expect(again.entries.filter { $0.value != "(none)" && !left.contains($0.key) }.map(\.value) == shown.map(\.value))
  }
}
