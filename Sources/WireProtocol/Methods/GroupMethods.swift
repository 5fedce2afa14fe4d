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
  /// 0 = as many as the group's type may have.
  public var maxMemberNum: Int?
  public var customInfo: [String: String]?
  /// Only an application administrator may give it.
  public var serverCustomInfo: String?
  public var policy: [PolicyChange] = []

  /// Nothing is given.
  public init() {}

  init(from reader: inout some ParameterReader) throws(WireError) {
    introduction = try reader.optionalString(
      "introduction", reader.textLimits.introductions, "The group's subject, for people.")
    notification = try reader.optionalString(
      "notification", reader.textLimits.notifications, "An announcement to the members.")
    faceURL = try reader.optionalString("faceURL", reader.textLimits.faceURLs, "The address of the group's picture.")
    maxMemberNum = try reader.optionalInteger(
      "maxMemberNum", in: 0...(1 << 53),
      "The most members that the group may have; 0, or absent for a new group = as many as its type may."
    ).map { Int($0) }
    customInfo = try reader.optionalMap(
      "customInfo", .groupCustomInfo, "The application's own texts about the group, by key; an empty text removes its key.")
    serverCustomInfo = try reader.optionalString(
      "serverCustomInfo", TextDomain(0...4096),
      "The backend's own data: application administrators write it, members read it; empty = nothing.")
    for field in PolicyField.allCases {
      if let value = try GroupFields.value(of: field, from: &reader) { policy.append(PolicyChange(field: field, value: value)) }
    }
  }

  /// The bytes of the texts in JSON.
  var textBytes: Int {
    let texts = [introduction, notification, faceURL, serverCustomInfo].reduce(0) { $0 + ($1?.bytesInJSON ?? 0) }
    return (customInfo ?? [:]).reduce(texts) { $0 + $1.key.bytesInJSON + $1.value.bytesInJSON + 8 }
  }

  private static func value(
    of field: PolicyField, from reader: inout some ParameterReader
  ) throws(WireError) -> PolicyValue? {
    switch field {
    case .joinMode:
      try word("joinMode", field, "Whether joinGroup joins at once, asks the managers, or is refused.", from: &reader)
    case .inviteMode: try word("inviteMode", field, "The least role that may invite; Any = every member.", from: &reader)
    case .beInviteMode: try word("beInviteMode", field, "Whether an invited user is asked first (Auth).", from: &reader)
    case .updateInfoMode:
      try word(
        "updateInfoMode", field, "The least role that may edit name, introduction, notification and faceURL.", from: &reader)
    case .updateCustomMode: try word("updateCustomMode", field, "The least role that may edit customInfo.", from: &reader)
    case .ownerQuitMode:
      try word("ownerQuitMode", field, "Whether the owner may quit, and the group passes on (Transfer).", from: &reader)
    case .memberChangeNotification:
      try reader.optionalFlag("memberChangeNotification", "Whether all members hear of changes among them.").map(PolicyValue.flag)
    case .isSearchable:
      try reader.optionalFlag("isSearchable", "Whether others find the group by searchGroups.").map(PolicyValue.flag)
    case .isMemberVisible:
      try reader.optionalFlag("isMemberVisible", "Whether ordinary members may list and read the members.").map(PolicyValue.flag)
    case .historyVisibility:
      try word("historyVisibility", field, "The messages that members may read: those since joining, or all.", from: &reader)
    case .slowMode:
      try reader.optionalInteger(
        "slowMode", in: 0...GroupPolicy.maxSlowMode,
        "How many seconds an ordinary member's messages are apart at least; 0 = as the member likes."
      ).map(PolicyValue.number)
    case .attributeMode:
      try word(
        "attributeMode", field, "Whether an attribute that somebody holds may be changed by all (Any), or by its holder.",
        from: &reader)
    }
  }

  private static func word(
    _ name: StaticString, _ field: PolicyField, _ meaning: StaticString, from reader: inout some ParameterReader
  ) throws(WireError) -> PolicyValue? {
    try reader.optionalWord(name, of: AllowedWords(field.words), meaning) { field.words.contains($0) ? .word($0) : nil }
  }
}

/// Makes a group (Protocol.md, "Creating a group").
public struct CreateGroup: ServerMethod {
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
  /// For the initial members, where they are asked first.
  public let inviteMessage: String?
  /// Only for the application's backend.
  public let ownerUserID: UserID?

