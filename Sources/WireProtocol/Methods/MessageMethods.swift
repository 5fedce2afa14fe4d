import GroupModel

/// The parameters that both send methods share.
public struct MessageOptions: Sendable, Equatable {
  public var priority: Priority
  public var clientMsgID: String?
  @usableFromInline var uncommon: Uncommon?
  public var onlineUserOnly: Bool
  /// Whether the sender learns who has read the message.
  public var needReadReceipt: Bool

  /// What is given in few sends, in one word: requests are handed on. `@_eagerMove`: see `MessageExtras`.
  @_eagerMove @usableFromInline final class Uncommon: Sendable, Equatable {
    @usableFromInline let atUserIDList: [String]
    @usableFromInline let extras: SendExtras?

    private init(_ atUserIDList: [String], _ extras: SendExtras?) {
      self.atUserIDList = atUserIDList
      self.extras = extras
    }

    /// Nil where nothing is given. No initializer: one that fails allocates the object, too.
    static func made(of atUserIDList: [String], _ extras: SendExtras?) -> Uncommon? {
      atUserIDList.isEmpty && extras == nil ? nil : Uncommon(atUserIDList, extras)
    }

    @usableFromInline static func == (a: Uncommon, b: Uncommon) -> Bool {
      a.atUserIDList == b.atUserIDList && a.extras == b.extras
    }
  }

  /// As given; "@all" mentions everybody.
  @inlinable public var atUserIDList: [String] { uncommon?.atUserIDList ?? [] }
  /// The parameters that most sends have not; nil = none is given.
  @inlinable public var extras: SendExtras? { uncommon?.extras }

  /// The mention of everybody, which only managers may use.
  public static let everybody = "@all"

  /// The same for a message that was not sent before.
  public var withoutFirstSentAt: MessageOptions {
    guard let extras, extras.firstSentAt != nil else { return self }
    var options = self
    options.uncommon = .made(of: atUserIDList, extras.withoutFirstSentAt)
    return options
  }

  /// Options as given.
  public init(
    priority: Priority = .normal, clientMsgID: String? = nil, atUserIDList: [String] = [], onlineUserOnly: Bool = false,
    needReadReceipt: Bool = false, extras: SendExtras? = nil
  ) {
    self.priority = priority
    self.clientMsgID = clientMsgID
    uncommon = .made(of: atUserIDList, extras)
    self.onlineUserOnly = onlineUserOnly
    self.needReadReceipt = needReadReceipt
  }

  init(from reader: inout some ParameterReader) throws(WireError) {
    self.init()
    // Most sends have a content, and nothing else to look up.
    guard reader.hasUnread else { return }
    priority =
      try reader.optionalWord("priority", "Which messages a group over its rate keeps and sends first; absent = Normal.")
      ?? .normal
    clientMsgID = try reader.optionalString(
      "clientMsgID", TextDomain(1...64), "The sender's own ID: repeated within 5 minutes, the message is not delivered again.")
    let atUserIDList =
      try reader.optionalStrings(
        "atUserIDList", .optional(upTo: 30, whenTooMany: .tooManyMentions), .any,
        "The userIDs that the message mentions, or @all, which only managers may use.") ?? []
    onlineUserOnly =
      try reader.optionalFlag(
        "onlineUserOnly", "true = only members who are online get it, and it is not stored; absent = false.") ?? false
    needReadReceipt =
      try reader.optionalFlag(
        "needReadReceipt", "true = the sender learns who has read it, in a Work or Public group; absent = false.") ?? false
    if needReadReceipt, onlineUserOnly {
      throw WireError(.badValue, "A message that is not stored has no receipts", field: "needReadReceipt")
    }
    for name in atUserIDList where name != MessageOptions.everybody && UserID(name) == nil {
      throw .noUserID(in: "atUserIDList")
    }
    let extras = reader.hasUnread ? try SendExtras.optional(from: &reader) : nil
    let isTargeted = extras?.toUserIDList.isEmpty == false
    try reader.exclude("toUserIDList", by: "atUserIDList", where: isTargeted && !atUserIDList.isEmpty)
    try reader.exclude("toUserIDList", by: "onlineUserOnly", where: isTargeted && onlineUserOnly)
    uncommon = .made(of: atUserIDList, extras)
  }

