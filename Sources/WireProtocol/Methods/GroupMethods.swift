import GroupModel

/// A value for one policy field.
public struct PolicyChange: Sendable, Equatable {
  public let field: PolicyField
  public let value: PolicyValue
}

/// Texts and policy that createGroup and setGroupInfo share.
public struct GroupFields: Sendable, Equatable {
  public var introduction: String?
  public var notification: String?
  public var faceURL: String?
  public var maxMemberNum: Int?
  public var customInfo: [String: String]?
  public var policy: [PolicyChange] = []

  /// Nothing is given.
  public init() {}

  init(from reader: inout some ParameterReader) throws(WireError) {
    introduction = try reader.optionalString("introduction", TextDomain(0...240, .introductionTooLong))
    notification = try reader.optionalString("notification", TextDomain(0...300, .notificationTooLong))
    faceURL = try reader.optionalString("faceURL", TextDomain(0...100, .faceURLTooLong))
    maxMemberNum = try reader.optionalInteger("maxMemberNum", in: 1...(1 << 53)).map { Int($0) }
    customInfo = try reader.optionalMap("customInfo", .groupCustomInfo)
    for field in PolicyField.allCases {
      if let value = try GroupFields.value(of: field, from: &reader) { policy.append(PolicyChange(field: field, value: value)) }
    }
  }

  private static func value(
    of field: PolicyField, from reader: inout some ParameterReader
  ) throws(WireError) -> PolicyValue? {
    switch field {
    case .joinMode: try word("joinMode", field, from: &reader)
    case .inviteMode: try word("inviteMode", field, from: &reader)
    case .beInviteMode: try word("beInviteMode", field, from: &reader)
    case .updateInfoMode: try word("updateInfoMode", field, from: &reader)
    case .updateCustomMode: try word("updateCustomMode", field, from: &reader)
    case .ownerQuitMode: try word("ownerQuitMode", field, from: &reader)
    case .memberChangeNotification: try reader.optionalFlag("memberChangeNotification").map(PolicyValue.flag)
    case .isSearchable: try reader.optionalFlag("isSearchable").map(PolicyValue.flag)
    case .isMemberVisible: try reader.optionalFlag("isMemberVisible").map(PolicyValue.flag)
    }
  }

  private static func word(
    _ name: StaticString, _ field: PolicyField, from reader: inout some ParameterReader
  ) throws(WireError) -> PolicyValue? {
    try reader.optionalWord(name, of: AllowedWords(field.words)) { field.words.contains($0) ? .word($0) : nil }
  }
}

extension TextDomain {
  /// 1–30 bytes without control characters (8502, 10004).
  static let groupName = TextDomain(1...30, .badGroupName, .printable)
}

/// Makes a group (Protocol.md, "Creating a group").
public struct CreateGroup: Method {
  /// A member from the beginning.
  public struct InitialMember: Sendable, Equatable {
    public let userID: UserID
    public let role: Role

    /// A user with a role.
    public init(userID: UserID, role: Role = .member) {
      self.userID = userID
      self.role = role
    }
  }

  public let groupType: GroupType
  public let groupName: String
  /// Nil = the server chooses one.
  public let groupID: GroupID?
  public let fields: GroupFields
  /// As listed; a user may stand there twice.
  public let memberList: [InitialMember]
  /// Only for the application's backend.
  public let ownerUserID: UserID?

  public static let specification = MethodSpecification(
    "createGroup", "Makes a group that the caller owns, or the user whom the application names as ownerUserID.",
    writes: true,
    result: Result.fields,
    errors: [
      .badNewGroupID, .badGroupName, .introductionTooLong, .notificationTooLong, .faceURLTooLong, .tooManyMembers,
      .ownerInMemberList, .badValue, .noRight, .groupIDTaken, .groupIDTakenByYourself, .tooManyAVChatRooms, .tooManyGroups,
      .userUnknown,
    ] + ErrorCode.ofApplication)

  /// The new group, and the outcome for each initial member.
  public struct Result: WireObject {
    public let groupID: GroupID
    public let groupType: GroupType
    public let memberList: [MemberResult]

    public static let example = Result(groupID: .generate(), groupType: .work, memberList: [])

    /// With everything given.
    public init(groupID: GroupID, groupType: GroupType, memberList: [MemberResult]) {
      self.groupID = groupID
      self.groupType = groupType
      self.memberList = memberList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupID", groupID.rawValue)
      writer.member("groupType", groupType.rawValue)
      writer.member("memberList", memberList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    try self.init(from: &reader, isImported: false)
  }

  /// - Parameter isImported: the parameters are those of importGroup: an owner, and no members.
  init(from reader: inout some ParameterReader, isImported: Bool) throws(WireError) {
    groupType = try reader.requiredGroupType()
    groupName = try reader.requiredString("groupName", .groupName)
    groupID = try reader.optionalString("groupID", .newGroupID).flatMap { GroupID($0) }
    fields = try GroupFields(from: &reader)
    guard !isImported else {
      memberList = []
      ownerUserID = try reader.requiredUserID("ownerUserID")
      return
    }
    memberList =
      try reader.optionalObjects("memberList", .optional(upTo: 100)) { (reader) throws(WireError) in
        let user = try reader.requiredUserID()
        return InitialMember(userID: user, role: try reader.optionalInitialRole() ?? .member)
      } ?? []
    ownerUserID = reader.servesApplication ? try reader.optionalString("ownerUserID", .userID).flatMap { UserID($0) } : nil
  }

  /// A group with everything given, for tests and tools.
  public init(
    groupType: GroupType, groupName: String, groupID: GroupID? = nil, fields: GroupFields = GroupFields(),
    memberList: [InitialMember] = [], ownerUserID: UserID? = nil
  ) {
    self.groupType = groupType
    self.groupName = groupName
    self.groupID = groupID
    self.fields = fields
    self.memberList = memberList
    self.ownerUserID = ownerUserID
  }
}

extension ParameterReader {
  /// The role of a new member, or nil; Owner is 8509.
  mutating func optionalInitialRole() throws(WireError) -> Role? {
    let role = try optionalWord("role", of: Role.givenNames) { Role(wireName: $0) }
    if role == .owner { throw WireError(.ownerInMemberList, field: "memberList") }
    return role
  }
}

/// Joins a group, or applies to join it.
public struct JoinGroup: Method {
  public let message: String?

