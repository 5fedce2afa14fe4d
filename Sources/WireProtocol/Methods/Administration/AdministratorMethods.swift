import GroupModel

/// All groups of the server.
public struct ListGroups: ServerMethod {
  public let groupType: GroupType?
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .listGroups, "Lists the groups of the server.", callers: .application,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of groups.
  public struct Result: WireObject {
    public let groupList: [Encoded<GroupInfo>]
    public let totalCount: Int
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(groupList: [], totalCount: 0, nextSeq: 0)

    /// With everything given.
    public init(groupList: [Encoded<GroupInfo>], totalCount: Int, nextSeq: Int64) {
      self.groupList = groupList
      self.totalCount = totalCount
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupList", groupList)
      writer.member("totalCount", totalCount)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupType = try reader.optionalGroupType("Lists groups of this type only; absent = all.")
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 200, otherwise: 50, "The most groups of the page; absent = 50.")
  }
}

/// Sends the application's own data to members.
public struct SendGroupSystemNotification: GroupMethod {
  /// Nil = all members.
  public let userIDList: [UserID]?
  public let content: String

  public static let specification = MethodSpecification(
    .sendGroupSystemNotification, "Pushes the application's own data to members, as onReceiveRESTCustomData.",
    callers: .application, errors: [.badGroupID, .noSuchGroup, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .message)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    let users =
      try reader.optionalUserIDs(
        "userIDList", .optional(upTo: 500), "The members who get it; absent or empty = all. Others are ignored.") ?? []
    userIDList = users.isEmpty ? nil : users
    content = try reader.requiredString("content", TextDomain(1...4096), "The application's own data.")
  }
}

/// Disbands a group for the application.
public struct RecycleGroup: GroupMethod {
  public static let specification = MethodSpecification(
    .recycleGroup, "Disbands a group, told by onGroupRecycled.", callers: .application,
    errors: [.badGroupID, .noSuchGroup])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// The sessions of a user.
public struct ListSessions: ServerMethod {
  public let userID: UserID

  public static let specification = MethodSpecification(
    .listSessions, "Lists the signed-in sessions of a user.", callers: .application,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// The sessions of a user.
  public struct Result: WireObject {
    public let sessionList: [SessionInfo]

    public static let example = Result(sessionList: [])

    /// With everything given.
    public init(sessionList: [SessionInfo]) {
      self.sessionList = sessionList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("sessionList", sessionList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user whose sessions are listed.")
  }
}

/// Ends all sessions of a user.
public struct KickUser: ServerMethod {
  public let userID: UserID
  public let reason: String?

  public static let specification = MethodSpecification(
    .kickUser, "Closes all sessions of a user with 4503.", callers: .application,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .writes(.membership, at: .here, asks: .never, audit: .change)

  /// The number of sessions that were closed.
  public struct Result: WireObject {
    public let kicked: Int

    public static let example = Result(kicked: 0)

    /// With everything given.
    public init(kicked: Int) {
      self.kicked = kicked
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("kicked", kicked)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The user whose sessions end.")
    reason = try reader.optionalString("reason", .shortText, "A message to the user.")
  }
}

/// Sets the number of unread messages of a member.
public struct SetUnreadCount: GroupMethod {
  public let userID: UserID
  public let unreadCount: Int

  public static let specification = MethodSpecification(
    .setUnreadCount, "Sets how many messages of a group a member has not read.", callers: .application,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The member whose count is set.")
    unreadCount = Int(
      try reader.requiredInteger("unreadCount", in: .unreadCounts, "How many messages of the group count as unread."))
  }
}

/// The numbers of sessions, users and groups.
public struct GetStats: ServerMethod {
  public static let specification = MethodSpecification(
    .getStats, "Counts sessions, users and groups.", callers: .application,
    result: Result.fields)

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// The numbers of the server.
  public struct Result: WireObject {
    public let sessions: Int
    public let users: Int
    public let groups: Int
    public let groupsByType: NumberMap
    /// In seconds.
    public let uptime: Int64
    public let version: String

    public static let example = Result(sessions: 0, users: 0, groups: 0, groupsByType: NumberMap([]), uptime: 0, version: "")

    /// With everything given.
    public init(sessions: Int, users: Int, groups: Int, groupsByType: NumberMap, uptime: Int64, version: String) {
      self.sessions = sessions
      self.users = users
      self.groups = groups
      self.groupsByType = groupsByType
      self.uptime = uptime
      self.version = version
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("sessions", sessions)
      writer.member("users", users)
      writer.member("groups", groups)
      writer.member("groupsByType", groupsByType)
      writer.member("uptime", uptime)
      writer.member("version", version)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

extension ClosedRange<Int64> {
  /// The numbers of unread messages that the application may set.
  static var unreadCounts: ClosedRange<Int64> { 0...Int64(UInt32.max) }
}
