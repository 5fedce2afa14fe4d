import GroupModel

/// Makes another member the owner.
public struct TransferGroupOwner: GroupMethod {
  public let userID: UserID
  /// The old owner leaves instead of becoming a member.
  public let quit: Bool

  public static let specification = MethodSpecification(
    .transferGroupOwner, "Makes another member the owner; the old one becomes Member, or leaves.",
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    userID = try reader.requiredUserID("userID", "The member who becomes the owner.")
    quit = try reader.optionalFlag("quit", "true = the old owner leaves the group; absent = false.") ?? false
  }
}

/// Silences a group, or some of its roles.
public struct MuteGroup: GroupMethod {
  /// Without an end: `duration` gives it.
  public let mute: GroupMute
  /// 0 = no end.
  public let duration: Seconds

  public static let specification = MethodSpecification(
    .muteGroup, "Silences a group or some of its roles, for a time or without end; mode None lets all speak.",
    result: Result.fields, errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: true, mayWait: false, audit: .change)

  /// When the mute ends.
  public struct Result: WireObject {
    /// Nil = there is no end, or no mute.
    public let muteUntil: WallInstant?

    public static let example = Result(muteUntil: nil)

    /// With everything given.
    public init(muteUntil: WallInstant?) {
      self.muteUntil = muteUntil
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("muteUntil", ifPresent: muteUntil)
    }
  }

  /// The most roles that a request names.
  static let maxRoles = 50

  public init(from reader: inout some ParameterReader) throws(WireError) {
    let mode = try reader.requiredWord(
      "mode", of: GroupMute.Mode.self, "The silenced: nobody, ordinary members, everybody, or the roles that are named.")
    let names =
      try reader.optionalStrings(
        "roles", .optional(upTo: MuteGroup.maxRoles), .role, "The roles that are silenced, for mode Custom only.") ?? []
    duration = try reader.optionalInteger("duration", in: .seconds, "How long, in seconds; 0 or absent = without end.") ?? 0
    mute = GroupMute(mode: mode, roles: mode == .custom ? MuteGroup.roles(names) : [])
    if mode == .custom, mute.roles.isEmpty { throw WireError(.badValue, "mode Custom needs roles", field: "roles") }
  }

  /// Each role once, in the order of the list.
  private static func roles(_ names: [String]) -> [Role] { names.compactMap { Role(wireName: $0) }.uniqued() }
}

/// Sets which messages of a group the caller receives.
public struct SetGroupReceiveMessageOpt: GroupMethod {
  public let option: ReceiveOption

  public static let specification = MethodSpecification(
    .setGroupReceiveMessageOpt, "Chooses which messages of a group the caller receives.", callers: .user,
    errors: [.badGroupID, .noSuchGroup, .noRight, .badValue])

  public static let traits: MethodTraits<Self> = .writes(
    .membership, users: .nobody, asks: .never, tellsMembers: false, mayWait: false, audit: .change)

  public init(from reader: inout some ParameterReader) throws(WireError) {
    option = try reader.requiredWord("opt", "The messages that the caller receives from now on.")
  }
}

/// Finds groups by the names of them or of their members.
public struct SearchGroups: ServerMethod {
  /// A text that is compared.
  public enum Field: String, CaseIterable, Sendable {
    case groupID, groupName, memberUserID, memberNameCard, memberNickName
  }

  public let keywords: [String]
  public let fields: [Field]
  public let ignoresCase: Bool
  public let joinedOnly: Bool
  public let count: Int
  public let nextSeq: Int64

  public static let specification = MethodSpecification(
    .searchGroups, "Finds groups whose texts hold any of up to 5 keywords: joined ones, and others that are searchable.",
    result: Result.fields, errors: [.badValue])

  public static let traits: MethodTraits<Self> = .reads(at: .here)

  /// A page of groups that were found.
  public struct Result: WireObject {
    public let groupList: [Encoded<GroupInfo>]
    /// 0 = there is no more.
    public let nextSeq: Int64

    public static let example = Result(groupList: [], nextSeq: 0)

    /// With everything given.
    public init(groupList: [Encoded<GroupInfo>], nextSeq: Int64) {
      self.groupList = groupList
      self.nextSeq = nextSeq
    }

    public func encodeFields<Writer: FieldWriter & ~Copyable>(into writer: inout Writer) {
      writer.member("groupList", groupList)
      writer.member("nextSeq", nextSeq)
    }
  }

  public init(from reader: inout some ParameterReader) throws(WireError) {
    keywords = try reader.requiredStrings(
      "keywordList", ListDomain(1...5), TextDomain(1...512), "The texts to look for; a group is found by any of them.")
    fields = try SearchGroups.fields(from: &reader)
    ignoresCase = try reader.optionalFlag("ignoreCase", "Whether upper and lower case are the same; absent = true.") ?? true
    joinedOnly = try reader.optionalFlag("joinedOnly", "true finds only groups of which the caller is a member.") ?? false
    count = try reader.count(upTo: 50, otherwise: 20, "The most groups of the page; absent = 20.")
    nextSeq = try reader.nextSeq()
  }

  private static func fields(from reader: inout some ParameterReader) throws(WireError) -> [Field] {
    let names =
      try reader.optionalStrings(
        "matchFields", .optional(upTo: Field.allCases.count), .searchField, "Where to look; absent = groupID and groupName.")
      ?? []
    let fields = names.compactMap { Field(rawValue: $0) }
    return fields.isEmpty ? [.groupID, .groupName] : fields
  }
}

extension TextDomain {
  /// A role that a mute can name: any but Owner.
  static let role = TextDomain(words: Role.givenNames) { Role(givenName: $0) != nil }
  /// The texts that searchGroups compares.
  static let searchField = TextDomain(words: AllowedWords(SearchGroups.Field.allCases.map(\.rawValue))) {
    SearchGroups.Field(rawValue: $0) != nil
  }
}
