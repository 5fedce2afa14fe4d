import GroupModel
import WebSocketTransport
import WireProtocol

/// What the sessions of one loop share.
///
/// @unchecked Sendable: made before the loop runs, and from then on touched on the loop's thread only, by sessions (actors of that loop's
/// executor) and by `Gateway.didTick`.
final class LoopContext: @unchecked Sendable {
  let parser = JSONParser()
  var wheel = DeadlineWheel(now: MonotonicClock.now())
  /// The sessions with an open connection, signed in or not.
  var open: [ObjectIdentifier: Session] = [:]
}
