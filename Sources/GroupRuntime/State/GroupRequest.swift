import GroupModel
import WireProtocol

/// What a group can be asked.
public enum GroupRequest: Sendable {
  /// - Parameter unknown: those of the member list whom nobody has seen yet, where that matters (`users.requireKnown`).
  case create(CreateGroup, owner: UserID, unknown: Set<UserID>)
  case join(JoinGroup)
  case quit
  case dismiss
  /// The row of getGroupsInfo.
  case info
  /// The row of getJoinedGroupList; answers `null` where nothing changed since the instant, or the caller is no member.
  case joinedInfo(updatedSince: Instant)
  case setInfo(SetGroupInfo)
  case memberList(GetGroupMemberList)
  case membersInfo([UserID])
  case onlineMemberCount
  case send(Message.Content, MessageOptions)
  case history(GetGroupHistoryMessageList)
  /// - Parameter bytes: how much room the reply has left for messages.
  case sync(epoch: String, seq: Int64, bytes: Int)
}
