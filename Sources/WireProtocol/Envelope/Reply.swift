/// What a request is answered with.
public typealias Reply = Result<ReplyValue, WireError>

extension Result where Success == ReplyValue, Failure == WireError {
  /// The result of most methods without a value.
  public static var empty: Reply { .success(.empty) }

  /// An error of the table.
  public static func error(_ code: ErrorCode, _ message: String? = nil, field: String? = nil) -> Reply {
    .failure(WireError(code, message, field: field))
  }

  /// The whole JSON-RPC response.
  /// - Parameter id: nil is written as null.
  public func text(id: RequestID?) -> [UInt8] {
    switch self {
    case .success(let value):
      JSONWriter.text(capacity: value.capacity + 64) { writer in
        writer.response(to: id, "result") { $0.value(value) }
      }
    case .failure(let error):
      JSONWriter.text(capacity: 256) { writer in
        writer.response(to: id, "error") { $0.value(error) }
      }
    }
  }
}
