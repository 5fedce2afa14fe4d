import GroupModel

/// The parameters that both send methods share.
public struct MessageOptions: Sendable, Equatable {
  public var priority: Priority
  public var clientMsgID: String?
  /// As given; "@all" mentions everybody.
  public var atUserIDList: [String]
  public var onlineUserOnly: Bool
  /// Whether the sender learns who has read the message.
  public var needReadReceipt: Bool

  /// The mention of everybody, which only managers may use.
  public static let everybody = "@all"

  /// Options as given.
  public init(
    priority: Priority = .normal, clientMsgID: String? = nil, atUserIDList: [String] = [], onlineUserOnly: Bool = false,
    needReadReceipt: Bool = false
  ) {
    self.priority = priority
    self.clientMsgID = clientMsgID
    self.atUserIDList = atUserIDList
    self.onlineUserOnly = onlineUserOnly
    self.needReadReceipt = needReadReceipt
  }

  init(from reader: inout some ParameterReader) throws(WireError) {
    priority =
      try reader.optionalWord("priority", "Which messages a group over its rate keeps and sends first; absent = Normal.")
      ?? .normal
    clientMsgID = try reader.optionalString(
      "clientMsgID", TextDomain(1...64), "The sender's own ID: repeated within 5 minutes, the message is not delivered again.")
    atUserIDList =
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
  }

  /// The rows of a message with that content.
  /// - Parameter isSearchable: a search may find the content, where it is stored.
  func rows(of content: String, isSearchable: Bool) -> WrittenRows {
    let mentions = atUserIDList.reduce(0) { $0 + $1.utf8.count + 3 }
    return .message(
      textBytes: content.utf8.count + mentions + clientMsgID.byteCount,
      searchableBytes: isSearchable && !onlineUserOnly ? content.utf8.count : 0, listsMembers: needReadReceipt)
  }

  static let errors: [ErrorCode] =
    [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .tooManyMentions, .messageTooLong, .tooManyForReceipts,
    ] + ErrorCode.ofSpeaking + ErrorCode.ofApplication
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
  /// Nil where the message is not stored.
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
    .getGroupHistoryMessageList, "Reads stored messages, newest or oldest first.",
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
