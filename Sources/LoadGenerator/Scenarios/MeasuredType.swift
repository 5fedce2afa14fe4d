import GroupModel

/// A type of group that can be measured: one that a client may create.
public struct MeasuredType: Sendable, Hashable {
  let groupType: GroupType

  /// The type of that name (contract section 3), or nil; BChatRoom is the administrator's to create.
  public init?(_ name: String) {
    guard let type = GroupType(wireName: name), type != .bChatRoom else { return nil }
    groupType = type
  }

  private init(_ groupType: GroupType) { self.groupType = groupType }

  /// The live room.
  public static let avChatRoom = MeasuredType(.avChatRoom)
  /// The public group, which keeps its messages.
  public static let `public` = MeasuredType(.public)

  /// Its messages are kept.
  public var storesMessages: Bool { groupType.storesMessages }
  /// Its owner may disband it (contract section 3).
  public var canBeDisbanded: Bool { groupType != .work }
  /// Its name on the wire.
  public var name: String { groupType.rawValue }
  /// All of them.
  public static var all: [MeasuredType] { GroupType.allCases.compactMap { MeasuredType($0.rawValue) } }
}
