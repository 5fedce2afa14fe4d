import GroupModel

/// A group for one reader (Protocol.md, "Group info").
public struct GroupInfo: FieldValue {
  public static let notation = "GroupInfo"

  /// The own membership of a reader.
  public struct SelfInfo: Sendable {
    public let member: Member
    public let unreadCount: Int

    /// A membership with its unread count.
    public init(member: Member, unreadCount: Int) {
      self.member = member
      self.unreadCount = unreadCount
    }
  }

  /// The reader.
  public enum Reader: Sendable {
    case administrator
    case member(SelfInfo)
    case outsider
  }

  public let record: GroupRecord
  public let now: WallInstant
  public let memberCount: Int
  public let onlineCount: Int
  public let lastSeq: Int64
  /// The oldest message that is kept; `lastSeq + 1` where there is none. Nil = a live room that
  /// remembers messages: it forgets them by itself.
  public let firstSeq: Int64?
  /// The number of the last change of a message.
  public let changeSeq: Int64
  /// Another one where `lastSeq` and `changeSeq` count anew.
  public let epoch: String
  public let lastMessageTime: WallInstant
  /// Nil where there is none or the reader may not see it.
  public var lastMessage: MessageInfo?
  public let reader: Reader

  /// A group with everything given.
  /// - Parameters:
  ///   - changeSeq: nil = the record's.
  ///   - epoch: nil = the record's.
  public init(
    record: GroupRecord, now: WallInstant, memberCount: Int, onlineCount: Int, lastSeq: Int64, firstSeq: Int64? = 1,
    changeSeq: Int64? = nil, epoch: String? = nil, lastMessageTime: WallInstant, lastMessage: MessageInfo?, reader: Reader
  ) {
    self.record = record
    self.now = now
    self.memberCount = memberCount
    self.onlineCount = onlineCount
    self.lastSeq = lastSeq
    self.firstSeq = firstSeq
    self.changeSeq = changeSeq ?? record.changeSeq
    self.epoch = epoch ?? record.epoch
    self.lastMessageTime = lastMessageTime
    self.lastMessage = lastMessage
    self.reader = reader
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      encodePublic(into: &writer)
      if case .outsider = reader { return }
      encodeInner(into: &writer)
      if case .member(let selfInfo) = reader { writer.member("selfInfo", selfInfo) }
    }
  }

  private func encodePublic(into writer: inout JSONWriter) {
    writer.member("groupID", record.id.rawValue)
    writer.member("groupType", record.type.rawValue)
    writer.member("groupName", record.name)
    writer.member("introduction", record.introduction)
    writer.member("faceURL", record.faceURL)
    writer.member("owner", record.owner.rawValue)
    writer.member("createTime", record.createTime)
    writer.member("memberCount", memberCount)
    writer.member("onlineCount", onlineCount)
    writer.member("maxMemberNum", record.maxMemberNum)
    writer.member("customInfo", record.customInfo)
    if hasPolicy { writer.member("joinMode", record.policy.joinMode.rawValue) }
  }

  private func encodeInner(into writer: inout JSONWriter) {
    let mute = record.mute.current(at: now)
    writer.member("notification", record.notification)
    writer.member("lastInfoTime", record.lastInfoTime)
    writer.member("lastMessageTime", lastMessageTime)
    writer.member("lastSeq", lastSeq)
    writer.member("firstSeq", ifPresent: readerFirstSeq)
    writer.member("changeSeq", changeSeq)
    writer.member("epoch", epoch)
    writer.member("serverCustomInfo", record.serverCustomInfo)
    writer.member("allMuted", mute.isAllMuted)
    writer.member("mute", mute)
    if hasPolicy {
      for field in PolicyField.allCases where field != .joinMode {
        writer.key(named: field.rawValue)
        writer.value(record.policy[field])
      }
    }
    if let lastMessage { writer.member("lastMessage", lastMessage) }
  }

  /// The oldest message that is kept and that the reader has not cleared.
  private var readerFirstSeq: Int64? {
    guard let firstSeq, case .member(let selfInfo) = reader else { return firstSeq }
    return max(firstSeq, selfInfo.member.clearedSeq + 1)
  }

  /// A BChatRoom has no policy fields.
  private var hasPolicy: Bool { record.type != .bChatRoom }
}

