import GroupModel

/// Signs the connection in, or renews the session (contract section 2).
public struct Login: Method {
  public let token: String
  public let platform: Platform
  public let deviceID: String?

  public static let specification = MethodSpecification(
    "login", "Signs in on this connection, or renews the session with a new token.",
    result: [
      ResultField("userID", "string"), ResultField("sessionID", "string"), ResultField("serverTime", "integer"),
      ResultField("tokenExpiresAt", "integer"), ResultField("heartbeat", "integer"),
    ],
    errors: [.tokenExpired, .tokenMalformed, .tokenWrongSignature, .otherUserSignedIn, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    token = try reader.needString("token", .any)
    platform =
      try reader.mayWord("platform", of: Platform.allCases.map(\.rawValue).filter { Platform(signIn: $0) != nil }) {
        Platform(signIn: $0)
      } ?? .unknown
    deviceID = try reader.mayString("deviceID", .remark)
  }

  /// The sign-in that an upgrade asks for by its header or query.
  public init(token: String, platform: String?, deviceID: String?) throws(WireError) {
    guard let platform = platform.map(Platform.init(signIn:)) ?? .unknown else {
      throw WireError(.badValue, field: "platform")
    }
    if let deviceID, let fault = TextDomain.remark.fault(of: deviceID, in: "deviceID") { throw fault }
    self.token = token
    self.platform = platform
    self.deviceID = deviceID
  }
}

/// Ends the session and closes the connection with 1000.
public struct Logout: Method {
  public static let specification = MethodSpecification("logout", "Ends the session; the server then closes with 1000.")

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
  public static let specification = MethodSpecification("rpc.discover", "Answers the OpenRPC document of this server.")

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}
