import GroupModel

/// Replaces the content of a stored message, its extension, or both.
public struct ModifyGroupMessage: GroupMethod {
  public let seq: Int64
  /// A text or data, never tips; nil = the content stays.
  public let content: Message.Content?
  /// Empty = the message has none any more; nil = it stays.
  public let `extension`: String?

  public static let specification = MethodSpecification(
    .modifyGroupMessage, "Replaces the text or data of a message, its extension, or both; the same ones change nothing.",
    result: Result.fields,
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .messageTooLong, .messageUnknown, .recallTooLate, .recallNotYours,
      .recallUnsupported,
    ] + ErrorCode.ofSpeaking + ErrorCode.ofApplication)

  public static let traits: MethodTraits<Self> = .writes(
    .by { $0.rows }, users: .nobody, asks: .before { .message(.edit($0)) }, tellsMembers: true, mayWait: false, audit: .change)

  /// When the message was edited.
  public struct Result: WireObject {
    /// Nil where the content is what it was.
    public let editTime: WallInstant?

    public static let example = Result(editTime: nil)

    /// With everything given.
    public init(editTime: WallInstant?) { self.editTime = editTime }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("editTime", ifPresent: editTime)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seq = try reader.requiredInteger("seq", in: .seqs, "The seq of the message.")
    let given = try reader.optionalEither(
      "text", "data", reader.textLimits.messages, "The content that takes the place of what the message has, of its own kind.")
    content = given.map { $0.isFirst ? .text($0.text) : .custom($0.text) }
    `extension` = try reader.optionalString(
      "extension", reader.textLimits.extensions, "The data beside the content; empty = it is removed, absent = it stays.")
    if content == nil, `extension` == nil { throw reader.missing("text") }
  }

  /// An edit of what is given.
  public init(seq: Int64, content: Message.Content?, extension text: String? = nil) {
    self.seq = seq
    self.content = content
    self.extension = text
  }

  private var rows: WrittenRows {
    let searchableBytes = if case .text(let text) = content { text.utf8.count } else { 0 }
    return .edit(textBytes: content?.byteCount, searchableBytes: searchableBytes, extrasBytes: `extension`?.utf8.count)
  }
}

/// Pins a message, or ends that.
public struct PinGroupMessage: GroupMethod {
  public let seq: Int64
  public let isPinned: Bool

  public static let specification = MethodSpecification(
    .pinGroupMessage, "Pins a message for all who may see it, or unpins it.",
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .messageUnknown, .recallNotYours, .recallUnsupported, .tooManyPinned,
      .groupMessageRate,
    ])

  public static let traits: MethodTraits<Self> = .writes(
    .by { $0.isPinned ? .pin : .messageChange }, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seq = try reader.requiredInteger("seq", in: .seqs, "The seq of the message.")
    isPinned = try reader.requiredFlag("isPinned", "true = it is pinned, false = it is not any more.")
  }
}

/// The pinned messages of a group.
public struct GetPinnedGroupMessageList: GroupMethod {
  public static let specification = MethodSpecification(
    .getPinnedGroupMessageList, "Reads the pinned messages that the caller may see, the last pinned first.",
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .recallUnsupported])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// The messages.
  public struct Result: WireObject {
    public let messageList: [Encoded<MessageInfo>]

    public static let example = Result(messageList: [])

    /// With everything given.
    public init(messageList: [Encoded<MessageInfo>]) { self.messageList = messageList }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("messageList", messageList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// Adds a reaction to a message.
public struct AddMessageReaction: GroupMethod {
  public let seq: Int64
  public let reaction: String

  public static let specification = MethodSpecification(
    .addMessageReaction, "Adds a reaction of the caller's to a message; twice is once.", callers: .user,
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .messageUnknown, .recallNotYours, .recallUnsupported, .tooManyReactions,
    ] + ErrorCode.ofSpeaking)

  public static let traits: MethodTraits<Self> = .writes(
    .always(.reaction), users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seq = try reader.requiredInteger("seq", in: .seqs, "The seq of the message.")
    reaction = try reader.requiredString("reaction", .reaction, "The reaction, as a rule an emoji; compared byte for byte.")
  }
}

/// Takes a reaction back.
public struct RemoveMessageReaction: GroupMethod {
  public let seq: Int64
  public let reaction: String

  public static let specification = MethodSpecification(
    .removeMessageReaction, "Removes a reaction of the caller's from a message; one that is not there changes nothing.",
    callers: .user,
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .messageUnknown, .recallNotYours, .recallUnsupported,
    ] + ErrorCode.ofSpeaking)

  public static let traits: MethodTraits<Self> = .writes(
    .always(.messageChange), users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seq = try reader.requiredInteger("seq", in: .seqs, "The seq of the message.")
    reaction = try reader.requiredString("reaction", .reaction, "The reaction that is removed.")
  }
}

/// The reactions to some messages, with users who gave them.
public struct GetMessageReactions: GroupMethod {
  public let seqs: [Int64]
  public let userCount: Int

  public static let specification = MethodSpecification(
    .getMessageReactions, "Reads the reactions to messages, the first reaction first; unknown messages are left out.",
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .recallUnsupported])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// The reactions of each message.
  public struct Result: WireObject {
    public let resultList: [Row]

    public static let example = Result(resultList: [])

    /// With everything given.
    public init(resultList: [Row]) { self.resultList = resultList }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("resultList", resultList)
    }
  }

  /// The reactions to one message.
  public struct Row: WireObject {
    public let seq: Int64
    public let reactions: [Reaction]

    public static let example = Row(seq: 1, reactions: [])

    /// With everything given.
    public init(seq: Int64, reactions: [Reaction]) {
      self.seq = seq
      self.reactions = reactions
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("seq", seq)
      writer.member("reactions", reactions)
    }
  }

  /// One reaction to a message.
  public struct Reaction: WireObject {
    public let info: ReactionInfo
    /// The first who gave it, as many as were asked for.
    public let users: [UserID]

    public static let example = Reaction(.example, users: [])

    /// With everything given.
    public init(_ info: ReactionInfo, users: [UserID]) {
      self.info = info
      self.users = users
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      info.encodeFields(into: &writer)
      writer.member("userIDList", users.map(\.rawValue))
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seqs = try reader.requiredIntegers("seqList", ListDomain(1...20), in: .seqs, "The seqs of the messages.")
    userCount = Int(
      try reader.optionalInteger("userCount", in: 0...10, "How many users of each reaction are named; absent = 0.") ?? 0)
  }
}

extension TextDomain {
  /// 1–32 bytes without control characters.
  fileprivate static let reaction = TextDomain(1...32, .badValue, .printable)
}
