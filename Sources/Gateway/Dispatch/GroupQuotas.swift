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

  /// Whether one more group of the type is limited by anything.
  func apply(to type: GroupType) -> Bool { type == .avChatRoom ? avChatRooms > 0 : groupsPerUser > 0 && type.isListed }

  /// Runs `body`, which makes the user a member of one more group, unless that is one too many: 10036 or 10037.
  func within(
    _ type: GroupType, of user: UserID, _ body: () async throws(StoreError) -> Reply
  ) async throws(StoreError) -> Reply {
    guard apply(to: type) else { return try await body() }
    let scope: Scope = type == .avChatRoom ? .avChatRooms : .groups(of: user)
    await enter(scope)
    defer { leave(scope) }
    switch scope {
    case .avChatRooms:
      guard try await groups.groupCounts()[.avChatRoom] ?? 0 < avChatRooms else { return .error(.tooManyAVChatRooms) }
    case .groups(let user):
      let existing = try await groups.memberships(of: user).count { $0.type.isListed }
      guard existing < groupsPerUser else { return .error(.tooManyGroups) }
    }
    return try await body()
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
