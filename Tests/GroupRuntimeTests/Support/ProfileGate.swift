import GroupModel
import GroupRuntime
import Synchronization
import ThrongTestKit

/// Profiles whose reading is counted, fails or waits when told to. Who waits has read already, so
/// what it gets may be out of date.
final class ProfileGate: UserStore {
  private struct State {
    var profiles: [UserID: UserProfile] = [:]
    var reads: [[UserID]] = []
    var failure: StoreError?
    var isHeld = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// The users of each query.
  var reads: [[UserID]] { state.withLock { $0.reads } }
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  func set(_ profile: UserProfile?, of user: UserID) { state.withLock { $0.profiles[user] = profile } }
  func fail(with failure: StoreError?) { state.withLock { $0.failure = failure } }
  /// From now on readings wait.
  func hold() { state.withLock { $0.isHeld = true } }

  /// Returns when as many readings wait.
  func arrival(_ count: Int) async throws {
    try await waitUntil("\(count) readings wait") { waitingCount >= count }
  }

  /// The reading that has come last goes on.
  func releaseLast() { state.withLock { $0.waiting.popLast() }?.resume() }

  /// The waiting reads continue, and no later one waits.
  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile] {
    let found = state.withLock { state in
      state.reads.append(users)
      return state.profiles.filter { users.contains($0.key) }
    }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let passes = state.withLock { state in
        if state.isHeld { state.waiting.append(continuation) }
        return !state.isHeld
      }
      if passes { continuation.resume() }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return found
  }

  func remember(_ users: [UserID]) {}
  func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> { Set(users) }
  func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo] { [] }
  func statuses(of users: [UserID]) async throws(StoreError) -> [StoredStatus] { [] }
  func knownCount() async throws(StoreError) -> Int { 0 }
  func notePresence(of user: UserID, offlineSince: WallInstant?) {}
  func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? { nil }
}
