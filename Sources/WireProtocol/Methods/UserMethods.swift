import GroupModel

/// Changes the caller's own texts (Protocol.md, "Profiles").
public struct SetSelfInfo: ServerMethod {
  public let fields: UserInfoFields

  public static let specification = MethodSpecification(
    .setSelfInfo, "Changes the caller's own nickName, faceURL and customInfo.", callers: .user,
    errors: [.badValue] + ErrorCode.ofApplication)

  public static let traits: MethodTraits<Self> = .writes(
    .by { .profile(textBytes: $0.fields.textBytes) }, at: .owner(mayWait: false) { _ in .caller },
    asks: .before { .selfInfo($0) }, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) { fields = try UserInfoFields(from: &reader) }

  /// With everything given.
  public init(fields: UserInfoFields) { self.fields = fields }
}

/// The texts of some users.
public struct GetUsersInfo: ServerMethod {
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    .getUsersInfo, "Tells the texts of up to 100 users; those whom nobody knows are left out.", result: Result.fields,
    errors: [.emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// Those of the users who are known.
  public struct Result: WireObject {
    public let userList: [UserInfo]

    public static let example = Result(userList: [])

    /// With everything given.
    public init(userList: [UserInfo]) { self.userList = userList }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("userList", userList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 100, "The users whose texts are asked for.")
  }
}

/// Changes the texts of a user.
public struct SetUserInfo: ServerMethod {
  public let userID: UserID
  public let fields: UserInfoFields

  public static let specification = MethodSpecification(
    .setUserInfo, "Changes a user's nickName, faceURL and customInfo, and makes the user known.", callers: .application,
    errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, at: .owner(mayWait: false) { .user($0.userID) }, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user whose texts change.")
    fields = try UserInfoFields(from: &reader)
  }
}

/// Makes users known, with texts or without.
public struct ImportUsers: ServerMethod {
  /// A user of another system.
  public struct ImportedUser: Sendable, Equatable {
    public let userID: UserID
    public let fields: UserInfoFields

    /// A user; without texts by default.
    public init(userID: UserID, fields: UserInfoFields = UserInfoFields()) {
      self.userID = userID
      self.fields = fields
    }
  }

  /// As listed; a user may stand there twice.
  public let users: [ImportedUser]

  public static let specification = MethodSpecification(
    .importUsers, "Makes users known before they sign in, with their texts where userList has any; tells nobody.",
    callers: .application, errors: [.emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .writes(.membership, at: .here, asks: .never, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    try reader.requireOne("userIDList", or: "userList")
    let list = ListDomain(1...100, whenEmpty: .emptyUserList, isRequired: false)
    let names = try reader.optionalUserIDs("userIDList", list, "The users who become known: this or userList.")
    let objects = try reader.optionalObjects("userList", list, "The users who become known, with their texts.") {
      (reader) throws(WireError) in
      ImportedUser(userID: try reader.requiredUserID("userID", "The user."), fields: try UserInfoFields(from: &reader))
    }
    users = objects ?? (names ?? []).map { ImportedUser(userID: $0) }
  }
}
