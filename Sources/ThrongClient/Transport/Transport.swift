#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Makes WebSockets. A client uses one after the other.
public protocol Transport: Sendable {
  /// Opens a WebSocket.
  /// - Throws: `TransportError`, or `CancellationError` when the task is cancelled.
  func open(_ url: URL, subprotocol: String) async throws -> any TransportConnection
}

/// One open WebSocket. One task at a time sends, and one receives.
public protocol TransportConnection: Sendable {
  /// Sends a text; returns when the connection has taken it.
  func send(_ text: Data) async throws

  /// The next whole message.
  /// - Throws: `TransportError.closed` at the end.
  func receive() async throws -> Data

  /// Ends the connection; a `receive` that waits ends too.
  func close(code: Int)
}

/// The end of a connection, or the reason that there was none.
public enum TransportError: Error, Hashable, Sendable {
  /// The address is none of a WebSocket: no later try could succeed.
  case badAddress(String)
  /// There is no connection.
  case failed(String)
  /// The connection has ended, with the close code; 1006 where there was none.
  case closed(code: Int, reason: String)
}

extension TransportError: CustomStringConvertible, LocalizedError {
  /// For developers.
  public var description: String {
    switch self {
    case .badAddress(let address): "not a WebSocket's address: \(address); one is such as wss://chat.example/ws"
    case .failed(let reason): reason
    case .closed(let code, let reason): "\(reason) (\(code))"
    }
  }

  /// The description: without it `localizedDescription` would be the name of the type and a number.
  public var errorDescription: String? { description }
}

extension URL {
  /// The address of a server's WebSocket, for which that of HTTP stands as well.
  var webSocketAddress: URL {
    guard let scheme = scheme?.lowercased(), ["http", "https"].contains(scheme) else { return self }
    return URL(string: "\(scheme == "https" ? "wss" : "ws")\(absoluteString.dropFirst(scheme.count))") ?? self
  }
}

/// The first answer of a function that calls back: a second one is passed over, and none in time is an
/// error. URLSession has been seen to do both where a connection ends.
/// - Throws: the error of the answer, `TransportError.failed`, or `CancellationError`.
func firstAnswer(
  within limit: Duration, _ ask: (@escaping @Sendable ((any Error)?) -> Void) -> Void
) async throws {
  let (answers, answer) = AsyncStream.makeStream(of: Optional<any Error>.self, bufferingPolicy: .bufferingOldest(1))
  let timer = Task {
    try await Task.sleep(for: limit, clock: .continuous)
    answer.yield(TransportError.failed("no answer in \(limit)"))
  }
  defer { timer.cancel() }
  ask { answer.yield($0) }
  for await error in answers {
    if let error { throw error }
    return
  }
  // The stream ends where the task is cancelled.
  throw CancellationError()
}

#if canImport(Darwin)
  /// The system's own WebSockets.
  public typealias DefaultTransport = URLSessionTransport
#else
  /// WebSockets over sockets and OpenSSL.
  public typealias DefaultTransport = SocketTransport
#endif
