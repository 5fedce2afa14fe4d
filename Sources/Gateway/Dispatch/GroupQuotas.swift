import DequeModule
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// How many groups one user may be in, how many AVChatRooms one may own, and how many there may be (`limits.groupsPerUser`,
/// `limits.avChatRoomsPerUser`, `limits.avChatRooms`).
///
/// Of users who are signed in it is remembered how many groups they are in at most; while that is below the limit, a request passes
/// without the store. Otherwise the store is asked. Those who want one more of the same stand in a line then, so that requests that
/// come at once can neither pass the limit together nor count one another twice.
final class GroupQuotas: Sendable {
  /// What a limit is counted over.
  private enum Scope: Hashable {
    case groups(of: UserID)
    case avChatRooms
    case avChatRoomsOwned(by: UserID)
  }

  /// The groups of a user. A class, because changing a value where it stands in a dictionary allocates each time.
  private final class Count {
    /// Not fewer than there are, those included that requests under way may make; nil = not known.
    var most: Int?
    /// Those that came while `most` was not known.
    var unseen = 0
    /// Requests that have passed without the store and are not answered yet.
    var underWay = 0
    /// The store is asked: nobody passes without it.
    var isCounting = false
    /// Whoever counts, until nothing is under way.
    var waiting: CheckedContinuation<Void, Never>?
    /// The user is signed in.
    var isKept = false

    var isIdle: Bool { underWay == 0 && !isCounting && !isKept }

    /// The user may be in one more group.
    func add() {
      if most == nil { unseen += 1 } else { most? += 1 }
    }
  }

  private let groups: any GroupStore
  private let groupsPerUser: Int
  private let avChatRooms: Int
  private let avChatRoomsPerUser: Int
  private let counts = Mutex<[UserID: Count]>([:])
  /// Who waits behind the one whose turn it is; a scope without anybody has no line.
  private let lines = Mutex<[Scope: Deque<CheckedContinuation<Void, Never>>]>([:])

  init(groups: any GroupStore, configuration: GatewayConfiguration) {
    self.groups = groups
    groupsPerUser = configuration.groupsPerUser
    avChatRooms = configuration.avChatRooms
    avChatRoomsPerUser = configuration.avChatRoomsPerUser
  }

  /// Whether the number of a user's groups is limited.
  var limitUsers: Bool { groupsPerUser > 0 }

  // MARK: What is remembered

  /// A user signs in: from now on what comes is noted. To be followed by `learn`.
  func watch(_ user: UserID) {
    guard limitUsers else { return }
    counts.withLock { counts in
      let count = GroupQuotas.count(of: user, in: &counts)
      count.isKept = true
      if count.most == nil { count.unseen = 0 }
    }
  }

  /// In how many groups a user was some time after `watch`.
  func learn(_ user: UserID, groups: Int) {
    counts.withLock { counts in
      guard let count = counts[user], count.isKept, count.most == nil, !count.isCounting else { return }
      count.most = groups + count.unseen
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
      count.isKept = false
      if count.isIdle { counts[user] = nil }
    }
  }

  /// Users were made members by somebody who is not bound by their number.
  func note(joined users: [UserID]) {
    guard limitUsers else { return }
    counts.withLock { counts in for user in users { counts[user]?.add() } }
  }

  // MARK: Passing without the store

  /// Lets a request pass that makes the users members of one more group each, where each is known to have room for it. True is
  /// followed by `end`.
  func begin(joining users: [UserID]) -> Bool {
    counts.withLock { counts in
      for user in users {
        guard let count = counts[user], !count.isCounting, let most = count.most, most < groupsPerUser else { return false }
      }
      for user in users {
        guard let count = counts[user] else { continue }
        count.most? += 1
        count.underWay += 1
      }
      return true
    }
  }

