import GroupModel

/// Makes users members, or asks them.
public struct InviteUserToGroup: Method {
  public let userIDList: [UserID]
  public let message: String?
  public let attach: String?

  public static let specification = MethodSpecification(
    "inviteUserToGroup", "Makes users members, or asks them first where beInviteMode is Auth.", writes: true,
    result: MemberResults.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue] + ErrorCode.ofApplication)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 100)
    message = try reader.optionalString("message", .remark)
    attach = try reader.optionalString("attach", .remark)
  }
}

/// Removes members from a group.
public struct KickGroupMember: Method {
  public let userIDList: [UserID]
  public let reason: String?
  /// 0 = no ban.
  public let banTime: Seconds

  public static let specification = MethodSpecification(
    "kickGroupMember", "Removes members from a group, and keeps them out for a time where banTime says so.", writes: true,
    result: MemberResults.fields,
    errors: [.badGroupID, .noSuchGroup, .noRight, .emptyUserList, .badValue])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userIDList = try reader.requiredUserIDs("userIDList", upTo: 50)
    reason = try reader.optionalString("reason", .remark)
    banTime = try reader.optionalInteger("banTime", in: .seconds) ?? 0
  }
}

/// Gives a member another role.
public struct SetGroupMemberRole: Method {
  public let userID: UserID
  public let role: Role

  public static let specification = MethodSpecification(
    "setGroupMemberRole", "Makes a member an admin, an ordinary member, or gives a custom role.", writes: true,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .userUnknown])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID()
    role = try reader.requiredWord("role", of: Role.givenNames) { Role(givenName: $0) }
  }
}

/// Changes the info of a member: all that is given or nothing.
public struct SetGroupMemberInfo: Method {
  public let userID: UserID
  public let nameCard: String?
  public let customInfo: [String: String]?
  public let role: Role?
  public let muteUntil: WallInstant?

  public static let specification = MethodSpecification(
    "setGroupMemberInfo", "Changes name card, customInfo, role or mute of a member, all of what is given or nothing.",
    writes: true, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue, .nameCardTooLong, .userUnknown])

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID()
    nameCard = try reader.optionalString("nameCard", TextDomain(0...50, .nameCardTooLong, .printable))
    customInfo = try reader.optionalMap("customInfo", .memberCustomInfo)
    role = try reader.optionalWord("role", of: Role.givenNames) { Role(givenName: $0) }
    muteUntil = try reader.optionalInstant("muteUntil")
  }
}

/// Mutes one member.
public struct MuteGroupMember: Method {
  public let userID: UserID
  /// 0 = may speak again.
  public let muteTime: Seconds

  public static let specification = MethodSpecification(
    "muteGroupMember", "Silences a member for a time; it survives leaving and coming back.", writes: true,
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  /// When the mute ends.
  public struct Result: WireObject {
    /// 0 = the member may speak again.
    public let muteUntil: WallInstant

    public static let example = Result(muteUntil: .unset)

    /// With everything given.
    public init(muteUntil: WallInstant) {
      self.muteUntil = muteUntil
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("muteUntil", muteUntil)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID()
    muteTime = try reader.requiredInteger("muteTime", in: .seconds)
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