  public static let specification = MethodSpecification(
    .createGroup, "Makes a group that the caller owns, or the user whom the application names as ownerUserID.",
    result: Result.fields,
    errors: [
      .badNewGroupID, .badGroupName, .introductionTooLong, .notificationTooLong, .faceURLTooLong, .tooManyMembers,
      .ownerInMemberList, .badValue, .noRight, .groupIDTaken, .groupIDTakenByYourself, .tooManyAVChatRooms, .tooManyGroups,
      .userUnknown,
    ] + ErrorCode.ofApplication)

  public static let traits: MethodTraits<Self> = .writes(
    .by {
      .group(
        textBytes: $0.groupName.utf8.count + $0.fields.textBytes, members: $0.memberList.count,
        inviteBytes: $0.inviteMessage.byteCount)
    },
    at: .owner(mayWait: false) { .newGroup($0.groupID) }, asks: .before { .creation($0) }, audit: .change)

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
      writer.member("groupType", word: groupType)
      writer.member("memberList", memberList)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    try self.init(from: &reader, isImported: false)
  }

  /// - Parameter isImported: the parameters are those of importGroup: an owner, and no members.
  init(from reader: inout some ParameterReader, isImported: Bool) throws(WireError) {
    groupType = try reader.requiredGroupType("The group's type; the old names are taken too.")
    groupName = try reader.requiredString("groupName", reader.textLimits.groupNames, "The group's name, for people.")
    groupID = try reader.optionalString(
      "groupID", .newGroupID, "The new group's ID, not beginning with @TGS#; absent or empty = the server chooses one."
    ).flatMap { GroupID($0) }
    var fields = try GroupFields(from: &reader)
    if fields.maxMemberNum == 0 { fields.maxMemberNum = nil }
    self.fields = fields
    guard !isImported else {
      memberList = []
      inviteMessage = nil
      ownerUserID = try reader.requiredUserID("ownerUserID", "The owner of the group.")
      return
    }
    memberList =
      try reader.optionalObjects("memberList", .optional(upTo: 100), "The first members, besides the owner.") {
        (reader) throws(WireError) in
        let user = try reader.requiredUserID("userID", "The member.")
        return InitialMember(userID: user, role: try reader.optionalInitialRole() ?? .member)
      } ?? []
    inviteMessage = try reader.optionalString(
      "inviteMessage", .remark, "A remark that those read who are asked whether they want to be members.")
    ownerUserID =
      reader.servesApplication
      ? try reader.optionalString(
        "ownerUserID", .userID, "The owner of the group; an application administrator without asUser must give it."
      ).flatMap { UserID($0) } : nil
  }

  /// A group with everything given, for tests and tools.
  public init(
    groupType: GroupType, groupName: String, groupID: GroupID? = nil, fields: GroupFields = GroupFields(),
    memberList: [InitialMember] = [], inviteMessage: String? = nil, ownerUserID: UserID? = nil
  ) {
    self.groupType = groupType
    self.groupName = groupName
    self.groupID = groupID
    self.fields = fields
    self.memberList = memberList
    self.inviteMessage = inviteMessage
    self.ownerUserID = ownerUserID
  }
}

extension ParameterReader {
  /// The role of a new member, or nil; Owner is 8509.
  mutating func optionalInitialRole() throws(WireError) -> Role? {
    let role = try optionalWord("role", of: Role.givenNames, "The member's role; absent = Member.") { Role(wireName: $0) }
    if role == .owner { throw WireError(.ownerInMemberList, field: "memberList") }
    return role
  }
}

/// Joins a group, or applies to join it.
public struct JoinGroup: GroupMethod {
  public let message: String?

