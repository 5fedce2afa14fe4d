/// One WebSocket of the swarm. Lives in a table of raw memory; no reference among its fields.
struct Connection {
  /// How far it has come; each may be followed by the next one or by `closed`, and `closed` by `connecting`.
  enum Phase: UInt8 {
    case idle
    /// connect(2) is under way.
    case connecting
    /// The upgrade was asked for.
    case upgrading
    /// A WebSocket that has not yet said all it says before it counts (signing in, joining).
    case entering
    /// It takes part.
    case open
    case closed
  }

  var descriptor: Int32 = -1
  var phase = Phase.idle
  /// Its deliveries are counted.
  var counts = false
  /// What comes back here clocks the closed loop.
  var isClock = false
  /// It has come as far as `open` since it was last begun.
  var tookPart = false
  /// Which step of entering waits for an answer.
  var step: UInt8 = 0
  /// The measurement's messages that came here.
  var matched: UInt32 = 0
  /// The beginning of a frame, or of the upgrade's answer.
  var tail = ByteStore()
  /// What a full socket did not take.
  var unsent = ByteStore()
}
