import GroupModel
import GroupRuntime
import Synchronization
import ThrongTestKit

/// The users of a store in memory, whose answers about statuses can be held back or made to fail.
final class GatedUsers: UserStore, Sendable {
  private struct State {
    var isHeld = false
    var failure: StoreError?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let inner: InMemoryStore
  private let state = Mutex(State())

  init(_ inner: InMemoryStore) { self.inner = inner }

  /// From now on who asks for statuses waits, with the answer of that moment.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Answers all waiting calls, and lets later ones pass.
  func release() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isHeld = false
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// From now on this is the answer; nil = the store's own.
  func fail(with failure: StoreError?) { state.withLock { $0.failure = failure } }

  /// Returns when a call waits.
  func arrival() async throws {
    try await waitUntil("statuses are asked for") { state.withLock { !$0.waiting.isEmpty } }
  }

  func statuses(of users: [UserID]) async throws(StoreError) -> [StoredStatus] {
    let found = try await inner.statuses(of: users)
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        if state.isHeld { state.waiting.append(continuation) }
        return !state.isHeld
      }
      if passes { continuation.resume() }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return found
  }

  func remember(_ users: [UserID]) { inner.remember(users) }
  func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> { try await inner.known(among: users) }
  func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile] { try await inner.profiles(of: users) }
  func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo] { try await inner.infos(of: users) }
  func knownCount() async throws(StoreError) -> Int { try await inner.knownCount() }
  func notePresence(of user: UserID, offlineSince: WallInstant?) { inner.notePresence(of: user, offlineSince: offlineSince) }
  func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? { try await inner.offlineSince(of: user) }
}
