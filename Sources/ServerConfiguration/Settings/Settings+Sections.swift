import GroupModel

extension Settings {
  /// The log's level and format.
  public struct Log: Sendable {
    /// The least severe entries that are written.
    public var level: LogLevel
    /// JSON objects or text.
    public var format: LogFormat

    init(_ values: Resolution) {
      level = values[Keys.logLevel]
      format = values[Keys.logFormat]
    }
  }

  /// The tokens that are accepted (Protocol.md, "Tokens").
  public struct Auth: Sendable {
    /// The HS256 secret, at least 32 bytes; nil = the one in `dataDir/auth-secret`.
    public var secret: String?
    /// The secret before it, which verifies tokens and signs none; nil = none.
    public var previousSecret: String?
    /// The path of the JWKS file; readable when the settings were loaded.
    public var jwksFile: String?
    /// Where the key set is read from instead; nil = nowhere.
    public var jwksURL: String?
    /// How often it is read.
    public var jwksRefresh: Duration
    /// `HS256`, `RS256`, `ES256`, `EdDSA`; nil = HS256 and those of the keys in the set.
    public var algorithms: [String]?
    /// The name that `aud` must contain; nil = any.
    public var audience: String?
    /// The value that `iss` must have; nil = any.
    public var issuer: String?
    /// The delay of answers after 20 failures in 10 s from one address; zero = none.
    public var failureDelay: Duration

    /// `jwksURL` as logs may have it.
    public var shownJWKSURL: String { jwksURL.map(URLSecrets.shown) ?? "" }

    init(_ values: Resolution) {
      secret = values[Keys.authSecret]
      previousSecret = values[Keys.authPreviousSecret]
      jwksFile = values[Keys.authJWKSFile]
      jwksURL = values[Keys.authJWKSURL]
      jwksRefresh = values[Keys.authJWKSRefresh]
      algorithms = values[Keys.authAlgorithms]
      audience = values[Keys.authAudience]
      issuer = values[Keys.authIssuer]
      failureDelay = values[Keys.authFailureDelay]
    }
  }

  /// Traces that go to a collector (Operations.md, "Tracing").
  public struct Tracing: Sendable {
    /// Where spans are posted to; nil = nothing is traced.
    public var otlpEndpoint: String?
    /// The share of requests that begin a trace, where they tell of none.
    public var sampling: Double

    /// `otlpEndpoint` as logs and spans may have it.
    public var shownEndpoint: String { otlpEndpoint.map(URLSecrets.shown) ?? "" }
  }

  /// The application's backend (Protocol.md, "Application interface").
  public struct Admin: Sendable {
    /// The credential of the internal listener; nil = tokens with `adm` only.
    public var apiKey: String?
    /// The credential before it, which is good besides it; nil = none.
    public var previousAPIKey: String?
  }

  /// Encryption of the public listener; both files are set or neither.
  public struct TLS: Sendable {
    /// The certificate chain, PEM; readable when the settings were loaded.
    public var certificateFile: String?
    /// The private key, PEM; readable when the settings were loaded.
    public var keyFile: String?
  }

  /// The store of groups and messages.
  public struct Store: Sendable {
    /// `sqlite:`, or `sqlite:` with a path; without one the file is in the data directory. Or
    /// `postgres://` with a host and a database.
    public var url: String
    /// The durability of a write.
    public var sync: StoreSync

    /// The path in `url`, absolute or relative to the data directory; nil = the default database.
    public var databasePath: String? {
      Store.path(in: url).flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// The URL of a PostgreSQL database; nil where the store is a file.
    public var postgreSQL: String? { Store.isPostgreSQL(url) ? url : nil }

    static func isPostgreSQL(_ url: String) -> Bool { url.hasPrefix("postgres://") || url.hasPrefix("postgresql://") }

    /// The text behind the scheme; nil for another scheme.
    static func path(in url: String) -> Substring? {
      url.hasPrefix("sqlite:") ? url.dropFirst("sqlite:".count) : nil
    }
  }

  /// The sessions of a user (Protocol.md, "Sessions per user").
  public struct Sessions: Sendable {
    /// The most sessions on each platform.
    public var perPlatform: PerPlatform

    /// The sessions that a user may have on each platform; 0 refuses it.
    public struct PerPlatform: Sendable {
      /// iOS.
      public var ios: Int
      /// Android.
      public var android: Int
      /// Windows.
      public var windows: Int
      /// Mac.
      public var mac: Int
      /// Web.
      public var web: Int
      /// Unknown, and clients that name no platform.
      public var unknown: Int

      init(_ values: Resolution) {
        ios = values[SessionKeys.ios]
        android = values[SessionKeys.android]
        windows = values[SessionKeys.windows]
        mac = values[SessionKeys.mac]
        web = values[SessionKeys.web]
        unknown = values[SessionKeys.unknown]
      }
    }
  }

  /// Users that methods may name.
  public struct Users: Sendable {
    /// Whether only users who signed in or were imported may be named (10019).
    public var requireKnown: Bool
  }

  /// Group attributes (Protocol.md, "Attributes").
  public struct Attributes: Sendable {
    /// The names of the group types whose members may read and write attributes.
    public var groupTypes: [String]
  }

