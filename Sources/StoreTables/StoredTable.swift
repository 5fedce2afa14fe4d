import GroupModel
import GroupRuntime

/// A table that all stores in a database have: its name, its columns and its key. `throng migrate`
/// copies these.
public struct StoredTable: Sendable, Equatable {
  public let name: String
  public let columns: [StoredColumn]
  /// The primary key, in whose order rows are read: the first columns.
  public let keyCount: Int

  /// The columns of the primary key.
  public var key: ArraySlice<StoredColumn> { columns.prefix(keyCount) }

  /// A table with everything given.
  public init(_ name: String, key keyCount: Int, _ columns: [StoredColumn]) {
    self.name = name
    self.columns = columns
    self.keyCount = keyCount
  }

  public static func == (a: StoredTable, b: StoredTable) -> Bool { a.name == b.name }

  /// A row as it is read and written: a value for each column.
  public typealias Row = [StoredValue]

  // MARK: Columns that several tables have, and that no codec names

  private static let number = StoredColumn("number", Int64.self)
  private static let groupNumber = StoredColumn("groupNumber", Int64.self)
  private static let seq = StoredColumn("seq", Int64.self)
  private static let userID = StoredColumn("userID", UserID.self)
  /// Of `messageExtras`, for its indexes: they follow from the message.
  private static let sender = StoredColumn("sender", UserID.self)
  private static let countedReplyTo = StoredColumn("countedReplyTo", Int64?.self)
  private static let groupID = StoredColumn("groupID", GroupID.self)
  private static let type = StoredColumn("type", GroupType.self)
  private static let time = StoredColumn("time", WallInstant.self)
  /// The number of the change that began a reaction.
  private static let reaction = StoredColumn("kind", Int64.self)

  // MARK: Tables

  /// All tables, in the order in which they are copied: `member` before `groupRecord`, because a
  /// member that joins a group ends departures from it.
  public static let all = [
    StoredTable("member", key: 2, [number] + Member.columns),
    StoredTable("groupRecord", key: 1, [number] + GroupRecord.columns + GroupRecord.historyColumns),
    StoredTable("groupAttributes", key: 1, [number, StoredColumn("entries", [GroupAttributes.Entry].self)]),
    StoredTable(
      "groupCounter", key: 2,
      [number, StoredColumn("key", String.self), StoredColumn("value", Int64.self, within: .counter)]),
    StoredTable("formerMember", key: 2, [number] + FormerMember.columns + [FormerMember.memorableUntil]),
    StoredTable("message", key: 2, [number] + Message.columns),
    StoredTable("messageChange", key: 2, [number, seq] + MessageChange.columns + ChangeOriginRow.columns),
    StoredTable("messageExtras", key: 2, [number, seq, sender, countedReplyTo] + MessageExtrasRow.columns),
    StoredTable(
      "reaction", key: 3, [number, seq, reaction, StoredColumn("count", Int.self), StoredColumn("reaction", String.self)]),
    // `time` is the number of the change by which the user gave it.
    StoredTable("reactionUser", key: 3, [number, reaction, userID, StoredColumn("time", Int64.self)]),
    StoredTable("goneReaction", key: 2, [number, reaction]),
    StoredTable("receiptMembers", key: 2, [number, seq, StoredColumn("userIDs", [UserID].self)]),
    StoredTable(
      "readReceipt", key: 3, [number, StoredColumn("block", Int64.self), userID, StoredColumn("seqs", SeqBlock.self)]),
    StoredTable("departure", key: 2, [userID, groupID, type, time, groupNumber]),
    StoredTable("dismissedGroup", key: 1, [number, groupID, type, time]),
    StoredTable(
      "application", key: 1,
      [number, groupNumber] + GroupApplication.columns + [GroupApplication.endTime, StoredColumn("isGroupGone", Bool.self)]),
    StoredTable(
      "notification", key: 2,
      [StoredColumn("addressee", String.self), number] + SystemNotification.columns + SystemNotification.profileColumns),
    StoredTable(
      "readMark", key: 1,
      [userID, StoredColumn("applications", WallInstant.self), StoredColumn("notifications", Int64.self)]),
    StoredTable("knownUser", key: 1, [userID, StoredColumn("offlineSince", WallInstant?.self)]),
    StoredTable("userInfo", key: 1, UserInfo.columns + [StoredColumn("customStatus", String.self)]),
    StoredTable("groupOfUser", key: 2, [number, userID]),
    StoredTable("userAccess", key: 1, [userID, number] + UserAccess.columns + [UserAccess.freeTime]),
    StoredTable("userDeletion", key: 1, UserDeletion.columns),
    StoredTable("report", key: 1, [number] + MessageReport.columns),
    webhook,
    StoredTable("webhookFailure", key: 1, [number] + WebhookFailure.columns),
  ]

  /// Tables whose rows go with a disbanded group, besides members, messages and applications.
  public static let ofDisbandedGroups = [
    "messageChange", "messageExtras", "reaction", "reactionUser", "goneReaction", "formerMember", "readReceipt",
    "receiptMembers", "groupOfUser",
  ].map(named)

  /// The table of that name.
  public static func named(_ name: String) -> StoredTable {
    guard let table = all.first(where: { $0.name == name }) else { preconditionFailure("there is no table \(name)") }
    return table
  }

  /// After-events that wait, a row for each.
  public static let webhook = StoredTable("webhook", key: 1, WebhookRow.columns)
}
