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

  @Test func aFixedTokenEndsTheClient() {
    var scene = Scene()
    scene.connect()
    scene.event("onUserSigExpired", "{\"expiresAt\":1}")
    #expect(scene.asked("login").isEmpty)
    scene.feed(.ended(attempt: 1, .closed(code: 4006, reason: ""), didOpen: true))
    #expect(scene.state.phase == .closed)
  }
}
