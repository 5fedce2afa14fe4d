import Glibc

/// Builds the frames of a client in place.
///
/// Every frame has the masking key 0, which costs the generator nothing. It is legal (RFC 6455,
/// section 5.3), and the server has to unmask the frame all the same.
enum FrameWriter {
  /// The longest head: two bytes, eight of length, four of the masking key.
  static let longestHead = 14

  /// Writes the head that ends where the payload begins.
  /// - Parameter payload: the payload's first byte; `longestHead` bytes before it are free.
  /// - Returns: the length of the head.
  static func putHead(before payload: UnsafeMutableRawPointer, opcode: UInt8, length: Int) -> Int {
    let size = length < 126 ? 6 : length < 65536 ? 8 : 14
    let head = payload - size
    head.storeBytes(of: 0x80 | opcode, as: UInt8.self)
    switch size {
    case 6: head.storeBytes(of: 0x80 | UInt8(length), toByteOffset: 1, as: UInt8.self)
    case 8:
      head.storeBytes(of: 0x80 | 126, toByteOffset: 1, as: UInt8.self)
      head.storeBytes(of: UInt16(length).bigEndian, toByteOffset: 2, as: UInt16.self)
    default:
      head.storeBytes(of: 0x80 | 127, toByteOffset: 1, as: UInt8.self)
      head.storeBytes(of: UInt64(length).bigEndian, toByteOffset: 2, as: UInt64.self)
    }
    (payload - 4).storeBytes(of: 0, as: UInt32.self)
    return size
  }

  /// A whole frame.
  static func frame(opcode: UInt8, payload: some Collection<UInt8>) -> [UInt8] {
    let length = payload.count
    return [UInt8](unsafeUninitializedCapacity: longestHead + length) { buffer, count in
      // The capacity asked for is never 0, so there is an address.
      let base = UnsafeMutableRawPointer(buffer.baseAddress!)
      let size = putHead(before: base + longestHead, opcode: opcode, length: length)
      memmove(base, base + longestHead - size, size)
      UnsafeMutableRawBufferPointer(start: base + size, count: length).copyBytes(from: payload)
      count = size + length
    }
  }
}
