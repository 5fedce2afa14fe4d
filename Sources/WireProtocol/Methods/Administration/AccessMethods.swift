import GroupModel

/// Lets a user sign in no more (Protocol.md, "Blocked users").
public struct BlockUser: ServerMethod {
  public let userID: UserID
  /// Nil = without end.
  public let blockTime: Seconds?
  public let reason: String?

  public static let specification = MethodSpecification(
    .blockUser, "Lets a user sign in no more: closes all sessions with 4503, and refuses new ones with 70020.",
    callers: .application, result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, at: .owner(mayWait: false) { .user($0.userID) }, asks: .never, audit: .change)

  /// The end of the block.
  public struct Result: WireObject {
    /// Unset = there is none.
    public let blockedUntil: WallInstant

    public static let example = Result(blockedUntil: .unset)

    /// With everything given.
    public init(blockedUntil: WallInstant) { self.blockedUntil = blockedUntil }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("blockedUntil", blockedUntil)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user who is blocked.")
    let seconds = try reader.optionalInteger(
      "blockTime", in: .seconds, "How long, in seconds; 0 or absent = without end. It replaces the time of an earlier block.")
    blockTime = seconds == 0 ? nil : seconds
    let words = try reader.optionalString("reason", .remark, "A message to the sessions that end. It is kept with the block.")
    reason = words?.isEmpty == true ? nil : words
  }
}

/// Lets a user sign in again.
public struct UnblockUser: ServerMethod {
  public let userID: UserID

  public static let specification = MethodSpecification(
    .unblockUser, "Lets a blocked user sign in again; answers the same where the user is not blocked.", callers: .application,
    errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, at: .owner(mayWait: false) { .user($0.userID) }, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user who may sign in again.")
  }
}

/// The users who may not sign in.
public struct GetBlockedUsers: ServerMethod {
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getBlockedUsers, "Lists the blocked users by userID.", callers: .application, result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of blocked users.
  public struct Result: WireObject {
    public let userList: [BlockedUserInfo]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(userList: [], nextSeq: 0)

    /// With everything given.
    public init(userList: [BlockedUserInfo], nextSeq: Int64) {
      self.userList = userList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("userList", userList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 100, otherwise: 50, "The most users of the page; absent = 50.")
  }
}

/// A user who may not sign in.
public struct BlockedUserInfo: WireObject {
  public let userID: UserID
  /// Unset = there is no end.
  public let blockedUntil: WallInstant
  /// The application's words; empty = none.
  public let reason: String

  public static let example = BlockedUserInfo(userID: .administrator, blockedUntil: .unset, reason: "")

  /// With everything given.
  public init(userID: UserID, blockedUntil: WallInstant, reason: String) {
    self.userID = userID
    self.blockedUntil = blockedUntil
    self.reason = reason
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("userID", userID.rawValue)
    writer.member("blockedUntil", blockedUntil)
    writer.member("reason", reason)
  }
}

/// Refuses the tokens of a user that were issued before an instant.
public struct RevokeTokens: ServerMethod {
  public let userID: UserID
  /// Nil = the instant of the call.
  public let before: WallInstant?

  public static let specification = MethodSpecification(
    .revokeTokens, "Refuses tokens of a user issued before an instant with 70021, and closes sessions with one with 4006.",
    callers: .application, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, at: .owner(mayWait: false) { .user($0.userID) }, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user whose tokens are revoked.")
    before = try reader.optionalInstant(
      "before",
      "Tokens issued before it are revoked, in milliseconds since 1970; absent = now. The latest of a user counts.")
  }
}
