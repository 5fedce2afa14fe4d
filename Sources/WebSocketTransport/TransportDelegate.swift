/// The answer to a WebSocket upgrade.
public enum UpgradeVerdict: Sendable, Equatable {
  /// The connection opens.
  case accept
  /// The client gets an HTTP response with this status and the connection ends. The reason, at most
  /// 240 bytes, is its body.
  case refuse(status: Int, reason: String = "")
}

/// Decides on upgrades, and receives connections and requests, on the thread of their loop.
public protocol TransportDelegate: AnyObject, Sendable {
  /// Decides on an upgrade before it is answered.
  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict
  /// The transport has refused an upgrade, or another request, by itself.
  func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool)
  /// A connection is open; the result receives its messages and its end.
  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler
  /// A whole request; it must be answered through `exchange`, at once or later.
  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange)
  /// About every 100 ms on each loop.
  func didTick(_ loop: EventLoop)
}

/// The receiver of one connection's messages. The transport retains it from `didOpen` until after
/// `didClose`.
public protocol ConnectionHandler: AnyObject, Sendable {
  /// A whole message. The bytes are borrowed for the call; 64 bytes behind them may be read.
  func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool)
  /// The deadline of `Connection.setDeadline` has come.
  func didReachDeadline()
  /// The last call. `code` is the peer's close code or ours; 1005 is none, 1006 a connection that
  /// was cut.
  /// - Parameter byPeer: whether the peer has begun to close.
  func didClose(code: Int, byPeer: Bool)
}

extension ConnectionHandler {
  /// Does nothing.
  public func didReachDeadline() {}
}

extension TransportDelegate {
  /// Does nothing.
  public func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool) {}
}
