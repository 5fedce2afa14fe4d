/// The certificate and key of the public listener.
public struct TLSFiles: Sendable, Equatable {
  /// Path of the PEM file with the certificate chain, the server's own first.
  public var certificateFile: String
  /// Path of the PEM file with the private key.
  public var keyFile: String

  /// Names the two files; they are read when the transport is made.
  public init(certificateFile: String, keyFile: String) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
  }
}

/// What a transport is made from (contract sections 1 and 9).
public struct TransportConfiguration: Sendable {
  /// The number of event loops, each with a thread of its own; at least 1.
  public var loops: Int
  /// Where WebSocket upgrades and public HTTP requests are taken; port 0 is any free one, nil is no such listener.
  public var listen: (host: String, port: Int)?
  /// Where HTTP requests of operators and backends are taken, by loop 0.
  public var internalListen: (host: String, port: Int)?
  /// TLS for the public listener; nil is plain.
  public var tls: TLSFiles?
  /// The longest message taken, in bytes over all its fragments; a longer one closes with 1009.
  public var maxMessageBytes = 65_536
  /// How many bytes may wait for one connection; beyond it skippable entries are skipped, then it closes with 4002.
  public var sendQueueBytes = 1 << 20
  /// The longest HTTP body kept, in bytes.
  public var maxBodyBytes = 1 << 20
  /// How often each connection is pinged.
  public var pingInterval: Duration
  /// How long after a ping a connection may stay silent before it closes with 4003.
  public var pingTimeout: Duration
  /// Seconds a client has for TLS and its HTTP request.
  public var handshakeTimeout = 10
  /// How far apart the flushes of one topic are at least: latency for CPU. Zero: what is published leaves at the end of the turn.
  public var flushWindow: Duration = .zero
  /// The window's idea of time in tests: seconds that only grow.
  var flushClock: (@convention(c) () -> Double)?
  /// Whether binary messages are handed up; if not, one closes with 1003.
  public var acceptsBinary = false
  /// The subprotocol that is selected where it is offered; offering none, or only others, selects none.
  public var subprotocol = "throng.v1.json"

  /// A configuration with the contract's defaults.
  public init(
    loops: Int = 1, listen: (host: String, port: Int)? = nil, internalListen: (host: String, port: Int)? = nil,
    tls: TLSFiles? = nil, pingInterval: Duration = .seconds(25), pingTimeout: Duration = .seconds(10)
  ) {
    self.loops = loops
    self.listen = listen
    self.internalListen = internalListen
    self.tls = tls
    self.pingInterval = pingInterval
    self.pingTimeout = pingTimeout
  }
}

extension Duration {
  /// Whole milliseconds, rounded up, at least 1 unless it is zero, and at most 2³¹.
  var milliseconds: UInt32 {
    if self == .zero { return 0 }
    let (seconds, attoseconds) = components
    let whole = min(max(seconds, 0), 2_000_000) * 1000
    return UInt32(max(1, whole + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}
