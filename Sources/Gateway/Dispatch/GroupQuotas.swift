import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// How many groups one user may be in, and how many AVChatRooms there may be (`limits.groupsPerUser`, `limits.avChatRooms`).
///
/// The store is asked how many there are, and what is still under way is counted here, so that requests that come at once cannot pass the limit
/// together.
final class GroupQuotas: Sendable {
  private struct UnderWay {
    var groups: [UserID: Int] = [:]
    var rooms = 0
  }

  private let groups: any GroupStore
  private let groupsPerUser: Int
  private let avChatRooms: Int
  private let underWay = Mutex(UnderWay())

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
    underWay.withLock { type == .avChatRoom ? $0.rooms += 1 : ($0.groups[user, default: 0] += 1) }
    defer { leave(type, of: user) }
    if type == .avChatRoom {
      let existing = try await groups.groupCounts()[.avChatRoom] ?? 0
      guard existing + underWay.withLock({ $0.rooms }) <= avChatRooms else { return .error(.tooManyAVChatRooms) }
    } else {
      let existing = try await groups.memberships(of: user).filter { $0.type.isListed }.count
      guard existing + underWay.withLock({ $0.groups[user] ?? 0 }) <= groupsPerUser else { return .error(.tooManyGroups) }
    }
    return try await body()
  }

  private func leave(_ type: GroupType, of user: UserID) {
    underWay.withLock { underWay in
      guard type != .avChatRoom else { return underWay.rooms -= 1 }
      let count = underWay.groups[user, default: 1] - 1
      underWay.groups[user] = count > 0 ? count : nil
    }
  }
}
