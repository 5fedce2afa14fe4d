import Authentication
import Foundation
import Gateway
import GroupModel
import GroupPermissions
import GroupRuntime
import ServerConfiguration
import Testing
import WebSocketTransport

@testable import ThrongServer

/// Every setting reaches the part that it is for, and no other.
@Suite struct CompositionTests {
  private func settings(_ flags: [(String, String)] = []) throws -> Settings {
    try Settings.load(flags: flags.map { (key: $0.0, value: $0.1) })
  }

  // MARK: Sessions

  @Test func theDefaultsAreTheGatewaysOwn() throws {
    let made = GatewayConfiguration(try settings())
    let standard = GatewayConfiguration()
    #expect(made.sessionsPerPlatform == standard.sessionsPerPlatform)
    #expect(made.requestsPerSecond == standard.requestsPerSecond && made.requestBurst == standard.requestBurst)
    #expect(made.deliveriesPerSecond == standard.deliveriesPerSecond)
    #expect(made.deliveredBytesPerSecond == standard.deliveredBytesPerSecond)
    #expect(made.strangersPerDay == standard.strangersPerDay)
    #expect(made.signInsPerSecond == standard.signInsPerSecond)
    #expect(made.connections == standard.connections && made.connectionsPerAddress == standard.connectionsPerAddress)
    #expect(made.ipv6PrefixLength == standard.ipv6PrefixLength)
    #expect(made.heartbeat == standard.heartbeat && made.failureDelay == standard.failureDelay)
    #expect(made.allowedOrigins == standard.allowedOrigins && !made.isTrustedProxy("127.0.0.1"))
    #expect(made.groupsPerUser == standard.groupsPerUser && made.avChatRooms == standard.avChatRooms)
    #expect(made.avChatRoomsPerUser == standard.avChatRoomsPerUser && made.readyReplyBytes == standard.readyReplyBytes)
    #expect(made.requiresKnownUsers == standard.requiresKnownUsers)
    #expect(made.refusesUnknownParameters == standard.refusesUnknownParameters)
    #expect(made.forwardingHeaders == standard.forwardingHeaders)
    #expect(made.showsPresence == standard.showsPresence && made.presenceGrace == standard.presenceGrace)
    #expect(made.statusSubscriptions == standard.statusSubscriptions)
  }

  @Test func presenceReachesTheSessions() throws {
    let made = GatewayConfiguration(try settings([("presence.visibility", "nobody"), ("presence.grace", "250ms")]))
    #expect(!made.showsPresence && made.presenceGrace == .milliseconds(250))
  }

  @Test(arguments: [("auto", ForwardingHeaders.any), ("x-forwarded-for", .xForwarded), ("forwarded", .forwarded)])
  func theHeaderOfTheProxies(word: String, headers: ForwardingHeaders) throws {
    #expect(GatewayConfiguration(try settings([("forwardedHeader", word)])).forwardingHeaders == headers)
  }

  @Test(arguments: [
    ("ios", Platform.iOS), ("android", .android), ("windows", .windows), ("mac", .mac), ("web", .web), ("unknown", .unknown),
  ])
  func eachPlatformHasItsOwnNumber(key: String, platform: Platform) throws {
    let made = GatewayConfiguration(try settings([("sessions.perPlatform.\(key)", "77")]))
    #expect(made.sessionsPerPlatform.filter { $0.value == 77 }.keys.sorted { $0.rawValue < $1.rawValue } == [platform])
  }

  /// Each key with the one number that it changes.
  private static let numbers: [(String, @Sendable (GatewayConfiguration) -> Int)] = [
    ("limits.requestsPerSecond", { $0.requestsPerSecond }), ("limits.requestBurst", { $0.requestBurst }),
    ("limits.deliveriesPerSecond", { $0.deliveriesPerSecond }),
    ("limits.deliveredBytesPerSecond", { $0.deliveredBytesPerSecond }), ("limits.strangersPerDay", { $0.strangersPerDay }),
    ("limits.signInsPerSecond", { $0.signInsPerSecond }), ("limits.connections", { $0.connections }),
    ("limits.connectionsPerAddress", { $0.connectionsPerAddress }), ("limits.ipv6PrefixLength", { $0.ipv6PrefixLength }),
    ("limits.groupsPerUser", { $0.groupsPerUser }), ("limits.avChatRoomsPerUser", { $0.avChatRoomsPerUser }),
    ("limits.avChatRooms", { $0.avChatRooms }), ("limits.statusSubscriptions", { $0.statusSubscriptions }),
  ]

