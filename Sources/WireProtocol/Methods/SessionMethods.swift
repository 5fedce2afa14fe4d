import GroupModel

/// Signs the connection in, or renews the session (contract section 2).
public struct Login: Method {
  public let token: String
  /// As given: a renewal ignores platform and deviceID, whatever they are.
  public let platform: String?
  public let deviceID: String?

  public static let specification = MethodSpecification(
    "login", "Signs in on this connection, or renews the session with a new token.", callers: .connection,
    result: [
      ResultField("userID", "string"), ResultField("sessionID", "string"), ResultField("serverTime", "integer"),
      ResultField("tokenExpiresAt", "integer"), ResultField("heartbeat", "integer"),
    ],
    errors: [.tokenExpired, .tokenMalformed, .tokenWrongSignature, .otherUserSignedIn, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    token = try reader.needString("token", .any)
    platform = try reader.mayString("platform", .any)
    deviceID = try reader.mayString("deviceID", .any)
  }

  /// The sign-in that an upgrade asks for by its header or query.
  public init(token: String, platform: String?, deviceID: String?) {
    self.token = token
    self.platform = platform
    self.deviceID = deviceID
  }

  /// Where a new session runs: `platform` and `deviceID` within their domains, 10004 otherwise.
  public func device() throws(WireError) -> Device {
    guard let platform = platform.map({ Platform(signIn: $0) }) ?? .unknown else {
      throw WireError(.badValue, "platform is one of iOS, Android, Windows, Mac, Web, Unknown", field: "platform")
    }
    if let deviceID, let fault = TextDomain.remark.fault(of: deviceID, in: "deviceID") { throw fault }
    return Device(platform: platform, deviceID: deviceID)
  }

  /// Where a session runs.
  public struct Device: Sendable, Equatable {
    public let platform: Platform
    /// Nil = not told; such a session replaces no other by its device.
    public let deviceID: String?
  }
}

/// Ends the session and closes the connection with 1000.
public struct Logout: Method {
  public static let specification = MethodSpecification(
    "logout", "Ends the session; the server then closes with 1000.", callers: .connection)

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// A sign of life for clients that cannot see control frames.
public struct Ping: Method {
  public static let specification = MethodSpecification(
    "ping", "Answers with the server's clock.", result: [ResultField("serverTime", "integer")])

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// What server this is, with its limits and the tables of contract section 3.
public struct GetServerInfo: Method {
  public static let specification = MethodSpecification(
    "getServerInfo", "Tells the server's name, version, limits, and what each group type allows.",
    result: [
      ResultField("name", "string"), ResultField("version", "string"), ResultField("protocol", "string"),
      ResultField("limits", "object"), ResultField("groupTypes", "[object]"),
    ])

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// The OpenRPC document.
public struct Discover: Method {
  public static let specification = MethodSpecification(
    "rpc.discover", "Answers the OpenRPC document of this server.",
    result: [
      ResultField("openrpc", "string"), ResultField("info", "object"), ResultField("methods", "[object]"),
      ResultField("components", "object"),
    ])

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}
