import GroupModel

/// Changes the caller's own words about being there (Protocol.md, "Presence").
public struct SetSelfStatus: ServerMethod {
  public let customStatus: String

  public static let specification = MethodSpecification(
    .setSelfStatus, "Says something about the caller's presence; an empty text takes it back.", callers: .user,
    errors: [.badValue, .noRight])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .profile(textBytes: $0.customStatus.utf8.count) }, at: .owner(mayWait: false) { _ in .caller }, asks: .never,
    audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    customStatus = try reader.requiredString(
      "customStatus", .customStatus, "The user's own words about being there; empty = none.")
  }
}

/// The statuses of some users.
public struct GetUsersStatus: ServerMethod {
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    .getUsersStatus, "Tells which of up to 100 users are online; those whom nobody knows are left out.",
    result: Result.fields, errors: [.emptyUserList, .badValue, .noRight])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// Those of the users who are known, in the order of the request.
  public struct Result: WireObject {
    public let userList: [UserStatusInfo]

    public static let example = Result(userList: [])

    /// With everything given.
    public init(userList: [UserStatusInfo]) { self.userList = userList }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("userList", userList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 100, "The users whose status is asked for.")
  }
}

/// Watches the statuses of some users, as long as the session lives.
public struct SubscribeUsersStatus: ServerMethod {
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    .subscribeUsersStatus,
    "Tells the status of up to 100 users, and from now on of its changes by onUsersStatusChanged; unknown users may be "
      + "watched, too.",
    callers: .connection, result: GetUsersStatus.Result.fields,
    errors: [.emptyUserList, .badValue, .noRight, .tooManyWatched])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 100, "The users whose status is watched from now on.")
  }
}

/// Watches the statuses of users no longer.
public struct UnsubscribeUsersStatus: ServerMethod {
  /// Nil = all.
  public let userIDList: [UserID]?

  public static let specification = MethodSpecification(
    .unsubscribeUsersStatus, "Tells of changes of these users' statuses no longer.", callers: .connection,
    errors: [.badValue, .noRight])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    let users = try reader.optionalUserIDs(
      "userIDList", .optional(upTo: 100), "The users who are watched no longer; absent or empty = all.")
    userIDList = users?.isEmpty == true ? nil : users
  }
}

extension TextDomain {
  /// Up to 100 bytes without control characters.
  fileprivate static let customStatus = TextDomain(0...100, .badValue, .printable)
}
