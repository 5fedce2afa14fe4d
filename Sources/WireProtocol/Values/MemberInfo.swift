import GroupModel

/// A member in an event: `{userID, nickName?, faceURL?, nameCard, role}`. An application
/// administrator has a userID alone; the role of a user who is no member, such as an applicant, is
/// "NotMember".
public struct MemberInfo: Equatable, FieldValue {
  public static let notation = "MemberInfo"

  public let userID: UserID
  /// Nil = empty, or not looked up yet.
  public var profile: UserProfile?
  public let nameCard: String
  /// Nil for an application administrator, and for a user who is no member.
  public let role: Role?

  /// The role of a user who is no member.
  public static let notMember = "NotMember"

  /// An application administrator.
  public static let administrator = MemberInfo(userID: .administrator, nameCard: "", role: nil)

  /// A member of a group.
  public init(_ member: Member) { self.init(userID: member.userID, nameCard: member.nameCard, role: member.role) }

  /// A user who is no member, but has a role for the time of the next membership.
  public static func absent(_ user: UserID, role: Role) -> MemberInfo { MemberInfo(userID: user, nameCard: "", role: role) }

  /// A user who is no member.
  public static func outsider(_ user: UserID) -> MemberInfo { MemberInfo(userID: user, nameCard: "", role: nil) }

  private init(userID: UserID, nameCard: String, role: Role?) {
    self.userID = userID
    self.nameCard = nameCard
    self.role = role
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("userID", userID.rawValue)
      guard userID != .administrator else { return }
      profile?.encodeMembers(into: &writer)
      writer.member("nameCard", nameCard)
      writer.member("role", role?.wireName ?? MemberInfo.notMember)
    }
  }
}

extension UserProfile {
  /// `nickName` and `faceURL`, each left out where it is empty.
  func encodeMembers(into writer: inout JSONWriter) {
    if !nickName.isEmpty { writer.member("nickName", nickName) }
    if !faceURL.isEmpty { writer.member("faceURL", faceURL) }
  }
}

/// A member in a list, before the profile is looked up: it cannot be encoded without.
public struct ListedMember: Sendable {
  public let member: Member
  public let isOnline: Bool
  public let isReader: Bool
  /// Whether the user was a member once, and is none any more.
  public let hasLeft: Bool

  /// A member for a reader.
  public init(_ member: Member, isOnline: Bool, isReader: Bool) {
    self.member = member
    self.isOnline = isOnline
    self.isReader = isReader
    hasLeft = false
  }

  /// A user who was a member once, of whom nothing else is known.
  public init(former user: UserID) {
    member = Member(userID: user, role: .member, joinTime: .unset, ordinal: 0, receiveOption: .receive)
    isOnline = false
    isReader = false
    hasLeft = true
  }
}

/// A member in a list with the profile: also `{joinTime, muteUntil, customInfo, isOnline}`, and
/// `inviter` for the reader.
public struct ShownMember: FieldValue {
  public static let notation = "MemberInfo"

  private let listed: ListedMember
  private let profile: UserProfile?

  /// - Parameter profiles: of all members of the list, without empty ones.
  public init(_ listed: ListedMember, profiles: [UserID: UserProfile]) {
    self.listed = listed
    profile = profiles.isEmpty ? nil : profiles[listed.member.userID]
  }

  /// The bytes of its text in a list, or some more.
  package var byteCount: Int {
    let member = listed.member
    let texts = [member.userID.rawValue, member.inviter?.rawValue, member.nameCard, profile?.nickName, profile?.faceURL]
    let bytes = texts.reduce(256) { $0 + ($1?.bytesInJSON ?? 0) }
    return member.customInfo.reduce(bytes) { $0 + $1.key.bytesInJSON + $1.value.bytesInJSON + 6 }
  }

  public func encode(into writer: inout JSONWriter) {
    let member = listed.member
    writer.object { writer in
      writer.member("userID", member.userID.rawValue)
      profile?.encodeMembers(into: &writer)
      writer.member("nameCard", member.nameCard)
      writer.member("role", listed.hasLeft ? MemberInfo.notMember : member.role.wireName)
      writer.member("joinTime", member.joinTime)
      writer.member("muteUntil", member.muteUntil)
      writer.member("customInfo", member.customInfo)
      writer.member("isOnline", listed.isOnline)
      if listed.isReader { writer.member("inviter", ifPresent: member.inviter?.rawValue) }
    }
  }
}

/// One row of a bulk result: the outcome for one user (Protocol.md, "Bulk results").
public struct MemberResult: WireObject, Equatable {
  /// The outcome for the user.
  public enum Outcome: String, CaseIterable, Sendable {
    case fail = "Fail"
    case success = "Success"
    case invalid = "Invalid"
    case pending = "Pending"
    case overLimit = "OverLimit"
  }

  public let userID: UserID
  /// The name as it was given, where it is no userID: the row shows it in place of `userID`.
  private let refusedName: String?
  public let result: Outcome

  /// A row.
  public init(userID: UserID, result: Outcome) {
    self.userID = userID
    refusedName = nil
    self.result = result
  }

  /// The row of a name that is no userID: Fail.
  public init(refusedName: String) {
    userID = .administrator
    self.refusedName = refusedName
    result = .fail
  }

  public static let example = MemberResult(userID: .administrator, result: .success)

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("userID", refusedName ?? userID.rawValue)
    writer.member("result", result.rawValue)
  }
}

/// A row for each user that a request names.
public struct MemberResults: WireObject {
  public let memberList: [MemberResult]

  public static let example = MemberResults(memberList: [])

  /// The members of a result that has rows only where the request gave a list.
  static let optionalFields = fields.map { ResultField($0.name + "?", $0.type) }

  /// With everything given.
  public init(memberList: [MemberResult]) { self.memberList = memberList }

  public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
    writer.member("memberList", memberList)
  }
}

extension MemberInfo {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("userID", "string"), ResultField("nickName?", "string"), ResultField("faceURL?", "string"),
    ResultField("nameCard?", "string"), ResultField("role?", NamedType.roleOrNone),
    ResultField("joinTime?", "integer"), ResultField("muteUntil?", "integer"), ResultField("customInfo?", "map"),
    ResultField("isOnline?", "boolean"), ResultField("inviter?", "string"),
  ]
}
