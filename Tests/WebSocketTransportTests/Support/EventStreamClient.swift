import WebSocketTransport

/// A client of an event stream, which shows events as the frames in whose place they are.
final class EventStreamClient: FrameReceiver {
  let socket: SocketClient
  /// The status line and headers of the server's answer.
  let answer: String
  /// How many comments have come.
  private(set) var comments = 0

  /// - Parameter receiveBuffer: bytes; nil = the system's choice.
  convenience init(port: Int, query: String = "", receiveBuffer: Int? = nil, isTLS: Bool = false) throws {
    try self.init(SocketClient(port: port, receiveBuffer: receiveBuffer, isTLS: isTLS), query: query)
  }

  init(_ socket: SocketClient, query: String = "") throws {
    self.socket = socket
    try socket.send("GET /events\(query) HTTP/1.1\r\nHost: example.org\r\n\r\n")
    answer = try socket.receive(through: "\r\n\r\n")
  }

  /// The lines of the next event, or of a comment, as they came.
  func receiveLines() throws -> [String] {
    let text = try socket.receive(through: "\n\n")
    return text.dropLast(2).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  func receive() throws -> WebSocketClient.Frame {
    while true {
      let lines = try receiveLines()
      if lines == [":"] {
        comments += 1
        continue
      }
      if lines.count == 1, let data = lines.first, data.hasPrefix("data: ") {
        return .init(opcode: WebSocketClient.Opcode.text.rawValue, payload: Array(data.dropFirst(6).utf8))
      }
      return .init(opcode: WebSocketClient.Opcode.close.rawValue, payload: try EventStreamClient.close(lines))
    }
  }

  /// Comes without JSON's escapes: tests that need them read the lines.
  private static func close(_ lines: [String]) throws -> [UInt8] {
    let begin = #"data: {"code":"#, middle = #","reason":""#
    guard lines.count == 2, lines[0] == "event: close", lines[1].hasPrefix(begin), lines[1].hasSuffix("\"}") else {
      throw SocketClient.Failed(description: "\(lines)")
    }
    let parts = lines[1].dropFirst(begin.count).dropLast(2).split(separator: middle, omittingEmptySubsequences: false)
    guard parts.count == 2, let code = Int(parts[0]) else { throw SocketClient.Failed(description: "\(lines)") }
    return [UInt8(code >> 8), UInt8(code & 0xff)] + Array(parts[1].utf8)
  }
}

/// A client that gets frames, or events in their place.
protocol FrameReceiver: AnyObject {
  func receive() throws -> WebSocketClient.Frame
}

extension WebSocketClient: FrameReceiver {}

extension TestServer.Behaviour {
  /// Opens event streams at /events; other requests are as they were.
  var withEventStreams: TestServer.Behaviour {
    var behaviour = self
    let other = request
    behaviour.request = { request, exchange in
      if request.head.path == "/events" {
        exchange.openEventStream(headers: [("X-Test", "yes")])
      } else {
        other?(request, exchange)
      }
    }
    return behaviour
  }
}

extension TestServer.Running {
  /// An event stream, and the server's end of it.
  func openStream(query: String = "", receiveBuffer: Int? = nil) throws -> (EventStreamClient, Connection) {
    let client = try EventStreamClient(port: port, query: query, receiveBuffer: receiveBuffer, isTLS: isTLS)
    return (client, try server.opened.next().connection)
  }
}