  /// A request that has passed is answered.
  /// - Parameter isMade: the users may be members now.
  func end(joining users: [UserID], isMade: Bool) {
    let waiting = counts.withLock { counts in
      var waiting: [CheckedContinuation<Void, Never>] = []
      for user in users {
        guard let count = counts[user] else { continue }
        if !isMade { count.most? -= 1 }
        count.underWay -= 1
        guard count.underWay == 0 else { continue }
        if let continuation = count.waiting { waiting.append(continuation) }
        count.waiting = nil
        if count.isIdle { counts[user] = nil }
      }
      return waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  // MARK: Asking the store

  /// Runs `body`, which makes the users members of one more group each. It is told who is in as many as one may be.
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
    // In one order for all, or two who want the same users would wait for one another.
    let users = Set(users).sorted()
    for user in users { await enter(.groups(of: user)) }
    defer { for user in users { leave(.groups(of: user)) } }
    for user in users { await beginCounting(user) }
    var found: [UserID: Int] = [:]
    defer { endCounting(users, found) }
    found = try await groups.membershipCounts(of: users, limit: groupsPerUser)
    return try await body(Set(users.filter { found[$0, default: 0] >= groupsPerUser }))
  }

  /// Returns when nothing is under way that passed without the store, and nothing more passes.
  private func beginCounting(_ user: UserID) async {
    await withCheckedContinuation { continuation in
      let isAlone = counts.withLock { counts in
        let count = GroupQuotas.count(of: user, in: &counts)
        count.isCounting = true
        count.unseen = 0
        guard count.underWay != 0 else { return true }
        count.waiting = continuation
        return false
      }
      if isAlone { continuation.resume() }
    }
  }

  /// - Parameter found: in how many groups the users were, before one more was made; without it, what was known stands.
  private func endCounting(_ users: [UserID], _ found: [UserID: Int]) {
    counts.withLock { counts in
      for user in users {
        guard let count = counts[user] else { continue }
        count.isCounting = false
        if let number = found[user] { count.most = number + 1 + count.unseen }
        if count.isIdle { counts[user] = nil }
      }
    }
  }

  // MARK: AVChatRooms

  /// Whether the number of groups of a type is limited, that of all, or that of a user who makes one.
  func limit(_ type: GroupType, by owner: UserID?) -> Bool {
    type == .avChatRoom && (avChatRooms > 0 || owner != nil && avChatRoomsPerUser > 0)
  }

  /// Runs `body`, which makes one more group of a type. It is told whether there are as many as there may be.
  /// - Parameter owner: who makes it, and may own so many; nil = an application administrator.
  func within(
    _ type: GroupType, by owner: UserID?, _ body: (_ isAtLimit: Bool) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard type == .avChatRoom, avChatRoomsPerUser > 0, let owner else { return try await within(type, body) }
    await enter(.avChatRoomsOwned(by: owner))
    defer { leave(.avChatRoomsOwned(by: owner)) }
    let owned = try await groups.ownedCount(of: owner, type: type, limit: avChatRoomsPerUser)
    return try await within(type) { (isAtLimit) async throws(StoreError) in
      try await body(isAtLimit || owned >= self.avChatRoomsPerUser)
    }
  }

  private func within(
    _ type: GroupType, _ body: (_ isAtLimit: Bool) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard type == .avChatRoom, avChatRooms > 0 else { return try await body(false) }
    await enter(.avChatRooms)
    defer { leave(.avChatRooms) }
    return try await body(try await groups.groupCounts()[.avChatRoom] ?? 0 >= avChatRooms)
  }

  // MARK: Lines

  /// Returns when it is the caller's turn.
  private func enter(_ scope: Scope) async {
    await withCheckedContinuation { continuation in
      let isFirst = lines.withLock { lines in
        guard lines[scope] != nil else {
          lines[scope] = []
          return true
        }
        lines[scope]?.append(continuation)
        return false
      }
      if isFirst { continuation.resume() }
    }
  }

  private func leave(_ scope: Scope) {
    let next = lines.withLock { lines in
      let next = lines[scope]?.popFirst()
      if next == nil { lines[scope] = nil }
      return next
    }
    next?.resume()
  }

  /// In how many lines somebody stands or is served.
  var lineCount: Int { lines.withLock { $0.count } }

  /// Of how many users something is remembered.
  var userCount: Int { counts.withLock { $0.count } }
}

extension Result {
  var isSuccess: Bool {
    if case .success = self { true } else { false }
  }
}
