#if canImport(Glibc)
  import CTLSPeer
  import Foundation
  import Glibc

  @testable import ThrongClient

  /// The server's side of one connection; its calls block, so that it has a thread of its own.
  struct SocketPeer {
    private let socket: Int32
    private let tls: OpaquePointer?
    private var bytes: [UInt8] = []

    /// Listens on a free port and serves one connection as `script` says.
    static func serve(
      tls context: PeerContext? = nil, _ script: @escaping @Sendable (inout SocketPeer) -> Void
    ) -> (port: UInt16, done: AsyncStream<Void>) {
      let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, length) == 0 && listen(listener, 5) == 0 && getsockname(listener, $0, &length) == 0
        }
      }
      precondition(isBound, "no port to listen on")
      let (done, finished) = AsyncStream.makeStream(of: Void.self)
      Thread.detachNewThread {
        let socket = Glibc.accept(listener, nil, nil)
        close(listener)
        var peer = SocketPeer(socket, context)
        script(&peer)
        peer.end()
        finished.finish()
      }
      return (UInt16(bigEndian: address.sin_port), done)
    }

    private init(_ socket: Int32, _ context: PeerContext?) {
      self.socket = socket
      tls = context.flatMap { tp_create($0.context, socket) }
    }

    private func end() {
      if let tls { tp_release(tls) }
      close(socket)
    }

    /// Reads what has come; false at the end.
    private mutating func read() -> Bool {
      var block = [UInt8](repeating: 0, count: 65_536)
      let count = tls.map { tp_read($0, &block, block.count) } ?? recv(socket, &block, block.count, 0)
      if count > 0 { bytes += block[..<count] }
      return count > 0
    }

    /// The bytes up to a mark, which are taken.
    mutating func head() -> String {
      let mark = Array("\r\n\r\n".utf8)
      while true {
        if let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) }) {
          defer { bytes.removeFirst(end + 4) }
          return String(decoding: bytes[..<end], as: UTF8.self)
        }
        guard read() else { return "" }
      }
    }

    mutating func write(_ data: [UInt8]) {
      if let tls {
        precondition(tp_write(tls, data, data.count))
        return
      }
      var rest = data[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    mutating func write(_ text: String) { write(Array(text.utf8)) }

    /// Accepts the upgrade, with bytes behind the response.
    mutating func upgrade(_ more: [UInt8] = []) {
      let key = head().split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
      write(Array("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: \(accept(String(key)))\r\n\r\n".utf8) + more)
    }

    private func accept(_ key: String) -> String { Upgrade(subprotocol: "", key: key).expectedAccept }

    /// The next frame, unmasked; nil at the end.
    mutating func frame() -> (opcode: UInt8, payload: [UInt8])? {
      func take(_ peer: inout SocketPeer, _ count: Int) -> [UInt8]? {
        while peer.bytes.count < count { guard peer.read() else { return nil } }
        defer { peer.bytes.removeFirst(count) }
        return Array(peer.bytes.prefix(count))
      }
      guard let head = take(&self, 2) else { return nil }
      var length = Int(head[1] & 0x7f)
      if length > 125 {
        guard let wide = take(&self, length == 126 ? 2 : 8) else { return nil }
        length = wide.reduce(0) { $0 << 8 | Int($1) }
      }
      guard let mask = take(&self, 4), let payload = take(&self, length) else { return nil }
      return (head[0] & 0x0f, payload.enumerated().map { $1 ^ mask[$0 & 3] })
    }
  }

  /// A TLS context of a server. OpenSSL counts references to it with atomics; it is not changed.
  final class PeerContext: @unchecked Sendable {
    let context: OpaquePointer

    init(name: String, certificateFile: String) {
      guard let context = tp_context_create(name, certificateFile) else { preconditionFailure("no TLS context") }
      self.context = context
    }

    deinit { tp_context_release(context) }
  }
#endif
