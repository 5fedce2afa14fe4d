import Foundation
import Synchronization
import ThrongTestKit

/// A WebSocket client whose reading has a thread of its own: a test that waits for it keeps no
/// thread of the server's tasks.
actor Client {
  struct Failed: Error, CustomStringConvertible {
    let description: String
  }

  /// A frame of the server, or the end.
  enum Frame: Sendable {
    case upgrade(String)
    case text(JSON)
    case close(code: Int, reason: String)
    case ended(String)
  }

  private let inbox: Inbox
  private let descriptor: Int32
  private var number = 0
  /// Everything that was not the answer to a `call`, in order.
  private(set) var events: [JSON] = []

  /// Connects and asks for an upgrade of `/ws` with the query.
  init(port: Int, query: String = "", headers: [String] = []) throws {
    descriptor = try Client.connect(port)
    inbox = Inbox(descriptor)
    let lines = [
      "GET /ws\(query.isEmpty ? "" : "?" + query) HTTP/1.1", "Host: localhost:\(port)", "Upgrade: websocket",
      "Connection: Upgrade",
      "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ]
    try Client.write(Array(((lines + headers).joined(separator: "\r\n") + "\r\n\r\n").utf8), to: descriptor)
  }

  /// An event stream in place of a WebSocket; it says nothing.
  private init(streamAt port: Int, query: String, headers: [String]) throws {
    descriptor = try Client.connect(port)
    inbox = Inbox(descriptor, isEventStream: true)
    let lines = ["GET /events\(query.isEmpty ? "" : "?" + query) HTTP/1.1", "Host: localhost:\(port)"] + headers
    try Client.write(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8), to: descriptor)
  }

  /// Connects, and returns when an event stream has been opened.
  static func openStream(port: Int, query: String = "", headers: [String] = []) async throws -> Client {
    let client = try Client(streamAt: port, query: query, headers: headers)
    let status = try await client.status()
    guard status == 200 else { throw Failed(description: "the request was answered with \(status)") }
    return client
  }

  /// Connects, and returns when the upgrade has been answered with 101.
  static func open(port: Int, query: String = "", headers: [String] = []) async throws -> Client {
    let client = try Client(port: port, query: query, headers: headers)
    let status = try await client.status()
    guard status == 101 else { throw Failed(description: "the upgrade was answered with \(status)") }
    return client
  }

  /// The status that answers the upgrade.
  func status() async throws -> Int {
    guard case .upgrade(let head) = await inbox.next() else { throw Failed(description: "no answer to the upgrade") }
    return head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  // MARK: Saying

  /// Sends texts, each as one frame, in one write.
  func send(_ texts: String...) throws { try send(texts) }

  /// The same for any number.
  func send(_ texts: [String]) throws {
    try Client.write(texts.flatMap { Client.frame(opcode: 1, Array($0.utf8)) }, to: descriptor)
  }

  /// Sends a request and gives its whole answer.
  func call(_ method: String, _ params: String = "{}") async throws -> JSON {
    number += 1
    let id = number
    try send(#"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#)
    return try await reply { $0["id"].integer == Int64(id) }
  }

  /// Cuts the connection without a word.
  func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Closes in order, and waits until the server has answered.
  func leave() async throws {
    try Client.write(Client.frame(opcode: 8, [0x03, 0xe8]), to: descriptor)
    _ = try await closed()
  }

  // MARK: Hearing

  /// The next text.
  func next() async throws -> JSON {
    guard case .text(let text) = try await frame() else { throw Failed(description: "no text") }
    return text
  }

  /// The next text that passes; others are kept among `events`.
  func reply(_ passes: (JSON) -> Bool) async throws -> JSON {
    while true {
      let text = try await next()
      if passes(text) { return text }
      events.append(text)
    }
  }

  /// The params of the next event of that name, whether it has come already or not.
  func event(_ name: String) async throws -> JSON {
    if let index = events.firstIndex(where: { $0["method"].string == name }) { return events.remove(at: index)["params"] }
    return try await reply { $0["method"].string == name }["params"]
  }

  /// Lets go of the events of a name that have been heard.
  func forget(_ name: String) { events.removeAll { $0["method"].string == name } }

  /// How the server closes; texts before that are kept among `events`. The connection ends with
  /// this, for which the server waits.
  func closed() async throws -> (code: Int, reason: String) {
    while true {
      switch await inbox.next() {
      case .text(let text): events.append(text)
      case .close(let code, let reason):
        cut()
        return (code, reason)
      case .ended(let why): throw Failed(description: "ended without a close: \(why)")
      case .upgrade: break
      }
    }
  }

  private func frame() async throws -> Frame {
    let frame = await inbox.next()
    switch frame {
    case .ended(let why): throw Failed(description: "ended: \(why)")
    case .close(let code, let reason): throw Failed(description: "closed with \(code) \(reason)")
    case .text, .upgrade: return frame
    }
  }

  deinit {
    shutdown(descriptor, Int32(SHUT_RDWR))
    inbox.release()
  }

  // MARK: Bytes

  static func connect(_ port: Int) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var limit = timeval(tv_sec: 300, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failed(description: "connect: \(errno)") }
    return descriptor
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Failed(description: "send: \(errno)") }
      rest = rest.dropFirst(count)
    }
  }

  private static func frame(opcode: UInt8, _ payload: [UInt8]) -> [UInt8] {
    let head: [UInt8] =
      payload.count < 126
      ? [0x80 | opcode, 0x80 | UInt8(payload.count)]
      : [0x80 | opcode, 0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    return head + [0, 0, 0, 0] + payload
  }
}
