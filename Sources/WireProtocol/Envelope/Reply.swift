/// The answer to a request. A type of its own: the generic `Result` is copied and destroyed through
/// its metadata, at 130 instructions each time.
public enum Reply: Sendable {
  case success(ReplyValue)
  case failure(WireError)

  /// The result of most methods without a value.
  public static var empty: Reply { .success(.empty) }

  /// An error of the table.
  public static func error(_ code: ErrorCode, _ message: String? = nil, field: String? = nil) -> Reply {
    .failure(WireError(code, message, field: field))
  }

  /// The whole JSON-RPC response.
  /// - Parameter id: nil is written as null.
  public func text(id: RequestID?) -> [UInt8] {
    JSONWriter.text(of: self, capacity: capacity) { $0.response($1, to: id) }
  }

  private var capacity: Int {
    switch self {
    case .success(let value): value.capacity + 64
    case .failure: 256
    }
  }
}
