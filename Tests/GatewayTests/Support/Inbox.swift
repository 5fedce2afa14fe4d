import Foundation
import Synchronization
import ThrongTestKit

/// The frames of a connection, read by a thread of its own and taken by one test.
final class Inbox: Sendable {
  private struct State {
    var frames: [Client.Frame] = []
    var taker: CheckedContinuation<Client.Frame, Never>?
    /// How often the test has taken a frame.
    var takes = 0
    /// The last frame of the connection, once the reader has ended.
    var end: Client.Frame?
    /// The reader has ended, and so has the client: the descriptor may be closed by the last of the
    /// two.
    var users = 2
  }

  private let state = Mutex(State())
  private let descriptor: Int32
  private let isEventStream: Bool

  init(_ descriptor: Int32, isEventStream: Bool = false) {
    self.descriptor = descriptor
    self.isEventStream = isEventStream
    Thread.detachNewThread { [self] in
      read()
      release()
    }
  }

  /// The next frame, waiting for it; behind the last one, that one again.
  ///
  /// The limit only ends a test that has already failed.
  func next() async -> Client.Frame {
    let take = state.withLock { state -> Int in
      state.takes += 1
      return state.takes
    }
    let limit = Task {
      try await sleepAMinute()
      giveUp(take)
    }
    defer { limit.cancel() }
    return await withCheckedContinuation { continuation in
      let frame = state.withLock { state -> Client.Frame? in
        if !state.frames.isEmpty { return state.frames.removeFirst() }
        if state.end == nil { state.taker = continuation }
        return state.end
      }
      if let frame { continuation.resume(returning: frame) }
    }
  }

  private func giveUp(_ take: Int) {
    let taker = state.withLock { state -> CheckedContinuation<Client.Frame, Never>? in
      guard state.takes == take else { return nil }
      defer { state.taker = nil }
      return state.taker
    }
    taker?.resume(returning: .ended("nothing came for a minute"))
  }

  /// One of the two who use the descriptor has done with it.
  func release() {
    let isLast = state.withLock { state in
      state.users -= 1
      return state.users == 0
    }
    if isLast { close(descriptor) }
  }

  private func add(_ frame: Client.Frame) {
    let taker = state.withLock { state -> CheckedContinuation<Client.Frame, Never>? in
      defer { state.taker = nil }
      if state.taker == nil { state.frames.append(frame) }
      return state.taker
    }
    taker?.resume(returning: frame)
  }

  private func read() {
    var stream = ByteStream(descriptor)
    do {
      add(.upgrade(try stream.head()))
      while isEventStream {
        if let frame = try stream.event() { add(frame) }
      }
      while true {
        let (opcode, payload) = try stream.frame()
        switch opcode {
        case 1: add(.text(try JSON(payload)))
        case 8:
          let code = payload.count < 2 ? 1005 : Int(payload[0]) << 8 | Int(payload[1])
          add(.close(code: code, reason: String(decoding: payload.dropFirst(2), as: UTF8.self)))
        default: break  // pings
        }
      }
    } catch {
      let end = Client.Frame.ended("\(error)")
      state.withLock { $0.end = end }
      add(end)
    }
  }
}

private struct ByteStream {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  mutating func head() throws -> String {
    let mark = Array("\r\n\r\n".utf8)
    while true {
      if let end = buffer.indices.first(where: { buffer[$0...].starts(with: mark) }) {
        return String(decoding: try take(end + mark.count), as: UTF8.self)
      }
      try fill()
    }
  }

  /// The next event of an event stream, as a frame; nil = a comment.
  mutating func event() throws -> Client.Frame? {
    var name = "", data = ""
    while true {
      let line = try nextLine()
      if line.hasPrefix("event: ") { name = String(line.dropFirst(7)) }
      if line.hasPrefix("data: ") { data += line.dropFirst(6) }
      guard line.isEmpty else { continue }
      if data.isEmpty { return nil }
      let json = try JSON(Array(data.utf8))
      guard name == "close" else { return .text(json) }
      return .close(code: Int(json["code"].integer ?? 0), reason: json["reason"].string ?? "")
    }
  }

  private mutating func nextLine() throws -> String {
    while true {
      let end = buffer.firstIndex(of: UInt8(ascii: "\n"))
      if let end { return String(decoding: try take(end + 1).dropLast(), as: UTF8.self) }
      try fill()
    }
  }

  mutating func frame() throws -> (opcode: UInt8, payload: [UInt8]) {
    let head = try take(2)
    var count = Int(head[1])
    if count > 125 { count = try take(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) } }
    return (head[0] & 15, try take(count))
  }

  private mutating func take(_ count: Int) throws -> [UInt8] {
    while buffer.count < count { try fill() }
    defer { buffer.removeFirst(count) }
    return Array(buffer.prefix(count))
  }

  private mutating func fill() throws {
    var chunk = [UInt8](repeating: 0, count: 16_384)
    var count: Int
    repeat { count = Foundation.read(descriptor, &chunk, chunk.count) } while count < 0 && errno == EINTR
    guard count > 0 else { throw Client.Failed(description: count == 0 ? "the stream ended" : "read: \(errno)") }
    buffer.append(contentsOf: chunk.prefix(count))
  }
}
