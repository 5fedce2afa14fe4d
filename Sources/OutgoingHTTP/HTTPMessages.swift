/// A line of a request's head.
public struct HTTPHeader: Sendable, Equatable {
  public let name: String
  public let value: String

  /// A header as it goes over the wire.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// The line without its end; nil where a control character would end it early.
  var line: String? {
    let line = "\(name): \(value)"
    return line.utf8.contains { $0 < 0x20 || $0 == 0x7f } ? nil : line
  }
}

/// An answer of any status.
public struct HTTPResponse: Sendable, Equatable {
  public let status: Int
  public let body: [UInt8]

  /// An answer with everything given.
  public init(status: Int, body: [UInt8]) {
    self.status = status
    self.body = body
  }

  /// Whether the status is one of 200 to 299.
  public var isSuccess: Bool { 200..<300 ~= status }
}

/// The reason why there is no answer.
public struct HTTPError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The fault.
  public enum Code: String, Sendable, CaseIterable {
    /// The time was up from the moment it left: for the name, the connection or the answer.
    case timedOut
    /// The host has no address.
    case unresolved
    /// The connection was refused, or there is no way to the host.
    case unreachable
    /// The certificate is not accepted.
    case untrusted
    /// TLS failed in another way.
    case tls
    /// The answer is over the limit.
    case tooLarge
    /// The connection broke, or the answer is no HTTP.
    case broken
    /// The URL is none of http or https, or a header holds a control character.
    case badRequest
    /// Too many requests wait already, in all or of this user.
    case queueFull
    /// No connection was free in time.
    case waitedTooLong
    /// This process stood still while the time ran out: what the receiver has answered may lie in the socket.
    case paused
    /// The task that asked was cancelled.
    case cancelled
    /// The client has been shut down.
    case shutDown
    /// There is no memory for it.
    case outOfMemory

    /// Whether it tells of the receiver: others have not left, or this process has broken them off.
    public var isReceivers: Bool {
      switch self {
      case .timedOut, .unresolved, .unreachable, .untrusted, .tls, .tooLarge, .broken: true
      case .badRequest, .queueFull, .waitedTooLong, .paused, .cancelled, .shutDown, .outOfMemory: false
      }
    }
  }

  public let code: Code
  /// A part of a sentence for logs. It holds neither headers nor bodies.
  public let reason: String

  /// An error with everything given.
  public init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  public var description: String { "\(code.rawValue): \(reason)" }

  /// The error itself, unless it is a time limit that was noticed too late.
  /// - Parameters:
  ///   - elapsed: from the request's start to the moment at which its end was noticed.
  ///   - limit: of a request.
  ///   - pauseLimit: how late that may be.
  func judged(after elapsed: Duration, of limit: Duration, pauseLimit: Duration) -> HTTPError {
    guard code == .timedOut, elapsed > limit + pauseLimit else { return self }
    return HTTPError(.paused, "the server stood still while the receiver had its time")
  }
}