  public static let specification = MethodSpecification(
    .joinGroup, "Joins a group, or asks its managers to be let in where joinMode is Auth.", callers: .user,
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .alreadyMember, .workNotJoinable, .noRight, .groupFull, .tooManyGroups, .badValue]
      + ErrorCode.ofApplication)

  public static let traits: MethodTraits<Self> = .writes(
    .by { .application(textBytes: $0.message.byteCount) }, users: .caller, asks: .before { .join($0) }, tellsMembers: true,
    mayWait: true, audit: .change)

  /// Whether the caller is a member now.
  public struct Result: WireObject {
    /// A member, or an applicant.
    public enum Status: String, CaseIterable, Sendable {
      case joined = "Joined"
      case pending = "Pending"
    }

    public let status: Status
    /// The newest message of a live room that remembers messages; nil elsewhere, and for an applicant.
    public let lastSeq: Int64?
    /// Another one where what the live room remembered was lost; nil with `lastSeq`.
    public let epoch: String?

    public static let example = Result(status: .joined)

    /// With everything given.
    public init(status: Status, lastSeq: Int64? = nil, epoch: String? = nil) {
      self.status = status
      self.lastSeq = lastSeq
      self.epoch = epoch
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("status", word: status)
      writer.member("lastSeq", ifPresent: lastSeq)
      writer.member("epoch", ifPresent: epoch)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    message = try reader.optionalString("message", .remark, "A word to those who decide, where joinMode is Auth.")
  }
}

/// Leaves a group.
public struct QuitGroup: GroupMethod {
  public static let specification = MethodSpecification(
    .quitGroup, "Leaves a group.", callers: .user, errors: [.badGroupID, .noSuchGroup, .noRight, .ownerMayNotQuit])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: true, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {}

  /// The method has no parameters of its own.
  public init() {}
}

/// Disbands a group.
public struct DismissGroup: GroupMethod {
  public static let specification = MethodSpecification(
    .dismissGroup, "Disbands a group.", errors: [.badGroupID, .noSuchGroup, .noRight])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {}
}

/// The groups of the caller.
public struct GetJoinedGroupList: ServerMethod {
  public let groupType: GroupType?
  public let updatedSince: WallInstant?
  public let count: Int
  public let nextSeq: Int64

  public static let specification = MethodSpecification(
    .getJoinedGroupList, "Lists the groups that the caller is a member of.", callers: .user,
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

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
    groupType = try reader.optionalGroupType("Lists groups of this type only; absent = of every type that is listed.")
    updatedSince = try reader.optionalInstant(
      "updatedSince", "Lists what has changed or was left since then, in milliseconds since 1970; absent = all.")
    count = try reader.count(
      upTo: 200, otherwise: 50, "The most groups of the page, and the most that it names as left; absent = 50.")
    nextSeq = try reader.nextSeq()
  }
}

/// The infos of some groups.
public struct GetGroupsInfo: ServerMethod {
  public let groupIDList: [String]

  public static let specification = MethodSpecification(
    .getGroupsInfo, "Tells what the caller may know of up to 50 groups.",
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

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
    public let info: Encoded<GroupInfo>?

    public static let example = Row(groupID: "", code: 0)

    /// With everything given.
    public init(groupID: String, code: Int, message: String? = nil, info: Encoded<GroupInfo>? = nil) {
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
    groupIDList = try reader.requiredStrings("groupIDList", ListDomain(1...50), .any, "The groups; each has a row in the answer.")
  }
}

/// Changes texts, customInfo, policy or size of a group: all or nothing.
public struct SetGroupInfo: GroupMethod {
  public let groupName: String?
  public let fields: GroupFields
  public let allMuted: Bool?

  public static let specification = MethodSpecification(
    .setGroupInfo, "Changes a group's info, all of what is given or nothing.",
    errors: [
      .badGroupID, .noSuchGroup, .noRight, .badGroupName, .introductionTooLong, .notificationTooLong, .faceURLTooLong, .badValue,
      .tooManyMembers, .maxMemberNumBelowCount,
    ] + ErrorCode.ofApplication)

  public static let traits: MethodTraits<Self> = .writes(
    .by { .groupInfo(textBytes: $0.fields.textBytes) }, users: .nobody, asks: .before { .groupInfo($0) }, tellsMembers: true,
    mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    groupName = try reader.optionalString("groupName", reader.textLimits.groupNames, "The group's new name.")
    fields = try GroupFields(from: &reader)
    allMuted = try reader.optionalFlag(
      "allMuted", "true silences ordinary members without end, as muteGroup does; false lets all speak.")
  }

  /// With everything given.
  public init(groupName: String?, fields: GroupFields, allMuted: Bool?) {
    self.groupName = groupName
    self.fields = fields
    self.allMuted = allMuted
  }
}
