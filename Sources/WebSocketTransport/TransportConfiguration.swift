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

/// The configuration of a transport (Protocol.md, "Transport"; Operations.md, "Configuration").
public struct TransportConfiguration: Sendable {
  /// The number of event loops, each with a thread of its own; at least 1.
  public var loops: Int
  /// The listener of WebSocket upgrades and public HTTP requests; port 0 is any free one, nil is no
  /// such listener.
  public var listen: (host: String, port: Int)?
  /// The listener of HTTP requests of operators and backends, on loop 0.
  public var internalListen: (host: String, port: Int)?
  /// The path of a Unix socket, in place of `listen`.
  public var listenFile: String?
  /// The path of a Unix socket, in place of `internalListen`.
  public var internalListenFile: String?
  /// Whether a connection from this address (`RequestHead.peerAddress`) to the public listener
  /// begins with a PROXY header, without which it is closed; nil: none does.
  public var announcesClients: (@Sendable (String) -> Bool)?
  /// TLS for the public listener; nil is plain.
  public var tls: TLSFiles?
  /// The longest message, in bytes over all its fragments; a longer one closes with 1009.
  public var maxMessageBytes = 65_536
  /// The most bytes queued for one connection; beyond it skippable entries are skipped, then it
  /// closes with 4002.
  public var sendQueueBytes = 1 << 20
  /// The longest HTTP body, in bytes; a longer one is dropped.
  public var maxBodyBytes = 1 << 20
  /// The path of the public listener whose requests have a body, and its most bytes; bodies to other
  /// paths there are read and dropped. Nil: there is none.
  public var publicBody: (path: String, maxBytes: Int)?
  /// The time between two pings of a connection.
  public var pingInterval: Duration
  /// The time after a ping in which a connection must send something, or it closes with 4003.
  public var pingTimeout: Duration
  /// The time limit for the head, or for TLS and the head behind it, in seconds.
  public var handshakeTimeout = 10
  /// The least time between two flushes of a topic: latency for CPU. Zero: entries leave at the end
  /// of the turn.
  public var flushWindow: Duration = .zero
  /// The memory of the compressors of busy topics, in bytes, over all loops. Zero: permessage-deflate
  /// is declined (Protocol.md, "Compression").
  public var compressionBytes = 0
  /// The least number of subscribers that take compressed frames, with which a topic is compressed.
  /// It costs them little more time than the shorter frames save, and fewer more (Benchmarks.md,
  /// "Compression").
  var compressionSubscribers = 64
  /// The least number of bytes that those subscribers get in a second, with which it begins.
  var compressionStartBytes = 128 << 10
  /// The most connections of a loop that wait without a request; nil: a quarter of the files that the
  /// process may open, and at most 4,096. The oldest gives way to a newer one, and one address has a
  /// quarter of them.
  public var maxWaitingConnections: Int?
  /// The leading bits that addresses of IPv6 share which count as one.
  public var ipv6PrefixLength = 64
  /// The clock of deadlines and pings, in monotonic milliseconds; nil is the system's.
  public var clock: (@convention(c) () -> UInt64)?
  /// The longest time between two readings of the clock that counts as time; nil: 1 s where the clock
  /// is the system's, and any where a test moves it.
  var pauseLimit: Duration?
  /// The clock of the flush window in tests: monotonic seconds.
  var flushClock: (@convention(c) () -> Double)?
  /// Whether binary messages are delivered; if not, one closes with 1003.
  public var acceptsBinary = false
  /// The subprotocol that is selected where a client offers it; otherwise none is.
  public var subprotocol = "throng.v1.json"

  /// A configuration with the protocol's defaults.
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
