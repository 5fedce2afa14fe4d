/// One frame within received bytes (RFC 6455, section 5.2).
struct Frame: Equatable {
  /// The opcodes.
  enum Opcode {
    static let continuation: UInt8 = 0
    static let text: UInt8 = 1
    static let binary: UInt8 = 2
    static let close: UInt8 = 8
    static let ping: UInt8 = 9
    static let pong: UInt8 = 10
  }

  /// The bit of the first byte that marks a compressed message (RFC 7692, section 6).
  static let compressedBit: UInt8 = 0x40
  /// A longer frame counts as invalid.
  static let longestPayload = 16 << 20

  let opcode: UInt8
  /// The offset of the payload.
  let start: Int
  /// The offset behind the payload and the frame.
  let end: Int

  /// The result of parsing at an offset.
  enum ParseResult: Equatable {
    case frame(Frame)
    /// The end of the frame has not arrived.
    case incomplete
    /// No frame of a server: masked, reserved bits, or too long.
    case invalid
  }

  /// The frame that begins at `start` of the first `count` bytes.
  /// - Parameter reserved: the reserved bits that make a frame invalid.
  @inline(__always)
  static func parse(_ bytes: UnsafeRawPointer, from start: Int, count: Int, reserved: UInt8 = 0x70) -> ParseResult {
    let available = count - start
    guard available >= 2 else { return .incomplete }
    let first = bytes.load(fromByteOffset: start, as: UInt8.self)
    let second = bytes.load(fromByteOffset: start + 1, as: UInt8.self)
    guard first & reserved == 0, second < 0x80 else { return .invalid }
    var length = Int(second)
    var head = 2
    if second == 126 {
      guard available >= 4 else { return .incomplete }
      length = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt16.self)))
      head = 4
    } else if second == 127 {
      guard available >= 10 else { return .incomplete }
      let wide = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt64.self))
      guard wide <= UInt64(longestPayload) else { return .invalid }
      length = Int(wide)
      head = 10
    }
    guard available >= head + length else { return .incomplete }
    return .frame(Frame(opcode: first & 0x0f, start: start + head, end: start + head + length))
  }
}
