import Foundation
import ServerConfiguration

/// Asks the configured internal listener, for commands beside a running server.
public struct InternalClient: Sendable {
  /// The reason why there is no good answer, in a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    public let description: String

    /// A failure with its sentence.
    public init(description: String) { self.description = description }
  }

  /// An answer of the server.
  public struct Answer: Sendable, Equatable {
    /// The HTTP status.
    public let status: Int
    /// The body.
    public let body: [UInt8]
  }

  private static let maxAnswerBytes = 64 << 20
  private let address: ListenAddress
  private let seconds: Int

  /// - Parameter seconds: the time limit of connecting, of sending and of each part of the answer.
  public init(_ settings: Settings, seconds: Int = 2) throws(Failure) {
    address = settings.internalListen
    self.seconds = seconds
    guard address.port != 0 else {
      throw Failure(description: "internalListen is \(address): with port 0 only the server itself knows where it is")
    }
  }

  /// Asks for a path.
  public func get(_ path: String) throws(Failure) -> Answer { try ask("GET", path) }

  /// Sends a request.
  /// - Parameter credential: of an administrator; nil = none.
  func ask(_ method: String, _ path: String, credential: String? = nil, body: String = "") throws(Failure) -> Answer {
    let descriptor = try connect()
    defer { close(descriptor) }
    let host = address.host == nil ? "localhost" : "\(address)"
    var request = "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
    if let credential { request += "Authorization: Bearer \(credential)\r\n" }
    if method == "POST" { request += "Content-Length: \(body.utf8.count)\r\n" }
    request += "\r\n" + body
    let sent = request.withCString { send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    guard sent == request.utf8.count else { throw Failure(description: "\(address) takes no request: \(reason(errno))") }
    return try InternalClient.answer(in: try read(descriptor), of: address)
  }

  /// The host to connect to; the loopback address for a listener on every address, nil for a Unix
  /// socket.
  static func target(of address: ListenAddress) -> String? {
    switch address.host {
    case "0.0.0.0": "127.0.0.1"
    case "::": "::1"
    default: address.host
    }
  }

  /// The status and body of a whole answer, which ends with its connection.
  static func answer(in bytes: [UInt8], of address: ListenAddress) throws(Failure) -> Answer {
    let lineEnd = bytes.firstIndex { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") } ?? bytes.endIndex
    let line = String(decoding: bytes[..<min(lineEnd, 256)], as: UTF8.self)
    let words = line.split(separator: " ")
    guard words.count > 1, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      throw Failure(description: "\(address) answers \(line.debugDescription)")
    }
    guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
      throw Failure(description: "\(address) answers a head without an end")
    }
    return Answer(status: status, body: Array(bytes[head.upperBound...]))
  }

  private func connect() throws(Failure) -> Int32 {
    if case .unix(let path) = address {
      var target = sockaddr_un()
      target.sun_family = sa_family_t(AF_UNIX)
      // `ListenAddress` has checked that the path fits with a zero behind it.
      withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: path.utf8) }
      return try withUnsafePointer(to: target) { pointer throws(Failure) in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target throws(Failure) in
          try connect(AF_UNIX, target, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
    }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(InternalClient.target(of: address), "\(address.port ?? 0)", &hints, &found)
    guard status == 0, let found else { throw Failure(description: "\(address): \(String(cString: gai_strerror(status)))") }
    defer { freeaddrinfo(found) }
    return try connect(found.pointee.ai_family, found.pointee.ai_addr, found.pointee.ai_addrlen)
  }

  private func connect(
    _ family: Int32, _ target: UnsafePointer<sockaddr>, _ size: socklen_t
  ) throws(Failure) -> Int32 {
    let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(description: "no socket: \(reason(errno))") }
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    for option in [SO_SNDTIMEO, SO_RCVTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    guard Foundation.connect(descriptor, target, size) == 0 else {
      let code = errno
      close(descriptor)
      throw Failure(description: "nobody listens on \(address): \(reason(code))")
    }
    return descriptor
  }

  private func read(_ descriptor: Int32) throws(Failure) -> [UInt8] {
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while answer.count < InternalClient.maxAnswerBytes {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count == 0, !answer.isEmpty { return answer }
      guard count > 0 else {
        throw Failure(description: "\(address) does not answer: \(count == 0 ? "it hung up" : reason(errno))")
      }
      answer += buffer[..<count]
    }
    throw Failure(description: "\(address) answers more than \(InternalClient.maxAnswerBytes) bytes")
  }

  /// A socket's time limit ends with EAGAIN, or with EINPROGRESS while it connects.
  private func reason(_ code: Int32) -> String {
    code == EAGAIN || code == EINPROGRESS ? "not in time" : String(cString: strerror(code))
  }
}
