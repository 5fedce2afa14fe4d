import GroupModel

/// The replies to a message.
public struct GetGroupMessageReplies: GroupMethod {
  public let seq: Int64
  /// The last reply of the page before; 0 = the first page.
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getGroupMessageReplies,
    "Reads the messages that answer a message and that the caller may see, oldest first; recalled ones are left out.",
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .messageUnknown, .recallUnsupported])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// A page of replies.
  public struct Result: WireObject {
    public let messageList: [Encoded<MessageInfo>]
    /// How many there are on all pages; 1000 stands for more as well.
    public let totalCount: Int
    /// 0 = there are no more.
    public let nextSeq: Int64

    public static let example = Result(messageList: [], totalCount: 0, nextSeq: 0)

    /// With everything given.
    public init(messageList: [Encoded<MessageInfo>], totalCount: Int, nextSeq: Int64) {
      self.messageList = messageList
      self.totalCount = totalCount
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("messageList", messageList)
      writer.member("totalCount", totalCount)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seq = try reader.requiredInteger("seq", in: .seqs, "The seq of the message that they answer.")
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 50, otherwise: 50, "The most replies of the page; absent = 50.")
  }
}
