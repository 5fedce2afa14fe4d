#if canImport(Glibc)
  import FoundationEssentials

  /// Reads the frames of a server (RFC 6455, section 5) out of a stream.
  struct FrameDecoder {
    /// Something that the server sent.
    enum Output: Equatable {
      case message(Data)
      case ping([UInt8])
      case pong
      case close(code: Int, reason: String)
    }

    /// Something that no server sends; the connection fails with its close code.
    struct Fault: Error, Equatable {
      let code: Int
      let reason: String

      static func breach(_ reason: String) -> Fault { Fault(code: 1002, reason: reason) }
    }

    private struct Head {
      let isFinal: Bool
      let opcode: UInt8
      let length: Int
      let end: Int
    }

    private var bytes: [UInt8] = []
    private var start = 0
    /// The fragments of a message so far; nil = none is open.
    private var message: [UInt8]?
    private var fragments = 0

    mutating func append(_ more: some Sequence<UInt8>) {
      if start > 0 {
        bytes.removeFirst(start)
        start = 0
      }
      bytes.append(contentsOf: more)
    }

    /// The next whole frame or message; nil where its end has not arrived.
    mutating func next() throws(Fault) -> Output? {
      while let head = try head() {
        guard bytes.count - head.end >= head.length else { return nil }
        let payload = bytes[head.end..<head.end + head.length]
        start = head.end + head.length
        if let output = try take(head, payload) { return output }
      }
      return nil
    }

    private func head() throws(Fault) -> Head? {
      guard bytes.count - start >= 2 else { return nil }
      let (first, second) = (bytes[start], bytes[start + 1])
      guard first & 0x70 == 0 else { throw .breach("reserved bits") }
      guard second < 0x80 else { throw .breach("a masked frame") }
      let isControl = first & 0x08 != 0
      guard !isControl || (first & 0x80 != 0 && second < 126) else { throw .breach("a long control frame") }
      let width = second == 126 ? 2 : second == 127 ? 8 : 0
      let end = start + 2 + width
      guard bytes.count >= end else { return nil }
      let length = width == 0 ? UInt64(second) : bytes[start + 2..<end].reduce(0) { $0 << 8 | UInt64($1) }
      guard length <= UInt64(ClientLimits.messageBytes - (message?.count ?? 0)) else {
        throw Fault(code: 1009, reason: "a message of more than \(ClientLimits.messageBytes) bytes")
      }
      return Head(isFinal: first & 0x80 != 0, opcode: first & 0x0f, length: Int(length), end: end)
    }

    private mutating func take(_ head: Head, _ payload: ArraySlice<UInt8>) throws(Fault) -> Output? {
      switch head.opcode {
      case 0:
        guard message != nil else { throw .breach("a continuation of nothing") }
        return try finish(head, payload)
      case 1:
        guard message == nil else { throw .breach("a message inside another") }
        return try finish(head, payload)
      case 2: throw Fault(code: 1003, reason: "a binary message")
      case 8: return try close(payload)
      case 9: return .ping(Array(payload))
      case 10: return .pong
      default: throw .breach("opcode \(head.opcode)")
      }
    }

    private mutating func finish(_ head: Head, _ payload: ArraySlice<UInt8>) throws(Fault) -> Output? {
      if head.isFinal, message == nil { return .message(Data(payload)) }
      fragments += 1
      guard fragments <= ClientLimits.fragments else {
        throw Fault(code: 1009, reason: "a message of more than \(ClientLimits.fragments) fragments")
      }
      if message == nil { message = [] }
      // In place: a copy for each fragment would cost the square of the message.
      message?.append(contentsOf: payload)
      guard head.isFinal else { return nil }
      defer { (message, fragments) = (nil, 0) }
      return message.map { .message(Data($0)) }
    }

    private func close(_ payload: ArraySlice<UInt8>) throws(Fault) -> Output {
      guard !payload.isEmpty else { return .close(code: 1005, reason: "") }
      guard payload.count >= 2 else { throw .breach("half a close code") }
      let code = payload.prefix(2).reduce(0) { $0 << 8 | Int($1) }
      return .close(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self))
    }
  }

  /// Builds the frames of a client.
  enum FrameEncoder {
    static let text: UInt8 = 1
    static let close: UInt8 = 8
    static let pong: UInt8 = 10
    /// With more than that to send, pings are not answered: a server that reads nothing sees no pong
    /// either.
    private static let pongLimit = 64 << 10

    /// Appends the answer to a ping to what is to be sent.
    static func answer(ping payload: [UInt8], in output: inout [UInt8]) {
      if output.count < pongLimit { output += frame(pong, payload) }
    }

    /// A whole frame with a random masking key (RFC 6455, section 5.3).
    static func frame(_ opcode: UInt8, _ payload: some Collection<UInt8>) -> [UInt8] {
      let count = payload.count
      var frame: [UInt8] = [0x80 | opcode]
      frame.reserveCapacity(count + 14)
      if count < 126 {
        frame.append(0x80 | UInt8(count))
      } else {
        let width = count < 65_536 ? 2 : 8
        frame.append(0x80 | (width == 2 ? 126 : 127))
        for shift in (0..<width).reversed() { frame.append(UInt8(truncatingIfNeeded: count >> (8 * shift))) }
      }
      let key = UInt32.random(in: .min ... .max)
      let mask = (0..<4).map { UInt8(truncatingIfNeeded: key >> (8 * UInt32($0))) }
      frame.append(contentsOf: mask)
      for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index & 3]) }
      return frame
    }

    static func close(_ code: Int) -> [UInt8] {
      frame(close, [UInt8(truncatingIfNeeded: code >> 8), UInt8(truncatingIfNeeded: code)])
    }
  }
#endif
