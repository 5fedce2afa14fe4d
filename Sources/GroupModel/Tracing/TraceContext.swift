/// The place of a request in a trace of several services, as `traceparent` tells it (W3C Trace
/// Context). Another thing than the traces of `BeginTrace`, which show operators what a group does.
public struct TraceContext: Sendable, Hashable {
  /// The two halves of the trace-id, which is not zero.
  let high: UInt64
  let low: UInt64
  /// The span that causes what happens in this context; not zero.
  public let spanID: UInt64
  /// Whether the service that began the trace records it.
  public let isSampled: Bool

  /// A trace that begins here, with random IDs.
  public static func begin() -> TraceContext {
    var generator = SystemRandomNumberGenerator()
    return TraceContext(
      high: .random(in: 0 ... .max, using: &generator), low: .random(in: 1 ... .max, using: &generator),
      spanID: .random(in: 1 ... .max, using: &generator), isSampled: true)
  }

  /// The context of what another span of the same trace causes.
  public func child() -> TraceContext {
    TraceContext(high: high, low: low, spanID: .random(in: 1 ... .max), isSampled: isSampled)
  }

  private init(high: UInt64, low: UInt64, spanID: UInt64, isSampled: Bool) {
    self.high = high
    self.low = low
    self.spanID = spanID
    self.isSampled = isSampled
  }
}

extension TraceContext {
  /// The bytes of a `traceparent` of version 00.
  private static let byteCount = 55

  /// Reads a `traceparent`. "Vendors MUST ignore the traceparent when it is invalid": nil then. A later
  /// version may have more behind the flags.
  public init?(traceparent: String) {
    let bytes = Array(traceparent.utf8.prefix(TraceContext.byteCount + 1))
    guard bytes.count >= TraceContext.byteCount, let version = TraceContext.number(bytes[0..<2]), version != 0xff,
      [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
      let high = TraceContext.number(bytes[3..<19]), let low = TraceContext.number(bytes[19..<35]),
      let spanID = TraceContext.number(bytes[36..<52]), let flags = TraceContext.number(bytes[53..<55])
    else { return nil }
    if bytes.count > TraceContext.byteCount {
      guard version > 0, bytes[TraceContext.byteCount] == UInt8(ascii: "-") else { return nil }
    }
    guard high | low != 0, spanID != 0 else { return nil }
    self.init(high: high, low: low, spanID: spanID, isSampled: flags & 1 == 1)
  }

  /// The value of hexadecimal digits, small letters only; nil for anything else.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }

  /// The header's value, of version 00.
  public var traceparent: String { "00-\(traceID)-\(TraceContext.text(spanID))-\(isSampled ? "01" : "00")" }

  /// The trace-id: 32 hexadecimal digits.
  public var traceID: String { TraceContext.text(high) + TraceContext.text(low) }

  /// An ID as 16 hexadecimal digits.
  public static func text(_ id: UInt64) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
