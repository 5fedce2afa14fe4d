import GroupModel

/// The members of a group, a page at a time.
public struct GetGroupMemberList: Method {
  /// Which members are listed.
  public enum Filter: String, CaseIterable, Sendable {
    case all = "All"
    case owner = "Owner"
    case admin = "Admin"
    case common = "Common"
  }

  public let groupID: GroupID
  public let filter: Filter
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    "getGroupMemberList", "Lists the members of a group: owner, admins, others.",
    result: [ResultField("memberList", "[MemberInfo]"), ResultField("nextSeq", "integer")],
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    filter = try reader.mayWord("filter") ?? .all
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 50, otherwise: 50)
  }
}

/// Some members of a group by name.
public struct GetGroupMembersInfo: Method {
  public let groupID: GroupID
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    "getGroupMembersInfo", "Tells of up to 50 users what they are in a group; those who are no members are left out.",
    result: [ResultField("memberList", "[MemberInfo]")],
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    userIDList = try reader.needUserIDs("userIDList", upTo: 50)
  }
}

/// How many members are signed in.
public struct GetGroupOnlineMemberCount: Method {
  public let groupID: GroupID

  public static let specification = MethodSpecification(
    "getGroupOnlineMemberCount", "Counts the members with at least one signed-in session.",
    result: [ResultField("count", "integer")],
    errors: [.badGroupID, .noSuchGroup, .noRight])

  public init(from reader: inout some ParameterReader) throws(WireError) { groupID = try reader.groupID() }
}

/// The members that are silenced, a page at a time.
public struct GetGroupMutedMembers: Method {
  public let groupID: GroupID
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    "getGroupMutedMembers", "Lists the members that are silenced individually.",
    result: [ResultField("memberList", "[MemberInfo]"), ResultField("nextSeq", "integer")],
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 50, otherwise: 50)
  }
}

/// Who brought members in.
public struct GetGroupMemberInviters: Method {
  public let groupID: GroupID
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    "getGroupMemberInviters", "Tells of up to 200 users who brought them into a group.",
    result: [ResultField("inviterList", "[{userID, inviter?}]")],
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    userIDList = try reader.needUserIDs("userIDList", upTo: 200)
  }
}

/// What users are in a group.
public struct GetGroupMemberRoles: Method {
  public let groupID: GroupID
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    "getGroupMemberRoles", "Tells of up to 100 users which role they have in a group, or NotMember.",
    result: [ResultField("roleList", "[{userID, role}]")],
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupID = try reader.groupID()
    userIDList = try reader.needUserIDs("userIDList", upTo: 100)
  }
}
