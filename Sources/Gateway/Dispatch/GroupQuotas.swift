import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// The limits `limits.groupsPerUser`, `limits.avChatRoomsPerUser` and `limits.avChatRooms`
/// (Protocol.md, "Limits").
///
/// A signed-in user has an upper bound of the number of groups in memory. Below the limit, a
/// request passes without the store; otherwise requests of one scope ask the store one after the
/// other, so that they neither exceed the limit together nor count one another twice.
package final class GroupQuotas: Sendable {
  /// The scope in which a limit counts.
  private enum Scope: Hashable {
    case groups(of: UserID)
    case avChatRooms
    case avChatRoomsOwned(by: UserID)
  }

  /// The number of groups of a user. A class: changing a value in its dictionary would allocate.
  private final class Count {
    /// An upper bound that includes the requests in flight; nil = unknown.
    var upperBound: Int?
    /// Groups that were added while `upperBound` was unknown.
    var added = 0
    /// Unanswered requests that passed without the store.
    var inFlight = 0
    /// The store is asked: no request passes without it.
    var isCounting = false
    /// The counting request, until none is in flight.
    var waiting: CheckedContinuation<Void, Never>?
    var isSignedIn = false

    var isIdle: Bool { inFlight == 0 && !isCounting && !isSignedIn }

    /// The user may be in one more group.
    func add() {
      if upperBound == nil { added += 1 } else { upperBound? += 1 }
    }
  }

  private let groups: any GroupStore
  private let groupsPerUser: Int
  private let avChatRooms: Int
  private let avChatRoomsPerUser: Int
  /// Whether all groups of a user are counted here. On several nodes they are not: the store is asked.
  private let countsAllGroups: Bool
  private let counts = Mutex<[UserID: Count]>([:])
  /// The requests that ask the store, by scope.
  private let turns = TurnQueue<Scope>()

  /// - Parameter countsAllGroups: whether all groups of a user are changed by this process.
  package init(groups: any GroupStore, configuration: GatewayConfiguration, countsAllGroups: Bool = true) {
    self.groups = groups
    self.countsAllGroups = countsAllGroups
    groupsPerUser = configuration.groupsPerUser
    avChatRooms = configuration.avChatRooms
    avChatRoomsPerUser = configuration.avChatRoomsPerUser
  }

  /// Whether the number of a user's groups is limited.
  var limitUsers: Bool { groupsPerUser > 0 }

  // MARK: Signed-in users

  /// A user signs in: groups are counted from now on. `record` follows.
  func startCounting(_ user: UserID) {
    guard limitUsers, countsAllGroups else { return }
    counts.withLock { counts in
      let count = GroupQuotas.count(of: user, in: &counts)
      count.isSignedIn = true
      if count.upperBound == nil { count.added = 0 }
    }
  }

  /// Records the number of groups that the store has read after `startCounting`.
  func record(_ user: UserID, groups: Int) {
    counts.withLock { counts in
      guard let count = counts[user], count.isSignedIn, count.upperBound == nil, !count.isCounting else { return }
      count.upperBound = groups + count.added
    }
  }

  private static func count(of user: UserID, in counts: inout [UserID: Count]) -> Count {
    if let count = counts[user] { return count }
    let count = Count()
    counts[user] = count
    return count
  }

  /// The user's last session has ended.
  func forget(_ user: UserID) {
    counts.withLock { counts in
      guard let count = counts[user] else { return }
      count.isSignedIn = false
      if count.isIdle { counts[user] = nil }
    }
  }

  /// Users were made members by a caller whom the limit does not bind.
  func note(joined users: [UserID]) {
    guard limitUsers else { return }
    counts.withLock { counts in for user in users { counts[user]?.add() } }
  }

  // MARK: Without the store

  /// Begins a request that makes the users members of one more group each.
  /// - Returns: whether all are below the limit; after true, `end` must follow.
  func begin(joining users: [UserID]) -> Bool {
    counts.withLock { counts in
      for user in users {
        guard let count = counts[user], !count.isCounting, let upperBound = count.upperBound, upperBound < groupsPerUser else {
          return false
        }
      }
      for user in users {
        guard let count = counts[user] else { continue }
        count.upperBound? += 1
        count.inFlight += 1
      }
      return true
    }
  }

  /// The request is answered.
  /// - Parameter isMade: whether the users may be members now.
  func end(joining users: [UserID], isMade: Bool) {
    let waiting = counts.withLock { counts in
      var waiting: [CheckedContinuation<Void, Never>] = []
      for user in users {
        guard let count = counts[user] else { continue }
        if !isMade { count.upperBound? -= 1 }
        count.inFlight -= 1
        guard count.inFlight == 0 else { continue }
        if let continuation = count.waiting { waiting.append(continuation) }
        count.waiting = nil
        if count.isIdle { counts[user] = nil }
      }
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  // MARK: With the store

  /// Runs `body`, which makes the users members of one more group each.
  /// - Parameter body: gets the users who are at the limit.
  func within(
    groupsOf users: [UserID], _ body: (Set<UserID>) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard limitUsers, !users.isEmpty else { return try await body([]) }
    if begin(joining: users) {
      var isMade = false
      defer { end(joining: users, isMade: isMade) }
      let reply = try await body([])
      isMade = reply.isSuccess
      return reply
    }
    // In sorted order: two requests for the same users would deadlock otherwise.
    let users = Set(users).sorted()
    for user in users { await turns.acquire(.groups(of: user)) }
    defer { for user in users { turns.release(.groups(of: user)) } }
    for user in users { await beginCounting(user) }
    var found: [UserID: Int] = [:]
    defer { endCounting(users, found) }
    found = try await groups.membershipCounts(of: users, limit: groupsPerUser)
    return try await body(Set(users.filter { found[$0, default: 0] >= groupsPerUser }))
  }

  /// Returns when no request without the store is in flight; none passes from then on.
  private func beginCounting(_ user: UserID) async {
    await withCheckedContinuation { continuation in
      let isIdle = counts.withLock { counts in
        let count = GroupQuotas.count(of: user, in: &counts)
        count.isCounting = true
        count.added = 0
        guard count.inFlight != 0 else { return true }
        count.waiting = continuation
        return false
      }
      if isIdle { continuation.resume() }
    }
  }

  /// - Parameter found: the number of groups of each user before this request; absent where the
  ///   store has failed.
  private func endCounting(_ users: [UserID], _ found: [UserID: Int]) {
    counts.withLock { counts in
      for user in users {
        guard let count = counts[user] else { continue }
        count.isCounting = false
        if let number = found[user] { count.upperBound = number + 1 + count.added }
        if count.isIdle { counts[user] = nil }
      }
    }
  }

  // MARK: AVChatRooms

  /// Whether a limit applies to a new group of that type, for the server or for its owner.
  func limitsCreation(of type: GroupType, by owner: UserID?) -> Bool {
    type == .avChatRoom && (avChatRooms > 0 || owner != nil && avChatRoomsPerUser > 0)
  }

  /// Runs `body`, which creates a group.
  /// - Parameters:
  ///   - owner: the creator, whose own limit applies; nil = an application administrator.
  ///   - body: learns whether a limit is reached.
  func withRoomLimit(
    of type: GroupType, by owner: UserID?, _ body: (_ isAtLimit: Bool) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard type == .avChatRoom, avChatRoomsPerUser > 0, let owner else { return try await withServerRoomLimit(of: type, body) }
    await turns.acquire(.avChatRoomsOwned(by: owner))
    defer { turns.release(.avChatRoomsOwned(by: owner)) }
    let owned = try await groups.ownedCount(of: owner, type: type, limit: avChatRoomsPerUser)
    return try await withServerRoomLimit(of: type) { (isAtLimit) async throws(StoreError) in
      try await body(isAtLimit || owned >= self.avChatRoomsPerUser)
    }
  }

  private func withServerRoomLimit(
    of type: GroupType, _ body: (_ isAtLimit: Bool) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard type == .avChatRoom, avChatRooms > 0 else { return try await body(false) }
    await turns.acquire(.avChatRooms)
    defer { turns.release(.avChatRooms) }
    return try await body(try await groups.groupCounts()[.avChatRoom] ?? 0 >= avChatRooms)
  }

  /// The number of scopes with a request that runs or waits.
  var scopeCount: Int { turns.count }

  /// The number of users with a count.
  var userCount: Int { counts.withLock { $0.count } }
}

extension Reply {
  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
