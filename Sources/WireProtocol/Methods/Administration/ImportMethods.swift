import GroupModel

/// Makes a group of another system: no events.
public struct ImportGroup: ServerMethod {
  /// The group, without members. Its `ownerUserID` is there.
  public let group: CreateGroup
  /// Nil = now.
  public let createTime: WallInstant?

  public static let specification = MethodSpecification(
    .importGroup, "Makes a group as it was in another system; nobody hears of it.", callers: .application,
    result: Result.fields,
    errors: [
      .badNewGroupID, .badGroupName, .introductionTooLong, .notificationTooLong, .faceURLTooLong, .tooManyMembers, .badValue,
      .noRight, .groupIDTaken, .groupIDTakenByYourself, .tooManyGroups, .userUnknown,
    ])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, at: .owner(mayWait: false) { .newGroup($0.group.groupID) }, asks: .never, audit: .change)

  /// The group that was made.
  public struct Result: WireObject {
    public let groupID: GroupID

    public static let example = Result(groupID: .generate())

    /// With everything given.
    public init(groupID: GroupID) {
      self.groupID = groupID
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupID", groupID.rawValue)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    group = try CreateGroup(from: &reader, isImported: true)
    createTime = try reader.optionalInstant("createTime", "When the group was made, in milliseconds since 1970; absent = now.")
  }
}

/// Adds the members of another system to a group: no events, no tips.
public struct ImportGroupMembers: GroupMethod {
  /// A member there.
  public struct ImportedMember: Sendable, Equatable {
    public let userID: UserID
    public let role: Role
    /// Nil = the group's createTime.
    public let joinTime: WallInstant?
    public let unreadCount: Int
    /// Empty = none.
    public let nameCard: String
    /// Without empty texts.
    public let customInfo: [String: String]
    /// Nil = the mute of an earlier membership lasts; unset or past = none.
    public let muteUntil: WallInstant?
    /// A name card, customInfo or mute was outside its domain: the row fails, and changes nothing.
    public let hasBadValue: Bool

    /// A member with everything given.
    public init(
      userID: UserID, role: Role = .member, joinTime: WallInstant? = nil, unreadCount: Int = 0, nameCard: String = "",
      customInfo: [String: String] = [:], muteUntil: WallInstant? = nil, hasBadValue: Bool = false
    ) {
      self.userID = userID
      self.role = role
      self.joinTime = joinTime
      self.unreadCount = unreadCount
      self.nameCard = nameCard
      self.customInfo = customInfo
      self.muteUntil = muteUntil
      self.hasBadValue = hasBadValue
    }
  }

  /// As listed; a user may stand there twice.
  public let memberList: [ImportedMember]

  public static let specification = MethodSpecification(
    .importGroupMembers, "Brings members into a group as they were in another system; nobody hears of it.",
    callers: .application, result: MemberResults.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .ownerInMemberList, .emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .added { $0.memberList.map(\.userID) }, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    memberList = try reader.requiredObjects(
      "memberList", ListDomain(1...300, whenEmpty: .emptyUserList), "The members, as they were in the other system."
    ) { (reader) throws(WireError) in
      let user = try reader.requiredUserID("userID", "The member.")
      let role = try reader.optionalInitialRole() ?? .member
      let joinTime = try reader.optionalInstant(
        "joinTime", "When the member came, in milliseconds since 1970; absent = with the group.")
      let unreadCount = try reader.optionalInteger(
        "unreadCount", in: .unreadCounts, "How many messages the member has not read; absent = 0.")
      var hasBadValue = false
      let nameCard = try ImportGroupMembers.valueOfRow(isBad: &hasBadValue) { () throws(WireError) in
        try reader.optionalString(
          "nameCard", reader.textLimits.nameCards, "The member's name in this group; absent or empty = none.")
      }
      let customInfo = try ImportGroupMembers.valueOfRow(isBad: &hasBadValue) { () throws(WireError) in
        try reader.optionalMap("customInfo", .memberCustomInfo, "The application's own texts about the member, by key.")
      }
      let muteUntil = try ImportGroupMembers.valueOfRow(isBad: &hasBadValue) { () throws(WireError) in
        try reader.optionalInstant(
          "muteUntil", "When the member may speak again, in milliseconds since 1970; 0 or past = at once.")
      }
      return ImportedMember(
        userID: user, role: role, joinTime: joinTime, unreadCount: Int(unreadCount ?? 0), nameCard: nameCard ?? "",
        customInfo: (customInfo ?? [:]).filter { !$0.value.isEmpty }, muteUntil: muteUntil, hasBadValue: hasBadValue)
    }
  }

