import Foundation

/// Every key, in the order of `config show` (Configuration.md, "Configuration keys").
enum Keys {
  static let sections = [
    KeySection(
      "Listeners", isDeployment: true,
      [listen, internalListen, internalHosts, demo, path, eventStream, loops, tlsCertificateFile, tlsKeyFile]),
    KeySection("Browsers and proxies", isDeployment: true, [allowedOrigins, trustedProxies, forwardedHeader, proxyProtocol]),
    KeySection("Store", isDeployment: true, [dataDir, storeURL, storeSync]),
    // Before other sections with a secret: `secret` alone means `auth.secret`.
    KeySection(
      "Credentials", isDeployment: true,
      [
        authSecret, authPreviousSecret, authJWKSFile, authJWKSURL, authJWKSRefresh, authAlgorithms, authAudience, authIssuer,
        authFailureDelay, adminAPIKey, adminPreviousAPIKey,
      ]),
    KeySection("Several nodes", isDeployment: true, ClusterKeys.all),
    KeySection("Log", isDeployment: true, [logLevel, logFormat]),
    KeySection(
      "Connections", isDeployment: true,
      [
        heartbeatInterval, heartbeatTimeout, drainDuration, fanoutFlushWindow, compression, compressionBytes, strictParameters,
      ]),
    KeySection("Webhooks", isDeployment: true, WebhookKeys.all),
    KeySection("Tracing", isDeployment: true, TracingKeys.all),
    KeySection("Sessions of a user", isDeployment: false, SessionKeys.all),
    KeySection(
      "Users and groups", isDeployment: false,
      [
        usersRequireKnown, attributesGroupTypes, workOwnerMayDisband, avChatRoomOfflineGrace, avChatRoomModeration,
        avChatRoomRecentMessages, avChatRoomRecentDuration, avChatRoomRecentBytes,
      ]),
    KeySection("Presence, words and reports", isDeployment: false, PeopleKeys.all),
    KeySection("Messages kept", isDeployment: false, HistoryKeys.all),
    KeySection("Limits", isDeployment: false, LimitKeys.all),
  ]

  static let all = sections.flatMap(\.keys)