  /// The rows of a message with that content.
  /// - Parameter isSearchable: a search may find the content, where it is stored.
  func rows(of content: String, isSearchable: Bool) -> WrittenRows {
    let mentions = atUserIDList.reduce(0) { $0 + $1.utf8.count + 3 }
    return .message(
      textBytes: content.utf8.count + mentions + clientMsgID.byteCount,
      searchableBytes: isSearchable && !onlineUserOnly ? content.utf8.count : 0,
      listsMembers: needReadReceipt && extras?.toUserIDList.isEmpty != false, extrasBytes: extras?.rowBytes)
  }

  static let errors: [ErrorCode] =
    [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .tooManyMentions, .messageTooLong, .messageUnknown, .recallUnsupported,
      .tooManyForReceipts,
    ] + ErrorCode.ofSpeaking + ErrorCode.ofApplication
}

/// The parameters of a send that most messages have not.
public final class SendExtras: Sendable, Equatable {
  /// The application's data beside the content, never empty; nil = none.
  public let `extension`: String?
  /// The `seq` of the message that this one answers.
  public let replyTo: Int64?
  /// Whether the message does not count as unread.
  public let isExcludedFromUnreadCount: Bool
  /// Whether the message does not become its group's last one.
  public let isExcludedFromLastMessage: Bool
  /// The only members who are to see the message, each once and as given; empty = everybody.
  public let toUserIDList: [UserID]
  /// When the message was sent for the first time, where it may have been sent before.
  public let firstSentAt: WallInstant?

  /// Nil where nothing is given; an empty extension is none.
  public init?(
    extension text: String? = nil, replyTo: Int64? = nil, isExcludedFromUnreadCount: Bool = false,
    isExcludedFromLastMessage: Bool = false, toUserIDList: [UserID] = [], firstSentAt: WallInstant? = nil
  ) {
    let isGiven =
      text?.isEmpty == false || replyTo != nil || isExcludedFromUnreadCount || isExcludedFromLastMessage
      || !toUserIDList.isEmpty || firstSentAt != nil
    guard isGiven else { return nil }
    self.extension = text?.isEmpty == false ? text : nil
    self.replyTo = replyTo
    self.isExcludedFromUnreadCount = isExcludedFromUnreadCount
    self.isExcludedFromLastMessage = isExcludedFromLastMessage
    self.toUserIDList = toUserIDList
    self.firstSentAt = firstSentAt
  }

  /// The others; nil where there are none.
  fileprivate var withoutFirstSentAt: SendExtras? {
    SendExtras(
      extension: `extension`, replyTo: replyTo, isExcludedFromUnreadCount: isExcludedFromUnreadCount,
      isExcludedFromLastMessage: isExcludedFromLastMessage, toUserIDList: toUserIDList)
  }

  /// Reads them; nil where none is given.
  fileprivate static func optional(from reader: inout some ParameterReader) throws(WireError) -> SendExtras? {
    let text = try reader.optionalString(
      "extension", reader.textLimits.extensions, "Data of the application's own beside the content; absent or empty = none.")
    let replyTo = try reader.optionalInteger(
      "replyTo", in: .seqs, "The seq of the message that this one answers; absent = it is no reply.")
    let isExcludedFromUnreadCount = try reader.optionalFlag(
      "isExcludedFromUnreadCount", "true = it does not count as unread, where messages are stored; absent = false.")
    let isExcludedFromLastMessage = try reader.optionalFlag(
      "isExcludedFromLastMessage",
      "true = it does not become the group's lastMessage, where messages are stored; absent = false.")
    let users = try reader.optionalUserIDs(
      "toUserIDList", ListDomain(1...50, isRequired: false),
      "The only members who see the message, besides the sender, in a Work, Public or Meeting group; absent = all.")
    let firstSentAt = try reader.optionalInstant(
      "firstSentAt",
      "When it was sent first, by the server's clock, in milliseconds since 1970: it is looked for; absent = it was not.")
    return SendExtras(
      extension: text, replyTo: replyTo, isExcludedFromUnreadCount: isExcludedFromUnreadCount ?? false,
      isExcludedFromLastMessage: isExcludedFromLastMessage ?? false, toUserIDList: users ?? [], firstSentAt: firstSentAt)
  }

