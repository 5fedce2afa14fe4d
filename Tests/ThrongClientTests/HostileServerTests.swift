import Foundation
import Testing

@testable import ThrongClient

/// A server that answers whatever it likes, and other members through it: nothing stops the app, and
/// nothing grows without a bound.
@Suite struct HostileServerTests {
  private static let numbers = [
    "9223372036854775807", "-9223372036854775808", "1e300", "-1", "0", "2147483648", "9007199254740993000", "\"soon\"",
    "null", "[]",
  ]

  private func session(expires: String = "2", time: String = "1", heartbeat: String = "25") -> String {
    "{\"userID\":\"alice\",\"sessionID\":\"s\",\"serverTime\":\(time),\"tokenExpiresAt\":\(expires),\"heartbeat\":\(heartbeat)}"
  }

  /// The error that has ended the last connection.
  private func loss(_ scene: inout Scene) -> ConnectionLoss? {
    if case .waiting(let loss, _) = scene.takeEffects().states.last { loss } else { nil }
  }

  private func reason(_ error: (any Error)?) -> String? { (error as? ClientError)?.reason.rawValue }

  // MARK: Numbers

  @Test(arguments: numbers) func anyNumbersInASession(number: String) {
    for text in [session(expires: number), session(expires: "1", time: number), session(heartbeat: number)] {
      var scene = Scene(token: Scene.renewable)
      scene.feed(.connect)
      scene.feed(.tokenRead(.success("token")))
      scene.open(text)
      let life = scene.effects.delay(of: .life)
      #expect(life.map { $0 >= .seconds(1) && $0 <= .seconds(86_400) } ?? !scene.state.isOnline)
      scene.feed(.ended(attempt: scene.attempt, .closed(code: 1006, reason: ""), didOpen: true))
      scene.feed(.fired(.retry))
    }
  }

  @Test(arguments: numbers) func anyWaitThatAServerAsksFor(number: String) {
    var scene = Scene()
    scene.connect()
    scene.event("onServerDraining", "{\"retryAfterMs\":\(number)}")
    scene.feed(.ended(attempt: scene.attempt, .closed(code: 4001, reason: ""), didOpen: true))
    let delay = scene.takeEffects().delay(of: .retry)
    #expect(delay.map { $0 >= .milliseconds(100) && $0 <= .seconds(86_400) } == true)
    scene.feed(.fired(.retry))
    scene.feed(.opened(attempt: scene.attempt))
    let data = "{\"code\":7008,\"message\":\"no\",\"data\":{\"temporary\":true,\"retryAfterMs\":\(number)}}"
    scene.receive("{\"jsonrpc\":\"2.0\",\"id\":\(scene.requests.last?.id ?? 0),\"error\":\(data)}")
    let next = scene.takeEffects().delay(of: .retry)
    #expect(next.map { $0 >= .milliseconds(100) && $0 <= .seconds(86_400) } == true)
  }