extension GroupInfo.SelfInfo: WireEncodable {
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("role", member.role.wireName)
      writer.member("joinTime", member.joinTime)
      writer.member("nameCard", member.nameCard)
      writer.member("muteUntil", member.muteUntil)
      writer.member("receiveMessageOpt", member.receiveOption.rawValue)
      writer.member("readSeq", member.readSeq)
      writer.member("unreadCount", unreadCount)
      writer.member("customInfo", member.customInfo)
      let conversation = member.conversation
      if conversation.isPinned { writer.member("isPinned", true) }
      if conversation.isHidden { writer.member("isHidden", true) }
      if conversation.isMarkedUnread { writer.member("isMarkedUnread", true) }
      if !conversation.marks.isEmpty { writer.member("marks", conversation.marks) }
    }
  }
}

extension GroupMute: WireEncodable {
  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("mode", mode.rawValue)
      if mode == .custom { writer.member("roles", roles.map(\.wireName)) }
      writer.member("muteUntil", ifPresent: muteUntil)
    }
  }
}

extension PolicyValue: WireEncodable {
  public func encode(into writer: inout JSONWriter) {
    switch self {
    case .word(let word): writer.value(word)
    case .flag(let flag): writer.value(flag)
    case .number(let number): writer.value(number)
    }
  }
}

extension GroupInfo {
  /// The member who reads; nil = somebody else.
  public var readerID: UserID? {
    if case .member(let selfInfo) = reader { selfInfo.member.userID } else { nil }
  }

  /// The same group for another reader.
  public func with(reader: Reader) -> GroupInfo {
    GroupInfo(
      record: record, now: now, memberCount: memberCount, onlineCount: onlineCount, lastSeq: lastSeq, firstSeq: firstSeq,
      changeSeq: changeSeq, epoch: epoch, lastMessageTime: lastMessageTime, lastMessage: lastMessage, reader: reader)
  }
}

extension PolicyField {
  /// The values that the field takes, for descriptions.
  fileprivate var notation: String {
    switch kind {
    case .words(let words): NamedType.quoted(words)
    case .flag: "boolean"
    case .number: "integer"
    }
  }
}

extension GroupInfo {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] =
    [
      ResultField("groupID", "string"), ResultField("groupType", NamedType.words(GroupType.self)),
      ResultField("groupName", "string"),
      ResultField("introduction", "string"), ResultField("notification?", "string"), ResultField("faceURL", "string"),
      ResultField("owner", "string"), ResultField("createTime", "integer"), ResultField("lastInfoTime?", "integer"),
      ResultField("lastMessageTime?", "integer"), ResultField("lastSeq?", "integer"), ResultField("firstSeq?", "integer"),
      ResultField("changeSeq?", "integer"), ResultField("epoch?", "string"),
      ResultField("memberCount", "integer"), ResultField("onlineCount", "integer"), ResultField("maxMemberNum", "integer"),
      ResultField("allMuted?", "boolean"), ResultField("mute?", "GroupMute"), ResultField("customInfo", "map"),
      ResultField("serverCustomInfo?", "string"),
    ] + PolicyField.allCases.map { ResultField($0.rawValue + "?", $0.notation) } + [
      ResultField("lastMessage?", "Message"), ResultField("selfInfo?", "SelfInfo"),
    ]
}

extension GroupInfo.SelfInfo {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("role", "string"), ResultField("joinTime", "integer"), ResultField("nameCard", "string"),
    ResultField("muteUntil", "integer"), ResultField("receiveMessageOpt", NamedType.words(ReceiveOption.self)),
    ResultField("readSeq", "integer"), ResultField("unreadCount", "integer"), ResultField("customInfo", "map"),
    ResultField("isPinned?", "boolean"), ResultField("isHidden?", "boolean"), ResultField("isMarkedUnread?", "boolean"),
    ResultField("marks?", "[string]"),
  ]
}

extension GroupMute {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("mode", NamedType.words(GroupMute.Mode.self)), ResultField("roles?", "[string]"),
    ResultField("muteUntil?", "integer"),
  ]
}
