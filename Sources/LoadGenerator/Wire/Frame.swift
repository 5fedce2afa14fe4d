/// One frame as it lies in the bytes that were received (RFC 6455, section 5.2).
struct Frame: Equatable {
  /// What a frame is for.
  enum Opcode {
    static let continuation: UInt8 = 0
    static let text: UInt8 = 1
    static let binary: UInt8 = 2
    static let close: UInt8 = 8
    static let ping: UInt8 = 9
    static let pong: UInt8 = 10
  }

  /// Longer frames are taken for a broken stream.
  static let longestPayload = 16 << 20

  let opcode: UInt8
  /// Where the payload begins.
  let start: Int
  /// Where the payload and the frame end.
  let end: Int

  /// What stands at a place of the stream.
  enum Reading: Equatable {
    case frame(Frame)
    /// The frame is not here to its end.
    case incomplete
    /// No frame of a server: masked, reserved bits, or too long.
    case broken
  }

  /// The frame that begins at `start` of the first `count` bytes.
  @inline(__always)
  static func read(_ bytes: UnsafeRawPointer, from start: Int, count: Int) -> Reading {
    let available = count - start
    guard available >= 2 else { return .incomplete }
    let first = bytes.load(fromByteOffset: start, as: UInt8.self)
    let second = bytes.load(fromByteOffset: start + 1, as: UInt8.self)
    guard first & 0x70 == 0, second < 0x80 else { return .broken }
    var length = Int(second)
    var head = 2
    if second == 126 {
      guard available >= 4 else { return .incomplete }
      length = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt16.self)))
      head = 4
    } else if second == 127 {
      guard available >= 10 else { return .incomplete }
      let wide = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt64.self))
      guard wide <= UInt64(longestPayload) else { return .broken }
      length = Int(wide)
      head = 10
    }
    guard available >= head + length else { return .incomplete }
    return .frame(Frame(opcode: first & 0x0f, start: start + head, end: start + head + length))
  }
}
