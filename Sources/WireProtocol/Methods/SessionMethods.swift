import GroupModel

/// Signs the connection in, or renews the session (Protocol.md, "Sign-in").
public struct Login: ServerMethod {
  public let token: String
  /// As given: a renewal ignores platform and deviceID, whatever they are.
  public let platform: String?
  public let deviceID: String?

  public static let specification = MethodSpecification(
    .login, "Signs in on this connection, or renews the session with a new token.", callers: .connection,
    result: Result.fields,
    errors: [
      .tokenExpired, .tokenMalformed, .tokenWrongSignature, .tokenRevoked, .userBlocked, .otherUserSignedIn, .badValue,
    ])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    token = try reader.requiredString("token", .any, "A JWT that names the user in sub and its own end in exp.")
    platform = try reader.optionalString(
      "platform", .any, "The client's platform: iOS, Android, Windows, Mac, Web or Unknown; absent = Unknown. Renewals ignore it."
    )
    deviceID = try reader.optionalString(
      "deviceID", .any,
      "The device, at most 512 bytes of UTF-8: a new session ends the one on the same device. Renewals ignore it.")
  }

  /// The sign-in of an upgrade, by its header or query.
  public init(token: String, platform: String?, deviceID: String?) {
    self.token = token
    self.platform = platform
    self.deviceID = deviceID
  }

  /// The device of a new session: `platform` and `deviceID` within their domains, or 10004.
  public func device() throws(WireError) -> Device {
    guard let platform = platform.map({ Platform(signIn: $0) }) ?? .unknown else {
      throw WireError(.badValue, "platform is one of iOS, Android, Windows, Mac, Web, Unknown", field: "platform")
    }
    if let deviceID, let fault = TextDomain.shortText.fault(of: deviceID, in: "deviceID") { throw fault }
    return Device(platform: platform, deviceID: deviceID)
  }

  /// The session, as a sign-in and onConnectSuccess name it.
  public struct Result: WireObject {
    public let userID: UserID
    public let sessionID: String
    public let serverTime: WallInstant
    public let tokenExpiresAt: WallInstant
    /// In seconds.
    public let heartbeat: Seconds

    public static let example = Result(
      userID: .administrator, sessionID: "", serverTime: .unset, tokenExpiresAt: .unset, heartbeat: 0)

    /// A session with everything given.
    public init(userID: UserID, sessionID: String, serverTime: WallInstant, tokenExpiresAt: WallInstant, heartbeat: Seconds) {
      self.userID = userID
      self.sessionID = sessionID
      self.serverTime = serverTime
      self.tokenExpiresAt = tokenExpiresAt
      self.heartbeat = heartbeat
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("userID", userID.rawValue)
      writer.member("sessionID", sessionID)
      writer.member("serverTime", serverTime)
      writer.member("tokenExpiresAt", tokenExpiresAt)
      writer.member("heartbeat", heartbeat)
    }
  }

  /// The device of a session.
  public struct Device: Sendable, Equatable {
    public let platform: Platform
    /// Nil = not told; such a session replaces no other by its device.
    public let deviceID: String?
  }
}

/// Ends the session and closes the connection with 1000.
public struct Logout: ServerMethod {
  public static let specification = MethodSpecification(
    .logout, "Ends the session; the server then closes with 1000.", callers: .connection)

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// Keeps the connection of a client alive that cannot see control frames.
public struct Ping: ServerMethod {
  public static let specification = MethodSpecification(
    .ping, "Answers with the server's clock.", result: Result.fields)

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// The clock of the server.
  public struct Result: WireObject {
    public let serverTime: WallInstant

    public static let example = Result(serverTime: .unset)

    /// With everything given.
    public init(serverTime: WallInstant) {
      self.serverTime = serverTime
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("serverTime", serverTime)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// The server, its limits and the tables of the group types (Protocol.md, "Server information").
public struct GetServerInfo: ServerMethod {
  public static let specification = MethodSpecification(
    .getServerInfo, "Tells the server's name, version, limits, and what each group type allows.",
    result: Result.fields)

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// The server, its limits and its types of groups.
  public struct Result: WireObject {
    public let name: String
    public let version: String
    /// The version of the protocol.
    public let protocolName: String
    public let limits: NumberMap
    public let groupTypes: [EncodedObject]

    public static let example = Result(name: "", version: "", protocolName: "", limits: NumberMap([]), groupTypes: [])

    /// With everything given.
    public init(name: String, version: String, protocolName: String, limits: NumberMap, groupTypes: [EncodedObject]) {
      self.name = name
      self.version = version
      self.protocolName = protocolName
      self.limits = limits
      self.groupTypes = groupTypes
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("name", name)
      writer.member("version", version)
      writer.member("protocol", protocolName)
      writer.member("limits", limits)
      writer.member("groupTypes", groupTypes)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// The OpenRPC document.
public struct Discover: ServerMethod {
  public static let specification = MethodSpecification(
    .discover, "Answers the OpenRPC document of this server.",
    result: [
      ResultField("openrpc", "string"), ResultField("info", "object"), ResultField("methods", "[object]"),
      ResultField("components", "object"),
    ])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}
