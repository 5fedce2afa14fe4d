import Authentication
import Foundation
import Gateway
import GroupModel
import GroupPermissions
import GroupRuntime
import SQLiteStore
import ServerConfiguration
import WebSocketTransport
import WireProtocol

// Translates the configuration into the parameters of each part.

extension Settings {
  /// `auth.algorithms`; nil = the default.
  private var tokenAlgorithms: [TokenAlgorithm]? { auth.algorithms?.compactMap { TokenAlgorithm(rawValue: $0) } }

  private var previousSecret: [UInt8]? { auth.previousSecret.map { Array($0.utf8) } }

  /// The HS256 secret, created if missing; nil where `auth.algorithms` leaves HS256 out.
  /// - Parameter didMake: gets the path of a new file.
  public func signingSecret(didMake: (String) -> Void = { _ in }) throws(AuthenticationError) -> [UInt8]? {
    try SigningSecret.resolve(
      configured: auth.secret, algorithms: tokenAlgorithms, dataDirectory: dataDir, didMake: didMake)
  }

  /// The verifier's configuration. Creates the secret if missing.
  func tokenConfiguration(didMake: (String) -> Void = { _ in }) throws -> TokenVerifier.Configuration {
    TokenVerifier.Configuration(
      secret: try signingSecret(didMake: didMake), previousSecret: previousSecret,
      keySet: try auth.jwksFile.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }, keySetSource: keySetSource,
      algorithms: tokenAlgorithms, audience: auth.audience, issuer: auth.issuer)
  }

  private var keySetSource: KeySetSource { auth.jwksURL == nil ? .file : .url }

  /// Whether a start would find the HS256 secret, or needs none.
  func hasSecret() throws(AuthenticationError) -> Bool {
    guard tokenAlgorithms?.contains(.hs256) ?? true, auth.secret == nil else { return true }
    return try SecretFile(dataDirectory: dataDir).load() != nil
  }

  /// Reads the secret, the JWKS file, the certificate, its key and the list of words like a start, and
  /// creates nothing. `auth.jwksURL` is not read: a start goes on without it.
  /// - Returns: the warnings of a start, also those about other keys.
  /// - Throws: `AuthenticationError` or `StartError`.
  public func checkKeys() async throws -> [String] {
    var warnings = StartWarnings.keys(self) + [StartWarnings.internalListener(internalListen)].compactMap { $0 }
    if let files = tls.files {
      let expiry = try StartError.translating { () throws(TransportError) in try Transport.check(files) }
      warnings += [StartWarnings.certificate(expiring: expiry, now: SystemClocks().wall)].compactMap { $0 }
    }
    _ = try await tokenVerifier()
    if let path = moderation.wordsFile { _ = try WordFile.read(path) }
    return warnings
  }

  /// The verifier of a start, made without creating a secret.
  /// - Parameter readsURL: it also reads `auth.jwksURL`, as a start does beside this.
  /// - Returns: also whether a start would have to create it. Another secret stands in for it:
  ///   neither has signed a token.
  /// - Throws: `AuthenticationError`, or the error of a JWKS file or URL that cannot be read.
  public func tokenVerifier(readsURL: Bool = false) async throws -> (verifier: TokenVerifier, lacksSecret: Bool) {
    let usesSecret = tokenAlgorithms?.contains(.hs256) ?? true
    let existing = try auth.secret.map { Array($0.utf8) } ?? SecretFile(dataDirectory: dataDir).load()
    let secret = existing ?? (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    var keySet = try auth.jwksFile.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
    if readsURL, let url = auth.jwksURL { keySet = try await RemoteKeySet.contents(of: url) }
    let configuration = TokenVerifier.Configuration(
      secret: usesSecret ? secret : nil, previousSecret: previousSecret, keySet: keySet, keySetSource: keySetSource,
      algorithms: tokenAlgorithms, audience: auth.audience, issuer: auth.issuer)
    return (try await TokenVerifier(configuration), usesSecret && existing == nil)
  }
}

extension Settings {
  /// Reads the whole database, also beside a running server.
  /// - Returns: a sentence for each fault; none where the database is sound.
  public func storeFaults() throws(StartError) -> [String] {
    if store.postgreSQL != nil {
      throw StartError("only a database in a file can be checked; PostgreSQL has pg_amcheck")
    }
    return try StartError.translating { () throws(StoreOpenError) in
      try StoreCheck.faults(directory: dataDir, database: store.databasePath)
    }
  }
}

extension TransportConfiguration {
  init(_ settings: Settings) {
    self.init(
      loops: settings.loops, listen: settings.listen.endpoint, internalListen: settings.internalListen.endpoint,
      tls: settings.tls.files, pingInterval: settings.heartbeat.interval, pingTimeout: settings.heartbeat.timeout)
    listenFile = settings.listen.file
    internalListenFile = settings.internalListen.file
    if settings.proxyProtocol { announcesClients = settings.isTrustedProxy }
    publicBody = EventStreamPaths(settings).map { (path: $0.rpc, maxBytes: EventStreamPaths.maxBodyBytes) }
    sendQueueBytes = settings.limits.sendQueueBytes
    ipv6PrefixLength = settings.limits.ipv6PrefixLength
    flushWindow = settings.fanout.flushWindow
    compressionBytes = settings.fanout.compression == .room ? settings.fanout.compressionBytes : 0
  }
}

extension ListenAddress {
  fileprivate var endpoint: (host: String, port: Int)? {
    if case .tcp(let host, let port) = self { (host, Int(port)) } else { nil }
  }

  fileprivate var file: String? {
    if case .unix(let path) = self { path } else { nil }
  }
}

