import GroupModel

/// The after-events that were given up.
public struct ListWebhookFailures: ServerMethod {
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .listWebhookFailures, "Lists the webhooks that were given up, the oldest first.", callers: .application,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of failures.
  public struct Result: WireObject {
    public let failureList: [WebhookFailureInfo]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(failureList: [], nextSeq: 0)

    /// With everything given.
    public init(failureList: [WebhookFailureInfo], nextSeq: Int64) {
      self.failureList = failureList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("failureList", failureList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 100, otherwise: 50, "The most failures of the page; absent = 50.")
  }
}

/// An after-event that was given up.
public struct WebhookFailureInfo: WireObject {
  public let id: String
  public let type: WebhookType
  /// When it happened.
  public let timestamp: WallInstant
  /// As it is posted.
  public let data: JSONText
  public let attempts: Int
  public let lastError: String

  public static let example = WebhookFailureInfo(
    id: "", type: .messageSent, timestamp: .unset, data: [], attempts: 0, lastError: "")

  /// A failure with everything given.
  /// - Parameter data: the text of a JSON object.
  public init(id: String, type: WebhookType, timestamp: WallInstant, data: [UInt8], attempts: Int, lastError: String) {
    self.id = id
    self.type = type
    self.timestamp = timestamp
    self.data = JSONText(text: data)
    self.attempts = attempts
    self.lastError = lastError
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("id", id)
    writer.member("type", type.rawValue)
    writer.member("timestamp", timestamp)
    writer.member("data", data)
    writer.member("attempts", attempts)
    writer.member("lastError", lastError)
  }

  /// An object that is encoded already.
  public struct JSONText: FieldValue {
    public static let notation = "object"

    let text: [UInt8]

    public func encode(into writer: inout JSONWriter) { writer.raw(text) }
  }
}

/// Posts the after-events again that were given up.
public struct RetryWebhooks: ServerMethod {
  public static let specification = MethodSpecification(
    .retryWebhooks, "Posts the webhooks again that were given up.", callers: .application,
    result: Result.fields)

  public static let traits: MethodTraits<Self> = .writes(.membership, at: .here, asks: .never, audit: .change)

  /// How many there were.
  public struct Result: WireObject {
    public let retried: Int

    public static let example = Result(retried: 0)

    /// With everything given.
    public init(retried: Int) { self.retried = retried }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("retried", retried)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}
