import WebSocketTransport

/// Accepts every upgrade and gives each connection an echo.
final class EchoServer: TransportDelegate {
  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict { .accept }

  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler {
    Echo(connection: connection)
  }

  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange) {
    exchange.respond(status: 404, contentType: nil, body: [])
  }

  func didTick(_ loop: EventLoop) {}
}

/// Sends back what it gets.
private final class Echo: ConnectionHandler {
  let connection: Connection

  init(connection: Connection) { self.connection = connection }

  func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool) {
    if isText { connection.send(message) } else { connection.sendBinary(message) }
  }

  func didClose(code: Int, byPeer: Bool) {}
}
