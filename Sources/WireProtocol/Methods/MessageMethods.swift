import GroupModel

/// What the two send methods share.
public struct MessageOptions: Sendable, Equatable {
  public var priority: Priority
  public var clientMsgID: String?
  /// As given; "@all" mentions everybody.
  public var atUserIDList: [String]
  public var onlineUserOnly: Bool

  /// The mention of everybody, which only managers may use.
  public static let everybody = "@all"

  /// Options as given.
  public init(
    priority: Priority = .normal, clientMsgID: String? = nil, atUserIDList: [String] = [], onlineUserOnly: Bool = false
  ) {
    self.priority = priority
    self.clientMsgID = clientMsgID
    self.atUserIDList = atUserIDList
    self.onlineUserOnly = onlineUserOnly
  }

  init(from reader: inout some ParameterReader) throws(WireError) {
    priority = try reader.mayWord("priority") ?? .normal
    clientMsgID = try reader.mayString("clientMsgID", TextDomain(1...64))
    atUserIDList = try reader.mayStrings("atUserIDList", .optional(upTo: 30, whenTooMany: .tooManyMentions), .any) ?? []
    onlineUserOnly = try reader.mayFlag("onlineUserOnly") ?? false
    for name in atUserIDList where name != MessageOptions.everybody && UserID(name) == nil {
      throw WireError(.badValue, "Not a userID", field: "atUserIDList")
    }
  }

  static let result = [
    ResultField("msgID", "string"), ResultField("seq?", "integer"), ResultField("timestamp", "integer"),
    ResultField("status", "\"Stored\", \"Delivered\", \"Queued\" or \"Dropped\""),
  ]
  static let errors: [ErrorCode] = [
    .badGroupID, .noSuchGroup, .noRight, .badValue, .tooManyMentions, .messageTooLong, .muted, .groupMessageRate,
  ]
}

extension TextDomain {
  /// What a message carries: 1–12,288 bytes (10004 when empty, 80002 when longer).
  static let messageBody = TextDomain(1...12_288, .messageTooLong, whenEmpty: .badValue)
}

/// Sends text to a group.
public struct SendGroupTextMessage: Method {
  public let groupID: GroupID
  public let text: String
  public let options: MessageOptions

  public static let specification = MethodSpecification(
    "sendGroupTextMessage", "Sends a text to a group.", writes: true, result: MessageOptions.result, errors: MessageOptions.errors
  )

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    text = try reader.needString("text", .messageBody)
    options = try MessageOptions(from: &reader)
  }
}

/// Sends the application's own data to a group.
public struct SendGroupCustomMessage: Method {
  public let groupID: GroupID
  public let data: String
  public let options: MessageOptions

  public static let specification = MethodSpecification(
    "sendGroupCustomMessage", "Sends data of the application's own to a group.", writes: true, result: MessageOptions.result,
    errors: MessageOptions.errors)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    data = try reader.needString("data", .messageBody)
    options = try MessageOptions(from: &reader)
  }
}

/// A page of a group's history.
public struct GetGroupHistoryMessageList: Method {
  /// Which way the page goes.
  public enum Direction: String, CaseIterable, Sendable {
    case older = "Older"
    case newer = "Newer"
  }

  public let groupID: GroupID
  public let count: Int
  /// Exclusive; 0 = from the newest or oldest.
  public let fromSeq: Int64
  public let direction: Direction

  public static let specification = MethodSpecification(
    "getGroupHistoryMessageList", "Reads stored messages, newest or oldest first.",
    result: [ResultField("messageList", "[Message]"), ResultField("isFinished", "boolean")],
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    count = try reader.count(upTo: 100, otherwise: 20)
    fromSeq = try reader.mayInteger("fromSeq", in: 0...(1 << 53)) ?? 0
    direction = try reader.mayWord("direction") ?? .older
  }
}

/// Catches up with several groups after a lost connection.
public struct SyncGroups: Method {
  /// How far the client has come in one group.
  public struct Position: Sendable, Equatable {
    /// As given, so that a bad one can be answered in its row.
    public let groupID: String
    public let epoch: String
    public let seq: Int64

    /// A position with everything given.
    public init(groupID: String, epoch: String, seq: Int64) {
      self.groupID = groupID
      self.epoch = epoch
      self.seq = seq
    }
  }

  public let groups: [Position]

  public static let specification = MethodSpecification(
    "syncGroups",
    "Answers the messages of up to 50 groups that came after a position, none missing, or says that this is not possible.",
    callers: .user,
    result: [ResultField("groups", "[{groupID, code, message?, epoch?, lastSeq?, recovered?, messageList?, more?}]")],
    errors: [.badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    guard
      let groups = try reader.mayObjects(
        "groups", ListDomain(1...50),
        { (reader) throws(WireError) in
          Position(
            groupID: try reader.needString("groupID", .any), epoch: try reader.needString("epoch", .any),
            seq: try reader.needInteger("seq", in: 0...(1 << 53)))
        })
    else { throw reader.missing("groups") }
    self.groups = groups
  }
}