  /// The bytes of the row that the message has besides its own, where there is one; the index of replies
  /// has the targets, too.
  fileprivate var rowBytes: Int? {
    guard firstSentAt == nil || withoutFirstSentAt != nil else { return nil }
    return (`extension`?.utf8.count ?? 0) + toUserIDList.count * (replyTo == nil ? 33 : 66)
  }

  public static func == (a: SendExtras, b: SendExtras) -> Bool {
    ExactText(a.extension ?? "") == ExactText(b.extension ?? "") && a.replyTo == b.replyTo
      && a.isExcludedFromUnreadCount == b.isExcludedFromUnreadCount
      && a.isExcludedFromLastMessage == b.isExcludedFromLastMessage && a.toUserIDList == b.toUserIDList
      && a.firstSentAt == b.firstSentAt
  }
}

/// The reply to the sender of a message.
public struct MessageReceipt: WireObject, Equatable {
  /// The fate of the message.
  public enum Status: String, CaseIterable, Sendable {
    /// Durable when the reply is sent.
    case stored = "Stored"
    /// Given to the fan-out.
    case delivered = "Delivered"
    /// Waits for its turn in a group over its limit.
    case queued = "Queued"
    /// The group is over its limit, and what waits is at least as important.
    case dropped = "Dropped"
  }

  public let msgID: String
  /// Nil where the message has no place: nothing keeps it, or it waits for its turn.
  public let seq: Int64?
  public let timestamp: WallInstant
  public let status: Status

  public static let example = MessageReceipt(msgID: "", seq: nil, timestamp: .unset, status: .stored)

  /// With everything given.
  public init(msgID: String, seq: Int64?, timestamp: WallInstant, status: Status) {
    self.msgID = msgID
    self.seq = seq
    self.timestamp = timestamp
    self.status = status
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("msgID", msgID)
    writer.member("seq", ifPresent: seq)
    writer.member("timestamp", timestamp)
    writer.member("status", word: status)
  }
}

/// Sends text to a group.
public struct SendGroupTextMessage: GroupMethod {
  public let text: String
  public let options: MessageOptions

  public static let specification = MethodSpecification(
    .sendGroupTextMessage, "Sends a text to a group.", result: MessageReceipt.fields, errors: MessageOptions.errors
  )

  public static let traits: MethodTraits<Self> = .writes(
    .by { $0.options.rows(of: $0.text, isSearchable: true) }, users: .nobody, asks: .before { .message(.text($0)) },
    tellsMembers: true, mayWait: false, audit: .message)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    text = try reader.requiredString("text", reader.textLimits.messages, "The text that is sent.")
    options = try MessageOptions(from: &reader)
  }

  /// A text with its options.
  public init(text: String, options: MessageOptions) {
    self.text = text
    self.options = options
  }
}

/// Sends the application's own data to a group.
public struct SendGroupCustomMessage: GroupMethod {
  public let data: String
  public let options: MessageOptions

  public static let specification = MethodSpecification(
    .sendGroupCustomMessage, "Sends data of the application's own to a group.", result: MessageReceipt.fields,
    errors: MessageOptions.errors)

  public static let traits: MethodTraits<Self> = .writes(
    .by { $0.options.rows(of: $0.data, isSearchable: false) }, users: .nobody, asks: .before { .message(.custom($0)) },
    tellsMembers: true, mayWait: false, audit: .message)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    data = try reader.requiredString(
      "data", reader.textLimits.messages, "The data that is sent, in any form of the application's.")
    options = try MessageOptions(from: &reader)
  }

  /// Data with its options.
  public init(data: String, options: MessageOptions) {
    self.data = data
    self.options = options
  }
}

/// A page of a group's history.
public struct GetGroupHistoryMessageList: GroupMethod {
  /// The order of the page.
  public enum Direction: String, CaseIterable, Sendable {
    case older = "Older"
    case newer = "Newer"
  }

  public let count: Int
  /// Exclusive; 0 = from the newest or oldest.
  public let fromSeq: Int64
  public let direction: Direction

