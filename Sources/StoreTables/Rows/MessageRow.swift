import GroupModel
import GroupRuntime

/// `message` rows, without the group's number.
extension Message: StoredRow {
  public static let columns = describe()
  public static var blank: Message { blank(of: GroupID(allowed: "-")) }
  @inlinable static func blank(of group: GroupID) -> Message {
    Message(
      msgID: "", groupID: group, seq: 0, sender: .administrator, nameCard: "", timestamp: .unset,
      content: .text(""), priority: .normal, clientMsgID: nil, platform: .unknown)
  }

  /// The kind of the content, as on the wire.
  @usableFromInline enum Kind: String, CaseIterable, TextValue {
    case text = "Text"
    case custom = "Custom"
    case tips = "GroupTips"
  }

  @inlinable public static func code<Coder: ColumnCoder>(_ row: inout Message, _ coder: inout Coder) throws(StoreError) {
    // None has the last place: a message without one is found nowhere.
    var (seq, timestamp, sender, kind, isRevoked) = (row.seq ?? .max, row.timestamp, row.sender, Kind.text, row.isRevoked)
    var (isFromManager, needReadReceipt, priority) = (row.isFromManager, row.needReadReceipt, row.priority)
    var (platform, msgID, clientMsgID, nameCard) = (row.platform, row.msgID, row.clientMsgID, row.nameCard)
    var (atUserIDList, text) = (row.atUserIDList, "")
    if !Coder.isReader { (kind, text) = parts(of: row.content) }
    try coder.column("seq", &seq)
    try coder.column("timestamp", &timestamp)
    try coder.column("sender", &sender)
    try coder.column("kind", &kind)
    try coder.column("isRevoked", &isRevoked)
    try coder.column("isFromManager", &isFromManager)
    try coder.column("needReadReceipt", &needReadReceipt)
    try coder.column("priority", &priority)
    try coder.column("platform", &platform)
    try coder.column("msgID", &msgID)
    try coder.column("clientMsgID", &clientMsgID)
    try coder.column("nameCard", &nameCard)
    try coder.column("atUserIDList", &atUserIDList)
    try coder.column("content", &text)
    guard Coder.isReader else { return }
    row = Message(
      msgID: msgID, groupID: row.groupID, seq: seq, sender: sender, nameCard: nameCard, timestamp: timestamp,
      content: content(kind, text), priority: priority, clientMsgID: clientMsgID, atUserIDList: atUserIDList,
      isRevoked: isRevoked, platform: platform, isFromManager: isFromManager, needReadReceipt: needReadReceipt)
  }

  @inlinable static func parts(of content: Content) -> (Kind, String) {
    switch content {
    case .text(let text): (.text, text)
    case .custom(let data): (.custom, data)
    case .tips(let tips): (.tips, tips)
    }
  }

  @inlinable static func content(_ kind: Kind, _ text: String) -> Content {
    switch kind {
    case .text: .text(text)
    case .custom: .custom(text)
    case .tips: .tips(text)
    }
  }
}

/// `messageChange` rows, without their keys: what a message has since it was changed. All are NULL
/// beside a message that was not.
@usableFromInline struct MessageChange: StoredRow {
  @usableFromInline var changeSeq: Int64?
  @usableFromInline var editTime: WallInstant?
  /// The change that pinned the message; 0 = it is not pinned.
  @usableFromInline var pinned: Int64?

  @usableFromInline static let columns = describe()
  @inlinable static var blank: MessageChange { MessageChange() }

  @usableFromInline init() {}

  @inlinable static func code<Coder: ColumnCoder>(_ row: inout MessageChange, _ coder: inout Coder) throws(StoreError) {
    try coder.column("changeSeq", &row.changeSeq)
    try coder.column("editTime", &row.editTime)
    try coder.column("pinned", &row.pinned)
  }
}

extension Message {
  /// The columns that `read(of:_:)` reads, of `source`.
  public static let allColumns = columns.names(of: "m") + ", " + MessageChange.columns.names(of: "c")
  /// Messages with what has changed since.
  public static let source = "message AS m LEFT JOIN messageChange AS c ON c.number = m.number AND c.seq = m.seq"

  /// A message as it is now.
  @inlinable public static func read<Reader: ColumnReader>(
    of group: GroupID, _ reader: inout Reader
  ) throws(StoreError) -> Message {
    var message = blank(of: group)
    try code(&message, &reader)
    let change = try MessageChange.read(&reader)
    if let changeSeq = change.changeSeq {
      message.changeSeq = changeSeq
      message.editTime = change.editTime ?? .unset
      message.isPinned = change.pinned ?? 0 > 0
    }
    return message
  }
}

extension SentMessage {
  /// The columns that `read` reads, of `message` rows with a clientMsgID.
  public static let columnNames = "seq, timestamp, sender, msgID, clientMsgID"

  /// Reads `columnNames`.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> SentMessage {
    let (seq, timestamp) = (try reader.integer(), try reader.instant())
    let (sender, msgID) = (try reader.value(UserID.self), try reader.text())
    return SentMessage(sender: sender, clientMsgID: try reader.text(), msgID: msgID, seq: seq, timestamp: timestamp)
  }
}

extension StoredReaction {
  /// Reads the columns kind, reaction and count of a `reaction`, and whether its reader gives it.
  @inlinable public static func read<Reader: ColumnReader>(_ reader: inout Reader) throws(StoreError) -> StoredReaction {
    let (number, reaction) = (try reader.integer(), try reader.text())
    return StoredReaction(number: number, reaction: reaction, count: try reader.value(), isByReader: try reader.flag())
  }
}
