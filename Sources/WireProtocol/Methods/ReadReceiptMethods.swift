import GroupModel

/// Tells the senders of messages that the caller has read these.
public struct SendMessageReadReceipts: GroupMethod {
  /// Each once.
  public let seqs: [Int64]

  public static let specification = MethodSpecification(
    .sendMessageReadReceipts, "Tells the senders of messages that the caller has read them.", callers: .user,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .recallUnsupported])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .readReceipts(blocks: Set($0.seqs.map(SeqBlock.number(of:))).count) }, users: .nobody, asks: .never,
    tellsMembers: false, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seqs = try reader.requiredIntegers(
      "seqList", ListDomain(1...50), in: .seqs,
      "The messages that the caller has read; own ones and those without receipts are ignored.")
  }

  /// The receipts of messages.
  public init(seqs: [Int64]) { self.seqs = seqs }
}

/// How many have read own messages.
public struct GetMessageReadReceipts: GroupMethod {
  /// Each once.
  public let seqs: [Int64]

  public static let specification = MethodSpecification(
    .getMessageReadReceipts, "Tells how many members have read messages of the caller's own.", callers: .user,
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .recallUnsupported])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// A row for each own message with receipts.
  public struct Result: WireObject {
    public let receiptList: [ReadReceiptCount]

    public static let example = Result(receiptList: [])

    /// With everything given.
    public init(receiptList: [ReadReceiptCount]) { self.receiptList = receiptList }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("receiptList", receiptList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seqs = try reader.requiredIntegers(
      "seqList", ListDomain(1...50), in: .seqs, "The messages; others than own ones with receipts are left out of the answer.")
  }

  /// The receipts of messages.
  public init(seqs: [Int64]) { self.seqs = seqs }
}

/// How many members have read a message, and how many have not.
public struct ReadReceiptCount: WireObject, Equatable {
  public let seq: Int64
  public let readCount: Int
  public let unreadCount: Int

  public static let example = ReadReceiptCount(seq: 1, readCount: 0, unreadCount: 0)

  /// With everything given.
  public init(seq: Int64, readCount: Int, unreadCount: Int) {
    self.seq = seq
    self.readCount = readCount
    self.unreadCount = unreadCount
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("seq", seq)
    writer.member("readCount", readCount)
    writer.member("unreadCount", unreadCount)
  }
}

/// The members who have read an own message, or have not, a page at a time.
public struct GetGroupMessageReadMemberList: GroupMethod {
  /// The members that are listed.
  public enum Filter: String, CaseIterable, Sendable {
    case read = "Read"
    case unread = "Unread"
  }

  public let seq: Int64
  public let filter: Filter
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getGroupMessageReadMemberList, "Lists who has read a message of the caller's own, or who has not.", callers: .user,
    result: MemberPage.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .messageUnknown, .recallNotYours, .recallUnsupported])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    seq = try reader.requiredInteger("seq", in: .seqs, "The seq of an own message that was sent with needReadReceipt.")
    filter =
      try reader.optionalWord("filter", "Whether those are listed who have read it, or those who have not; absent = Read.")
      ?? .read
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 100, otherwise: 50, "The most members of the page; absent = 50.")
  }

  /// A page with everything given.
  public init(seq: Int64, filter: Filter, nextSeq: Int64, count: Int) {
    self.seq = seq
    self.filter = filter
    self.nextSeq = nextSeq
    self.count = count
  }
}
