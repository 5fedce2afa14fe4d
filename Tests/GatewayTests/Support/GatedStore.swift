import GroupModel
import GroupRuntime
import Synchronization
import ThrongTestKit

/// The store in memory, whose answers about memberships, which a sign-in waits for, and about blocks,
/// which a renewal waits for, can be held back or made to fail. The loading of groups can be held back
/// too, and is counted.
final class GatedStore: GroupStore, AccessStore, Sendable {
  private struct State {
    var isHeld = false
    var holdsLoads = false
    var loads = 0
    var holdsCounts = false
    var counts = 0
    var askedFor: UserID?
    var failure: StoreError?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  let inner = InMemoryStore()
  private let state = Mutex(State())

  /// From now on who asks waits.
  func hold() { state.withLock { $0.isHeld = true } }

  /// The same for who loads a group, too.
  func holdLoads() { state.withLock { ($0.isHeld, $0.holdsLoads) = (true, true) } }

  /// From now on who asks in how many groups somebody is waits.
  func holdCounts() { state.withLock { ($0.isHeld, $0.holdsCounts) = (true, true) } }

  /// How many times that was asked.
  var counts: Int { state.withLock { $0.counts } }

  /// How many wait.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// How many times a group was asked for.
  var loads: Int { state.withLock { $0.loads } }

  /// For whom memberships were asked for last; nil = for the server itself.
  var askedFor: UserID? { state.withLock { $0.askedFor } }

  /// Answers all waiting calls, and lets later ones pass. A failure is the answer from now on.
  func release(failing failure: StoreError? = nil) {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      (state.isHeld, state.holdsLoads, state.holdsCounts) = (false, false, false)
      state.failure = failure
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when a call waits.
  func arrival() async throws { try await waitUntil("a call waits for the store") { waitingCount > 0 } }

  private func pass() async {
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        if state.isHeld { state.waiting.append(continuation) }
        return !state.isHeld
      }
      if passes { continuation.resume() }
    }
  }

  func memberships(of user: UserID) async throws(StoreError) -> [Membership] {
    try await beAsked()
    return try await inner.memberships(of: user)
  }

  private func beAsked() async throws(StoreError) {
    state.withLock { $0.askedFor = Requester.current?.userID }
    await pass()
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int] {
    let isHeld = state.withLock { state in
      state.counts += 1
      return state.holdsCounts
    }
    if isHeld { await pass() }
    if let failure = state.withLock({ $0.failure }) { throw failure }
    return try await inner.membershipCounts(of: users, limit: limit)
  }

  func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int {
    try await inner.ownedCount(of: user, type: type, limit: limit)
  }

  func commit(_ commit: Commit) { inner.commit(commit) }

  func group(
    _ id: GroupID, sentSince: WallInstant, at now: WallInstant, mostFormer: Int
  ) async throws(StoreError) -> StoredGroup? {
    let isHeld = state.withLock { state in
      state.loads += 1
      return state.holdsLoads
    }
    if isHeld { await pass() }
    return try await inner.group(id, sentSince: sentSince, at: now, mostFormer: mostFormer)
  }

  func departures(
    of user: UserID, type: GroupType?, since: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    try await inner.departures(of: user, type: type, since: since, after: after, limit: limit)
  }

  func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    try await beAsked()
    return try await inner.listedMemberships(of: user, type: type, changedSince: changedSince, after: after, limit: limit)
  }

  func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord {
    // Read before the wait: a change meanwhile is not in it.
    let read = try await inner.signInRecord(of: user)
    return SignInRecord(
      memberships: try await memberships(of: user), offlineSince: try await inner.offlineSince(of: user), profile: read.profile,
      access: read.access, hasDeletion: read.hasDeletion)
  }

  func access(of user: UserID) async throws(StoreError) -> UserAccess {
    // Read before the wait, too.
    let access = try await inner.access(of: user)
    try await beAsked()
    return access
  }

  func blockedUsers(after number: Int64, at now: WallInstant, limit: Int) async throws(StoreError) -> BlockedPage? {
    try await inner.blockedUsers(after: number, at: now, limit: limit)
  }

  func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page {
    try await inner.search(query, after: after, limit: limit)
  }

  func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    try await inner.groups(ofType: type, after: after, limit: limit)
  }

  func groupCounts() async throws(StoreError) -> [GroupType: Int] { try await inner.groupCounts() }

  func stamps(of groups: [GroupID]) async throws(StoreError) -> [GroupID: GroupStamp] { try await inner.stamps(of: groups) }

  func recentMembers(since instant: WallInstant, limit: Int) async throws(StoreError) -> [(GroupID, UserID)] {
    try await inner.recentMembers(since: instant, limit: limit)
  }
}
