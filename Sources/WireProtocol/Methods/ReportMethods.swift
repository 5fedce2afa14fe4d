import GroupModel

/// Reports a message to the application. It names its group and is still no method of that group alone:
/// the owner of the caller's shard counts it, and asks the group.
public struct ReportMessage: ServerMethod, Equatable {
  public let groupID: GroupID
  public let target: RevokeGroupMessage.Target
  /// Never empty; nil = none.
  public let category: String?
  /// Never empty; nil = none.
  public let text: String?

  public static let specification = MethodSpecification(
    .reportMessage, "Reports a message that the caller may see to the application; once more renews the report.",
    callers: .user, result: Result.fields,
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badValue, .messageUnknown, .recallUnsupported, .attributeCallsTooOften,
    ])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .report(textBytes: $0.category.byteCount + $0.text.byteCount) }, at: .owner(mayWait: false) { _ in .caller },
    asks: .never, audit: .message)

  /// The name of the report.
  public struct Result: WireObject {
    public let reportID: String

    public static let example = Result(reportID: "")

    /// With everything given.
    public init(reportID: String) { self.reportID = reportID }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("reportID", reportID)
    }
  }

  /// A report; empty texts count as none.
  public init(groupID: GroupID, target: RevokeGroupMessage.Target, category: String? = nil, text: String? = nil) {
    self.groupID = groupID
    self.target = target
    self.category = category.nonEmpty
    self.text = text.nonEmpty
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    let groupID = try reader.requiredGroupID()
    try reader.requireOne("seq", or: "msgID")
    let seq = try reader.optionalInteger("seq", in: .seqs, "The seq of the message that is reported, in place of msgID.")
    let msgID = try reader.optionalString(
      "msgID", .msgID, "The msgID of the message, in place of seq; in live rooms that remember messages.")
    let category = try reader.optionalString(
      "category", TextDomain(0...32), "A word of the application's own for what is wrong; absent or empty = none.")
    let text = try reader.optionalString("text", .remark, "The reporter's own words; absent or empty = none.")
    // Neither seq nor msgID is given to a reader that describes the method.
    self.init(groupID: groupID, target: msgID.map { .msgID($0) } ?? .seq(seq ?? 1), category: category, text: text)
  }
}

/// A report for the application.
public struct ReportInfo: WireObject, Equatable {
  public static let notation = "Report"

  public let report: MessageReport

  public static let example = ReportInfo(
    MessageReport(
      id: "", groupID: .generate(), epoch: "", seq: nil, msgID: "", reporter: .administrator, category: "", text: "",
      time: .unset, note: "", message: Array("{}".utf8)))

  /// A report.
  public init(_ report: MessageReport) { self.report = report }

  /// About the bytes of its text.
  public var byteCount: Int {
    256 + report.message.count + report.category.byteCount + report.text.byteCount + report.note.byteCount
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("reportID", report.id)
    writer.member("groupID", report.groupID.rawValue)
    writer.member("reporter", report.reporter.rawValue)
    writer.member("message", Encoded<MessageInfo>(text: report.message))
    writer.member("category", report.category ?? "")
    writer.member("text", report.text ?? "")
    writer.member("time", report.time)
    writer.member("state", word: report.state)
    writer.member("note", ifPresent: report.note)
  }
}

extension String? {
  /// Nil for an empty text, too.
  fileprivate var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}

// MARK: The application's methods

/// Lists the reports of messages.
public struct ListReports: ServerMethod {
  public let state: MessageReport.State
  /// Nil = of all groups.
  public let groupID: GroupID?
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .listReports, "Lists the reports of messages, those made last first.", callers: .application, result: Result.fields,
    errors: [.badGroupID, .badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of reports.
  public struct Result: WireObject {
    public let reportList: [ReportInfo]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(reportList: [], nextSeq: 0)

    /// With everything given.
    public init(reportList: [ReportInfo], nextSeq: Int64) {
      self.reportList = reportList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("reportList", reportList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    state = try reader.optionalWord("state", "The state of the listed reports; absent = Open.") ?? .open
    groupID = try reader.optionalString("groupID", .groupID, "The group whose reports are listed; absent = all groups.")
      .map { GroupID(allowed: $0) }
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 100, otherwise: 50, "The most reports of the page; absent = 50.")
  }
}

/// Closes a report.
public struct CloseReport: ServerMethod {
  public let reportID: String
  /// Never empty; nil = none.
  public let note: String?

  public static let specification = MethodSpecification(
    .closeReport, "Closes a report; a closed one gets the new note.", callers: .application, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .report(textBytes: $0.note.byteCount) }, at: .here, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    reportID = try reader.requiredString("reportID", TextDomain(1...200), "The reportID of the report.")
    note = try reader.optionalString("note", .remark, "What was done about it; absent or empty = no note.").nonEmpty
  }
}
