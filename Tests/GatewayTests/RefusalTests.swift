import GroupModel
import Logging
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway
@testable import WebSocketTransport

/// Nothing is refused without saying why, and what others can cause does not fill the log.
@Suite struct RefusalTests {
  private let log = RecordingLog()

  private func lines(_ message: String) -> [RecordingLog.Line] { log.lines.filter { $0.message == message } }

  // MARK: Upgrades

  @Test func aForeignOriginIsAWarningOncePerPair() async throws {
    try await LiveGateway.with(log: log) { live in
      for origin in ["https://evil.example", "https://evil.example", "null"] {
        let page = try Client(port: live.port, headers: ["Origin: \(origin)"])
        #expect(try await page.status() == 403)
      }
      let refused = lines("upgrade refused")
      #expect(refused.map(\.level) == [.warning, .warning])
      #expect(refused.map { $0.metadata["origin"] } == ["https://evil.example", "null"])
      #expect(refused.allSatisfy { $0.metadata["host"] == "localhost:\(live.port)" })
      #expect(refused.allSatisfy { $0.metadata["key"] == "allowedOrigins" && $0.metadata["address"] == "127.0.0.1" })
    }
  }

  @Test func thePairIsToldAgainAMinuteLater() {
    let clocks = ManualClocks()
    let refusals = RefusalLog(clocks: clocks, logger: log.logger)
    for wait in [0, 59, 1, 1] {
      clocks.advance(for: .seconds(wait))
      refusals.upgrade(.origin, head(origin: "https://a.example"), from: client)
    }
    #expect(lines("upgrade refused").count == 2)
  }

  @Test func manyOriginsAtOnceDoNotFillTheLog() {
    let clocks = ManualClocks()
    let refusals = RefusalLog(clocks: clocks, logger: log.logger)
    for number in 0..<100 { refusals.upgrade(.origin, head(origin: "https://\(number).example"), from: client) }
    clocks.advance(by: 1000)
    refusals.upgrade(.origin, head(origin: "https://99.example"), from: client)
    #expect(lines("upgrade refused").count == 6, "one that was not written is not told of as known")
    #expect(log.lines.last?.metadata["dropped"] == "95")
  }

  @Test func theRestIsForDebugging() async throws {
    try await LiveGateway.with(log: log) { live in
      live.gateway.drain(over: .zero, on: live.transport.loops)
      let late = try Client(port: live.port, query: "token=a-secret-token")
      #expect(try await late.status() == 503)
      let refused = try #require(lines("upgrade refused").first)
      #expect(refused.level == .debug && refused.metadata["status"] == "503" && refused.metadata["path"] == "/ws")
      #expect(refused.metadata["reason"]?.contains("draining") == true)
      #expect(!log.lines.contains { "\($0)".contains("a-secret-token") })
    }
  }

  // MARK: Sign-ins

