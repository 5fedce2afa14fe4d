import Foundation
import ServerConfiguration

/// Asks a running server for its health, for `throng health`.
public enum HealthProbe {
  /// The reason why there is no good answer, in a sentence.
  public struct Failure: Error, Equatable, CustomStringConvertible {
    public let description: String
  }

  /// Returns when `/healthz` of the configured internal listener answers 200.
  /// - Parameter seconds: the time limit of connecting, of sending and of each part of the answer.
  public static func ask(_ settings: Settings, seconds: Int = 2) throws(Failure) {
    let address = settings.internalListen
    guard address.port != 0 else {
      throw Failure(description: "internalListen is \(address): with port 0 only the server itself knows where it is")
    }
    let descriptor = try connect(to: address, seconds: seconds)
    defer { close(descriptor) }
    let request =
      "GET /healthz HTTP/1.1\r\nHost: \(address.host == nil ? "localhost" : "\(address)")\r\nConnection: close\r\n\r\n"
    let sent = request.withCString { send(descriptor, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    guard sent == request.utf8.count else { throw Failure(description: "\(address) takes no request: \(reason(errno))") }
    let answer = try firstLine(of: descriptor, address)
    guard answer.hasPrefix("HTTP/1.1 200 ") else { throw Failure(description: "\(address) answers \(answer.debugDescription)") }
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

  private static func connect(to address: ListenAddress, seconds: Int) throws(Failure) -> Int32 {
    if case .unix(let path) = address {
      var target = sockaddr_un()
      target.sun_family = sa_family_t(AF_UNIX)
      // `ListenAddress` has checked that the path fits with a zero behind it.
      withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: path.utf8) }
      return try withUnsafePointer(to: target) { pointer throws(Failure) in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target throws(Failure) in
          try connect(AF_UNIX, target, socklen_t(MemoryLayout<sockaddr_un>.size), address, seconds: seconds)
        }
      }
    }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(target(of: address), "\(address.port ?? 0)", &hints, &found)
    guard status == 0, let found else { throw Failure(description: "\(address): \(String(cString: gai_strerror(status)))") }
    defer { freeaddrinfo(found) }
    return try connect(
      found.pointee.ai_family, found.pointee.ai_addr, found.pointee.ai_addrlen, address, seconds: seconds)
  }

  private static func connect(
    _ family: Int32, _ target: UnsafePointer<sockaddr>, _ size: socklen_t, _ address: ListenAddress, seconds: Int
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

  private static func firstLine(of descriptor: Int32, _ address: ListenAddress) throws(Failure) -> String {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 256)
    while line.count < 256, !line.contains(UInt8(ascii: "\n")) {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else {
        throw Failure(description: "\(address) does not answer: \(count == 0 ? "it hung up" : reason(errno))")
      }
      line += buffer[..<count]
    }
    let end = line.firstIndex { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") } ?? line.endIndex
    return String(decoding: line[..<end], as: UTF8.self)
  }

  /// A socket's time limit ends with EAGAIN, or with EINPROGRESS while it connects.
  private static func reason(_ code: Int32) -> String {
    code == EAGAIN || code == EINPROGRESS ? "not in time" : String(cString: strerror(code))
  }
}
