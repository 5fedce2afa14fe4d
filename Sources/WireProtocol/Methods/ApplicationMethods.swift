import GroupModel

/// The applications that the caller may decide, or those of the caller.
public struct GetGroupApplicationList: ServerMethod {
  /// The applications that are listed.
  public enum Box: String, CaseIterable, Sendable {
    /// Those that the caller may decide.
    case received = "Received"
    /// The caller's requests to join, and invitations.
    case sent = "Sent"
  }

  public let box: Box
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getGroupApplicationList,
    "Lists the applications that the caller may decide, or has sent, handled ones included, newest first.",
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of applications.
  public struct Result: WireObject {
    public let applicationList: [ApplicationInfo]
    public let unreadCount: Int
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(applicationList: [], unreadCount: 0, nextSeq: 0)

    /// With everything given.
    public init(applicationList: [ApplicationInfo], unreadCount: Int, nextSeq: Int64) {
      self.applicationList = applicationList
      self.unreadCount = unreadCount
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("applicationList", applicationList)
      writer.member("unreadCount", unreadCount)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    box =
      try reader.optionalWord(
        "box", "Received: those that the caller may decide; Sent: those that the caller made. Absent = Received.") ?? .received
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 50, otherwise: 50, "The most applications of the page; absent = 50.")
  }
}

/// The decision of an application.
public struct ApplicationDecision: Sendable, Equatable {
  public let applicationID: String
  public let agrees: Bool
  public let reason: String?

  init(from reader: inout some ParameterReader, agrees: Bool) throws(WireError) {
    self.agrees = agrees
    applicationID = try reader.requiredString("applicationID", .any, "The application or invitation that is decided.")
    reason = try reader.optionalString("reason", .remark, "A word to whoever asked.")
  }

  static let errors: [ErrorCode] = [.badValue, .noSuchGroup, .noRight, .applicationHandled]
}

/// Agrees to a request to join, or follows an invitation.
public struct AcceptGroupApplication: ServerMethod {
  public let decision: ApplicationDecision

  public static let specification = MethodSpecification(
    .acceptGroupApplication, "Lets an applicant in, or follows an invitation.",
    errors: ApplicationDecision.errors + [.groupFull, .tooManyGroups])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .membership(reasonBytes: $0.decision.reason.byteCount) },
    at: .owner(mayWait: false) { .application($0.decision.applicationID) }, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    decision = try ApplicationDecision(from: &reader, agrees: true)
  }
}

/// Refuses a request to join, or an invitation.
public struct RefuseGroupApplication: ServerMethod {
  public let decision: ApplicationDecision

  public static let specification = MethodSpecification(
    .refuseGroupApplication, "Turns an applicant away, or an invitation down.", errors: ApplicationDecision.errors)

  public static let traits: MethodTraits<Self> = .writes(
    .by { .membership(reasonBytes: $0.decision.reason.byteCount) },
    at: .owner(mayWait: false) { .application($0.decision.applicationID) }, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    decision = try ApplicationDecision(from: &reader, agrees: false)
  }
}

/// Marks applications as read.
public struct SetGroupApplicationRead: ServerMethod {
  /// Nil = now.
  public let timestamp: WallInstant?

  public static let specification = MethodSpecification(
    .setGroupApplicationRead, "Marks the applications up to an instant as read by the caller.", callers: .user,
    errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(.membership, at: .here, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    timestamp = try reader.optionalInstant(
      "timestamp", "The instant up to which applications are read, in milliseconds since 1970; absent = now.")
  }
}