  public static let specification = MethodSpecification(
    .getGroupHistoryMessageList, "Reads the messages that a group keeps, newest or oldest first.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// A page of messages.
  public struct Result: WireObject {
    public let messageList: [Encoded<MessageInfo>]
    /// There are no more in this direction.
    public let isFinished: Bool

    public static let example = Result(messageList: [], isFinished: true)

    /// With everything given.
    public init(messageList: [Encoded<MessageInfo>], isFinished: Bool) {
      self.messageList = messageList
      self.isFinished = isFinished
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("messageList", messageList)
      writer.member("isFinished", isFinished)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    count = try reader.count(upTo: 100, otherwise: 20, "The most messages of the page; absent = 20.")
    fromSeq =
      try reader.optionalInteger(
        "fromSeq", in: .places,
        "The page begins next to this seq; 0 or absent = at the newest message for Older, at the oldest for Newer.") ?? 0
    direction = try reader.optionalWord("direction", "Whether the page goes back in time or forward; absent = Older.") ?? .older
  }
}

/// Catches up with several groups after a lost connection.
public struct SyncGroups: ServerMethod {
  /// The last message of one group that the client has.
  public struct Position: Sendable, Equatable {
    /// As given, so that a bad one can be answered in its row.
    public let groupID: String
    public let epoch: String
    public let seq: Int64
    /// The last change that the client has; nil = it wants none.
    public let changeSeq: Int64?

    /// A position with everything given.
    public init(groupID: String, epoch: String, seq: Int64, changeSeq: Int64? = nil) {
      self.groupID = groupID
      self.epoch = epoch
      self.seq = seq
      self.changeSeq = changeSeq
    }
  }

  public let groups: [Position]

  public static let specification = MethodSpecification(
    .syncGroups,
    "Answers the messages of up to 50 groups that came, and those that changed, after a position, none missing, or says that this is not possible.",
    callers: .user,
    result: Result.fields,
    errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A row for each position.
  public struct Result: WireObject {
    public let groups: [Encoded<Row>]

    public static let example = Result(groups: [])

    /// With everything given.
    public init(groups: [Encoded<Row>]) {
      self.groups = groups
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groups", groups)
    }
  }

  /// The messages of a group behind a position, or the error that the group answered.
  public struct Row: WireObject {
    /// As given.
    public let groupID: String
    /// 0 = the members from `epoch` on are there.
    public let code: Int
    public let message: String?
    public let epoch: String?
    public let lastSeq: Int64?
    /// False = the position means nothing in this group.
    public let recovered: Bool?
    /// The changed messages, ascending by `changeSeq`; nil where the position has none.
    public let changeList: [Encoded<MessageInfo>]?
    /// The change to go on from; nil where the position has none.
    public let changeSeq: Int64?
    public let messageList: [Encoded<MessageInfo>]?
    /// More messages or changes follow.
    public let more: Bool?

    /// About the bytes of its text.
    public var capacity: Int { 224 + (messageList?.byteCount() ?? 0) + (changeList?.byteCount() ?? 0) }

    public static let example = Row(groupID: "", code: 0)

    /// With everything given.
    public init(
      groupID: String, code: Int, message: String? = nil, epoch: String? = nil, lastSeq: Int64? = nil, recovered: Bool? = nil,
      changeList: [Encoded<MessageInfo>]? = nil, changeSeq: Int64? = nil, messageList: [Encoded<MessageInfo>]? = nil,
      more: Bool? = nil
    ) {
      self.groupID = groupID
      self.code = code
      self.message = message
      self.epoch = epoch
      self.lastSeq = lastSeq
      self.recovered = recovered
      self.changeList = changeList
      self.changeSeq = changeSeq
      self.messageList = messageList
      self.more = more
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupID", groupID)
      writer.member("code", code)
      writer.member("message", ifPresent: message)
      writer.member("epoch", ifPresent: epoch)
      writer.member("lastSeq", ifPresent: lastSeq)
      writer.member("recovered", ifPresent: recovered)
      writer.member("changeList", ifPresent: changeList)
      writer.member("changeSeq", ifPresent: changeSeq)
      writer.member("messageList", ifPresent: messageList)
      writer.member("more", ifPresent: more)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groups = try reader.requiredObjects("groups", ListDomain(1...50), "The position in each group from which to go on.") {
      (reader) throws(WireError) in
      Position(
        groupID: try reader.requiredString("groupID", .any, "The group."),
        epoch: try reader.requiredString("epoch", .any, "The epoch that the client has of the group."),
        seq: try reader.requiredInteger("seq", in: .places, "The seq up to which the client has every message."),
        changeSeq: try reader.optionalInteger(
          "changeSeq", in: .places,
          "Up to which change the client has all of the messages up to seq; absent = no changes are answered."))
    }
  }
}
