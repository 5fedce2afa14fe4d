import GroupModel
import WireProtocol

/// A result that shows profiles and needs nothing else of the store.
enum ShownAnswer: Sendable {
  /// The group's info, whose newest message names users.
  case groupInfo(GroupInfo)
  /// A page of members.
  case memberList([ListedMember], nextSeq: Int64)
  /// Some members.
  case membersInfo([ListedMember])

  /// Whether it shows a message that may have reactions.
  var showsChangedMessage: Bool {
    guard case .groupInfo(let info) = self, let message = info.lastMessage?.message else { return false }
    return message.changeSeq > 0 && !message.isRevoked
  }

  /// The users whose profiles it shows.
  var users: [UserID] {
    switch self {
    case .groupInfo(let info): info.lastMessage?.users ?? []
    case .memberList(let members, _), .membersInfo(let members): members.map(\.member.userID)
    }
  }

  /// The result with profiles.
  func result(showing profiles: [UserID: UserProfile]) -> ReplyValue {
    switch self {
    case .groupInfo(var info):
      info.lastMessage?.show(profiles)
      return .groupInfo(info)
    case .memberList(let members, let nextSeq):
      return .memberList(
        GetGroupMemberList.Result(memberList: members.map { ShownMember($0, profiles: profiles) }, nextSeq: nextSeq))
    case .membersInfo(let members):
      return .membersInfo(GetGroupMembersInfo.Result(memberList: members.map { ShownMember($0, profiles: profiles) }))
    }
  }
}