  /// Work groups (Protocol.md, "Rights").
  public struct Work: Sendable {
    /// Whether the owner may disband the group.
    public var ownerMayDisband: Bool
  }

  /// AVChatRooms (Protocol.md, "AVChatRoom").
  public struct AVChatRoom: Sendable {
    /// How long a user stays a member after the end of the last session.
    public var offlineGrace: Duration
    /// Whether AVChatRooms have admins.
    public var moderation: Bool
    /// How many messages each one remembers; 0 = none.
    public var recentMessages: Int
    /// For how long; zero = without end.
    public var recentDuration: Duration
    /// How many bytes all of them remember.
    public var recentBytes: Int

    init(_ values: Resolution) {
      offlineGrace = values[Keys.avChatRoomOfflineGrace]
      moderation = values[Keys.avChatRoomModeration]
      recentMessages = values[Keys.avChatRoomRecentMessages]
      recentDuration = values[Keys.avChatRoomRecentDuration]
      recentBytes = values[Keys.avChatRoomRecentBytes]
    }
  }

  /// The statuses of users (Protocol.md, "Presence").
  public struct Presence: Sendable {
    /// Who may ask for, watch and set them.
    public var visibility: PresenceVisibility
    /// How long a user is still shown as online behind the end of the last session.
    public var grace: Duration

    init(_ values: Resolution) {
      visibility = values[PeopleKeys.presenceVisibility]
      grace = values[PeopleKeys.presenceGrace]
    }
  }

  /// Words that users may not write (Protocol.md, "Words").
  public struct Moderation: Sendable {
    /// The path of the list; nil = no text is compared.
    public var wordsFile: String?
    /// What becomes of a text with one of them.
    public var action: WordAction

    init(_ values: Resolution) {
      wordsFile = values[PeopleKeys.wordsFile]
      action = values[PeopleKeys.wordAction]
    }
  }

  /// Reports of messages (Protocol.md, "Reports").
  public struct Reports: Sendable {
    /// How long one is kept.
    public var retention: Duration
  }

  /// The messages that groups keep (Protocol.md, "Retention" and "Tips").
  public struct History: Sendable {
    /// For a Work group.
    public var work: Kept
    /// For a Public group.
    public var `public`: Kept
    /// For a Meeting group.
    public var meeting: Kept
    /// Whether a new group begins with a tip.
    public var creationTip: Bool

    /// The messages that one group keeps.
    public struct Kept: Sendable {
      /// How long; zero = for ever.
      public var retention: Duration
      /// How many; 0 = all.
      public var maxMessages: Int
    }

    init(_ values: Resolution) {
      work = Kept(retention: values[HistoryKeys.workRetention], maxMessages: values[HistoryKeys.workMaxMessages])
      `public` = Kept(retention: values[HistoryKeys.publicRetention], maxMessages: values[HistoryKeys.publicMaxMessages])
      meeting = Kept(retention: values[HistoryKeys.meetingRetention], maxMessages: values[HistoryKeys.meetingMaxMessages])
      creationTip = values[HistoryKeys.creationTip]
    }
  }

  /// The search of messages (Protocol.md, "Search of messages").
  public struct Search: Sendable {
    /// Whether the texts of messages are indexed.
    public var messages: Bool
  }

  /// WebSocket pings (Protocol.md, "Heartbeat").
  public struct Heartbeat: Sendable {
    /// The time between pings.
    public var interval: Duration
    /// The longest time from a ping to the client's next frame.
    public var timeout: Duration
  }

  /// The delivery of a group's messages.
  public struct Fanout: Sendable {
    /// The least time between two flushes of a group.
    public var flushWindow: Duration
    /// Which events leave compressed (`compression`).
    public var compression: Compression
    /// The most memory of all compressors, in bytes.
    public var compressionBytes: Int
  }

  /// The orderly end (Protocol.md, "Draining").
  public struct Drain: Sendable {
    /// The time over which sessions are closed.
    public var duration: Duration
  }

  /// Requests to the application's backend (Protocol.md, "Webhooks").
  public struct Webhook: Sendable {
    /// Where they are posted to; nil = nowhere.
    public var url: String?
    /// The secret that signs them, with its prefix; there where `url` is.
    public var secret: String?
    /// The types that are posted.
    public var events: [WebhookType]
    /// The limit for one request.
    public var timeout: Duration
    /// The decision where a before-event gets no useful answer.
    public var onFailure: WebhookFailurePolicy
    /// How long a failing request is tried again.
    public var retention: Duration
    /// The requests at a time.
    public var connections: Int
    /// The requests that may wait.
    public var maxPending: Int

    /// `url` as others may see it.
    public var shownURL: String { url.map(URLSecrets.shown) ?? "" }

    init(_ values: Resolution) {
      url = values[WebhookKeys.url]
      secret = values[WebhookKeys.secret]
      events = values[WebhookKeys.events].compactMap { WebhookType(rawValue: $0) }
      timeout = values[WebhookKeys.timeout]
      onFailure = values[WebhookKeys.onFailure]
      retention = values[WebhookKeys.retention]
      connections = values[WebhookKeys.connections]
      maxPending = values[WebhookKeys.maxPending]
    }
  }
}
