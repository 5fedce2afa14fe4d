#if canImport(Glibc)
  import CTLSClient
  import FoundationEssentials

  /// The address of a WebSocket.
  struct WebSocketAddress: Equatable {
    let host: String
    let port: Int
    /// Path and query.
    let target: String
    let isSecure: Bool

    init(_ url: URL) throws(TransportError) {
      guard let scheme = url.scheme?.lowercased(), scheme == "ws" || scheme == "wss", let host = url.host(), !host.isEmpty else {
        throw .badAddress(ConnectionReport.shown(url.absoluteString))
      }
      isSecure = scheme == "wss"
      self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
      port = url.port ?? (isSecure ? 443 : 80)
      let path = url.path(percentEncoded: true)
      target = (path.isEmpty ? "/" : path) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }

    /// The value of the header Host.
    var authority: String {
      let name = host.contains(":") ? "[\(host)]" : host
      return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
  }

  /// The upgrade of a connection (RFC 6455, section 4).
  struct Upgrade {
    /// A longer head of a response is refused.
    static let longestHead = 16_384

    private let key: String
    private let subprotocol: String

    /// - Parameter key: 16 bytes in base64.
    init(subprotocol: String, key: String = Upgrade.randomKey()) {
      self.subprotocol = subprotocol
      self.key = key
    }

    private static func randomKey() -> String {
      Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
    }

    func request(to address: WebSocketAddress) -> [UInt8] {
      let lines = [
        "GET \(address.target) HTTP/1.1", "Host: \(address.authority)", "Upgrade: websocket", "Connection: Upgrade",
        "Sec-WebSocket-Key: \(key)", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Protocol: \(subprotocol)",
      ]
      return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// Answers how many of the bytes the response takes; nil where its end has not arrived.
    func accept(_ bytes: [UInt8]) throws(TransportError) -> Int? {
      let mark = Array("\r\n\r\n".utf8)
      guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) else {
        if bytes.count > Upgrade.longestHead { throw .failed("no end of the HTTP head within 16 KB") }
        return nil
      }
      let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
      let status = (lines.first ?? "").split(separator: " ", maxSplits: 2)
      guard status.count >= 2, status[0].hasPrefix("HTTP/1.") else { throw .failed("no HTTP") }
      guard status[1] == "101" else { throw .failed("HTTP " + status.dropFirst().joined(separator: " ")) }
      let headers = Dictionary(lines.dropFirst().compactMap(Upgrade.header), uniquingKeysWith: { first, _ in first })
      guard headers["sec-websocket-accept"] == expectedAccept else {
        throw .failed("HTTP 101 without the right Sec-WebSocket-Accept")
      }
      guard headers["sec-websocket-extensions"] == nil else { throw .failed("an extension that was not offered") }
      return end + mark.count
    }

    private static func header(_ line: Substring) -> (String, String)? {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (line[..<colon].lowercased(), String(line[line.index(after: colon)...].drop { $0 == " " }))
    }

    var expectedAccept: String {
      var accept = [CChar](repeating: 0, count: 29)
      tc_websocket_accept(key, &accept)
      return String(decoding: accept.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
#endif