  /// A value of the right type outside its domain is the outcome of its row, as everything about one
  /// member is; a wrong type is the error of the request.
  private static func valueOfRow<Value>(
    isBad: inout Bool, _ read: () throws(WireError) -> Value?
  ) throws(WireError) -> Value? {
    do {
      return try read()
    } catch {
      guard error.code != .invalidParams else { throw error }
      isBad = true
      return nil
    }
  }
}

/// Adds the messages of another system to a history: no events.
public struct ImportGroupMessages: GroupMethod {
  /// A message there.
  public struct ImportedMessage: Sendable, Equatable {
    public let sender: UserID
    public let timestamp: WallInstant
    public let content: Message.Content
    public let clientMsgID: String?
    /// The application's data beside the content; nil or empty = none.
    public let `extension`: String?

    /// A message with everything given.
    public init(
      sender: UserID, timestamp: WallInstant, content: Message.Content, clientMsgID: String? = nil, extension text: String? = nil
    ) {
      self.sender = sender
      self.timestamp = timestamp
      self.content = content
      self.clientMsgID = clientMsgID
      self.extension = text
    }
  }

  /// Ascending by timestamp.
  public let messageList: [ImportedMessage]

  public static let specification = MethodSpecification(
    .importGroupMessages, "Puts messages into the history of a group that has none of its own yet; nobody hears of it.",
    callers: .application, result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .messageTooLong])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  /// A row for each message, in their order.
  public struct Result: WireObject {
    public let resultList: [Row]

    public static let example = Result(resultList: [])

    /// With everything given.
    public init(resultList: [Row]) {
      self.resultList = resultList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("resultList", resultList)
    }
  }

  /// The place of a message in the history.
  public struct Row: WireObject {
    public let seq: Int64
    /// 0 = the message was stored.
    public let code: Int

    public static let example = Row(seq: 1, code: 0)

    /// With everything given.
    public init(seq: Int64, code: Int) {
      self.seq = seq
      self.code = code
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("seq", seq)
      writer.member("code", code)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    messageList = try reader.requiredObjects("messageList", ListDomain(1...100), "The messages, oldest first.") {
      (reader) throws(WireError) in
      let sender = try reader.requiredUserID("sender", "The user who sent the message.")
      let timestamp = try reader.requiredInstant("timestamp", "When the message was sent, in milliseconds since 1970.")
      let body = try reader.requiredEither("text", "data", reader.textLimits.messages, "The content of the message.")
      return ImportedMessage(
        sender: sender, timestamp: timestamp, content: body.isFirst ? .text(body.text) : .custom(body.text),
        clientMsgID: try reader.optionalString(
          "clientMsgID", TextDomain(1...64), "The message's own ID: imported again, it is not stored again."),
        extension: try reader.optionalString(
          "extension", reader.textLimits.extensions, "Data of the application's own beside the content; absent or empty = none."))
    }
    guard zip(messageList, messageList.dropFirst()).allSatisfy({ $0.timestamp <= $1.timestamp }) else {
      throw WireError(.badValue, "Messages are imported in the order of their timestamps", field: "messageList")
    }
  }
}

extension Request {
  /// The first parameter of an import with an instant before March 1973: most likely it is in seconds,
  /// as other systems have them. Nil where there is none. The request is good all the same.
  public var importedFieldInSeconds: String? {
    switch self {
    case .importGroup(let request): request.createTime.isInSeconds ? "createTime" : nil
    case .group(_, .importGroupMembers(let request)):
      if request.memberList.contains(where: { $0.joinTime.isInSeconds }) {
        "joinTime"
      } else {
        request.memberList.contains { $0.muteUntil.isInSeconds } ? "muteUntil" : nil
      }
    case .group(_, .importGroupMessages(let request)):
      request.messageList.contains { ($0.timestamp as WallInstant?).isInSeconds } ? "timestamp" : nil
    default: nil
    }
  }
}

extension WallInstant? {
  /// Whether the number would be one of our days in seconds, and is long ago in milliseconds; 0 says
  /// that there is no instant.
  fileprivate var isInSeconds: Bool { map { (1..<100_000_000_000).contains($0.milliseconds) } ?? false }
}
