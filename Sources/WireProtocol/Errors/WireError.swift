/// An error of a reply: `{code, message, data:{temporary, field?, retryAfterMs?}}`
/// (Protocol.md, "Errors").
public struct WireError: Error, Sendable, Equatable, WireEncodable {
  public let code: ErrorCode
  /// Whether the same request may succeed later without being changed.
  public let isTemporary: Bool
  public let message: String
  /// The member of `params` that is wrong, where one is.
  public let field: String?
  /// The time until a retry may succeed, where the server knows it.
  public let retryAfterMs: Int64?

  /// An error from the table.
  /// - Parameter message: nil = the code's title. It never holds a token or the text of a message.
  public init(_ code: ErrorCode, _ message: String? = nil, field: String? = nil, retryAfterMs: Int64? = nil) {
    self.code = code
    self.isTemporary = code.isTemporary
    self.message = message ?? code.title
    self.field = field
    self.retryAfterMs = retryAfterMs
  }

  /// An error that another node has answered.
  public init(code: ErrorCode, isTemporary: Bool, message: String, field: String?, retryAfterMs: Int64?) {
    self.code = code
    self.isTemporary = isTemporary
    self.message = message
    self.field = field
    self.retryAfterMs = retryAfterMs
  }

  /// A request that the application was to decide about, and has not: a later one may succeed.
  public static let applicationSilent = WireError(unanswered: .refusedByApplication)

  /// A request about which the application could not be asked: nothing was changed.
  /// - Parameter retryAfterMs: nil = the server ends, or stood still.
  public static func applicationNotAsked(retryAfterMs: Int64?) -> WireError {
    WireError(.temporary, "The application could not be asked in time", retryAfterMs: retryAfterMs)
  }

  /// A request that may have been performed, or not: by another node, or by the store before another
  /// node has become the group's. 10002 would say that nothing was changed, and applications repeat what
  /// is temporary.
  public static let outcomeUnknown = WireError(
    .internalError, "The request may have been performed: its outcome was lost between nodes of the server")

  private init(unanswered code: ErrorCode) {
    self.code = code
    isTemporary = true
    message = "The application did not answer"
    field = nil
    retryAfterMs = nil
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("code", code.rawValue)
      writer.member("message", message)
      writer.key("data")
      writer.object { writer in
        writer.member("temporary", isTemporary)
        writer.member("field", ifPresent: field)
        writer.member("retryAfterMs", ifPresent: retryAfterMs)
      }
    }
  }
}
