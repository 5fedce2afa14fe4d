import Foundation
import Testing

@testable import ThrongClient

/// Connecting, losses, delays, close codes.
@Suite struct ConnectionTests {
  @Test func theStepsOfTheFirstConnection() {
    var scene = Scene()
    scene.feed(.connect)
    #expect(scene.takeEffects().opens)
    scene.feed(.opened(attempt: 1))
    #expect(scene.asked("login") == [["token": "token"]])
    scene.answer("login", Scene.session())
    #expect(scene.state.isOnline)
    #expect(scene.asked("getJoinedGroupList") == [["count": 200, "nextSeq": 0]])
    scene.answer("getJoinedGroupList", Scene.noGroups)
    let effects = scene.takeEffects()
    #expect(effects.readies.map(\.isFirst) == [true])
    guard case .online(let session) = effects.states.last else { Issue.record("\(effects.states)"); return }
    #expect(session.userID == "alice")
  }

  @Test func platformAndDeviceAreTold() {
    var scene = Scene(options: ClientOptions(platform: .iOS, deviceID: "phone"))
    scene.feed(.connect)
    scene.feed(.opened(attempt: 1))
    #expect(scene.asked("login") == [["token": "token", "platform": "iOS", "deviceID": "phone"]])
  }

  @Test func theDelayGrowsUpToItsBound() {
    var scene = Scene(random: 1)
    scene.feed(.connect)
    var delays: [Duration] = []
    for _ in 0..<8 {
      scene.feed(.ended(attempt: scene.attempt, .failed("no route"), didOpen: false))
      let effects = scene.takeEffects()
      delays.append(effects.delay(of: .retry) ?? .zero)
      scene.feed(.fired(.retry))
    }
    #expect(delays == [0.5, 1, 2, 4, 8, 16, 20, 20].map { Duration.seconds($0) })
  }

  @Test(arguments: [0, 0.25, 0.999]) func theDelayIsAnythingUpToTheBound(random: Double) {
    var backoff = Backoff()
    for bound in [0.5, 1, 2, 4, 8, 16, 20, 20, 20] {
      #expect(backoff.next(random: random) == max(.milliseconds(100), Duration.seconds(bound) * random))
    }
    #expect(backoff.next(random: random, least: .seconds(30)) == .seconds(30))
  }

  @Test func aGoodSessionBeginsAnew() {
    var scene = Scene(random: 1)
    scene.connect()
    for (life, delay) in [(0, 0.5), (9, 1), (10, 0.5), (0, 1)] {
      scene.pass(.seconds(life))
      scene.feed(.ended(attempt: scene.attempt, .closed(code: 1006, reason: ""), didOpen: true))
      #expect(scene.takeEffects().delay(of: .retry) == .seconds(delay))
      scene.feed(.fired(.retry))
      scene.open()
    }
  }

  @Test(arguments: [1000, 1001, 1006, 1011, 1013, 4001, 4002, 4003, 4004, 4005, 4007, 4008, 4499])
  func theseCodesMeanToReconnect(code: Int) {
    var scene = Scene()
    scene.connect()
    scene.feed(.ended(attempt: 1, .closed(code: code, reason: "as the test says"), didOpen: true))
    #expect(scene.state.phase == .waiting)
    guard case .waiting(let loss, _) = scene.takeEffects().states.last else { Issue.record("not waiting"); return }
    #expect(loss.code.rawValue == code && loss.reason == "as the test says" && loss.didOpen)
  }

