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
  private let firstVisible: Int64
  private let earlier: [ClosedRange<Int64>]
  private let cleared: Int64
  private let policy: HistoryVisibility
  /// What some of its messages have.
  public let features: MessageFeatures

  /// The columns that `init` reads, of `groupRecord AS g` and the reader's `member AS m`.
  public static let columns = """
    g.groupID, g.type, m.userID IS NOT NULL, coalesce(m.firstVisibleSeq, 1), m.earlierStays, coalesce(m.clearedSeq, 0), \
    g.historyVisibility, g.messageFeatures
    """

  /// Reads `columns`.
  public init<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) {
    id = try reader.value()
    let type = try reader.value(GroupType.self)
    self.type = type
    isMember = try reader.flag()
    firstVisible = try reader.integer()
    earlier = try reader.value()
    cleared = try reader.integer()
    policy = try reader.value(HistoryVisibility?.self) ?? type.defaultHistoryVisibility
    features = try reader.value()
  }

  /// The messages that the reader may see.
  /// - Parameters:
  ///   - reader: nil = an application administrator.
  ///   - newest: the group's newest message.
  public func visibility(for reader: UserID?, newest: Int64) -> Visibility {
    guard let reader else { return Visibility(ofApplicationThrough: newest) }
    return Visibility(
      of: reader, from: firstVisible, earlier: earlier, clearedThrough: cleared, through: newest, under: policy)
  }
}
