import GroupModel

/// Some messages of a group.
public struct GetGroupMessages: GroupMethod {
  /// Each once, in the order of the answer.
  public let seqs: [Int64]

  public static let specification = MethodSpecification(
    .getGroupMessages, "Reads messages as they are now, in the order of seqList; those that the caller may not see are left out.",
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .recallUnsupported])

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

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seqs = try reader.requiredIntegers("seqList", ListDomain(1...20), in: .seqs, "The seqs of the messages.")
  }
}
