import GroupModel

/// One entry of onGroupMemberInfoChanged: the changes of a member (Protocol.md, "Member info").
public struct MemberChange: Equatable, FieldValue {
  public static let notation = "MemberChange"

  public let userID: UserID
  /// Seconds left, 0 = may speak again; nil = as before.
  public var muteTime: Seconds?
  public var nameCard: String?
  /// All keys there are now.
  public var customInfo: [String: String]?
  /// Between Member and custom roles.
  public var role: Role?

  /// Nothing has changed yet.
  public init(userID: UserID) { self.userID = userID }

  /// Nothing has changed.
  public var isEmpty: Bool { muteTime == nil && nameCard == nil && customInfo == nil && role == nil }

  /// The change of the mute and the role alone.
  public var ofRights: MemberChange {
    var change = MemberChange(userID: userID)
    (change.muteTime, change.role) = (muteTime, role)
    return change
  }

  /// The change of the name card and customInfo alone.
  public var ofDetails: MemberChange {
    var change = MemberChange(userID: userID)
    (change.nameCard, change.customInfo) = (nameCard, customInfo)
    return change
  }

  /// About how long the entry is.
  var byteCount: Int {
    96 + (nameCard?.utf8.count ?? 0) + (customInfo ?? [:]).reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 8 }
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("userID", userID.rawValue)
      writer.member("muteTime", ifPresent: muteTime)
      writer.member("nameCard", ifPresent: nameCard)
      if let customInfo { writer.member("customInfo", customInfo) }
      writer.member("role", ifPresent: role?.wireName)
    }
  }
}

extension MemberChange {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("userID", "string"), ResultField("muteTime?", "integer"), ResultField("nameCard?", "string"),
    ResultField("customInfo?", "map"), ResultField("role?", "string"),
  ]
}
