/// The answer to a WebSocket upgrade.
public enum UpgradeVerdict: Sendable, Equatable {
  /// The connection opens.
  case accept
  /// The client gets an HTTP response with this status and the connection ends. The reason is its body: at most 240 bytes.
  case refuse(status: Int, reason: String = "")
}

/// Whom a transport asks and tells. Everything is called on the thread of the loop concerned.
public protocol TransportDelegate: AnyObject, Sendable {
  /// Decides on an upgrade before it is answered.
  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict
  /// The transport has refused an upgrade, or another request, by itself.
  func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool)
  /// A connection is open; what is returned hears of it from now on.
  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler
  /// A whole request; it must be answered through `exchange`, at once or later.
  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange)
  /// About every 100 ms on each loop.
  func didTick(_ loop: EventLoop)
}

/// Who hears of one connection. Retained by the transport from `didOpen` until after `didClose`.
public protocol ConnectionHandler: AnyObject, Sendable {
  /// A whole message. The bytes are borrowed for the call; 64 bytes behind them may be read.
  func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool)
  /// The last call. `code` is the peer's close code or ours; 1005 is none, 1006 a connection that was cut.
  /// - Parameter byPeer: whether the peer has begun to close.
  func didClose(code: Int, byPeer: Bool)
}

extension TransportDelegate {
  /// Nobody needs to know.
  public func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool) {}
}
