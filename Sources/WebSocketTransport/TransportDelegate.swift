/// The answer to a WebSocket upgrade.
public enum UpgradeVerdict: Sendable, Equatable {
  /// The connection opens.
  case accept
  /// The client gets an HTTP response with this status and the connection ends. The reason, at most
  /// 240 bytes, is its body.
  case refuse(status: Int, reason: String = "")
}

/// Whether a connection may come from an address.
public enum Admission: Sendable, Equatable {
  /// `didLeave` follows.
  case admitted
  /// Only in the place of another connection from there.
  case full
  /// The address is a proxy's, and stands for many clients.
  case uncounted
}

/// Why a connection was closed before it had a request, or while that was served. The raw value is
/// the label of a metric.
public enum EarlyEnd: String, Sendable, CaseIterable {
  /// It took too long.
  case timeout
  /// Too many wait; it was the oldest.
  case total
  /// Too many of its address wait; it was the oldest, or found no place.
  case address
  /// It had to begin with a PROXY header, and did not.
  case proxyHeader
}

/// Decides on upgrades, and receives connections and requests, on the thread of their loop.
public protocol TransportDelegate: AnyObject, Sendable {
  /// A connection to the public listener has come; nothing of its request is known.
  func admission(of address: String) -> Admission
  /// A connection that was admitted is a WebSocket or an event stream, serves a session's request, or
  /// has ended.
  func didLeave(_ address: String)
  /// A connection was closed that is neither a WebSocket nor an event stream.
  func didDrop(_ address: String, for reason: EarlyEnd)
  /// Decides on an upgrade before it is answered.
  func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict
  /// The transport has refused an upgrade, or another request, by itself.
  func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool)
  /// A connection is open; the result receives its messages and its end.
  func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler
  /// A whole request; it must be answered through `exchange`, at once or later.
  func didReceive(_ request: HTTPRequest, exchange: HTTPExchange)
  /// The loop did not run for a while, such as when the machine was paused. Deadlines and pings have
  /// moved by that time and a little more.
  func didPause(_ loop: EventLoop, for time: Duration)
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
  /// The last call. `code` is the peer's close code or ours; 1005 is none, also where the client of an
  /// event stream has hung up, and 1006 a connection that was cut.
  /// - Parameter byPeer: whether the peer has begun to close.
  func didClose(code: Int, byPeer: Bool)
}

extension ConnectionHandler {
  /// Does nothing.
  public func didReachDeadline() {}
}

extension TransportDelegate {
  /// Admits all.
  public func admission(of address: String) -> Admission { .admitted }
  /// Does nothing.
  public func didLeave(_ address: String) {}
  /// Does nothing.
  public func didDrop(_ address: String, for reason: EarlyEnd) {}
  /// Does nothing.
  public func didPause(_ loop: EventLoop, for time: Duration) {}
  /// Does nothing.
  public func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool) {}
}
