import GroupModel

/// The members of a group, a page at a time.
public struct GetGroupMemberList: GroupMethod {
  /// The members that are listed.
  public enum Filter: String, CaseIterable, Sendable {
    case all = "All"
    case owner = "Owner"
    case admin = "Admin"
    case common = "Common"
  }

  public let filter: Filter
  /// Lists those alone who joined or changed at or after it, and tells who has left; nil = all members.
  public let updatedSince: WallInstant?
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getGroupMemberList, "Lists the members of a group: owner, admins, others.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// The users who have left a group since an instant and are no members now.
  public struct Departures: Sendable, Equatable {
    /// The most users that an answer names.
    public static let maxCount = 1000

    /// The latest first.
    public let users: [UserID]
    /// Whether nobody else has left since.
    public let isComplete: Bool

    /// With everything given.
    public init(users: [UserID], isComplete: Bool) {
      self.users = users
      self.isComplete = isComplete
    }
  }

  /// A page of members.
  public struct Result: WireObject {
    public let memberList: [ShownMember]
    /// 0 = there is no more.
    public let nextSeq: Int64
    /// Nil but on the first page of a list of changes.
    public let departures: Departures?

    public static let example = Result(memberList: [], nextSeq: 0)

    /// With everything given.
    public init(memberList: [ShownMember], nextSeq: Int64, departures: Departures? = nil) {
      self.memberList = memberList
      self.nextSeq = nextSeq
      self.departures = departures
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("memberList", memberList)
      writer.member("nextSeq", nextSeq)
      writer.member("leftUserIDList", ifPresent: departures?.users.map(\.rawValue))
      writer.member("isComplete", ifPresent: departures?.isComplete)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    filter =
      try reader.optionalWord("filter", "Lists these members only; Common = neither owner nor admin. Absent = All.") ?? .all
    updatedSince = try reader.optionalInstant(
      "updatedSince",
      "Lists who joined, or changed in role, nameCard, customInfo or mute, since then, in milliseconds since 1970; absent = all."
    )
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 200, otherwise: 50, "The most members of the page; absent = 50.")
  }
}

/// A page of members of some kind.
public struct MemberPage: WireObject {
  public let memberList: [ShownMember]
  /// 0 = there is no more.
  public let nextSeq: Int64

  public static let example = MemberPage(memberList: [], nextSeq: 0)

  /// With everything given.
  public init(memberList: [ShownMember], nextSeq: Int64) {
    self.memberList = memberList
    self.nextSeq = nextSeq
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("memberList", memberList)
    writer.member("nextSeq", nextSeq)
  }
}

/// Some members of a group by name.
public struct GetGroupMembersInfo: GroupMethod {
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    .getGroupMembersInfo, "Tells of up to 50 users what they are in a group; those who are no members are left out.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// Those of the users who are members.
  public struct Result: WireObject {
    public let memberList: [ShownMember]

    public static let example = Result(memberList: [])

    /// With everything given.
    public init(memberList: [ShownMember]) {
      self.memberList = memberList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("memberList", memberList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs(
      "userIDList", upTo: 50, "The users; those who are no members are left out of the answer.")
  }
}

/// The number of members with a session.
public struct GetGroupOnlineMemberCount: GroupMethod {
  public static let specification = MethodSpecification(
    .getGroupOnlineMemberCount, "Counts the members with at least one signed-in session.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// The number of members with a session.
  public struct Result: WireObject {
    public let count: Int

    public static let example = Result(count: 0)

    /// With everything given.
    public init(count: Int) {
      self.count = count
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("count", count)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// The muted members, a page at a time.
public struct GetGroupMutedMembers: GroupMethod {
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getGroupMutedMembers, "Lists the members that are silenced individually.",
    result: MemberPage.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 50, otherwise: 50, "The most members of the page; absent = 50.")
  }
}

/// The inviters of members.
public struct GetGroupMemberInviters: GroupMethod {
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    .getGroupMemberInviters, "Tells of up to 200 users who brought them into a group.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// A row for each user.
  public struct Result: WireObject {
    public let inviterList: [Row]

    public static let example = Result(inviterList: [])

    /// With everything given.
    public init(inviterList: [Row]) {
      self.inviterList = inviterList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("inviterList", inviterList)
    }
  }

  /// A user with the inviter.
  public struct Row: WireObject {
    public let userID: UserID
    /// Nil = the user came alone, or is no member.
    public let inviter: UserID?

    public static let example = Row(userID: .administrator)

    /// With everything given.
    public init(userID: UserID, inviter: UserID? = nil) {
      self.userID = userID
      self.inviter = inviter
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("userID", userID.rawValue)
      writer.member("inviter", ifPresent: inviter?.rawValue)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 200, "The users; each has a row in the answer.")
  }
}

/// The roles of users in a group.
public struct GetGroupMemberRoles: GroupMethod {
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    .getGroupMemberRoles, "Tells of up to 100 users which role they have in a group, or NotMember.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// A row for each user.
  public struct Result: WireObject {
    public let roleList: [Row]

    public static let example = Result(roleList: [])

    /// With everything given.
    public init(roleList: [Row]) {
      self.roleList = roleList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("roleList", roleList)
    }
  }

  /// A user with the role.
  public struct Row: WireObject {
    public let userID: UserID
    /// Nil = the user is no member.
    public let role: Role?

    public static let example = Row(userID: .administrator)

    /// With everything given.
    public init(userID: UserID, role: Role? = nil) {
      self.userID = userID
      self.role = role
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("userID", userID.rawValue)
      writer.member("role", role?.wireName ?? MemberInfo.notMember)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 100, "The users; each has a row in the answer.")
  }
}
