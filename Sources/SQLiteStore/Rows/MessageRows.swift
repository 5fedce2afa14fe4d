import GRDB
import GroupModel
import GroupRuntime

/// `message` rows.
enum MessageRows {
  /// The kind of the content, as on the wire.
  private enum Kind: String {
    case text = "Text"
    case custom = "Custom"
    case tips = "GroupTips"
  }

  private static let appendedColumns =
    "seq, timestamp, sender, kind, isRevoked, isFromManager, priority, platform, msgID, clientMsgID, nameCard, atUserIDList, content"
  private static let columns = appendedColumns + ", needReadReceipt"

  /// The columns that `message(of:_:)` reads, of `source`.
  static let allColumns =
    columns.split(separator: ", ").map { "m.\($0)" }.joined(separator: ", ") + ", c.changeSeq, c.editTime, c.pinned"
  static let source = "message AS m LEFT JOIN messageChange AS c ON c.number = m.number AND c.seq = m.seq"

  // The message before must exist, because `seq` has no gap (Protocol.md, "Sending"), unless
  // retention has removed it: the number is NULL otherwise, and no row is added. The check is free:
  // the page is read anyway. An INSERT from a SELECT of its own table would use a temporary one.
  private static func appendSQL(_ moreColumns: String = "", _ moreValues: String = "") -> String {
    """
    INSERT OR IGNORE INTO message (number, \(appendedColumns)\(moreColumns)) VALUES (
    (SELECT number FROM groupRecord AS g WHERE groupID = ?
    AND (EXISTS (SELECT 1 FROM message AS m WHERE m.number = g.number AND m.seq = ? - 1) OR g.firstSeq = ?)),
    ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?\(moreValues))
    """
  }
  private static let appendPlainSQL = appendSQL()
  private static let appendWithReceiptsSQL = appendSQL(", needReadReceipt", ", 1")
  private static let reviseSQL = """
    UPDATE message SET kind = ?, isRevoked = ?, content = ?
    WHERE number = (SELECT number FROM groupRecord WHERE groupID = ?) AND seq = ? AND msgID = ?
    """

  static func append(_ message: Message, in db: Database) throws {
    guard let seq = message.seq else { throw StoreError(.inconsistent, "message \(message.msgID) has no seq") }
    let (kind, content) = parts(of: message.content)
    let mentions = try jsonColumn(message.atUserIDList)
    let appended = try db.run(message.needReadReceipt ? appendWithReceiptsSQL : appendPlainSQL) { binding in
      binding.append(message.groupID.rawValue)
      binding.append(seq)
      binding.append(seq)
      binding.append(seq)
      binding.append(message.timestamp)
      binding.append(message.sender.rawValue)
      binding.append(kind.rawValue)
      binding.append(message.isRevoked)
      binding.append(message.isFromManager)
      binding.append(message.priority.rawValue)
      binding.append(message.platform.rawValue)
      binding.append(message.msgID)
      binding.append(message.clientMsgID)
      binding.append(message.nameCard)
      binding.append(mentions)
      binding.append(content)
    }
    guard appended == 1 else { throw StoreError(.inconsistent, "seq \(seq) is not the next of a group \(message.groupID)") }
  }

  static func revise(_ message: Message, in db: Database) throws {
    let (kind, content) = parts(of: message.content)
    let revised = try db.run(
      reviseSQL,
      [kind.rawValue, message.isRevoked, content.column, message.groupID.rawValue, message.seq, message.msgID.column])
    guard try revised == 1 || isRemoved(message.seq ?? .max, of: message.groupID, db) else {
      throw StoreError(.inconsistent, "no message \(message.msgID) at seq \(message.seq ?? 0) of \(message.groupID)")
    }
    if message.changeSeq > 0 { try MessageChangeRows.put(message, in: db) }
  }

  /// Retention may remove a message between the decision to change it and its commit.
  static func isRemoved(_ seq: Int64, of group: GroupID, _ db: Database) throws -> Bool {
    try db.finds("SELECT 1 FROM groupRecord WHERE groupID = ? AND firstSeq > ?") { binding in
      binding.append(group.rawValue)
      binding.append(seq)
    }
  }

  static func message(of group: GroupID, _ row: inout RowReader) throws -> Message {
    let seq = try row.integer()
    let timestamp = try row.instant()
    let sender = try row.value(UserID.init(stored:))
    let kind = try row.value(Kind.init)
    let isRevoked = try row.flag()
    let isFromManager = try row.flag()
    let priority = try row.value(Priority.init)
    let platform = try row.value(Platform.init(rawValue:))
    let msgID = try row.text()
    let clientMsgID = try row.optionalText()
    let nameCard = try row.text()
    let atUserIDList: [String] = try row.json(else: [])
    let content = content(kind, try row.text())
    var message = Message(
      msgID: msgID, groupID: group, seq: seq, sender: sender, nameCard: nameCard, timestamp: timestamp,
      content: content, priority: priority, clientMsgID: clientMsgID, atUserIDList: atUserIDList,
      isRevoked: isRevoked, platform: platform, isFromManager: isFromManager, needReadReceipt: try row.flag())
    if let changeSeq = try row.optionalInteger() {
      message.changeSeq = changeSeq
      message.editTime = try row.instant()
      message.isPinned = try row.flag()
    }
    return message
  }

  private static func parts(of content: Message.Content) -> (Kind, String) {
    switch content {
    case .text(let text): (.text, text)
    case .custom(let data): (.custom, data)
    case .tips(let tips): (.tips, tips)
    }
  }

  private static func content(_ kind: Kind, _ text: String) -> Message.Content {
    switch kind {
    case .text: .text(text)
    case .custom: .custom(text)
    case .tips: .tips(text)
    }
  }
}
