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

/// The other columns of `messageChange`: how a message was changed the last time. All are NULL where no
/// node of a cluster has changed it.
public struct ChangeOriginRow: StoredRow {
  /// The change that the columns are of; the last one may be later.
  @usableFromInline var originSeq: Int64?
  /// The last change of another kind before it; 0 = there was none.
  @usableFromInline var otherSeq: Int64?
  @usableFromInline var kind: ChangeOrigin.Kind?
  @usableFromInline var user: UserID?
  @usableFromInline var platform: Platform?
  @usableFromInline var reaction: String?
  @usableFromInline var isAdded: Bool?

  public static let columns = describe()
  @inlinable public static var blank: ChangeOriginRow { ChangeOriginRow() }

  @usableFromInline init() {}

  @inlinable public static func code<Coder: ColumnCoder>(
    _ row: inout ChangeOriginRow, _ coder: inout Coder
  ) throws(StoreError) {
    try coder.column("originSeq", &row.originSeq)
    try coder.column("otherSeq", &row.otherSeq)
    try coder.column("originKind", &row.kind)
    try coder.column("originUser", &row.user)
    try coder.column("originPlatform", &row.platform)
    try coder.column("originReaction", &row.reaction)
    try coder.column("originIsAdded", &row.isAdded)
  }

  /// The origin of a change; nil where the columns are of an earlier one, or of none.
  public func origin(of changeSeq: Int64) -> StoredChangeOrigin? {
    guard originSeq == changeSeq, let kind, let user, let platform else { return nil }
    let origin = ChangeOrigin(kind, by: user, on: platform, reaction: reaction, isAdded: isAdded ?? true)
    return StoredChangeOrigin(origin, changeSeq: changeSeq, otherSeq: otherSeq ?? 0)
  }
}

/// `messageExtras` rows, without their keys: the parts that most messages have not. All are NULL
/// beside a message without a row.
public struct MessageExtrasRow: StoredRow {
  @usableFromInline var text: String?
  @usableFromInline var replyTo: Int64?
  @usableFromInline var replyToSender: UserID?
  @usableFromInline var isExcludedFromUnreadCount: Bool?
  @usableFromInline var isExcludedFromLastMessage: Bool?
  @usableFromInline var toUserIDs: [UserID]?
  /// Whether the message does not count as unread: it is targeted, or was sent as one that does not.
  @usableFromInline var isUncounted: Bool?

  public static let columns = describe()
  @inlinable public static var blank: MessageExtrasRow { MessageExtrasRow() }

  @usableFromInline init() {}

  /// The row of a message that has these.
  public init(_ extras: MessageExtras) {
    text = extras.extension
    replyTo = extras.replyTo?.seq
    replyToSender = extras.replyTo?.sender
    isExcludedFromUnreadCount = extras.isExcludedFromUnreadCount
    isExcludedFromLastMessage = extras.isExcludedFromLastMessage
    toUserIDs = extras.toUserIDList.isEmpty ? nil : extras.toUserIDList
    isUncounted = extras.isExcludedFromUnreadCount || !extras.toUserIDList.isEmpty
  }

  @inlinable public static func code<Coder: ColumnCoder>(
    _ row: inout MessageExtrasRow, _ coder: inout Coder
  ) throws(StoreError) {
    try coder.column("extension", &row.text)
    try coder.column("replyTo", &row.replyTo)
    try coder.column("replyToSender", &row.replyToSender)
    try coder.column("isExcludedFromUnreadCount", &row.isExcludedFromUnreadCount)
    try coder.column("isExcludedFromLastMessage", &row.isExcludedFromLastMessage)
    try coder.column("toUserIDs", &row.toUserIDs)
    try coder.column("isUncounted", &row.isUncounted)
  }

  /// The parts of the message; nil where there is no row.
  @inlinable public var extras: MessageExtras? {
    // A row has it always.
    guard let isExcludedFromLastMessage else { return nil }
    var reply: ReplyReference?
    if let replyTo, let replyToSender { reply = ReplyReference(seq: replyTo, sender: replyToSender) }
    return MessageExtras(
      extension: text, replyTo: reply, isExcludedFromUnreadCount: isExcludedFromUnreadCount ?? false,
      isExcludedFromLastMessage: isExcludedFromLastMessage, toUserIDList: toUserIDs ?? [])
  }
}

extension Message {
  /// The columns that `read(of:_:)` reads, of `source`.
  public static let allColumns = [
    columns.names(of: "m"), MessageChange.columns.names(of: "c"), MessageExtrasRow.columns.names(of: "e"),
  ].joined(separator: ", ")
  /// What messages have since they were changed, to be joined to `message AS m`.
  public static let joinedChanges = "LEFT JOIN messageChange AS c ON c.number = m.number AND c.seq = m.seq"
  /// What most messages have not, to be joined to `message AS m`.
  public static let joinedExtras = "LEFT JOIN messageExtras AS e ON e.number = m.number AND e.seq = m.seq"
  /// Messages with all that is theirs.
  public static let source = "message AS m \(joinedChanges) \(joinedExtras)"

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
    message.extras = try MessageExtrasRow.read(&reader).extras
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
