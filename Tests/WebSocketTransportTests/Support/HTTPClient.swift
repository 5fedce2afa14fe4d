/// Speaks HTTP/1.1 over one connection.
struct HTTPClient {
  struct Response {
    let status: Int
    let head: String
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
  }

  let socket: SocketClient

  /// - Parameter receiveBuffer: bytes; nil = the system's choice.
  init(port: Int, receiveBuffer: Int? = nil) throws { socket = try SocketClient(port: port, receiveBuffer: receiveBuffer) }

  func send(_ method: String, _ path: String, headers: [String] = [], body: [UInt8] = []) throws {
    var lines = ["\(method) \(path) HTTP/1.1", "Host: example.org"] + headers
    if !body.isEmpty { lines.append("Content-Length: \(body.count)") }
    try socket.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
  }

  func receive(hasBody: Bool = true) throws -> Response {
    let head = try socket.receive(through: "\r\n\r\n")
    let lines = head.split(separator: "\r\n")
    let status = lines.first.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    let length = lines.compactMap { line in
      line.hasPrefix("Content-Length: ") ? Int(line.dropFirst("Content-Length: ".count)) : nil
    }.first
    return Response(status: status, head: head, body: hasBody ? try socket.receive(length ?? 0) : [])
  }

  func ask(_ method: String, _ path: String, headers: [String] = [], body: [UInt8] = []) throws -> Response {
    try send(method, path, headers: headers, body: body)
    return try receive(hasBody: method != "HEAD")
  }
}
