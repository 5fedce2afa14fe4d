/// A WebSocket client that sends exactly the given bytes, valid or not.
final class WebSocketClient {
  enum Opcode: UInt8 {
    case continuation, text, binary
    case close = 8
    case ping, pong
  }
  struct Frame: Equatable {
    let opcode: UInt8
    /// Inflated.
    let payload: [UInt8]
    var isCompressed = false
    /// Of the payload as it came; 0 where it was not compressed.
    var compressedBytes = 0

    var text: String { String(decoding: payload, as: UTF8.self) }
    /// The code of a close frame.
    var code: Int { payload.count < 2 ? 1005 : Int(payload[0]) << 8 | Int(payload[1]) }
    var reason: String { String(decoding: payload.dropFirst(2), as: UTF8.self) }
  }

  let socket: SocketClient
  private let inflater = Inflater()
  /// The status line and headers of the server's answer.
  let answer: String

  convenience init(
    port: Int, path: String = "/ws", headers: [String] = [], receiveBuffer: Int? = nil, isTLS: Bool = false
  ) throws {
    try self.init(SocketClient(port: port, receiveBuffer: receiveBuffer, isTLS: isTLS), path: path, headers: headers)
  }

  init(_ socket: SocketClient, path: String = "/ws", headers: [String] = []) throws {
    self.socket = socket
    try socket.send(Self.request(path: path, headers: headers))
    answer = try socket.receive(through: "\r\n\r\n")
  }

  static func request(path: String = "/ws", headers: [String] = []) -> String {
    let lines =
      [
        "GET \(path) HTTP/1.1", "Host: example.org:1", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
      ] + headers
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }

  static func frame(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0) -> [UInt8] {
    let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]
    var frame = [(isFinal ? 0x80 : 0) | reserved << 4 | opcode.rawValue]
    switch payload.count {
    case ..<126: frame.append(0x80 | UInt8(payload.count))
    case ..<65_536: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    default: frame += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return frame + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
  }

  func send(_ opcode: Opcode, _ payload: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0) throws {
    try socket.send(Self.frame(opcode, payload, isFinal: isFinal, reserved: reserved))
  }

  func send(_ text: String) throws { try send(.text, Array(text.utf8)) }

  func sendClose(_ code: Int, reason: String = "") throws {
    try send(.close, [UInt8(code >> 8), UInt8(code & 0xff)] + Array(reason.utf8))
  }

  func receive() throws -> Frame {
    let head = try socket.receive(2)
    var count = Int(head[1])
    if count == 126 || count == 127 {
      count = try socket.receive(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
    }
    let payload = try socket.receive(count)
    switch head[0] >> 4 & 7 {
    case 0: return Frame(opcode: head[0] & 15, payload: payload)
    case 4: return Frame(opcode: head[0] & 15, payload: try inflater.inflate(payload), isCompressed: true, compressedBytes: count)
    default: throw SocketClient.Failed(description: "reserved bits in \(head)")
    }
  }

  /// The next text; pings are ignored.
  func receiveText() throws -> String {
    while true {
      let frame = try receive()
      if frame.opcode == Opcode.ping.rawValue { continue }
      guard frame.opcode == Opcode.text.rawValue else {
        throw SocketClient.Failed(description: "a frame of kind \(frame.opcode), code \(frame.code)")
      }
      return frame.text
    }
  }

  /// The close frame; earlier frames are dropped.
  func receiveClose() throws -> Frame {
    while true {
      let frame = try receive()
      if frame.opcode == Opcode.close.rawValue { return frame }
    }
  }
}