  @Test(arguments: [Int.max, 1 << 53]) func placesAtTheEndOfTheIntegers(last: Int) {
    var scene = Scene()
    scene.connect(in: "g")
    scene.feed(.send(LocalMessage(.text("a"), to: "g", options: SendOptions(), clientMsgID: "a")))
    scene.answer("sendGroupTextMessage", "{\"msgID\":\"m\",\"seq\":\(last),\"timestamp\":\(last),\"status\":\"Stored\"}")
    scene.newMessage("g", seq: last)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.groups(Scene.info("h", lastSeq: last, changeSeq: last)))
    #expect(scene.state.tracker.positions.allSatisfy { $0.seq <= 1 << 53 && $0.changeSeq <= 1 << 53 })
  }

  /// The actor sleeps for what the state says.
  @Test func aWaitWithoutEndIsAWait() async throws {
    let server = FakeServer()
    let client = ThrongClient(
      url: try #require(URL(string: "ws://server.test/ws")), token: .fixed("token"), options: ClientOptions(transport: server))
    let events = await client.events()
    async let ended: Bool = events.contains { if case .state(.waiting) = $0 { true } else { false } }
    async let connected = client.connect()
    let connection = try await server.accept()
    try await connection.answer("login", session(expires: "1000000", heartbeat: "\(1 << 53)"))
    _ = try await connected
    connection.tell("{\"jsonrpc\":\"2.0\",\"method\":\"onServerDraining\",\"params\":{\"retryAfterMs\":\(1 << 53)}}")
    connection.close(4001)
    #expect(await ended)
    await client.close()
  }

  // MARK: Shapes

  @Test(arguments: [31, 32, 33, 200, 500, 511, 100_000]) func nestedJSON(levels: Int) {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      var scene = Scene()
      scene.connect()
      // The frame and its parameters are levels too.
      let nested = String(repeating: open, count: levels - 2) + "1" + String(repeating: close, count: levels - 2)
      scene.event("onSomethingNew", "{\"value\":\(nested)}")
      #expect(scene.state.isOnline == (levels <= 32))
    }
  }

  @Test(arguments: [
    "", "null", "[]", "{}", "1", "\"\"", "{\"id\":[]}", "{\"id\":1.5,\"result\":{}}", "{\"method\":7}",
    "{\"method\":\"onMemberEnter\"}", "{\"method\":\"onMemberEnter\",\"params\":[]}",
    "{\"method\":\"onRecvNewMessage\",\"params\":{\"groupID\":\"g\",\"message\":null}}",
    "{\"id\":1,\"error\":[]}", "{\"id\":99,\"error\":{\"code\":\"no\"}}", "\u{feff}{}", "{\"id\":", "\u{0}",
  ]) func anyTextIsReadOrEndsTheConnection(text: String) {
    var scene = Scene()
    scene.connect(in: "g")
    scene.receive(text)
    let error = loss(&scene)?.error
    #expect(scene.state.isOnline || reason(error) == "BadAnswer")
  }

  @Test(arguments: ["[]", "null", "{}", "{\"userID\":7}"]) func anyAnswerToAnOwnRequest(result: String) {
    var scene = Scene()
    scene.feed(.connect)
    scene.feed(.opened(attempt: 1))
    scene.answer("login", result)
    #expect(reason(loss(&scene)?.error) == "BadAnswer")
    scene.feed(.fired(.retry))
    scene.open()
    scene.answer("getJoinedGroupList", result)
    #expect(reason(loss(&scene)?.error) == "BadAnswer")
  }

  @Test func aRenewalWhoseAnswerIsUnreadableIsNotTheLast() {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("first")))
    scene.open()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    scene.feed(.tokenRead(.success("second")))
    scene.answer("login", "[]")
    scene.feed(.fired(.retry))
    if scene.effects.asksForToken { scene.feed(.tokenRead(.success("third"))) }
    scene.open()
    scene.pass(.seconds(60))
    _ = scene.takeEffects()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    #expect(scene.takeEffects().asksForToken)
  }

  // MARK: Lists without an end

  @Test(arguments: [true, false]) func aListOfGroupsWithoutEnd(repeats: Bool) {
    var scene = Scene()
    scene.connect()
    var pages = 0
    while scene.state.isOnline, pages < 3_000 {
      pages += 1
      let cursor = repeats ? "7" : "\(pages)"
      scene.answer("getJoinedGroupList", "{\"groupList\":[],\"leftGroupIDList\":[\"\(pages)\"],\"nextSeq\":\(cursor)}")
    }
    #expect(pages == (repeats ? 2 : 1_001))
    #expect(reason(loss(&scene)?.error) == "BadAnswer")
  }

  private func row(seq: Int?, changeSeq: Int, more: Bool = true, lastSeq: Int = 1_000_000) -> String {
    let list = seq.map { Scene.message("g", seq: $0) } ?? ""
    return """
      {"groups":[{"groupID":"g","code":0,"epoch":"e","lastSeq":\(lastSeq),"recovered":true,"changeList":[],
      "changeSeq":\(changeSeq),"messageList":[\(list)],"more":\(more)}]}
      """
  }

  /// A client that asks for what it has missed in group g behind seq 10.
  private func syncing() -> Scene {
    var scene = Scene()
    scene.connect(in: "g")
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    return scene
  }

  @Test func pagesThatDoNotAdvance() {
    let pages = [
      row(seq: nil, changeSeq: 0), row(seq: 10, changeSeq: 0), row(seq: 3, changeSeq: 1), row(seq: 11, changeSeq: -1),
      "{\"groups\":[]}",
    ]
    for page in pages {
      var scene = syncing()
      scene.answer("syncGroups", page)
      if scene.state.isOnline { scene.answer("syncGroups", page) }
      #expect(reason(loss(&scene)?.error) == "BadAnswer", "\(page)")
    }
  }

  @Test func pagesThatAdvanceForEver() {
    var scene = syncing()
    var pages = 0
    while scene.state.isOnline, pages < 12_000 {
      pages += 1
      scene.answer("syncGroups", row(seq: 10 + pages, changeSeq: 0))
      _ = pages % 100 == 0 ? scene.takeEffects() : []
    }
    #expect(pages == 10_000)
    // The next one goes on there.
    #expect(scene.state.tracker.place(of: "g")?.seq == 10 + pages)
  }

  @Test func aGroupThatAlwaysHasMoreEventsThanMayWait() {
    var scene = syncing()
    var syncs = 0
    while scene.state.isOnline, syncs < 20 {
      // Their number, or their bytes, are too many.
      let text = String(repeating: "x", count: 900_000)
      for seq in 0..<20 {
        let message = Scene.message("g", seq: 1_000 + seq).replacing("\"text\":\"", with: "\"text\":\"\(text)")
        scene.event("onRecvNewMessage", "{\"groupID\":\"g\",\"opTime\":1,\"message\":\(message)}")
      }
      syncs += 1
      scene.answer("syncGroups", row(seq: nil, changeSeq: syncs, more: false, lastSeq: 10 + syncs))
    }
    #expect(syncs == 11)
  }

  // MARK: Floods

  @Test func newGroupsWithoutEnd() {
    var scene = Scene()
    scene.connect(in: "g")
    for number in 0..<3_000 { scene.event("onGroupCreated", "{\"groupID\":\"new\(number)\",\"opTime\":1,\"platform\":\"Web\"}") }
    #expect(scene.asked("getGroupsInfo").count == 1_000)
    for number in 0..<3_000 { scene.newMessage("strange\(number)", seq: 1) }
    #expect(scene.takeEffects().newMessages.count == 3_000)
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    #expect(scene.state.isOnline)
  }

  @Test func aGroupThatCannotBeReadIsAskedForLessAndLess() {
    var scene = Scene()
    scene.connect(in: "g")
    scene.event("onGroupCreated", "{\"groupID\":\"new\",\"opTime\":1,\"platform\":\"Web\"}")
    var delays: [Duration?] = []
    for _ in 0..<7 {
      scene.refuse("getGroupsInfo", code: 10002, temporary: true)
      delays.append(scene.takeEffects().delay(of: .entry(groupID: "new")))
      scene.feed(.fired(.entry(groupID: "new")))
    }
    #expect(delays == [2, 4, 8, 16, 32, 32, 32].map { .seconds($0) })
  }

  @Test func warningsOfTheTokensEndWithoutEnd() {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("first")))
    scene.open(Scene.session(ttl: 1))
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    var asked = 0
    for _ in 0..<100 {
      scene.event("onUserSigExpired", "{\"expiresAt\":1}")
      guard scene.takeEffects().asksForToken else { continue }
      asked += 1
      scene.feed(.tokenRead(.success("another")))
      scene.refuse("login", code: 70003)
    }
    #expect(asked == 1)
  }

  @Test func aSessionThatIsClosedAtOnce() {
    var scene = Scene(random: 0)
    scene.feed(.connect)
    for code in [1000, 1001, 1005, 1006, 4001, 4499, 0, 65_535] {
      scene.open()
      scene.feed(.ended(attempt: scene.attempt, .closed(code: code, reason: ""), didOpen: true))
      #expect(scene.takeEffects().delay(of: .retry) == .milliseconds(100), "\(code)")
      scene.feed(.fired(.retry))
    }
  }

  @Test func aBreachAfterALongSessionIsNoGoodSession() {
    var scene = Scene(random: 1)
    scene.connect()
    for delay in [0.5, 1, 2, 4] {
      scene.pass(.seconds(11))
      scene.receive("no JSON")
      #expect(scene.takeEffects().delay(of: .retry) == .seconds(delay))
      scene.feed(.fired(.retry))
      scene.open()
    }
  }

  @Test func callsThatAreNeverAnswered() {
    var scene = Scene()
    scene.connect()
    let request = EncodedRequest(Methods.Ping())
    for number in 0..<1_001 { scene.feed(.call(number, request, waits: true)) }
    let effects = scene.takeEffects()
    #expect(reason(effects.error(of: 1_000)) == "QueueFull" && effects.error(of: 999) == nil)
    scene.answer("ping", "{\"serverTime\":1}")
    scene.feed(.call(2_000, request, waits: true))
    #expect(scene.takeEffects().error(of: 2_000) == nil)
  }

  @Test func messagesThatStayQueued() {
    var scene = Scene()
    scene.connect(in: "g", type: "AVChatRoom")
    for number in 0..<300 {
      scene.feed(.send(LocalMessage(.text("a"), to: "g", options: SendOptions(), clientMsgID: "\(number)")))
      guard scene.asked("sendGroupTextMessage").count > 0 else { continue }
      scene.answer("sendGroupTextMessage", "{\"msgID\":\"m\(number)\",\"timestamp\":1,\"status\":\"Queued\"}")
    }
    let states = Dictionary(scene.takeEffects().messages.map { ($0.clientMsgID, $0.state) }, uniquingKeysWith: { $1 })
    #expect(states.values.count { $0 == .queued } == 100)
  }
}
