import Foundation
import GroupModel
import ServerConfiguration
import Testing

/// The defaults of Configuration.md, "Configuration keys".
@Suite struct DefaultsTests {
  let settings: Settings

  init() throws { settings = try Settings.load() }

  @Test func listenersAndPlaces() {
    #expect(settings.listen.description == "0.0.0.0:8080")
    #expect(settings.internalListen.description == "127.0.0.1:8081")
    #expect(settings.path == "/ws" && settings.eventStream && !settings.proxyProtocol)
    #expect(settings.dataDir == "./throng-data")
    #expect(settings.store.url == "sqlite:")
    #expect(settings.store.sync == .full)
    #expect(!settings.cluster.isEnabled && settings.cluster.leaseDuration == .seconds(3) && settings.cluster.secret == nil)
    #expect(settings.bus.url == nil && settings.bus.subject == "throng")
    #expect(!settings.demo && !settings.users.requireKnown)
    #expect(settings.loops == max(1, ProcessInfo.processInfo.activeProcessorCount - 1))
    #expect(settings.log.level == .info && settings.log.format == .json)
  }

  @Test func credentials() {
    #expect(settings.auth.secret == nil && settings.auth.jwksFile == nil && settings.auth.algorithms == nil)
    #expect(settings.auth.jwksURL == nil && settings.auth.jwksRefresh == .seconds(600))
    #expect(settings.tracing.otlpEndpoint == nil && settings.tracing.sampling == 0.01)
    #expect(settings.auth.previousSecret == nil && settings.admin.previousAPIKey == nil)
    #expect(settings.auth.audience == nil && settings.auth.issuer == nil && settings.admin.apiKey == nil)
    #expect(settings.auth.failureDelay == .seconds(1))
    #expect(settings.tls.certificateFile == nil && settings.tls.keyFile == nil)
    #expect(settings.allowedOrigins.isEmpty && settings.trustedProxies.isEmpty)
    #expect(settings.forwardedHeader == .auto && settings.internalHosts.isEmpty)
  }

  @Test func sessionsAndTimes() {
    let sessions = settings.sessions.perPlatform
    #expect(sessions.ios == 1 && sessions.android == 1 && sessions.windows == 1 && sessions.mac == 1)
    #expect(sessions.web == 10 && sessions.unknown == 10)
    #expect(settings.heartbeat.interval == .seconds(25) && settings.heartbeat.timeout == .seconds(10))
    #expect(settings.drain.duration == .seconds(10) && !settings.strictParameters)
    #expect(settings.avChatRoom.offlineGrace == .seconds(300) && !settings.avChatRoom.moderation)
    #expect(settings.avChatRoom.recentMessages == 0 && settings.avChatRoom.recentDuration == .seconds(3600))
    #expect(settings.avChatRoom.recentBytes == 64 << 20)
    #expect(settings.attributes.groupTypes == ["AVChatRoom"] && !settings.work.ownerMayDisband)
  }

  @Test func presenceWordsAndReports() {
    #expect(settings.presence.visibility == .everyone && settings.presence.grace == .seconds(5))
    #expect(settings.moderation.wordsFile == nil && settings.moderation.action == .refuse)
    #expect(settings.reports.retention == .seconds(90 * 86_400))
    #expect(settings.limits.statusSubscriptions == 300 && settings.limits.signalMembers == 500)
  }

  @Test func everyMessageIsKeptAndNoneIsIndexed() {
    for kept in [settings.history.work, settings.history.public, settings.history.meeting] {
      #expect(kept.retention == .zero && kept.maxMessages == 0)
    }
    #expect(!settings.search.messages && !settings.history.creationTip)
  }

  /// "Default: all after-events."
  @Test func webhooks() {
    let webhook = settings.webhook
    #expect(webhook.url == nil && webhook.secret == nil && webhook.onFailure == .allow)
    #expect(webhook.timeout == .seconds(2) && webhook.retention == .seconds(86_400))
    #expect(webhook.connections == 8 && webhook.maxPending == 1_000_000)
    #expect(
      webhook.events.map(\.rawValue) == [
        "groupCreated", "groupInfoChanged", "groupDismissed", "groupFull", "memberJoined", "memberLeft", "memberInfoChanged",
        "applicationMade", "applicationHandled", "messageSent", "messageModified", "messageRevoked", "messageDropped",
        "messageReported",
        "attributesChanged", "countersChanged", "userOnline", "userOffline", "offlinePush",
      ])
  }

  @Test func limitsAsGetServerInfoAnswersThem() {
    let expected: [String: Int64] = [
      "limits.work.messagesPerSecond": 0, "limits.public.messagesPerSecond": 0, "limits.meeting.messagesPerSecond": 0,
      "limits.avChatRoom.messagesPerSecond": 40, "limits.bChatRoom.messagesPerSecond": 0, "limits.work.maxMemberNum": 6000,
      "limits.public.maxMemberNum": 6000, "limits.meeting.maxMemberNum": 6000, "limits.requestsPerSecond": 50,
      "limits.requestBurst": 100, "limits.deliveriesPerSecond": 50_000, "limits.deliveredBytesPerSecond": 40_000_000,
      "limits.strangersPerDay": 1000,
      "limits.signInsPerSecond": 2000, "limits.connections": 0, "limits.connectionsPerAddress": 0,
      "limits.ipv6PrefixLength": 64,
      "limits.groupsPerUser": 1000,
      "limits.avChatRoomsPerUser": 50, "limits.avChatRooms": 0, "limits.unreadCount": 1000, "limits.readReceiptMembers": 200,
      "limits.statusSubscriptions": 300, "limits.signalMembers": 500,
      "limits.sendQueueBytes": 1_048_576, "limits.revokeWindow": 120, "limits.editWindow": 0, "limits.reactionsPerMessage": 10,
      "limits.text.groupName": 30, "limits.text.introduction": 240, "limits.text.notification": 300,
      "limits.text.faceURL": 100, "limits.text.nameCard": 50, "limits.text.message": 12_288,
      "limits.text.extension": 4096,
    ]
    #expect(Dictionary(uniqueKeysWithValues: settings.limits.flattened.map { ($0.key, $0.value) }) == expected)
  }

  @Test func everyEntrySaysDefault() {
    #expect(settings.entries.map(\.key) == Settings.keys.map(\.path))
    #expect(settings.entries.allSatisfy { $0.source == .fallback && $0.source.description == "default" })
    // What follows from another key is shown as it is.
    let following = ["limits.deliveriesPerSecond": "50000", "limits.deliveredBytesPerSecond": "40000000"]
    #expect(settings.entries.map(\.value) == Settings.keys.map { following[$0.path] ?? $0.defaultValue })
  }

  @Test func everyKeyIsDocumented() {
    for key in Settings.keys { #expect(key.documentation.hasSuffix(".") && !key.type.isEmpty, "\(key.path)") }
  }
}
