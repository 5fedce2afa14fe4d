import GroupModel
import WebSocketTransport
import WireProtocol

/// The state that the sessions of one loop share.
///
/// @unchecked Sendable: used on the loop's thread only, by sessions (actors of that loop's
/// executor) and by `Gateway` in callbacks of the transport.
final class LoopContext: @unchecked Sendable {
  let parser = JSONParser()
  let clocks: any Clocks
  /// The sessions with an open connection, signed in or not.
  var open: [ObjectIdentifier: Session] = [:]
  /// Sign-ins whose token is not yet checked.
  var signIns = SignInQueue()
  /// The users whose statuses sessions watch.
  var statuses = StatusTable()
  /// A later turn of the loop tells the next sessions of statuses.
  var isTellingStatuses = false
  /// When the drain ends; nil while the server does not drain.
  var drainEnd: MonotonicInstant?

  /// The context of a loop without connections.
  init(clocks: any Clocks) { self.clocks = clocks }
}
