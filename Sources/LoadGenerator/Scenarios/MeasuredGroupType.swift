import GroupModel

/// A type of group that a client may create.
public struct MeasuredGroupType: Sendable, Hashable {
  let groupType: GroupType

  /// The type of that name; nil: unknown, or BChatRoom, which only the application creates
  /// (Protocol.md, "Group types").
  public init?(_ name: String) {
    guard let type = GroupType(wireName: name), type != .bChatRoom else { return nil }
    groupType = type
  }

  private init(_ groupType: GroupType) { self.groupType = groupType }

  /// AVChatRoom.
  public static let avChatRoom = MeasuredGroupType(.avChatRoom)
  /// Public.
  public static let `public` = MeasuredGroupType(.public)

  /// The server stores its messages.
  public var storesMessages: Bool { groupType.storesMessages }
  /// Its owner may dismiss it (Permissions.md, "Tables").
  public var canBeDisbanded: Bool { groupType != .work }
  /// Its name on the wire.
  public var name: String { groupType.rawValue }
  /// All of them.
  public static var all: [MeasuredGroupType] { GroupType.allCases.compactMap { MeasuredGroupType($0.rawValue) } }
}
