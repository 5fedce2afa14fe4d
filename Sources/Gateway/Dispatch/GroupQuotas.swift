import DequeModule
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// How many groups one user may be in, and how many AVChatRooms there may be (`limits.groupsPerUser`, `limits.avChatRooms`).
///
/// The store is asked how many there are. Those who want one more of the same stand in a line, so that requests that come at once
/// can neither pass the limit together nor count one another twice.
final class GroupQuotas: Sendable {
  /// What a limit is counted over.
  private enum Scope: Hashable {
    case groups(of: UserID)
    case avChatRooms
  }

  private let groups: any GroupStore
  private let groupsPerUser: Int
  private let avChatRooms: Int
  /// Who waits behind the one whose turn it is; a scope without anybody has no line.
  private let lines = Mutex<[Scope: Deque<CheckedContinuation<Void, Never>>]>([:])

  init(groups: any GroupStore, configuration: GatewayConfiguration) {
    self.groups = groups
    groupsPerUser = configuration.groupsPerUser
    avChatRooms = configuration.avChatRooms
  }

  /// Whether the number of a user's groups is limited.
  var limitUsers: Bool { groupsPerUser > 0 }

  /// Whether the number of groups of a type is limited.
  func limit(_ type: GroupType) -> Bool { type == .avChatRoom && avChatRooms > 0 }

  /// Runs `body`, which makes the users members of one more group each. It is told who is in as many as one may be.
  func within(
    groupsOf users: [UserID], _ body: (Set<UserID>) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard limitUsers else { return try await body([]) }
    // In one order for all, or two who want the same users would wait for one another.
    let scopes = Set(users).sorted().map { Scope.groups(of: $0) }
    for scope in scopes { await enter(scope) }
    defer { for scope in scopes { leave(scope) } }
    var atLimit: Set<UserID> = []
    for user in users where try await groups.memberships(of: user).count(where: { $0.type.isListed }) >= groupsPerUser {
      atLimit.insert(user)
    }
    return try await body(atLimit)
  }

  /// Runs `body`, which makes one more group of a type. It is told whether there are as many as there may be.
  func within(
    _ type: GroupType, _ body: (_ isAtLimit: Bool) async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard limit(type) else { return try await body(false) }
    await enter(.avChatRooms)
    defer { leave(.avChatRooms) }
    return try await body(try await groups.groupCounts()[.avChatRoom] ?? 0 >= avChatRooms)
  }

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
}