  @Test(arguments: [4500, 4501, 4502, 4503, 4999]) func theseCodesEndTheClient(code: Int) {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("one")))
    scene.open()
    scene.feed(.ended(attempt: 1, .closed(code: code, reason: ""), didOpen: true))
    #expect(scene.state.phase == .closed)
    scene.feed(.reconnectNow)
    scene.feed(.connect)
    scene.feed(.fired(.retry))
    #expect(scene.state.phase == .closed)
  }

  @Test func theServersWaitIsKept() {
    var scene = Scene(random: 0)
    scene.connect()
    scene.event("onServerDraining", "{\"retryAfterMs\":1200}")
    scene.feed(.ended(attempt: 1, .closed(code: 4001, reason: ""), didOpen: true))
    #expect(scene.takeEffects().delay(of: .retry) == .milliseconds(1200))
    // Once.
    scene.feed(.fired(.retry))
    scene.feed(.ended(attempt: 2, .failed(""), didOpen: false))
    #expect(scene.takeEffects().delay(of: .retry) == .milliseconds(100))
    scene.feed(.fired(.retry))
    scene.feed(.opened(attempt: 3))
    scene.refuse("login", code: 7008, temporary: true, retryAfterMs: 3000)
    #expect(scene.takeEffects().delay(of: .retry) == .seconds(3))
  }

  @Test func aBadTokenEndsIt() {
    var scene = Scene()
    scene.feed(.connect)
    scene.feed(.opened(attempt: 1))
    scene.refuse("login", code: 70009)
    guard case .closed(let loss) = scene.takeEffects().states.last else { Issue.record("not closed"); return }
    #expect(loss.code == .authenticationFailed && (loss.error as? ThrongError)?.code == .tokenWrongSignature)
  }

  @Test func noAnswerInTimeIsALoss() {
    var scene = Scene()
    scene.feed(.connect)
    #expect(scene.takeEffects().delay(of: .connect) == .seconds(20))
    scene.feed(.fired(.connect))
    #expect(scene.state.phase == .waiting)
    scene.feed(.fired(.retry))
    scene.feed(.opened(attempt: 2))
    scene.feed(.fired(.connect))
    guard case .waiting(let loss, _) = scene.takeEffects().states.last else { Issue.record("not waiting"); return }
    #expect(loss.didOpen)
  }

  @Test func silenceIsAskedAboutAndThenGivenUp() {
    var scene = Scene()
    scene.connect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    scene.feed(.fired(.life))
    #expect(scene.asked("ping").isEmpty, "something was heard")
    scene.feed(.fired(.life))
    #expect(scene.asked("ping").count == 1)
    scene.answer("ping", "{\"serverTime\":2}")
    scene.feed(.fired(.life))
    scene.feed(.fired(.life))
    scene.feed(.fired(.life))
    #expect(scene.asked("ping").count == 1, "one question at a time")
    scene.feed(.fired(.ping))
    guard case .waiting(let loss, _) = scene.takeEffects().states.last else { Issue.record("not waiting"); return }
    #expect(loss.code == .noSignOfLife)
  }

  @Test func whateverIsReceivedIsASignOfLife() {
    var scene = Scene()
    scene.connect()
    scene.feed(.fired(.life))
    scene.feed(.fired(.life))
    #expect(scene.asked("ping").count == 1)
    _ = scene.takeEffects()
    scene.event("onQuitFromGroup", "{\"groupID\":\"g\",\"opTime\":1,\"platform\":\"Web\"}")
    let effects = scene.takeEffects()
    #expect(effects.contains { if case .stop(.ping) = $0 { true } else { false } })
  }

  @Test func whatComesFromAnOldConnectionIsIgnored() {
    var scene = Scene()
    scene.connect()
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(.fired(.retry))
    scene.feed(.opened(attempt: 1))
    scene.feed(.received(attempt: 1, Data("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\(Scene.session())}".utf8)))
    scene.feed(.ended(attempt: 1, .closed(code: 4502, reason: ""), didOpen: true))
    #expect(scene.state.phase == .opening(attempt: 2))
  }

  @Test func aFrameThatIsNoneIsALoss() {
    var scene = Scene()
    scene.connect()
    scene.receive("hello")
    #expect(scene.state.phase == .waiting)
  }

  @Test func aBadAddressEndsIt() {
    var scene = Scene()
    scene.feed(.connect)
    scene.feed(.ended(attempt: 1, .badAddress("ftp://x"), didOpen: false))
    #expect(scene.state.phase == .closed)
  }

  @Test func theTokenOfAnotherUserEndsIt() {
    var scene = Scene()
    scene.connect()
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(.fired(.retry))
    scene.open(Scene.session(user: "mallory"))
    #expect(scene.state.phase == .closed)
  }

  @Test func logoutAnswersAndEnds() {
    var scene = Scene()
    scene.connect()
    scene.feed(.logout(7))
    scene.answer("logout", "{}")
    let effects = scene.takeEffects()
    #expect(scene.state.phase == .closed)
    #expect(effects.contains { if case .answer(7, .success) = $0 { true } else { false } })
  }

  @Test func logoutThatIsCutEndsToo() {
    var scene = Scene()
    scene.connect()
    scene.feed(.logout(7))
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    #expect(scene.state.phase == .closed)
    #expect((scene.takeEffects().error(of: 7) as? ClientError)?.reason == .connectionLost)
  }
}
