import GroupModel

/// Makes users members, or asks them.
public struct InviteUserToGroup: GroupMethod {
  public let userIDList: [UserID]
  public let message: String?
  public let attach: String?

  public static let specification = MethodSpecification(
    .inviteUserToGroup, "Makes users members, or asks them first where beInviteMode is Auth.",
    result: MemberResults.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue] + ErrorCode.ofApplication)

  public static let traits: MethodTraits<Self> = .writes(
    .by { .invitations(users: $0.userIDList.count, textBytes: $0.message.byteCount + $0.attach.byteCount) },
    users: .added { $0.userIDList }, asks: .before { .invitation($0) }, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 100, "The invited users.")
    message = try reader.optionalString("message", .remark, "A word to those who are asked.")
    attach = try reader.optionalString("attach", .remark, "The application's own data beside the invitation.")
  }
}

/// Removes members from a group.
public struct KickGroupMember: GroupMethod {
  public let userIDList: [UserID]
  public let reason: String?
  /// 0 = no ban.
  public let banTime: Seconds

  public static let specification = MethodSpecification(
    .kickGroupMember, "Removes members from a group, and keeps them out for a time where banTime says so.",
    result: MemberResults.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .removals(users: $0.userIDList.count, reasonBytes: $0.reason.byteCount) }, users: .nobody, asks: .never,
    tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 50, "The members who are removed.")
    reason = try reader.optionalString("reason", .remark, "The reason, which all members are told.")
    banTime =
      try reader.optionalInteger("banTime", in: .seconds, "How long they are kept out, in seconds; 0 or absent = not at all.")
      ?? 0
  }
}

/// The bans of a group, a page at a time.
public struct GetGroupBannedMembers: GroupMethod {
  public let nextSeq: Int64
  public let count: Int

  public static let specification = MethodSpecification(
    .getGroupBannedMembers, "Lists the removed users whose ban has not ended, the soonest end first.",
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .reads(mayWait: false)

  /// A page of bans.
  public struct Result: WireObject {
    public let memberList: [BannedMember]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(memberList: [], nextSeq: 0)

    /// With everything given.
    public init(memberList: [BannedMember], nextSeq: Int64) {
      self.memberList = memberList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("memberList", memberList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    nextSeq = try reader.nextSeq()
    count = try reader.count(upTo: 50, otherwise: 50, "The most bans of the page; absent = 50.")
  }
}

/// A removed user whose ban has not ended.
public struct BannedMember: WireObject {
  public let userID: UserID
  public let bannedUntil: WallInstant
  /// The reason of the removal; empty = none.
  public let reason: String

  public static let example = BannedMember(FormerMember(userID: .administrator))

  /// A former member, as far as the ban goes.
  public init(_ former: FormerMember) {
    userID = former.userID
    bannedUntil = former.bannedUntil
    reason = former.banReason
  }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("userID", userID.rawValue)
    writer.member("bannedUntil", bannedUntil)
    writer.member("reason", reason)
  }
}

/// Ends bans.
public struct UnbanGroupMember: GroupMethod {
  public let userIDList: [UserID]

  public static let specification = MethodSpecification(
    .unbanGroupMember, "Ends the bans of users; no event tells of it.", result: MemberResults.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 50, "The users whose bans end.")
  }
}

/// The users whom a request changes.
public enum TargetUsers: Sendable, Equatable {
  /// Everything about the user is an error of the call.
  case one(UserID)
  /// Everything about a user is a row of the result.
  case list([UserID])

  /// All of them.
  public var users: [UserID] {
    switch self {
    case .one(let user): [user]
    case .list(let users): users
    }
  }

  /// How many they are.
  var count: Int {
    switch self {
    case .one: 1
    case .list(let users): users.count
    }
  }
}

/// Gives members another role.
public struct SetGroupMemberRole: GroupMethod {
  public let targets: TargetUsers
  /// The texts of the list that are no userIDs, each once: a fault of the call, except where any user
  /// may be named.
  public let refusedNames: [String]
  public let role: Role

