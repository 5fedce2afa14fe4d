import GroupModel
import WireProtocol

/// The configuration of sessions (Configuration.md, "Configuration keys").
public struct GatewayConfiguration: Sendable {
  /// Where the WebSocket is.
  public var path: String
  /// How many sessions a user may have on a platform; 0 refuses it.
  public var sessionsPerPlatform: [Platform: Int]
  /// Steady requests per second of a user.
  public var requestsPerSecond: Int
  /// How many requests a user may send at once.
  public var requestBurst: Int
  /// How many times a second a user's requests may be delivered to others; 0 = no limit.
  public var deliveriesPerSecond: Int
  /// How many bytes a second they may deliver; 0 = no limit.
  public var deliveredBytesPerSecond: Int
  /// How many users a user may make members a day without asking them; 0 = no limit.
  public var strangersPerDay: Int
  /// Sign-ins per second of the whole server, 0 = no limit.
  public var signInsPerSecond: Int
  /// Connections to the public listener, 0 = no limit.
  public var connections: Int
  /// Connections from one address, 0 = no limit.
  public var connectionsPerAddress: Int
  /// The leading bits that addresses of IPv6 share which count as one.
  public var ipv6PrefixLength: Int
  /// How many bytes of replies may wait behind a slower one before a session executes nothing more.
  public var readyReplyBytes: Int
  /// The ping interval that login answers.
  public var heartbeat: Seconds
  /// How long a connection may stay anonymous; no key sets it (Protocol.md, "Before sign-in").
  public var signInTime: Duration
  /// How long an answer to a bad token is delayed after many of them; 0 = not at all.
  public var failureDelay: Duration
  /// Full origins that may upgrade besides the server's own; "*" = any.
  public var allowedOrigins: Set<String>
  /// Whether an address is a proxy whose forwarding headers are trusted.
  public var isTrustedProxy: @Sendable (String) -> Bool
  /// The headers of theirs that are read.
  public var forwardingHeaders = ForwardingHeaders.any
  /// How many groups a user may be a member of, AVChatRooms aside; 0 = no limit.
  public var groupsPerUser: Int
  /// How many AVChatRooms a user may own; 0 = no limit.
  public var avChatRoomsPerUser: Int
  /// How many AVChatRooms there may be; 0 = no limit.
  public var avChatRooms: Int
  /// Whether only known users can be made members (Protocol.md, "Known users").
  public var requiresKnownUsers: Bool
  /// Whether searchGroupMessages finds anything (`search.messages`).
  public var searchesMessages = false
  /// Whether parameters that a method does not have are refused (`strictParameters`).
  public var refusesUnknownParameters = false
  /// The share of requests that begin a trace, 0 to 1, where spans are recorded.
  public var traceSampling = 0.0
  /// Whether the statuses of users can be asked for, watched and set (`presence.visibility`).
  public var showsPresence = true
  /// How long a user is still shown as online behind the end of the last session (`presence.grace`).
  public var presenceGrace = Duration.seconds(5)
  /// How many users a session may watch (`limits.statusSubscriptions`).
  public var statusSubscriptions = 300
  /// The most bytes of texts.
  public var textLimits: TextLimits

  /// The defaults.
  public init() {
    path = "/ws"
    sessionsPerPlatform = [.iOS: 1, .android: 1, .windows: 1, .mac: 1, .web: 10, .unknown: 10]
    requestsPerSecond = 50
    requestBurst = 100
    deliveriesPerSecond = 50_000
    deliveredBytesPerSecond = 40_000_000
    strangersPerDay = 1000
    signInsPerSecond = 2000
    connections = 0
    connectionsPerAddress = 0
    ipv6PrefixLength = 64
    readyReplyBytes = 262_144
    heartbeat = 25
    signInTime = .seconds(10)
    failureDelay = .seconds(1)
    allowedOrigins = []
    isTrustedProxy = { _ in false }
    groupsPerUser = 1000
    avChatRoomsPerUser = 50
    avChatRooms = 0
    requiresKnownUsers = false
    textLimits = .standard
  }
}
