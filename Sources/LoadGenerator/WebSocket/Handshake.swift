/// The upgrade of a connection (RFC 6455, section 4).
enum Handshake {
  /// The same key on every connection, so that its response is known.
  static let key = "dGhlIHNhbXBsZSBub25jZQ=="
  static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

  /// The request.
  /// - Parameters:
  ///   - target: path and query.
  ///   - offersDeflate: as a browser offers permessage-deflate (RFC 7692).
  static func request(target: String, host: String, subprotocol: String?, offersDeflate: Bool = false) -> [UInt8] {
    var lines = [
      "GET \(target) HTTP/1.1", "Host: \(host)", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Key: \(key)",
      "Sec-WebSocket-Version: 13",
    ]
    if let subprotocol { lines.append("Sec-WebSocket-Protocol: \(subprotocol)") }
    if offersDeflate { lines.append("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits") }
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// The response of the server.
  enum Response: Equatable {
    case incomplete
    /// The frames begin at the offset `end`.
    /// - agreesOnDeflate: the server has accepted permessage-deflate.
    case accepted(end: Int, agreesOnDeflate: Bool = false)
    case refused(String)
  }

  /// Parses the response at the beginning of the stream.
  static func parse(_ bytes: UnsafeRawBufferPointer) -> Response {
    var end = 0
    let mark: [UInt8] = [13, 10, 13, 10]
    while end + 4 <= bytes.count, !bytes[end..<end + 4].elementsEqual(mark) { end += 1 }
    guard end + 4 <= bytes.count else {
      return bytes.count > 16384 ? .refused("no end of the HTTP head within 16 KB") : .incomplete
    }
    let head = String(decoding: bytes[..<end], as: UTF8.self)
    let first = head.prefix { $0 != "\r\n" && $0 != "\n" }
    let words = first.split(separator: " ")
    guard words.count >= 2, words[0].hasPrefix("HTTP/1.") else { return .refused("no HTTP") }
    guard words[1] == "101" else { return .refused("HTTP " + words.dropFirst().joined(separator: " ")) }
    guard head.contains(accept) else { return .refused("HTTP 101 without the right Sec-WebSocket-Accept") }
    return .accepted(end: end + 4, agreesOnDeflate: agreesOnDeflate(head))
  }

  private static func agreesOnDeflate(_ head: String) -> Bool {
    head.split(separator: "\r\n").contains { line in
      line.lowercased().hasPrefix("sec-websocket-extensions:") && line.contains("permessage-deflate")
    }
  }
}