  @Test(arguments: numbers.indices) func eachLimitReachesItsOwnPlace(index: Int) throws {
    let made = GatewayConfiguration(try settings([(CompositionTests.numbers[index].0, "77")]))
    for (other, number) in CompositionTests.numbers.enumerated() { #expect((number.1(made) == 77) == (other == index)) }
  }

  @Test func theRestOfTheGatewaysSettings() throws {
    let made = GatewayConfiguration(
      try settings([
        ("heartbeat.interval", "2500ms"), ("auth.failureDelay", "1500ms"),
        ("allowedOrigins", "https://a.example,https://b.example:8443"),
        ("trustedProxies", "10.0.0.0/8,::1/128"), ("users.requireKnown", "true"), ("strictParameters", "true"),
      ]))
    #expect(made.heartbeat == 3, "whole seconds, never fewer than there are")
    #expect(made.failureDelay == .milliseconds(1500))
    #expect(made.allowedOrigins == ["https://a.example", "https://b.example:8443"])
    #expect(made.isTrustedProxy("10.1.2.3") && made.isTrustedProxy("::1"))
    #expect(!made.isTrustedProxy("11.1.2.3") && !made.isTrustedProxy("unknown"))
    #expect(made.requiresKnownUsers && made.refusesUnknownParameters)
  }

  // MARK: Groups

  @Test func limitsOfMembersReachTheirTypes() throws {
    let limits = GroupLimits(
      try settings([
        ("limits.work.maxMemberNum", "11"), ("limits.public.maxMemberNum", "12"), ("limits.meeting.maxMemberNum", "13"),
        ("limits.sendQueueBytes", "4096"),
      ]))
    #expect(limits.maxMemberNum == [.work: 11, .public: 12, .meeting: 13])
    #expect(limits.pageBytes == 2048)
    #expect(GroupLimits(try settings()).maxMemberNum == GroupLimits.standard.maxMemberNum)
    #expect(GroupLimits(try settings()).pageBytes == GroupLimits.standardPageBytes)
  }

  @Test func moderationReachesTheTable() throws {
    for (value, hasAdmins) in [("false", false), ("true", true)] {
      let permissions = GroupPermissions(try settings([("avChatRoom.moderation", value)]))
      #expect(permissions.allowsAdmins(in: .avChatRoom) == hasAdmins)
      #expect(permissions.requirement(for: .remove, in: .avChatRoom) == (hasAdmins ? .admin : .nobody))
      #expect(permissions.requirement(for: .useAttributes, in: .avChatRoom) == .member)
    }
  }

  /// "others' by the table: with moderation Admin, without it application administrators alone."
  @Test(arguments: [
    ("0", "false", Requirement.nobody), ("0", "true", .nobody), ("1", "false", .administrator), ("1000", "true", .admin),
  ])
  func theMemoryOfLiveRoomsIsThereWhereTheTableCountsOnIt(messages: String, moderation: String, recall: Requirement) throws {
    let settings = try settings([("avChatRoom.recentMessages", messages), ("avChatRoom.moderation", moderation)])
    #expect(GroupPermissions(settings).requirement(for: .recallOthers, in: .avChatRoom) == recall)
    #expect((RecentMessages(settings) != nil) == (recall != .nobody))
  }

  @Test func attributeTypesReachTheTable() throws {
    let permissions = GroupPermissions(try settings([("attributes.groupTypes", "Private,Meeting")]))
    func mayUse(_ type: GroupType) -> Bool {
      permissions.denial(of: .useAttributes, in: type, policy: .defaults(for: type), by: .member(.member)) == nil
    }
    #expect(GroupType.allCases.filter(mayUse) == [.work, .meeting])
  }

  @Test(arguments: [true, false]) func whoDisbandsAWorkGroupReachesTheTable(isOn: Bool) throws {
    let permissions = GroupPermissions(try settings([("work.ownerMayDisband", "\(isOn)")]))
    for type in GroupType.allCases {
      let denial = permissions.denial(of: .disband, in: type, policy: .defaults(for: type), by: .member(.owner))
      #expect((denial == nil) == (type != .work || isOn), "\(type)")
    }
  }

  @Test func theTipOfANewGroupReachesTheRules() throws {
    #expect(!GroupLimits(try settings()).storesCreationTip)
    #expect(GroupLimits(try settings([("history.creationTip", "true")])).storesCreationTip)
  }

  // MARK: Listeners

  @Test func theTransportsSettings() throws {
    let made = TransportConfiguration(
      try settings([
        ("loops", "3"), ("listen", "[::1]:9000"), ("internalListen", "127.0.0.1:9001"), ("heartbeat.interval", "7s"),
        ("heartbeat.timeout", "3s"), ("limits.sendQueueBytes", "2048"),
      ]))
    #expect(made.loops == 3)
    #expect(made.listen?.host == "::1" && made.listen?.port == 9000)
    #expect(made.internalListen?.host == "127.0.0.1" && made.internalListen?.port == 9001)
    #expect(made.pingInterval == .seconds(7) && made.pingTimeout == .seconds(3))
    #expect(made.sendQueueBytes == 2048)
    #expect(made.tls == nil)
    #expect(made.maxMessageBytes == 65_536 && !made.acceptsBinary && made.subprotocol == "throng.v1.json")
  }

  /// Event streams are beside the WebSocket's path, and the body of a request there is as long as a message.
  @Test(arguments: [("/ws", "/rpc"), ("/chat/ws", "/chat/rpc"), ("/a/b.c/d", "/a/b.c/rpc")])
  func bodiesOfTheRequestsOfEventStreamsAreKept(path: String, rpc: String) throws {
    let made = TransportConfiguration(try settings([("path", path)])).publicBody
    #expect(made?.path == rpc)
    #expect(made?.maxBytes == 65_536)
  }

  @Test func withoutEventStreamsNoBodyIsKept() throws {
    let off = try settings([("eventStream", "false")])
    #expect(TransportConfiguration(off).publicBody?.path == nil)
    #expect(EventStreamPaths(off) == nil)
    let standard = EventStreamPaths(try settings())
    #expect(standard?.events == "/events")
  }

  @Test func bothFilesMakeTLS() throws {
    let directory = try Directory()
    let (certificate, key) = (try directory.file("c.pem", "c"), try directory.file("k.pem", "k"))
    let made = TransportConfiguration(try settings([("tls.certificateFile", certificate), ("tls.keyFile", key)]))
    #expect(made.tls == TLSFiles(certificateFile: certificate, keyFile: key))
  }

  // MARK: Tokens

  @Test func theTokensSettings() throws {
    let directory = try Directory()
    let file = try directory.file("keys.json", #"{"keys":[]}"#)
    let secret = String(repeating: "s", count: 32)
    let made = try settings([
      ("auth.secret", secret), ("auth.jwksFile", file), ("auth.algorithms", "HS256,ES256"), ("auth.audience", "a"),
      ("auth.issuer", "i"), ("auth.previousSecret", String(repeating: "p", count: 32)),
      ("dataDir", directory.path),
    ]).tokenConfiguration()
    #expect(made.secret == Array(secret.utf8) && made.previousSecret == Array(repeating: UInt8(ascii: "p"), count: 32))
    #expect(made.keySet == Data(#"{"keys":[]}"#.utf8))
    #expect(made.algorithms == [.hs256, .es256])
    #expect(made.audience == "a" && made.issuer == "i")
    #expect(!FileManager.default.fileExists(atPath: directory.path + "/auth-secret"), "a secret that is given makes no file")
  }

  @Test func withoutASecretOneIsMadeAndKept() throws {
    let directory = try Directory()
    let first = try settings([("dataDir", directory.path)]).tokenConfiguration()
    let second = try settings([("dataDir", directory.path)]).tokenConfiguration()
    #expect(first.secret?.count ?? 0 >= 32 && first.secret == second.secret)
    #expect(first.algorithms == nil && first.keySet == nil && first.audience == nil && first.issuer == nil)
    #expect(first.previousSecret == nil)
  }

  @Test func checkingTheKeysMakesNothing() async throws {
    let directory = try Directory()
    #expect(try await settings([("dataDir", directory.path)]).checkKeys() == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    let file = try directory.file("keys.json", "no JSON")
    await #expect(throws: (any Error).self) {
      _ = try await settings([("dataDir", directory.path), ("auth.jwksFile", file)]).checkKeys()
    }
  }

  /// A directory of the test's own.
  private final class Directory {
    let path = NSTemporaryDirectory() + "throng-composition-\(UUID().uuidString)"

    init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String, _ text: String) throws -> String {
      try Data(text.utf8).write(to: URL(fileURLWithPath: path + "/" + name))
      return path + "/" + name
    }
  }
}
