import GroupModel

/// Finds stored texts that the caller may see.
public struct SearchGroupMessages: ServerMethod {
  public let keywords: [String]
  /// Empty = all groups that the caller has joined.
  public let groupIDList: [GroupID]
  /// Empty = everybody.
  public let senders: [UserID]
  public let from: WallInstant?
  public let to: WallInstant?
  public let count: Int
  public let nextSeq: Int64

  public static let specification = MethodSpecification(
    .searchGroupMessages,
    "Finds Text messages with any of up to 5 keywords that the caller may see, if `search.messages` is on.",
    result: Result.fields, errors: [.badGroupID, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of messages that were found.
  public struct Result: WireObject {
    public let messageList: [Encoded<MessageInfo>]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(messageList: [], nextSeq: 0)

    /// With everything given.
    public init(messageList: [Encoded<MessageInfo>], nextSeq: Int64) {
      self.messageList = messageList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("messageList", messageList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    keywords = try reader.requiredStrings(
      "keywordList", ListDomain(1...5), TextDomain(1...512),
      "The texts to look for, in upper or lower case; a message is found by any of them.")
    let names =
      try reader.optionalStrings(
        "groupIDList", .optional(upTo: 50), .groupID, "Where to look; absent or empty = in all groups that the caller has joined."
      )
      ?? []
    groupIDList = names.uniqued().compactMap { GroupID($0) }
    senders =
      try reader.optionalUserIDs(
        "senderUserIDList", .optional(upTo: 50), "Whose messages are found; absent or empty = everybody's.") ?? []
    from = try reader.optionalInstant(
      "from", "When they were sent at the earliest, in milliseconds since 1970; absent = any time.")
    to = try reader.optionalInstant("to", "When they were sent at the latest, in milliseconds since 1970; absent = any time.")
    count = try reader.count(upTo: 50, otherwise: 20, "The most messages of the page; absent = 20.")
    nextSeq = try reader.nextSeq()
  }
}
