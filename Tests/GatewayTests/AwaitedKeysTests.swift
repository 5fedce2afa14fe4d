import GroupModel
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Tokens like `new.alice` have a key that is not there before a test brings it; others are those of
/// `NamedTokens`.
private final class AwaitedTokens: TokenChecking {
  private struct State {
    var hasKey = false
    var readings = 0
    var waiting: [CheckedContinuation<Bool, Never>] = []
  }

  /// Whether there is a set that has not the key; else there is none yet.
  private let hasSet: Bool
  /// Whether a token may cause a reading.
  private let mayRead: Bool
  private let state = Mutex(State())

  init(hasSet: Bool = true, mayRead: Bool = true) {
    self.hasSet = hasSet
    self.mayRead = mayRead
  }

  var readings: Int { state.withLock { $0.readings } }

  func check(_ token: String, at now: WallInstant) -> Result<AcceptedToken, TokenRefusal> {
    guard token.hasPrefix("new.") else { return NamedTokens().check(token, at: now) }
    if state.withLock({ $0.hasKey }) { return NamedTokens().check(String(token.dropFirst(4)), at: now) }
    return .failure(TokenRefusal(WireError(hasSet ? .tokenWrongSignature : .temporary), awaitsKeys: true))
  }

  func readKeys() async -> Bool {
    guard mayRead else { return false }
    return await withCheckedContinuation { continuation in
      state.withLock { state in
        state.readings += 1
        state.waiting.append(continuation)
      }
    }
  }

  /// Ends the reading of that number when it is under way, from 1.
  func endReading(_ number: Int, withKey: Bool) async throws {
    try await waitUntil("reading \(number)") { state.withLock { $0.readings >= number && !$0.waiting.isEmpty } }
    let waiting = state.withLock { state in
      if withKey { state.hasKey = true }
      let waiting = state.waiting
      state.waiting = []
      return waiting
    }
    for continuation in waiting { continuation.resume(returning: true) }
  }
}

/// Sign-ins whose keys are read for them (Protocol.md, "Keys at a URL").
@Suite struct AwaitedKeysTests {
  private let login = #"{"jsonrpc":"2.0","id":"l","method":"login","params":{"token":"new.alice"}}"#
  private let ping = #"{"jsonrpc":"2.0","id":"p","method":"ping"}"#

  @Test func aSignInWaitsForTheReadingThatItCaused() async throws {
    let tokens = AwaitedTokens()
    try await LiveGateway.with(tokens: tokens) { live in
      let alice = try await live.connect()
      try await alice.send(login, ping)
      try await tokens.endReading(1, withKey: true)
      #expect(try await alice.next()["result"]["userID"] == "alice")
      #expect(try await alice.next()["id"] == "p", "what came behind it waited, too")
    }
  }

  @Test func soDoesOneAtTheUpgrade() async throws {
    let tokens = AwaitedTokens()
    try await LiveGateway.with(tokens: tokens) { live in
      let alice = try await Client.open(port: live.port, query: "token=new.alice")
      try await tokens.endReading(1, withKey: true)
      #expect(try await alice.next()["method"] == "onConnectSuccess")
    }
  }

  /// The first one may have been under way before the key was there.
  @Test func asManyAsTwoReadingsAreWaitedFor() async throws {
    let tokens = AwaitedTokens()
    try await LiveGateway.with(tokens: tokens) { live in
      let alice = try await live.connect()
      try await alice.send(login)
      try await tokens.endReading(1, withKey: false)
      try await tokens.endReading(2, withKey: false)
      #expect(try await alice.next()["error"]["code"] == 70009)
      #expect(try await alice.closed().code == 4500)
      #expect(tokens.readings == 2)
    }
  }

  @Test func whereNoneIsDueTheTokenIsRefusedAtOnce() async throws {
    try await LiveGateway.with(tokens: AwaitedTokens(mayRead: false)) { live in
      let alice = try await live.connect()
      #expect(try await alice.call("login", #"{"token":"new.alice"}"#)["error"]["code"] == 70009)
      #expect(try await alice.closed().code == 4500)
    }
  }

  @Test func withoutASetItsClientComesBackLater() async throws {
    try await LiveGateway.with(tokens: AwaitedTokens(hasSet: false, mayRead: false)) { live in
      let alice = try await live.connect()
      let error = try await alice.call("login", #"{"token":"new.alice"}"#)["error"]
      #expect(error["code"] == 10002 && error["data"]["temporary"] == true)
      #expect(try await alice.closed().code == 1013)
      let again = try await Client.open(port: live.port, query: "token=new.alice")
      #expect(try await again.closed().code == 1013)
      #expect(await live.remains() == [:])
    }
  }

  @Test func otherTokensNeedNoReading() async throws {
    let tokens = AwaitedTokens()
    try await LiveGateway.with(tokens: tokens) { live in
      _ = try await live.signIn("bob")
      let alice = try await live.connect()
      #expect(try await alice.call("login", #"{"token":"wrong"}"#)["error"]["code"] == 70009)
      #expect(tokens.readings == 0)
    }
  }

  @Test func aConnectionThatGoesMeanwhileLeavesNothing() async throws {
    let tokens = AwaitedTokens()
    try await LiveGateway.with(tokens: tokens) { live in
      let alice = try await live.connect()
      try await alice.send(login)
      try await waitUntil("the reading") { tokens.readings == 1 }
      await alice.cut()
      await live.gateway.waitUntilEmpty()
      try await tokens.endReading(1, withKey: true)
      #expect(await live.remains() == [:])
    }
  }

  // MARK: Renewal

  @Test func aRenewalWaitsForItsReading() async throws {
    let tokens = AwaitedTokens()
    try await LiveGateway.with(tokens: tokens) { live in
      let alice = try await live.signIn("alice")
      try await alice.send(login, ping)
      try await tokens.endReading(1, withKey: true)
      #expect(try await alice.next()["result"]["userID"] == "alice")
      #expect(try await alice.next()["id"] == "p")
    }
  }

  @Test func aSessionThatCannotBeRenewedGoesOn() async throws {
    for tokens in [AwaitedTokens(mayRead: false), AwaitedTokens(hasSet: false, mayRead: false)] {
      try await LiveGateway.with(tokens: tokens) { live in
        let alice = try await live.signIn("alice")
        let error = try await alice.call("login", #"{"token":"new.alice"}"#)["error"]
        #expect(error["code"] == 70009 || error["code"] == 10002)
        #expect(try await alice.call("ping")["result"] != nil)
      }
    }
  }
}