extension Settings {
  /// Whether the headers of a peer with this address are believed. The permissions of a Unix
  /// socket decide who its peers are, so they are trusted.
  fileprivate var isTrustedProxy: @Sendable (String) -> Bool {
    let proxies = trustedProxies
    return { address in address == RequestHead.unixPeer || proxies.contains { $0.contains(address) } }
  }

  /// The most open files: connections, those that are not counted yet, the store and the listeners.
  var openFiles: Int { limits.connections > 0 ? limits.connections / 8 * 9 + 4096 : 65_536 }
}

extension Settings.TLS {
  fileprivate var files: TLSFiles? {
    guard let certificateFile, let keyFile else { return nil }
    return TLSFiles(certificateFile: certificateFile, keyFile: keyFile)
  }
}

extension GatewayConfiguration {
  init(_ settings: Settings) {
    self.init()
    path = settings.path
    let sessions = settings.sessions.perPlatform
    sessionsPerPlatform = [
      .iOS: sessions.ios, .android: sessions.android, .windows: sessions.windows, .mac: sessions.mac, .web: sessions.web,
      .unknown: sessions.unknown,
    ]
    requestsPerSecond = settings.limits.requestsPerSecond
    requestBurst = settings.limits.requestBurst
    signInsPerSecond = settings.limits.signInsPerSecond
    deliveriesPerSecond = settings.limits.deliveriesPerSecond
    deliveredBytesPerSecond = settings.limits.deliveredBytesPerSecond
    strangersPerDay = settings.limits.strangersPerDay
    connections = settings.limits.connections
    connectionsPerAddress = settings.limits.connectionsPerAddress
    ipv6PrefixLength = settings.limits.ipv6PrefixLength
    readyReplyBytes = settings.limits.sendQueueBytes / 4
    heartbeat = (settings.heartbeat.interval.wholeMilliseconds + 999) / 1000
    failureDelay = settings.auth.failureDelay
    allowedOrigins = Set(settings.allowedOrigins)
    isTrustedProxy = settings.isTrustedProxy
    forwardingHeaders = ForwardingHeaders(settings.forwardedHeader)
    groupsPerUser = settings.limits.groupsPerUser
    avChatRoomsPerUser = settings.limits.avChatRoomsPerUser
    avChatRooms = settings.limits.avChatRooms
    requiresKnownUsers = settings.users.requireKnown
    searchesMessages = settings.search.messages
    refusesUnknownParameters = settings.strictParameters
    traceSampling = settings.tracing.sampling
    showsPresence = settings.presence.visibility == .everyone
    presenceGrace = settings.presence.grace
    statusSubscriptions = settings.limits.statusSubscriptions
    textLimits = TextLimits(settings.limits.text)
  }
}

extension ForwardingHeaders {
  init(_ header: ServerConfiguration.ForwardedHeader) {
    self =
      switch header {
      case .auto: .any
      case .xForwardedFor: .xForwarded
      case .forwarded: .forwarded
      }
  }
}

extension TextLimits {
  init(_ texts: Settings.Texts) {
    self.init()
    groupName = texts.groupName
    introduction = texts.introduction
    notification = texts.notification
    faceURL = texts.faceURL
    nameCard = texts.nameCard
    message = texts.message
    `extension` = texts.extension
  }
}

extension GroupLimits {
  init(_ settings: Settings) {
    let limits = settings.limits
    self.init(
      maxMemberNum: [
        .work: limits.work.maxMemberNum, .public: limits.public.maxMemberNum, .meeting: limits.meeting.maxMemberNum,
      ], pageBytes: limits.sendQueueBytes / 2)
    let rates: [GroupType: Int] = [
      .work: limits.work.messagesPerSecond, .public: limits.public.messagesPerSecond,
      .meeting: limits.meeting.messagesPerSecond, .avChatRoom: limits.avChatRoom.messagesPerSecond,
      .bChatRoom: limits.bChatRoom.messagesPerSecond,
    ]
    messagesPerSecond = rates.filter { $0.value > 0 }
    revokeWindow = limits.revokeWindow
    editWindow = limits.editWindow
    reactionsPerMessage = limits.reactionsPerMessage
    unreadCount = limits.unreadCount
    readReceiptMembers = limits.readReceiptMembers
    signalMembers = limits.signalMembers
    storesCreationTip = settings.history.creationTip
    offlineGrace = settings.avChatRoom.offlineGrace
  }
}

extension Settings.History {
  /// For the store, by type.
  var limits: [GroupType: HistoryLimits] {
    [.work: HistoryLimits(work), .public: HistoryLimits(`public`), .meeting: HistoryLimits(meeting)]
  }
}

extension HistoryLimits {
  fileprivate init(_ kept: Settings.History.Kept) {
    self.init(
      age: kept.retention > .zero ? kept.retention : nil, count: kept.maxMessages > 0 ? Int64(kept.maxMessages) : nil)
  }
}

extension RecentMessages {
  /// Nil where live rooms remember nothing.
  convenience init?(_ settings: Settings) {
    let rooms = settings.avChatRoom
    guard rooms.recentMessages > 0 else { return nil }
    self.init(
      messages: rooms.recentMessages, bytes: rooms.recentBytes,
      duration: rooms.recentDuration > .zero ? rooms.recentDuration : nil)
  }
}

extension GroupPermissions {
  init(_ settings: Settings) {
    var rights = RightsConfiguration()
    rights.attributeTypes = Set(settings.attributes.groupTypes.compactMap { GroupType(wireName: $0) })
    rights.moderatesLiveRooms = settings.avChatRoom.moderation
    rights.remembersLiveMessages = settings.avChatRoom.recentMessages > 0
    rights.ownerDisbandsWork = settings.work.ownerMayDisband
    self.init(rights)
  }
}