  static let byPath: [String: any ConfigurationKey] = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })
  static let byEnvironmentName: [String: any ConfigurationKey] =
    Dictionary(uniqueKeysWithValues: all.map { ($0.environmentName, $0) })
  static let byFormerEnvironmentName: [String: any ConfigurationKey] =
    Dictionary(uniqueKeysWithValues: all.map { ($0.formerEnvironmentName, $0) })

  private static let anyDuration = Duration.zero ... .seconds(4_294_967_295)

  static let listen = Key(
    "listen", .listenAddress, ListenAddress.tcp(host: "0.0.0.0", port: 8080), example: "127.0.0.1:8080", since: "0.1.0",
    "The public listener; port 0 is any free one.")
  static let internalListen = Key(
    "internalListen", .listenAddress, ListenAddress.tcp(host: "127.0.0.1", port: 8081),
    example: "unix:/run/throng/internal.sock", since: "0.1.0",
    "The internal listener: health, metrics, administration. Never make it public.")
  static let internalHosts = Key(
    "internalHosts", ValueType.hostPattern.list(of: ValueType.hostPattern.name), [], example: "throng.example.com,*.corp.example",
    since: "0.2.0",
    "The hosts by which browsers and scrapers may name the internal listener, besides addresses and private names; * = any.")
  static let path = Key(
    "path", .urlPath, "/ws", example: "/chat/ws", since: "0.1.0",
    "Where the WebSocket is; exact, so there is nothing at the path with a slash behind it.")
  static let demo = Key(
    "demo", .boolean, false, example: "true", since: "0.1.0",
    "Serve a small demo chat page on the public listener, in the directory of path: at / for /ws.")
  static let eventStream = Key(
    "eventStream", .boolean, true, example: "false", since: "0.2.0",
    "Serve clients whose network lets no WebSocket pass, in the directory of path: GET /events and POST /rpc for /ws.")
  static let loops = Key(
    "loops", .integer(1...1024, of: "event loops"), max(1, ProcessInfo.processInfo.activeProcessorCount - 1),
    computedFallback: "the number of cores less one, at least 1", example: "4", since: "0.1.0",
    "The number of event loops, each with a thread of its own; the default leaves one core to the rest.")
  static let tlsCertificateFile = Key(
    "tls.certificateFile", ValueType.path.optional, nil, example: "/etc/throng/certificate.pem", since: "0.1.0",
    "The certificate chain of the public listener, PEM; it needs tls.keyFile. SIGHUP reads it again.")
  static let tlsKeyFile = Key(
    "tls.keyFile", ValueType.path.optional, nil, example: "/etc/throng/key.pem", since: "0.1.0",
    "The private key of the public listener, PEM. SIGHUP reads it again.")

  static let allowedOrigins = Key(
    "allowedOrigins", ValueType.origin.list(of: ValueType.origin.name), [], example: "https://chat.example.com", since: "0.1.0",
    "The web origins that may connect; * = any; without it only the host's own.")
  static let trustedProxies = Key(
    "trustedProxies", ValueType.addressRange.list(of: "addresses and ranges such as 10.0.0.0/8"), [],
    example: "127.0.0.1,10.0.0.0/8", since: "0.1.0",
    "The proxies whose Forwarded, X-Forwarded-For and X-Forwarded-Host are believed; the peer of a Unix socket is one.")
  static let forwardedHeader = Key(
    "forwardedHeader", .oneOfCases(), ForwardedHeader.auto, example: "x-forwarded-for", since: "0.2.0",
    "The header that the proxies set: x-forwarded-for, with X-Forwarded-Host, or forwarded; auto = Forwarded where it is there.")
  static let proxyProtocol = Key(
    "proxyProtocol", .boolean, false, example: "true", since: "0.1.0",
    "Connections from trustedProxies to the public listener begin with a PROXY header, version 1 or 2.")

  static let dataDir = Key(
    "dataDir", .path, "./throng-data", example: "/var/lib/throng", since: "0.1.0",
    "The directory of the store and of the secret that is made.")
  static let storeURL = Key(
    "store.url", .storeURL, "sqlite:", holdsPassword: true, example: "sqlite:/var/lib/throng/chat.db", since: "0.1.0",
    "Where groups and messages are kept; sqlite:PATH, sqlite: alone for throng.db in dataDir, or postgres://HOST/DATABASE.")
  static let storeSync = Key(
    "store.sync", .oneOfCases(), StoreSync.full, example: "normal", since: "0.1.0",
    "full: what is acknowledged outlives a power failure; normal: only a crash of Throng.")

  static let authSecret = Key(
    "auth.secret", ValueType.hs256Secret.optional, nil, isSecret: true, example: "the-output-of-openssl-rand-base64-48",
    since: "0.1.0", "The HS256 secret, at least 32 bytes; without it the first start makes one in dataDir/auth-secret.")
  static let authPreviousSecret = Key(
    "auth.previousSecret", ValueType.hs256Secret.optional, nil, isSecret: true, example: "the-output-of-openssl-rand-base64-48",
    since: "0.2.0", "The HS256 secret before the present one: tokens that it has signed are good, and it signs none.")
  static let authJWKSFile = Key(
    "auth.jwksFile", ValueType.path.optional, nil, example: "/etc/throng/jwks.json", since: "0.1.0",
    "A JWKS file with the public keys of RS256, ES256 and EdDSA tokens. SIGHUP reads it again.")
  static let authJWKSURL = Key(
    "auth.jwksURL", .keySetURL, nil, example: "https://accounts.example.com/.well-known/jwks.json", since: "0.2.0",
    "Where the public keys of tokens are read from, in place of auth.jwksFile; empty = nowhere. SIGHUP reads it at once.")
  static let authJWKSRefresh = Key(
    "auth.jwksRefresh", .duration(.seconds(10) ... .seconds(7 * 86_400)), .seconds(600), example: "1h", since: "0.2.0",
    "How often auth.jwksURL is read; besides, a token that names an unknown key has it read, at most once in 10 s.")
  static let authAlgorithms = Key(
    "auth.algorithms", .tokenAlgorithms, nil, example: "HS256", since: "0.1.0",
    "The algorithms that tokens may use; unset = HS256 and those of the keys in auth.jwksFile or at auth.jwksURL.")
  static let authAudience = Key(
    "auth.audience", ValueType.text.optional, nil, example: "chat", since: "0.1.0",
    "What a token's aud must name; unset = anything.")
  static let authIssuer = Key(
    "auth.issuer", ValueType.text.optional, nil, example: "https://accounts.example.com", since: "0.1.0",
    "What a token's iss must be; unset = anything.")
  static let authFailureDelay = Key(
    "auth.failureDelay", .duration(.zero ... .seconds(60)), .seconds(1), example: "5s", since: "0.1.0",
    "How long answers wait after 20 failed sign-ins in 10 s from one address; 0 = not at all.")
  static let adminAPIKey = Key(
    "admin.apiKey", ValueType.apiKey.optional, nil, isSecret: true, example: "the-output-of-openssl-rand-base64-33",
    since: "0.1.0", "The credential of the application's backend on the internal listener, at least 32 bytes.")
  static let adminPreviousAPIKey = Key(
    "admin.previousAPIKey", ValueType.apiKey.optional, nil, isSecret: true, example: "the-output-of-openssl-rand-base64-33",
    since: "0.2.0", "The API key before the present one, which is good besides it.")

  static let logLevel = Key(
    "log.level", .oneOfCases(), LogLevel.info, example: "debug", since: "0.1.0", "The least severe log entries that are written.")
  static let logFormat = Key(
    "log.format", .oneOfCases(), LogFormat.json, example: "text", since: "0.1.0",
    "How a log entry is written: a JSON object or text.")

  static let heartbeatInterval = Key(
    "heartbeat.interval", .duration(.milliseconds(100) ... .seconds(86_400)), .seconds(25), example: "50s", since: "0.1.0",
    "The time between WebSocket pings.")
  static let heartbeatTimeout = Key(
    "heartbeat.timeout", .duration(.milliseconds(100) ... .seconds(86_400)), .seconds(10), example: "20s", since: "0.1.0",
    "How long a ping may stay without any frame in answer.")
  static let drainDuration = Key(
    "drain.duration", .duration(.zero ... .seconds(86_400)), .seconds(10), example: "1m", since: "0.1.0",
    "Over how long the sessions are closed on SIGTERM.")
  static let fanoutFlushWindow = Key(
    "fanout.flushWindow", .milliseconds(.zero ... .seconds(1)), .zero, example: "10", since: "0.1.0",
    "How far apart the flushes of one group are at least, latency for CPU; 0 = what is sent leaves at once.")

  static let compression = Key(
    "compression", .compression, .room, example: "off", since: "0.1.0",
    "Whether busy groups are compressed, once for all members: WebSocket's permessage-deflate, where the client offers it.")

  static let compressionBytes = Key(
    "fanout.compressionBytes", .integer(1_048_576...17_179_869_184, of: "bytes"), 67_108_864, example: "268435456",
    since: "0.1.0", "The most memory of all compressors; a busy group takes 300 KiB on each loop.")

  static let strictParameters = Key(
    "strictParameters", .boolean, false, example: "true", since: "0.2.0",
    "Refuse a request with members or parameters that it does not have, with -32602; false ignores these.")

  static let usersRequireKnown = Key(
    "users.requireKnown", .boolean, false, example: "true", since: "0.1.0",
    "Refuse to act on users who never signed in and were not imported.")
  static let attributesGroupTypes = Key(
    "attributes.groupTypes", .groupTypes, ["AVChatRoom"], example: "AVChatRoom,Meeting", since: "0.1.0",
    "The group types whose members may read and write attributes.")
  static let workOwnerMayDisband = Key(
    "work.ownerMayDisband", .boolean, false, example: "true", since: "0.2.0",
    "Let the owner of a Work group disband it; false leaves that to the application.")
  static let avChatRoomOfflineGrace = Key(
    "avChatRoom.offlineGrace", .duration(anyDuration), .seconds(300), example: "10m", since: "0.1.0",
    "How long a member of an AVChatRoom stays one after the last session ended.")
  static let avChatRoomModeration = Key(
    "avChatRoom.moderation", .boolean, false, example: "true", since: "0.2.0",
    "AVChatRooms have admins, who mute and remove members and decide applications.")
  static let avChatRoomRecentMessages = Key(
    "avChatRoom.recentMessages", .integer(0...1000, of: "messages"), 0, example: "200", since: "0.2.0",
    "How many of its last messages an AVChatRoom remembers, in memory: for members who were away, and for recalls; 0 = none.")
  static let avChatRoomRecentDuration = Key(
    "avChatRoom.recentDuration", .duration(anyDuration), .seconds(3600), example: "10m", since: "0.2.0",
    "For how long an AVChatRoom remembers a message; 0 = as long as there is room.")
  static let avChatRoomRecentBytes = Key(
    "avChatRoom.recentBytes", .integer(65_536...1_099_511_627_776, of: "bytes"), 67_108_864, example: "268435456",
    since: "0.2.0", "The most memory of what all AVChatRooms remember; beyond it the oldest messages go. One room has 1 MiB.")
}

/// The keys of `sessions.perPlatform.…` (Protocol.md, "Sessions per user").
enum SessionKeys {
  static let all: [any ConfigurationKey] = [ios, android, windows, mac, web, unknown]

  static let ios = sessions("ios", 1)
  static let android = sessions("android", 1)
  static let windows = sessions("windows", 1)
  static let mac = sessions("mac", 1)
  static let web = sessions("web", 10)
  static let unknown = sessions("unknown", 10)

  private static func sessions(_ platform: String, _ fallback: Int) -> Key<Int> {
    Key(
      "sessions.perPlatform.\(platform)", .integer(0...1_000_000, of: "sessions"), fallback, example: "2", since: "0.1.0",
      "The sessions that a user may have on this platform; 0 refuses it.")
  }
}
