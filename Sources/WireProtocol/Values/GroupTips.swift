/// A change in a group, as a message of its history (Protocol.md, "Tips").
public struct GroupTips: Sendable, WireEncodable {
  /// The change.
  public enum Content: Sendable {
    case join([MemberInfo])
    /// - Parameter isAccepted: the users were asked, and have accepted.
    case invite([MemberInfo], isAccepted: Bool)
    case quit([MemberInfo])
    case kicked([MemberInfo])
    case setAdmin([MemberInfo])
    case cancelAdmin([MemberInfo])
    case groupInfoChange([InfoChange])
    case memberInfoChange([MemberChange])
    /// The group was made, with these members besides its owner.
    case create([MemberInfo])
  }

  private let content: Content
  private let opUser: MemberInfo
  private let memberCount: Int

  /// A change with everything given.
  /// - Parameter memberCount: after the change.
  public init(_ content: Content, by opUser: MemberInfo, memberCount: Int) {
    self.content = content
    self.opUser = opUser
    self.memberCount = memberCount
  }

  /// The names of the types, in the order of the page.
  static let types = [
    "Join", "Invite", "Quit", "Kicked", "SetAdmin", "CancelAdmin", "GroupInfoChange", "MemberInfoChange", "Create",
  ]

  private var type: String {
    switch content {
    case .join: "Join"
    case .invite: "Invite"
    case .quit: "Quit"
    case .kicked: "Kicked"
    case .setAdmin: "SetAdmin"
    case .cancelAdmin: "CancelAdmin"
    case .groupInfoChange: "GroupInfoChange"
    case .memberInfoChange: "MemberInfoChange"
    case .create: "Create"
    }
  }

  public func encode(into writer: inout JSONWriter) {
    writer.object { writer in
      writer.member("type", type)
      writer.member("opUser", opUser)
      switch content {
      case .join(let list), .invite(let list, _), .quit(let list), .kicked(let list), .setAdmin(let list), .cancelAdmin(let list):
        writer.member("memberList", list)
      case .create(let list): if !list.isEmpty { writer.member("memberList", list) }
      case .groupInfoChange(let changes): writer.member("changeInfoList", changes)
      case .memberInfoChange(let changes): writer.member("changeInfoList", changes)
      }
      writer.member("memberCount", memberCount)
      if case .invite(_, isAccepted: true) = content { writer.member("isAccepted", true) }
    }
  }
}

extension GroupTips {
  /// The members that `encode` writes, for descriptions (DescriptionValueTests compares both).
  static let fields: [ResultField] = [
    ResultField("type", NamedType.quoted(GroupTips.types)),
    ResultField("opUser", "MemberInfo"), ResultField("memberList?", "[MemberInfo]"),
    ResultField("changeInfoList?", "[{type, key?, value}] or [MemberChange]"), ResultField("memberCount", "integer"),
    ResultField("isAccepted?", "boolean"),
  ]
}
