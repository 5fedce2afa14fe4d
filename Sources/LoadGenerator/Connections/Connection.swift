/// One WebSocket of the pool. It lives in a table of raw memory, so no field is a reference.
struct Connection {
  /// Each phase is followed by the next one or by `closed`, and `closed` by `connecting`.
  enum Phase: UInt8 {
    case idle
    /// connect(2) has begun.
    case connecting
    /// The TLS handshake has begun; wss:// only.
    case securing
    /// The upgrade was requested.
    case upgrading
    /// A WebSocket that still signs in or joins.
    case joining
    /// It sends and receives messages.
    case open
    case closed
  }

  var descriptor: Int32 = -1
  /// The TLS state; nil: a plain connection.
  var tls: OpaquePointer?
  var phase = Phase.idle
  /// Its deliveries are counted.
  var countsDeliveries = false
  /// A message that comes back here lets the closed loop send the next.
  var isPacer = false
  /// It has been `open` since it last began to connect.
  var wasOpen = false
  /// The setup step that waits for an answer.
  var step: UInt8 = 0
  /// The window's messages that were delivered here.
  var matched: UInt32 = 0
  /// The beginning of a frame, or of the response to the upgrade.
  var unparsed = ByteBuffer()
  /// Bytes that the full socket refused.
  var unsent = ByteBuffer()
}
