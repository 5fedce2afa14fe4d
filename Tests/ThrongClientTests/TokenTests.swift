import Testing

@testable import ThrongClient

/// Tokens: the function that gives them, renewals, ends.
@Suite struct TokenTests {
  private struct NoToken: Error {}

  private func online(ttl: Int = 3_600) -> Scene {
    var scene = Scene(token: Scene.renewable, random: 0)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("first")))
    scene.open(Scene.session(ttl: ttl))
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    return scene
  }

  @Test func theFunctionIsAskedBeforeTheFirstSession() {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    #expect(scene.effects.asksForToken && !scene.effects.opens)
    scene.feed(.tokenRead(.success("first")))
    scene.feed(.opened(attempt: 1))
    #expect(scene.asked("login") == [["token": "first"]])
  }

  @Test func aGoodTokenIsUsedAgain() {
    var scene = online()
    scene.reconnect()
    #expect(!scene.takeEffects().asksForToken)
  }

  @Test func aTokenThatEndsSoonIsNotUsedAgain() {
    var scene = online(ttl: 60)
    scene.pass(.seconds(56))
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(.fired(.retry))
    #expect(scene.takeEffects().asksForToken)
  }

  @Test func theFunctionIsAskedAgainWhereItFails() {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    scene.feed(.tokenRead(.failure(NoToken())))
    guard case .waiting(let loss, _) = scene.takeEffects().states.last else { Issue.record("not waiting"); return }
    #expect(loss.error is NoToken)
    scene.feed(.fired(.retry))
    #expect(scene.takeEffects().asksForToken)
  }

  @Test func aTokenIsRenewedBeforeItEnds() {
    var scene = online()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    #expect(scene.takeEffects().filter { if case .readToken = $0 { true } else { false } }.count == 1)
    scene.feed(.tokenRead(.success("second")))
    #expect(scene.asked("login") == [["token": "second"]])
    scene.answer("login", Scene.session())
    #expect(scene.takeEffects().events.contains { if case .renewed = $0 { true } else { false } })
    scene.reconnect()
    #expect(!scene.takeEffects().asksForToken)
  }

  @Test func aTokenThatIsNoBetterIsNotAskedForInARow() {
    var scene = online(ttl: 60)
    for wait in [10, 10, 5] as [Int64] {
      scene.event("onUserSigExpired", "{\"expiresAt\":1}")
      if scene.requests.isEmpty { scene.feed(.tokenRead(.success("first"))) }
      scene.answer("login", Scene.session(ttl: wait < 10 ? 10 : 60))
      _ = scene.takeEffects()
      scene.event("onUserSigExpired", "{\"expiresAt\":1}")
      let effects = scene.takeEffects()
      #expect(!effects.asksForToken)
      #expect(effects.delay(of: .renewal) == .seconds(wait))
      scene.pass(.seconds(wait))
      scene.feed(.fired(.renewal))
      #expect(scene.takeEffects().asksForToken)
      scene.feed(.tokenRead(.success("first")))
    }
  }

  @Test func aRenewalThatFailsIsTriedAgain() {
    var scene = online(ttl: 60)
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    scene.feed(.tokenRead(.failure(NoToken())))
    #expect(scene.takeEffects().delay(of: .renewal) == .seconds(10))
    scene.pass(.seconds(50))
    scene.feed(.fired(.renewal))
    #expect(scene.takeEffects().asksForToken)
    scene.feed(.tokenRead(.failure(NoToken())))
    #expect(scene.takeEffects().delay(of: .renewal) == .seconds(5))
    scene.pass(.seconds(9))
    scene.feed(.fired(.renewal))
    scene.feed(.tokenRead(.failure(NoToken())))
    #expect(scene.takeEffects().delay(of: .renewal) == nil, "4006 comes before another try")
  }

  @Test func aRenewalThatTheServerRefusesAsksForAnotherToken() {
    var scene = online()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    scene.feed(.tokenRead(.success("bad")))
    scene.refuse("login", code: 70009)
    #expect(scene.state.isOnline)
    _ = scene.takeEffects()
    scene.feed(.fired(.renewal))
    #expect(scene.takeEffects().asksForToken)
  }

  @Test func aRenewalWhoseConnectionIsLostLeavesAGoodToken() {
    var scene = online()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    scene.feed(.tokenRead(.success("second")))
    _ = scene.takeEffects()
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(.fired(.retry))
    #expect(!scene.takeEffects().asksForToken)
    scene.feed(.opened(attempt: 2))
    #expect(scene.asked("login") == [["token": "second"]])
  }

  @Test func aTokenThatComesTooLateIsUsedByTheNextSession() {
    var scene = online()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    scene.feed(.ended(attempt: 1, .closed(code: 4006, reason: ""), didOpen: true))
    _ = scene.takeEffects()
    scene.feed(.fired(.retry))
    #expect(!scene.takeEffects().asksForToken, "it was asked for already")
    scene.feed(.tokenRead(.success("second")))
    scene.feed(.opened(attempt: 2))
    #expect(scene.asked("login") == [["token": "second"]])
  }

  @Test func anEndedTokenIsReplaced() {
    var scene = online()
    scene.feed(.ended(attempt: 1, .closed(code: 4006, reason: ""), didOpen: true))
    scene.feed(.fired(.retry))
    #expect(scene.takeEffects().asksForToken)
  }

  @Test func anExpiredTokenIsReplacedAtSignIn() {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("old")))
    scene.feed(.opened(attempt: 1))
    scene.refuse("login", code: 70001)
    #expect(scene.state.phase == .waiting)
    _ = scene.takeEffects()
    scene.feed(.fired(.retry))
    #expect(scene.takeEffects().asksForToken)
  }

  /// A second later, since a token's iat has whole seconds; a function whose next token is revoked as
  /// well has no other.
  @Test func aRevokedTokenIsReplacedOnce() {
    var scene = Scene(token: Scene.renewable, random: 0)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("old")))
    scene.feed(.opened(attempt: 1))
    scene.refuse("login", code: 70021)
    #expect(scene.takeEffects().delay(of: .retry) == .seconds(1))
    scene.feed(.fired(.retry))
    #expect(scene.takeEffects().asksForToken)
    scene.feed(.tokenRead(.success("new")))
    scene.feed(.opened(attempt: 2))
    scene.refuse("login", code: 70021)
    #expect(scene.state.phase == .closed)
  }

  @Test func aSessionEndsTheRowOfRevokedTokens() {
    var scene = Scene(token: Scene.renewable, random: 0)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("old")))
    scene.feed(.opened(attempt: 1))
    scene.refuse("login", code: 70021)
    scene.feed(.fired(.retry))
    scene.feed(.tokenRead(.success("new")))
    scene.open()
    scene.reconnectRefused(code: 70021)
    #expect(scene.state.phase == .waiting)
  }

  @Test func aBlockIsFinalUnlessItIsTemporary() {
    for isTemporary in [false, true] {
      var scene = Scene(token: Scene.renewable)
      scene.feed(.connect)
      scene.feed(.tokenRead(.success("token")))
      scene.feed(.opened(attempt: 1))
      scene.refuse("login", code: 70020, temporary: isTemporary)
      #expect(scene.state.phase == (isTemporary ? .waiting : .closed))
    }
  }

  // MARK: A function that does not answer

  private func reason(_ error: (any Error)?) -> ClientError.Reason? { (error as? ClientError)?.reason }

  private func number(_ effects: [ClientEffect]) -> Int? {
    effects.compactMap { effect -> Int? in if case .readToken(let number) = effect { number } else { nil } }.last
  }

  private func abandons(_ effects: [ClientEffect]) -> Bool {
    effects.contains { if case .abandonToken = $0 { true } else { false } }
  }

  @Test func aFunctionThatDoesNotAnswerIsGivenUp() throws {
    var scene = Scene(token: Scene.renewable, options: ClientOptions(tokenTimeout: .seconds(7)))
    scene.feed(.connect)
    let first = try #require(number(scene.effects))
    #expect(scene.takeEffects().delay(of: .token) == .seconds(7))
    scene.feed(.fired(.token))
    let effects = scene.takeEffects()
    guard case .waiting(let loss, _) = effects.states.last else { Issue.record("not waiting"); return }
    #expect(reason(loss.error) == .tokenTimeout && abandons(effects))
    scene.feed(.fired(.retry))
    let second = try #require(number(scene.takeEffects()))
    // The late answer is nobody's.
    scene.feed(.tokenRead(.success("late"), number: first))
    #expect(!scene.takeEffects().opens && first != second)
    scene.feed(.tokenRead(.success("good"), number: second))
    scene.feed(.opened(attempt: 2))
    #expect(scene.asked("login") == [["token": "good"]])
  }

  @Test func anAnswerStopsTheWaitForIt() {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    scene.feed(.tokenRead(.success("token")))
    #expect(scene.takeEffects().contains { if case .stop(.token) = $0 { true } else { false } })
    scene.feed(.fired(.token))
    #expect(scene.takeEffects().isEmpty)
  }

  @Test func reconnectNowAsksAnew() throws {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    let first = try #require(number(scene.takeEffects()))
    scene.feed(.reconnectNow)
    let effects = scene.takeEffects()
    let second = try #require(number(effects))
    #expect(abandons(effects) && second != first && effects.delay(of: .token) == .seconds(30))
    scene.feed(.tokenRead(.failure(NoToken()), number: first))
    #expect(scene.takeEffects().states.isEmpty)
    scene.feed(.tokenRead(.success("token"), number: second))
    #expect(scene.takeEffects().opens)
  }

  /// The session goes on, and so does the next one, as long as the token is good.
  @Test func aRenewalThatHangsIsNoEnd() {
    var scene = online(ttl: 60)
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    #expect(scene.takeEffects().asksForToken)
    scene.pass(.seconds(30))
    scene.feed(.fired(.token))
    let failures = scene.takeEffects().events.compactMap { event -> ClientError.Reason? in
      if case .renewalFailed(let error) = event { reason(error) } else { nil }
    }
    #expect(failures == [.tokenTimeout] && scene.state.isOnline)
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(.fired(.retry))
    scene.open(Scene.session(ttl: 30))
    #expect(scene.state.isOnline && !scene.takeEffects().asksForToken)
    // With 5 s left it is not.
    scene.pass(.seconds(25))
    scene.feed(.ended(attempt: scene.attempt, .closed(code: 1006, reason: ""), didOpen: true))
    scene.feed(.fired(.retry))
    #expect(scene.takeEffects().asksForToken)
  }

  @Test func aConnectionThatIsLostWhileTheFunctionIsAskedUsesTheOldToken() {
    var scene = online()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    scene.pass(.seconds(10))
    scene.feed(.ended(attempt: 1, .closed(code: 1006, reason: ""), didOpen: true))
    #expect(scene.takeEffects().delay(of: .token) == .seconds(20), "the function has its time all the same")
    scene.feed(.fired(.retry))
    #expect(scene.takeEffects().opens)
    scene.feed(.opened(attempt: 2))
    #expect(scene.asked("login") == [["token": "first"]])
    // Its answer is for a session that is gone; the next one takes it.
    scene.answer("login", Scene.session())
    scene.feed(.tokenRead(.success("second")))
    scene.reconnect()
    #expect(scene.state.tokens.usedToken == "second")
  }

  @Test func theEndOfAClientWaitsForNoToken() {
    var scene = Scene(token: Scene.renewable)
    scene.feed(.connect)
    _ = scene.takeEffects()
    scene.feed(.close)
    let effects = scene.takeEffects()
    #expect(abandons(effects) && effects.delay(of: .token) == nil)
  }

  @Test func aFixedTokenEndsTheClient() {
    var scene = Scene()
    scene.connect()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    #expect(scene.asked("login").isEmpty)
    scene.feed(.ended(attempt: 1, .closed(code: 4006, reason: ""), didOpen: true))
    #expect(scene.state.phase == .closed)
  }
}
