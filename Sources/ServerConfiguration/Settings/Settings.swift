/// The checked configuration of a server; each field has the place of its key (Configuration.md,
/// "Configuration keys").
public struct Settings: Sendable {
  /// The public listener.
  public var listen: ListenAddress
  /// The internal listener.
  public var internalListen: ListenAddress
  /// The hosts that requests to the internal listener may name, in small letters: a name, `*.` and
  /// a name for those below it, or `*` = any.
  public var internalHosts: [String]
  /// The path of the WebSocket.
  public var path: String
  /// The directory of the store and of the generated secret; it need not exist.
  public var dataDir: String
  /// Whether the demo chat page is served.
  public var demo: Bool
  /// Whether clients may connect by event streams.
  public var eventStream: Bool
  /// The number of event loops, at least 1.
  public var loops: Int
  /// `log.…`
  public var log: Log
  /// `auth.…`
  public var auth: Auth
  /// `admin.…`
  public var admin: Admin
  /// The origins that may connect, as browsers send them; `*` = any, none = only the host's own.
  public var allowedOrigins: [String]
  /// The proxies whose forwarding headers are trusted.
  public var trustedProxies: [AddressRange]
  /// The header in which they name the client.
  public var forwardedHeader: ForwardedHeader
  /// Whether connections from trusted proxies begin with a PROXY header.
  public var proxyProtocol: Bool
  /// `tls.…`
  public var tls: TLS
  /// `store.…`
  public var store: Store
  /// `cluster.…`
  public var cluster: Cluster
  /// `bus.…`
  public var bus: Bus
  /// `sessions.…`
  public var sessions: Sessions
  /// `users.…`
  public var users: Users
  /// `attributes.…`
  public var attributes: Attributes
  /// `work.…`
  public var work: Work
  /// `avChatRoom.…`
  public var avChatRoom: AVChatRoom
  /// `presence.…`
  public var presence: Presence
  /// `moderation.…`
  public var moderation: Moderation
  /// `reports.…`
  public var reports: Reports
  /// `history.…`
  public var history: History
  /// `search.…`
  public var search: Search
  /// `limits.…`
  public var limits: Limits
  /// `fanout.…` and `compression`
  public var fanout: Fanout
  /// `heartbeat.…`
  public var heartbeat: Heartbeat
  /// `drain.…`
  public var drain: Drain
  /// Whether requests with parameters that their method does not have are refused.
  public var strictParameters: Bool
  /// `webhook.…`
  public var webhook: Webhook
  /// `tracing.…`
  public var tracing: Tracing
  /// Every key with its value and source, secrets masked.
  public let entries: [Entry]

  /// A key with its texts for `config show`.
  public struct Entry: Sendable, Equatable {
    /// The key's full path.
    public let key: String
    /// The value as text; `********` for a secret that is set.
    public let value: String
    /// The source of the value.
    public let source: Source
  }

  init(_ values: Resolution) {
    listen = values[Keys.listen]
    internalListen = values[Keys.internalListen]
    internalHosts = values[Keys.internalHosts]
    path = values[Keys.path]
    dataDir = values[Keys.dataDir]
    demo = values[Keys.demo]
    eventStream = values[Keys.eventStream]
    loops = values[Keys.loops]
    log = Log(values)
    auth = Auth(values)
    admin = Admin(apiKey: values[Keys.adminAPIKey], previousAPIKey: values[Keys.adminPreviousAPIKey])
    allowedOrigins = values[Keys.allowedOrigins]
    trustedProxies = values[Keys.trustedProxies]
    forwardedHeader = values[Keys.forwardedHeader]
    proxyProtocol = values[Keys.proxyProtocol]
    tls = TLS(certificateFile: values[Keys.tlsCertificateFile], keyFile: values[Keys.tlsKeyFile])
    store = Store(url: values[Keys.storeURL], sync: values[Keys.storeSync])
    cluster = Cluster(values)
    bus = Bus(values)
    sessions = Sessions(perPlatform: Sessions.PerPlatform(values))
    users = Users(requireKnown: values[Keys.usersRequireKnown])
    attributes = Attributes(groupTypes: values[Keys.attributesGroupTypes])
    work = Work(ownerMayDisband: values[Keys.workOwnerMayDisband])
    avChatRoom = AVChatRoom(values)
    presence = Presence(values)
    moderation = Moderation(values)
    reports = Reports(retention: values[PeopleKeys.reportRetention])
    history = History(values)
    search = Search(messages: values[HistoryKeys.searchMessages])
    limits = Limits(values)
    fanout = Fanout(
      flushWindow: values[Keys.fanoutFlushWindow], compression: values[Keys.compression],
      compressionBytes: values[Keys.compressionBytes])
    heartbeat = Heartbeat(interval: values[Keys.heartbeatInterval], timeout: values[Keys.heartbeatTimeout])
    drain = Drain(duration: values[Keys.drainDuration])
    strictParameters = values[Keys.strictParameters]
    webhook = Webhook(values)
    tracing = Tracing(otlpEndpoint: values[TracingKeys.otlpEndpoint], sampling: values[TracingKeys.sampling])
    entries = values.shown
  }
}
