/// Where a client gets its tokens.
public enum TokenSource: Sendable {
  /// One token: at its end the client is closed.
  case fixed(String)
  /// A function that gives a new token: it is asked before the first sign-in, and whenever one
  /// ends.
  case renewable(@Sendable () async throws -> String)
}

/// The settings of a client.
public struct ClientOptions: Sendable {
  public var platform: Platform?
  /// A session of the same device is replaced.
  public var deviceID: String?
  /// The user, where that is known before the sign-in: a storage needs it. The token of another one closes
  /// the client.
  public var userID: String?
  /// The positions of an earlier client: the first sign-in resumes there, unless the storage has some.
  public var positions: [GroupPosition]
  /// The most messages, and the most calls, that wait for a connection.
  public var queueLimit: Int
  /// How long a token function may take to answer.
  public var tokenTimeout: Duration
  /// Where the client keeps its groups, messages, positions and what is not sent yet; nil = in memory, until
  /// the client ends.
  public var storage: (any Storage)?
  /// The bounds of what is kept.
  public var storageLimits: StorageLimits
  /// The connections of the client.
  public var transport: any Transport
  /// Gets a line where there is no connection (where, why, when the next is tried), where there is
  /// one again, where the server ends it for good, and where the storage fails; nil = nobody does. No line holds a token or
  /// the query of the address.
  public var log: (@Sendable (String) -> Void)?

  /// Settings; all have a default.
  public init(
    platform: Platform? = nil, deviceID: String? = nil, userID: String? = nil, positions: [GroupPosition] = [],
    queueLimit: Int = 1_000, tokenTimeout: Duration = .seconds(30), storage: (any Storage)? = nil,
    storageLimits: StorageLimits = StorageLimits(), transport: any Transport = DefaultTransport(),
    log: (@Sendable (String) -> Void)? = ClientOptions.standardError
  ) {
    self.platform = platform
    self.deviceID = deviceID
    self.userID = userID
    self.positions = positions
    self.queueLimit = queueLimit
    self.tokenTimeout = tokenTimeout
    self.storage = storage
    self.storageLimits = storageLimits
    self.transport = transport
    self.log = log
  }
}

/// Up to where the application was told of a group.
public struct GroupPosition: Codable, Hashable, Sendable {
  public var groupID: String
  public var epoch: String
  public var seq: Int
  public var changeSeq: Int

  /// A position, as `ThrongClient.positions` gave it.
  public init(groupID: String, epoch: String, seq: Int, changeSeq: Int) {
    self.groupID = groupID
    self.epoch = epoch
    self.seq = seq
    self.changeSeq = changeSeq
  }
}
