import GroupModel
import WebSocketTransport
import WireProtocol

/// What the sessions of one loop share.
///
/// @unchecked Sendable: made and touched on the loop's thread only, by sessions (actors of that loop's executor) and by `Gateway`
/// in what the transport calls.
final class LoopContext: @unchecked Sendable {
  let parser = JSONParser()
  var wheel = DeadlineWheel(now: MonotonicClock.now())
  /// The sessions with an open connection, signed in or not.
  var open: [ObjectIdentifier: Session] = [:]
  /// Those whose token is still to be looked at.
  var signIns = SignInQueue()
  /// When the last session is closed, on the monotonic clock; nil while the server does not drain.
  var drainEnd: Instant?
}
