import Foundation
import Synchronization

@testable import ThrongClient

/// A transport to a server in the same process, which does as a test says.
final class FakeServer: Transport {
  private let connections = AsyncStream.makeStream(of: FakeConnection.self)

  func open(_ url: URL, subprotocol: String) async throws -> any TransportConnection {
    let connection = FakeConnection()
    connections.continuation.yield(connection)
    return connection
  }

  /// The next connection that a client has opened.
  func accept() async throws -> FakeConnection {
    for await connection in connections.stream { return connection }
    throw CancellationError()
  }

  /// Accepts a connection and signs its client in, without groups.
  func signIn() async throws -> FakeConnection {
    let connection = try await accept()
    try await connection.answer("login", Scene.session())
    try await connection.answer("getJoinedGroupList", Scene.noGroups)
    return connection
  }
}

/// One connection, seen from both sides.
final class FakeConnection: TransportConnection {
  private let toServer = AsyncStream.makeStream(of: Data.self)
  private let toClient = AsyncStream.makeStream(of: Data.self)
  private let end = Mutex<TransportError>(.closed(code: 1006, reason: "the end"))

  func send(_ text: Data) async throws { toServer.continuation.yield(text) }

  func receive() async throws -> Data {
    for await text in toClient.stream { return text }
    throw end.withLock { $0 }
  }

  func close(code: Int) {
    toServer.continuation.finish()
    toClient.continuation.finish()
  }

  // MARK: The server's side

  /// The next request, which has to be of that method; answers its number.
  func request(_ method: String) async throws -> Scene.Request {
    for await text in toServer.stream {
      let request = try JSONDecoder().decode(Scene.Request.self, from: text)
      precondition(request.method == method, "\(request.method) in place of \(method)")
      return request
    }
    throw CancellationError()
  }

  func answer(_ method: String, _ result: String) async throws {
    let request = try await request(method)
    tell("{\"jsonrpc\":\"2.0\",\"id\":\(request.id),\"result\":\(result)}")
  }

  func tell(_ text: String) { toClient.continuation.yield(Data(text.utf8)) }

  func close(_ code: Int, _ reason: String = "") {
    end.withLock { $0 = .closed(code: code, reason: reason) }
    toClient.continuation.finish()
  }
}
