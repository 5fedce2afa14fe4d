/// What a request is answered with: a result that is JSON text already, or an error.
public typealias Reply = Result<[UInt8], WireError>

private let emptyObject = Array("{}".utf8)

extension Result where Success == [UInt8], Failure == WireError {
  /// The result that most methods without a value give.
  public static var empty: Reply { .success(emptyObject) }

  /// The reply around a result that `body` writes.
  public static func object(capacity: Int = 256, _ body: (inout JSONWriter) -> Void) -> Reply {
    .success(JSONWriter.text(capacity: capacity) { $0.object(body) })
  }

  /// An error of the table.
  public static func error(_ code: ErrorCode, _ message: String? = nil, field: String? = nil) -> Reply {
    .failure(WireError(code, message, field: field))
  }

  /// The whole JSON-RPC response.
  /// - Parameter id: nil is written as null.
  public func text(id: RequestID?) -> [UInt8] {
    var capacity = 160
    if case .success(let result) = self { capacity = result.count + 64 }
    return JSONWriter.text(capacity: capacity) { writer in
      writer.object { writer in
        writer.member("jsonrpc", "2.0")
        writer.key("id")
        if let id { writer.value(id) } else { writer.null() }
        switch self {
        case .success(let result):
          writer.key("result")
          writer.raw(result)
        case .failure(let error): writer.member("error", error)
        }
      }
    }
  }
}