  public static let specification = MethodSpecification(
    "joinGroup", "Joins a group, or asks its managers to be let in where joinMode is Auth.", callers: .user, writes: true,
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .alreadyMember, .workNotJoinable, .noRight, .groupFull, .tooManyGroups, .badValue]
      + ErrorCode.ofApplication)

  /// Whether the caller is a member now.
  public struct Result: WireObject {
    /// A member, or an applicant.
    public enum Status: String, CaseIterable, Sendable {
      case joined = "Joined"
      case pending = "Pending"
    }

    public let status: Status

    public static let example = Result(status: .joined)

    /// With everything given.
    public init(status: Status) { self.status = status }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("status", word: status)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    message = try reader.optionalString("message", .remark)
  }
}

/// Leaves a group.
public struct QuitGroup: Method {
  public static let specification = MethodSpecification(
    "quitGroup", "Leaves a group.", callers: .user, writes: true, errors: [.badGroupID, .noSuchGroup, .noRight, .ownerMayNotQuit])

  public init(from reader: inout some ParameterReader) throws(WireError) {}

  /// The method has no parameters of its own.
  public init() {}
}

/// Disbands a group.
public struct DismissGroup: Method {
  public static let specification = MethodSpecification(
    "dismissGroup", "Disbands a group.", writes: true, errors: [.badGroupID, .noSuchGroup, .noRight])

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// The groups of the caller.
public struct GetJoinedGroupList: Method {
  public let groupType: GroupType?
  public let updatedSince: WallInstant?
  public let count: Int
  public let nextSeq: Int64

  public static let specification = MethodSpecification(
    "getJoinedGroupList", "Lists the groups that the caller is a member of.", callers: .user,
    result: Result.fields, errors: [.badValue])

  /// A page of groups that the caller is in or has left.
  public struct Result: WireObject {
    public let groupList: [Encoded<GroupInfo>]
    public let leftGroupIDList: [String]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(groupList: [], leftGroupIDList: [], nextSeq: 0)

    /// With everything given.
    public init(groupList: [Encoded<GroupInfo>], leftGroupIDList: [String], nextSeq: Int64) {
      self.groupList = groupList
      self.leftGroupIDList = leftGroupIDList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupList", groupList)
      writer.member("leftGroupIDList", leftGroupIDList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupType = try reader.optionalGroupType()
    updatedSince = try reader.optionalInstant("updatedSince")
    count = try reader.count(upTo: 200, otherwise: 50)
    nextSeq = try reader.nextSeq()
  }
}

/// The infos of some groups.
public struct GetGroupsInfo: Method {
  public let groupIDList: [String]

  public static let specification = MethodSpecification(
    "getGroupsInfo", "Tells what the caller may know of up to 50 groups.",
    result: Result.fields, errors: [.badValue])

  /// A row for each group that was asked for.
  public struct Result: WireObject {
    public let resultList: [Row]

    public static let example = Result(resultList: [])

    /// With everything given.
    public init(resultList: [Row]) {
      self.resultList = resultList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("resultList", resultList)
    }
  }

  /// The info of a group, or the error that it answered.
  public struct Row: WireObject {
    /// As given.
    public let groupID: String
    /// 0 = there is an info.
    public let code: Int
    public let message: String?
    public let info: GroupInfo?

    public static let example = Row(groupID: "", code: 0)

    /// With everything given.
    public init(groupID: String, code: Int, message: String? = nil, info: GroupInfo? = nil) {
      self.groupID = groupID
      self.code = code
      self.message = message
      self.info = info
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupID", groupID)
      writer.member("code", code)
      writer.member("message", ifPresent: message)
      writer.member("info", ifPresent: info)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupIDList = try reader.requiredStrings("groupIDList", ListDomain(1...50), .any)
  }
}

/// Changes texts, customInfo, policy or size of a group: all or nothing.
public struct SetGroupInfo: Method {
  public let groupName: String?
  public let fields: GroupFields
  public let allMuted: Bool?

  public static let specification = MethodSpecification(
    "setGroupInfo", "Changes a group's info, all of what is given or nothing.", writes: true,
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badGroupName, .introductionTooLong, .notificationTooLong, .faceURLTooLong, .badValue,
      .tooManyMembers, .maxMemberNumBelowCount,
    ])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupName = try reader.optionalString("groupName", .groupName)
    fields = try GroupFields(from: &reader)
    allMuted = try reader.optionalFlag("allMuted")
  }
}
