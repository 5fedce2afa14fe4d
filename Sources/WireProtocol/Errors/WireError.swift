/// An error of a reply: `{code, message, data:{temporary, field?, retryAfterMs?}}`
/// (Protocol.md, "Errors").
public struct WireError: Error, Sendable, Equatable, WireEncodable {
  public let code: ErrorCode
  public let message: String
  /// The member of `params` that is wrong, where one is.
  public let field: String?
  /// The time until a retry may succeed, where the server knows it.
  public let retryAfterMs: Int64?

  /// An error from the table.
  /// - Parameter message: nil = the code's title. It never holds a token or the text of a message.
  public init(_ code: ErrorCode, _ message: String? = nil, field: String? = nil, retryAfterMs: Int64? = nil) {
    self.code = code
    self.message = message ?? code.title
    self.field = field
    self.retryAfterMs = retryAfterMs
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("code", code.rawValue)
      writer.member("message", message)
      writer.key("data")
      writer.object { writer in
        writer.member("temporary", code.isTemporary)
        writer.member("field", ifPresent: field)
        writer.member("retryAfterMs", ifPresent: retryAfterMs)
      }
    }
  }
}
