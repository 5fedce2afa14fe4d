import GroupRuntime

/// Why sessions of a group lose touch though their node goes on (Protocol.md, "Close codes").
enum FollowLoss: Sendable, Hashable, CaseIterable {
  /// Nobody has said for too long whether something is missing.
  case late
  /// The group, or its members on this node, are not there any more.
  case gone
  /// Too much waits for a replay.
  case overflow
  /// A user was made a member in the owner's last moments.
  case expected
  /// A session was attached while events of its group were missing.
  case unplaced
  case replay(GroupReplay.Reason)

  /// A store that fails is asked again, until it is too late.
  static let allCases: [FollowLoss] =
    [.late, .gone, .overflow, .expected, .unplaced]
    + GroupReplay.Reason.allCases.filter { $0 != .storeFailed }.map { FollowLoss.replay($0) }

  /// For metrics and logs.
  var name: String {
    switch self {
    case .late: "late"
    case .gone: "gone"
    case .overflow: "overflow"
    case .expected: "expected"
    case .unplaced: "unplaced"
    case .replay(let reason): reason.rawValue
    }
  }
}
