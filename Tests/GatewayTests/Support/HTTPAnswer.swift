import Foundation
import ThrongTestKit

/// The answer to an HTTP request, whose connection ends with it.
struct HTTPAnswer: Sendable {
  let status: Int
  let head: String
  let body: [UInt8]

  var json: JSON { get throws { try JSON(body) } }

  /// Asks on a connection of its own, and on a thread of its own: a test that waits keeps no thread of
  /// the server's tasks.
  static func to(
    _ method: String, _ path: String, port: Int, headers: [String] = [], body: [UInt8] = []
  ) async throws -> HTTPAnswer {
    let length = method == "POST" ? ["Content-Length: \(body.count)"] : []
    let lines = ["\(method) \(path) HTTP/1.1", "Host: localhost:\(port)"] + headers + length
    let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    return try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try HTTPAnswer.ask(request, port) }) }
    }
  }

  private static func ask(_ request: [UInt8], _ port: Int) throws -> HTTPAnswer {
    let descriptor = try Client.connect(port)
    defer { close(descriptor) }
    try Client.write(request, to: descriptor)
    var bytes: [UInt8] = [], chunk = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = Foundation.read(descriptor, &chunk, chunk.count)
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { break }
      bytes.append(contentsOf: chunk.prefix(count))
    }
    guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { throw Client.Failed(description: "no answer") }
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return HTTPAnswer(status: status, head: head, body: Array(bytes[end.upperBound...]))
  }
}
