/// A reason that C writes into a buffer.
struct ErrorText {
  private var bytes = [CChar](repeating: 0, count: 512)

  /// Calls C with the buffer and its size.
  mutating func fill<Result>(_ body: (UnsafeMutablePointer<CChar>, Int) -> Result) -> Result {
    bytes.withUnsafeMutableBufferPointer { body($0.baseAddress!, $0.count) }  // never empty, so it has an address
  }

  var text: String {
    String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
  guard let text else { return body(nil) }
  return text.withCString { body($0) }
}
