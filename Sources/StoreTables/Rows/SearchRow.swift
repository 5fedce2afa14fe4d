import GroupModel
import GroupRuntime

/// A group that a search looks at, and the reader's role in it.
public struct SearchedGroup: Sendable {
  public let group: Membership
  public let name: String
  public let isSearchable: Bool
  public let isMemberVisible: Bool
  /// Nil = the reader is no member.
  public let role: Role?

  /// The columns that `init` reads, of `groupRecord AS g` and the reader's `member AS m`.
  public static let columns = "g.groupID, g.type, g.number, g.name, g.isSearchable, g.isMemberVisible, m.role"

  /// Reads `columns`.
  @inlinable public init<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) {
    group = try Membership.read(&reader)
    name = try reader.text()
    isSearchable = try reader.flag()
    isMemberVisible = try reader.flag()
    role = try reader.value()
  }
}

/// The texts of a member that a search compares.
public struct SearchedMember: Sendable {
  public let userID: String
  public let nameCard: String
  public let nickName: String?

  /// Reads userID, nameCard and nickName.
  @inlinable public init<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) {
    userID = try reader.text()
    nameCard = try reader.text()
    nickName = try reader.value()
  }
}

/// A group in which messages are searched, and what a member sees of it.
public struct SearchedHistory: Sendable {
  public let id: GroupID
  public let type: GroupType
  public let isMember: Bool
  public let firstVisible: Int64
  public let earlier: [ClosedRange<Int64>]

  /// Reads a group's groupID and type, whether the reader is a member, firstVisibleSeq and
  /// earlierStays.
  @inlinable public init<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) {
    id = try reader.value()
    type = try reader.value()
    isMember = try reader.flag()
    firstVisible = try reader.integer()
    earlier = try reader.value()
  }
}
