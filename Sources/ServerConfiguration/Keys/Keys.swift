import Foundation

/// Every key, in the order of `config show` (Operations.md, "Configuration keys").
enum Keys {
  static let all: [any ConfigurationKey] =
    [
      listen, internalListen, dataDir, demo, path, loops, logLevel, logFormat, authSecret, authJWKSFile, authAlgorithms,
      authAudience,
      authIssuer, authFailureDelay, adminAPIKey, allowedOrigins, trustedProxies, proxyProtocol, tlsCertificateFile, tlsKeyFile,
      storeURL,
      storeSync, usersRequireKnown, attributesGroupTypes, avChatRoomOfflineGrace, fanoutFlushWindow, heartbeatInterval,
      heartbeatTimeout, drainDuration,
    ] + WebhookKeys.all + SessionKeys.all + LimitKeys.all

  static let byPath: [String: any ConfigurationKey] = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })
  static let byEnvironmentName: [String: any ConfigurationKey] =
    Dictionary(uniqueKeysWithValues: all.map { ($0.environmentName, $0) })

  private static let anyDuration = Duration.zero ... .seconds(4_294_967_295)

  static let listen = Key(
    "listen", .listenAddress, ListenAddress.tcp(host: "0.0.0.0", port: 8080), "The public listener; port 0 is any free one.")
  static let internalListen = Key(
    "internalListen", .listenAddress, ListenAddress.tcp(host: "127.0.0.1", port: 8081),
    "The internal listener: health, metrics, administration. Never make it public.")
  static let path = Key(
    "path", .urlPath, "/ws", "Where the WebSocket is; exact, so there is nothing at the path with a slash behind it.")
  static let dataDir = Key("dataDir", .path, "./throng-data", "The directory of the store and of the secret that is made.")
  static let demo = Key(
    "demo", .boolean, false, "Serve a small demo chat page on the public listener, in the directory of path: at / for /ws.")
  static let loops = Key(
    "loops", .integer(1...1024), max(1, ProcessInfo.processInfo.activeProcessorCount - 1),
    "The number of event loops, each with a thread of its own; the default leaves one core to the rest.")

  static let logLevel = Key("log.level", .oneOfCases(), LogLevel.info, "The least severe log entries that are written.")
  static let logFormat = Key("log.format", .oneOfCases(), LogFormat.json, "How a log entry is written: a JSON object or text.")

  static let authSecret = Key(
    "auth.secret", ValueType.hs256Secret.optional, nil, isSecret: true,
    "The HS256 secret, at least 32 bytes; without it the first start makes one in dataDir/auth-secret.")
  static let authJWKSFile = Key(
    "auth.jwksFile", ValueType.path.optional, nil, "A JWKS file with the public keys of RS256, ES256 and EdDSA tokens.")
  static let authAlgorithms = Key(
    "auth.algorithms", .tokenAlgorithms, nil,
    "The algorithms that tokens may use; unset = HS256 and those of the keys in auth.jwksFile.")
  static let authAudience = Key(
    "auth.audience", ValueType.text.optional, nil, "What a token's aud must name; unset = anything.")
  static let authIssuer = Key("auth.issuer", ValueType.text.optional, nil, "What a token's iss must be; unset = anything.")
  static let authFailureDelay = Key(
    "auth.failureDelay", .duration(.zero ... .seconds(60)), .seconds(1),
    "How long answers wait after 20 failed sign-ins in 10 s from one address; 0 = not at all.")
  static let adminAPIKey = Key(
    "admin.apiKey", ValueType.apiKey.optional, nil, isSecret: true,
    "The credential of the application's backend on the internal listener, at least 32 bytes.")

  static let allowedOrigins = Key(
    "allowedOrigins", ValueType.origin.list(of: ValueType.origin.name), [],
    "The web origins that may connect; * = any; without it only the host's own.")
  static let trustedProxies = Key(
    "trustedProxies", ValueType.addressRange.list(of: "addresses and ranges such as 10.0.0.0/8"), [],
    "The proxies whose Forwarded, X-Forwarded-For and X-Forwarded-Host are believed; the peer of a Unix socket is one.")
  static let proxyProtocol = Key(
    "proxyProtocol", .boolean, false,
    "Connections from trustedProxies to the public listener begin with a PROXY header, version 1 or 2.")
  static let tlsCertificateFile = Key(
    "tls.certificateFile", ValueType.path.optional, nil, "The certificate chain of the public listener, PEM.")
  static let tlsKeyFile = Key("tls.keyFile", ValueType.path.optional, nil, "The private key of the public listener, PEM.")
  static let storeURL = Key(
    "store.url", .storeURL, "sqlite:",
    "Where groups and messages are kept; sqlite:PATH, or sqlite: alone for throng.db in dataDir.")
  static let storeSync = Key(
    "store.sync", .oneOfCases(), StoreSync.full, "full: what is acknowledged outlives a power failure; normal: only a crash.")

  static let usersRequireKnown = Key(
    "users.requireKnown", .boolean, false, "Refuse to act on users who never signed in and were not imported.")
  static let attributesGroupTypes = Key(
    "attributes.groupTypes", .groupTypes, ["AVChatRoom"], "The group types whose members may read and write attributes.")
  static let avChatRoomOfflineGrace = Key(
    "avChatRoom.offlineGrace", .duration(anyDuration), .seconds(300),
    "How long a member of an AVChatRoom stays one after the last session ended.")
  static let fanoutFlushWindow = Key(
    "fanout.flushWindow", .milliseconds(.zero ... .seconds(1)), .zero,
    "In milliseconds: how far apart the flushes of one group are at least, latency for CPU; 0 = what is sent leaves at once.")
  static let heartbeatInterval = Key(
    "heartbeat.interval", .duration(.milliseconds(100) ... .seconds(86_400)), .seconds(25), "The time between WebSocket pings.")
  static let heartbeatTimeout = Key(
    "heartbeat.timeout", .duration(.milliseconds(100) ... .seconds(86_400)), .seconds(10),
    "How long a ping may stay without any frame in answer.")
  static let drainDuration = Key(
    "drain.duration", .duration(.zero ... .seconds(86_400)), .seconds(10), "Over how long the sessions are closed on SIGTERM.")
}
