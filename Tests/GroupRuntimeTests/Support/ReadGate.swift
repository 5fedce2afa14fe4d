import GroupModel
import GroupRuntime
import Synchronization
import ThrongTestKit

/// A store whose reading of groups fails or waits when told to.
final class ReadGate: GroupStore {
  private struct State {
    var failure: StoreError?
    var isHeld = false
    var waiting: [CheckedContinuation<Void, Never>] = []
    var reads = 0
    var requesters: [Requester?] = []
    var mostFormer: Int?
  }

  private let store: InMemoryStore
  private let state = Mutex(State())

  init(_ store: InMemoryStore) { self.store = store }

  /// How often a group was asked for.
  var reads: Int { state.withLock { $0.reads } }

  /// The requester of each; nil = the server itself.
  var requesters: [Requester?] { state.withLock { $0.requesters } }

  /// How many former members were asked for last.
  var mostFormer: Int? { state.withLock { $0.mostFormer } }

  func fail(with failure: StoreError?) { state.withLock { $0.failure = failure } }

  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func group(
    _ id: GroupID, sentSince: WallInstant, at now: WallInstant, mostFormer: Int
  ) async throws(StoreError) -> StoredGroup? {
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        state.reads += 1
        state.requesters.append(Requester.current)
        state.mostFormer = mostFormer
        if state.isHeld { state.waiting.append(continuation) }
        return !state.isHeld
      }
      if passes { continuation.resume() }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return try await store.group(id, sentSince: sentSince, at: now, mostFormer: mostFormer)
  }

  func commit(_ commit: Commit) { store.commit(commit) }
  func memberships(of user: UserID) async throws(StoreError) -> [Membership] { try await store.memberships(of: user) }
  func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int] {
    try await store.membershipCounts(of: users, limit: limit)
  }
  func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int {
    try await store.ownedCount(of: user, type: type, limit: limit)
  }
  func departures(
    of user: UserID, type: GroupType?, since: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    try await store.departures(of: user, type: type, since: since, after: after, limit: limit)
  }
  func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    try await store.listedMemberships(of: user, type: type, changedSince: changedSince, after: after, limit: limit)
  }
  func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord { try await store.signInRecord(of: user) }
  func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page {
    try await store.search(query, after: after, limit: limit)
  }
  func groupCounts() async throws(StoreError) -> [GroupType: Int] { try await store.groupCounts() }
  func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    try await store.groups(ofType: type, after: after, limit: limit)
  }
  func stamps(of groups: [GroupID]) async throws(StoreError) -> [GroupID: GroupStamp] { try await store.stamps(of: groups) }
  func recentMembers(since instant: WallInstant, limit: Int) async throws(StoreError) -> [(GroupID, UserID)] {
    try await store.recentMembers(since: instant, limit: limit)
  }
}