  @Test func aRefusedSignInIsToldWithItsCode() async throws {
    try await LiveGateway.with(log: log) { live in
      let byUpgrade = try await Client.open(port: live.port, query: "token=expired")
      #expect(try await byUpgrade.closed().code == 4500)
      let byLogin = try await live.connect()
      _ = try await byLogin.call("login", #"{"token":"wrong"}"#)
      let refused = lines("sign-in refused")
      #expect(refused.map { $0.metadata["code"] } == ["70001", "70009"])
      #expect(refused.allSatisfy { $0.level == .info && $0.metadata["address"] == "127.0.0.1" && $0.metadata["reason"] != nil })
      #expect(refused.allSatisfy { $0.metadata["userID"] == nil }, "nobody has shown who it is")
    }
  }

  @Test func aGoodTokenThatIsRefusedNamesItsUser() async throws {
    try await LiveGateway.with(log: log, { $0.sessionsPerPlatform[.web] = 0 }) { live in
      let alice = try await live.connect()
      _ = try await alice.call("login", #"{"token":"alice","platform":"Web"}"#)
      _ = try await alice.call("login", #"{"token":"alice","platform":"Toaster"}"#)
      _ = try await alice.call("login", #"{"token":"alice"}"#)
      _ = try await alice.call("login", #"{"token":"bob"}"#)
      #expect(lines("sign-in refused").map { $0.metadata["code"] } == ["10004", "10004", "6015"])
      #expect(lines("sign-in refused").allSatisfy { $0.metadata["userID"] == "alice" })
    }
  }

  /// The log has the reason always; who has no signed token is told the code's sentence alone.
  @Test func theReasonIsInTheLogWhereTheClientDoesNotLearnIt() async throws {
    try await LiveGateway.with(log: log) { live in
      let byUpgrade = try await Client.open(port: live.port, query: "token=bad")
      #expect(try await byUpgrade.closed().reason == "70003 The token cannot be accepted")
      let byLogin = try await live.connect()
      let answer = try await byLogin.call("login", #"{"token":"wrong"}"#)
      #expect(answer["error"]["message"] == "The token was signed with another key")
      #expect(lines("sign-in refused").map { $0.metadata["reason"] } == ["no token at all", "another key"])
    }
  }

  @Test func aSignedTokenTellsItsReasonAndItsUser() async throws {
    try await LiveGateway.with(log: log) { live in
      let alice = try await live.connect()
      #expect(try await alice.call("login", #"{"token":"stale"}"#)["error"]["message"] == "stale since noon")
      let backend = try await live.connect()
      _ = try await backend.call("login", #"{"token":"adm:backend"}"#)
      #expect(lines("sign-in refused").map { $0.metadata["userID"] } == ["alice", "backend"])
      #expect(lines("sign-in refused").first?.metadata["reason"] == "stale since noon")
    }
  }

  /// On a session that is signed in the user is the session's.
  @Test func theReasonOfARefusedRenewalIsItsOwn() async throws {
    try await LiveGateway.with(log: log) { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("login", #"{"token":"bad"}"#)
      _ = try await alice.call("login", #"{"token":"bob"}"#)
      let refused = lines("sign-in refused")
      #expect(refused.map { $0.metadata["code"] } == ["70003", "6015"])
      #expect(refused.first?.metadata["reason"] == "no token at all")
      #expect(refused.last?.metadata["reason"] == "Another user is signed in on this connection")
      #expect(refused.allSatisfy { $0.metadata["userID"] == "alice" })
    }
  }

  @Test func aTokenThatLooksWrongIsAWarningOnceAMinute() {
    let clocks = ManualClocks()
    let refusals = RefusalLog(clocks: clocks, logger: log.logger)
    for wait in [0, 1, 58, 1] {
      clocks.advance(for: .seconds(wait))
      refusals.acceptedToken("it looks wrong", of: "alice", from: "192.0.2.7")
    }
    let told = lines("a token ends too far ahead")
    #expect(told.map { $0.metadata["count"] } == ["1", "3"] && told.allSatisfy { $0.level == .warning })
    #expect(told.allSatisfy { $0.metadata["userID"] == "alice" && $0.metadata["reason"] == "it looks wrong" })
  }

  @Test func aTokenThatLooksWrongSignsIn() async throws {
    try await LiveGateway.with(log: log) { live in
      let alice = try await live.connect()
      #expect(try await alice.call("login", #"{"token":"odd:alice"}"#)["result"]["userID"] == "alice")
      #expect(lines("a token ends too far ahead").map { $0.metadata["userID"] } == ["alice"])
    }
  }

  @Test func afterAFewASecondTheNextLineTellsHowMany() {
    let clocks = ManualClocks()
    let refusals = RefusalLog(clocks: clocks, logger: log.logger)
    for _ in 0..<12 { refusals.signIn(WireError(.tokenMalformed), from: "192.0.2.7", user: nil) }
    clocks.advance(by: 1000)
    refusals.signIn(WireError(.tokenMalformed), from: "192.0.2.8", user: nil)
    #expect(lines("sign-in refused").count == 6)
    #expect(log.lines.last?.metadata["dropped"] == "7")
  }

  // MARK: Requests, closes

  @Test func aRefusedRequestIsToldAndASuccessIsNot() async throws {
    try await LiveGateway.with(log: log) { live in
      let alice = try await live.signIn("alice")
      _ = try await alice.call("ping")
      #expect(log.lines.isEmpty)
      _ = try await alice.call("joinGroup", #"{"groupID":"nowhere"}"#)
      _ = try await alice.call("inventedMethod")
      let refused = lines("request refused")
      #expect(refused.map { $0.metadata["method"] } == ["joinGroup", "unknown"])
      #expect(refused.map { $0.metadata["sentMethod"] } == [nil, "inventedMethod"])
      #expect(refused.map { $0.metadata["code"] } == ["10010", "-32601"])
      #expect(refused.allSatisfy { $0.level == .debug && $0.metadata["userID"] == "alice" })
    }
  }

  @Test func aCallOfTheBackendIsToldOnce() async throws {
    let backend = Backend(logger: log.logger)
    _ = try await backend.rpc("getGroupMemberList", #"{"groupID":"nowhere"}"#)
    _ = try await backend.rpc("dismissGroup", #"{"groupID":"nowhere"}"#)
    #expect(log.lines.map(\.message) == ["request refused", "audit"])
    _ = try await backend.rpc(String(repeating: "x", count: 5000))
    #expect(log.lines.last?.metadata["method"] == "unknown")
    #expect(log.lines.last?.metadata["sentMethod"] == String(repeating: "x", count: 64))
  }

  @Test func aConnectionThatTheServerClosesIsTold() async throws {
    try await LiveGateway.with(log: log, { $0.connectionsPerAddress = 1 }) { live in
      let alice = try await live.signIn("alice")
      let other = try await live.connect()
      #expect(try await other.closed().code == 4005)
      _ = try await alice.call("logout")
      #expect(try await alice.closed().code == 1000)
      await live.gateway.waitUntilEmpty()
      #expect(
        lines("connection closed").map(\.metadata) == [["code": "4005", "reason": "connection limit", "address": "127.0.0.1"]])
    }
  }

  // MARK: HTTP

  @Test func httpIsToldByMethodAndPathWithoutTheQuery() {
    let refusals = RefusalLog(clocks: ManualClocks(), logger: log.logger)
    refusals.httpRequest(404, "nothing here", head(path: "/x", query: "token=a-secret-token"), from: "192.0.2.7")
    refusals.httpRequest(401, "no credential", head(path: "/rpc"), from: "192.0.2.7", isToldElsewhere: true)
    #expect(
      log.lines == [
        .init(
          level: .debug, message: "HTTP request refused",
          metadata: ["status": "404", "reason": "nothing here", "method": "GET", "path": "/x", "address": "192.0.2.7"])
      ])
  }

  private let client = ForwardedClient(address: "192.0.2.7", host: "a.example")

  private func head(path: String = "/ws", query: String = "", origin: String? = nil) -> RequestHead {
    .of(peer: "192.0.2.7", path: path, query: query, origin: origin)
  }
}
