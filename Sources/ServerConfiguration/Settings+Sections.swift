extension Settings {
  /// How the log is written.
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

  /// Which tokens sign in (contract section 2).
  public struct Auth: Sendable {
    /// The HS256 secret, at least 32 bytes; nil = the one in `dataDir/auth-secret`.
    public var secret: String?
    /// The path of the JWKS file; readable when the settings were loaded.
    public var jwksFile: String?
    /// `HS256`, `RS256`, `ES256`, `EdDSA`; nil = HS256 and those of the keys in the file.
    public var algorithms: [String]?
    /// What `aud` must name; nil = anything.
    public var audience: String?
    /// What `iss` must be; nil = anything.
    public var issuer: String?
    /// How long answers wait after 20 failures in 10 s from one address; zero = not at all.
    public var failureDelay: Duration

    init(_ values: Resolution) {
      secret = values[Keys.authSecret]
      jwksFile = values[Keys.authJWKSFile]
      algorithms = values[Keys.authAlgorithms]
      audience = values[Keys.authAudience]
      issuer = values[Keys.authIssuer]
      failureDelay = values[Keys.authFailureDelay]
    }
  }

  /// The application's backend (contract section 8).
  public struct Admin: Sendable {
    /// The credential of the internal listener; nil = tokens with `adm` only.
    public var apiKey: String?
  }

  /// Encryption of the public listener; both files are set or neither.
  public struct TLS: Sendable {
    /// The certificate chain, PEM; readable when the settings were loaded.
    public var certificateFile: String?
    /// The private key, PEM; readable when the settings were loaded.
    public var keyFile: String?
  }

  /// Where groups and messages are kept.
  public struct Store: Sendable {
    /// `sqlite:`, or `sqlite:` with a path; without one the file is in the data directory.
    public var url: String
    /// When a write counts as durable.
    public var sync: StoreSync

    /// The path of the database that `url` names, from the data directory on where it is relative; nil = the default one in the
    /// data directory.
    public var databasePath: String? {
      Store.path(in: url).flatMap { $0.isEmpty ? nil : String($0) }
    }

    /// What follows the scheme; nil where it is another one.
    static func path(in url: String) -> Substring? {
      url.hasPrefix("sqlite:") ? url.dropFirst("sqlite:".count) : nil
    }
  }

  /// Sessions of one user (contract section 2).
  public struct Sessions: Sendable {
    /// How many there may be on each platform.
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
      /// Unknown, which is also every client that names no platform.
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

  /// Who counts as a user.
  public struct Users: Sendable {
    /// Whether only users who signed in or were imported can be acted on (10019).
    public var requireKnown: Bool
  }

  /// Group attributes (contract section 3).
  public struct Attributes: Sendable {
    /// The names of the group types whose members may read and write attributes.
    public var groupTypes: [String]
  }

  /// AVChatRooms (contract section 3).
  public struct AVChatRoom: Sendable {
    /// How long a member stays one after the end of the last session.
    public var offlineGrace: Duration
  }

  /// Signs of life (contract section 1).
  public struct Heartbeat: Sendable {
    /// The time between pings.
    public var interval: Duration
    /// How long a ping may stay without any frame in answer.
    public var timeout: Duration
  }

  /// How messages reach their receivers.
  public struct Fanout: Sendable {
    /// How far apart the flushes of one group are at least.
    public var flushWindow: Duration
  }

  /// The orderly end (contract section 9).
  public struct Drain: Sendable {
    /// Over how long sessions are closed.
    public var duration: Duration
  }
}
