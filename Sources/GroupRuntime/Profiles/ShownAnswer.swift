import GroupModel
import WireProtocol

/// A result that shows profiles and needs nothing else of the store.
enum ShownAnswer: Sendable {
  /// The group's info, whose newest message names users.
  case groupInfo(GroupInfo)
  /// A page of members.
  case memberList(GetGroupMemberList.Result)
  /// Some members.
  case membersInfo(GetGroupMembersInfo.Result)

  /// Whether it shows a message that may have reactions.
  var showsChangedMessage: Bool {
    guard case .groupInfo(let info) = self, let message = info.lastMessage?.message else { return false }
    return message.changeSeq > 0 && !message.isRevoked
  }

  /// The users whose profiles it shows.
  var users: [UserID] {
    switch self {
    case .groupInfo(let info): info.lastMessage?.users ?? []
    case .memberList(let result): result.memberList.map(\.member.userID)
    case .membersInfo(let result): result.memberList.map(\.member.userID)
    }
  }

  /// The result with profiles.
  func result(showing profiles: [UserID: UserProfile]) -> ReplyValue {
    switch self {
    case .groupInfo(var info):
      info.lastMessage?.show(profiles)
      return .groupInfo(info)
    case .memberList(let result):
      return .memberList(
        GetGroupMemberList.Result(memberList: result.memberList.showing(profiles), nextSeq: result.nextSeq))
    case .membersInfo(let result):
      return .membersInfo(GetGroupMembersInfo.Result(memberList: result.memberList.showing(profiles)))
    }
  }
}