  public static let specification = MethodSpecification(
    .setGroupMemberRole, "Makes members admins, ordinary members, or gives a custom role: one, or up to 50 by list.",
    result: MemberResults.optionalFields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue, .userUnknown, .groupMessageRate])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .memberChanges(users: $0.targets.count) }, users: .known { $0.targets.users }, asks: .never, tellsMembers: true,
    mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    (targets, refusedNames) = try reader.requiredTargetsAndOthers(
      upTo: 50, one: "The member whose role changes.", several: "The members whose roles change: this or userID.")
    role = try reader.requiredWord("role", of: Role.givenNames, "The new role.") { Role(givenName: $0) }
  }
}

/// Changes the info of a member: all that is given or nothing.
public struct SetGroupMemberInfo: GroupMethod {
  public let userID: UserID
  public let nameCard: String?
  public let customInfo: [String: String]?
  public let role: Role?
  public let muteUntil: WallInstant?

  public static let specification = MethodSpecification(
    .setGroupMemberInfo, "Changes name card, customInfo, role or mute of a member, all of what is given or nothing.",
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .nameCardTooLong, .userUnknown, .groupMessageRate]
      + ErrorCode.ofApplication)

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .known { [$0.userID] }, asks: .before { .memberInfo($0) }, tellsMembers: true, mayWait: false,
    audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The member whose info changes, or the caller.")
    nameCard = try reader.optionalString(
      "nameCard", reader.textLimits.nameCards, "The member's name in this group; empty = none.")
    customInfo = try reader.optionalMap(
      "customInfo", .memberCustomInfo, "The application's own texts about the member, by key; an empty text removes its key.")
    role = try reader.optionalWord("role", of: Role.givenNames, "The member's new role.") { Role(givenName: $0) }
    muteUntil = try reader.optionalInstant(
      "muteUntil", "When the member may speak again, in milliseconds since 1970; 0 = at once.")
  }

  /// With everything given.
  public init(userID: UserID, nameCard: String?, customInfo: [String: String]?, role: Role?, muteUntil: WallInstant?) {
    self.userID = userID
    self.nameCard = nameCard
    self.customInfo = customInfo
    self.role = role
    self.muteUntil = muteUntil
  }
}

/// Mutes members.
public struct MuteGroupMember: GroupMethod {
  public let targets: TargetUsers
  /// 0 = may speak again.
  public let muteTime: Seconds

  public static let specification = MethodSpecification(
    .muteGroupMember, "Silences members, one or up to 50 by list, for a time; it survives leaving and coming back.",
    result: Result.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue, .groupMessageRate])

  public static let traits: MethodTraits<Self> = .writes(
    .by { .memberChanges(users: $0.targets.count) }, users: .nobody, asks: .never, tellsMembers: true, mayWait: false,
    audit: .change)

  /// When the mute ends.
  public struct Result: WireObject {
    /// 0 = the members are not muted by themselves any more.
    public let muteUntil: WallInstant
    /// Nil = the request named one member, not a list.
    public let memberList: [MemberResult]?

    public static let example = Result(muteUntil: .unset)

    /// With everything given.
    public init(muteUntil: WallInstant, memberList: [MemberResult]? = nil) {
      self.muteUntil = muteUntil
      self.memberList = memberList
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("memberList", ifPresent: memberList)
      writer.member("muteUntil", muteUntil)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    targets = try reader.requiredTargets(
      upTo: 50, one: "The member who is silenced.", several: "The members who are silenced: this or userID.")
    muteTime = try reader.requiredInteger(
      "muteTime", in: .seconds, "How long, in seconds; 0 = no longer. A mute of the group holds besides.")
  }
}

extension Role {
  /// The names of roles that members are given; custom roles are numbers besides.
  static let givenNames = AllowedWords(
    ["Admin", "Member"],
    or: AllowedWords.Pattern(
      "[1-9][0-9]{2,9}", meaning: "\(Role.customRange.lowerBound) to \(Role.customRange.upperBound)"))

  /// A role that a member can be given; Owner is not.
  init?(givenName name: String) {
    guard let role = Role(wireName: name), role != .owner else { return nil }
    self = role
  }
}
