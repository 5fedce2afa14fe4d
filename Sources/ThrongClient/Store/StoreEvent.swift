#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Something that changes a client's store.
enum StoreEvent: Sendable {
  /// A session of this user begins.
  case signedIn(userID: String)
  /// An event that the application is told of; `bytes`: of its frame.
  case server(ServerEvent, bytes: Int)
  /// A group that the user is in from now on, as the server tells of it.
  case entered(GroupInfo)
  /// A group as it is now.
  case info(GroupInfo)
  case sync(StoredSync)
  /// The user is in the group no more.
  case ended(groupID: String, Conversation.Status, at: Int)
  /// The groups are in step. `toldUntil`: when the list of groups was read, by the server's clock.
  case ready(toldUntil: Int)
  /// The server has answered a call of the application.
  case answered(StoredAnswer)
  /// An own message that the server has stored; a reply has no sender of the answered message yet.
  case own(GroupMessage)
  /// Members as they are now, and users who are none any more.
  case members(groupID: String, [MemberInfo], left: [String])
  /// Texts of users as they are now, by the server's clock.
  case profiles([UserInfo], at: Int)
  /// A page of a history, newest first, of what lies before a place; nil = before nothing.
  case page(groupID: String, before: Int?, Methods.GetGroupHistoryMessageList.Result)
  /// `ticket` is told when the disk has them.
  case outbox([OutboxChange], ticket: Int)
}

/// One page of a sync, or the news that a history cannot be had.
struct StoredSync: Sendable {
  var recovered: Bool
  /// With own messages.
  var messageList: [GroupMessage] = []
  var changeList: [GroupMessage] = []
  /// The group as the list had it, if it has changed.
  var info: GroupInfo?
  /// The place that was asked from.
  var from: Int
  /// The place afterwards.
  var position: GroupPosition
}

/// A change of one row of the outbox.
enum OutboxChange: Sendable {
  case put(OutboxRow)
  /// The row under this key.
  case delete(String)
}

/// An answer to a call of the application that tells of what a store keeps.
struct StoredAnswer: Sendable {
  /// The methods with such answers.
  static let methods: Set<String> = [
    Methods.ClearGroupHistory.name, Methods.GetGroupHistoryMessageList.name, Methods.GetGroupMemberList.name,
    Methods.GetGroupMembersInfo.name, Methods.GetGroupsInfo.name, Methods.GetJoinedGroupList.name, Methods.GetUsersInfo.name,
    Methods.MarkGroupMessageAsRead.name, Methods.SetConversation.name, Methods.SetGroupReceiveMessageOpt.name,
  ]

  /// The parameters that say what an answer is about.
  private struct Params: Decodable {
    var groupID: String?
    var seq: Int?
    var fromSeq: Int?
    var direction: HistoryDirection?
    var opt: String?
    var isPinned: Bool?
    var isHidden: Bool?
    var isMarkedUnread: Bool?
    var marks: [String]?
  }

  let method: String
  /// JSON of the request's parameters.
  let params: Data
  /// The frame with the result.
  let frame: Data
  /// The server's clock.
  let time: Int

  /// What the answer tells. The server sends no event of the user's own settings to the session that has
  /// changed them, so the call stands for it.
  var events: [StoreEvent] {
    do {
      return try events(of: try JSONDecoder().decode(Params.self, from: params))
    } catch {
      // The application, whose call it was, is told that it is unreadable.
      return []
    }
  }

  private func events(of params: Params) throws -> [StoreEvent] {
    let groupID = params.groupID ?? ""
    switch method {
    case Methods.ClearGroupHistory.name:
      let cleared = try result(Methods.ClearGroupHistory.Result.self).clearedSeq
      return [change(.init(groupID: groupID, opTime: time, clearedSeq: cleared))]
    case Methods.SetConversation.name:
      return [
        change(
          .init(
            groupID: groupID, opTime: time, isPinned: params.isPinned, isHidden: params.isHidden,
            isMarkedUnread: params.isMarkedUnread, marks: params.marks))
      ]
    case Methods.MarkGroupMessageAsRead.name:
      let read = ServerEvent.ConversationRead(
        groupID: groupID, opTime: time, readSeq: params.seq ?? ClientLimits.largestNumber)
      return [
        .server(.onConversationRead(read), bytes: 0), change(.init(groupID: groupID, opTime: time, isMarkedUnread: false)),
      ]
    case Methods.SetGroupReceiveMessageOpt.name:
      let option = ServerEvent.ReceiveMessageOptChanged(groupID: groupID, opTime: time, opt: params.opt ?? "")
      return [.server(.onReceiveMessageOptChanged(option), bytes: 0)]
    case Methods.GetGroupsInfo.name:
      return try result(Methods.GetGroupsInfo.Result.self).resultList.compactMap { $0.info.map(StoreEvent.info) }
    case Methods.GetJoinedGroupList.name:
      return try result(Methods.GetJoinedGroupList.Result.self).groupList.map(StoreEvent.info)
    case Methods.GetGroupMemberList.name:
      let page = try result(Methods.GetGroupMemberList.Result.self)
      return [.members(groupID: groupID, page.memberList, left: page.leftUserIDList ?? [])]
    case Methods.GetGroupMembersInfo.name:
      return [.members(groupID: groupID, try result(Methods.GetGroupMembersInfo.Result.self).memberList, left: [])]
    case Methods.GetUsersInfo.name:
      return [.profiles(try result(Methods.GetUsersInfo.Result.self).userList, at: time)]
    case Methods.GetGroupHistoryMessageList.name where params.direction ?? .older == .older:
      let before = params.fromSeq.flatMap { $0 > 0 ? $0 : nil }
      return [.page(groupID: groupID, before: before, try result(Methods.GetGroupHistoryMessageList.Result.self))]
    default: return []
    }
  }

  private func result<Result: Decodable>(_ type: Result.Type) throws(ClientError) -> Result {
    try ServerFrame.result(type, in: frame)
  }

  private func change(_ change: ServerEvent.ConversationChanged) -> StoreEvent {
    .server(.onConversationChanged(change), bytes: 0)
  }
}

extension ServerEvent {
  /// Whether it may change a store.
  var isStored: Bool {
    switch self {
    case .onMemberEnter, .onMemberLeave, .onMemberInvited, .onMemberKicked, .onGroupMemberInfoChanged, .onGroupDismissed,
      .onGroupRecycled, .onGroupInfoChanged, .onGrantAdministrator, .onRevokeAdministrator, .onQuitFromGroup,
      .onReceiveMessageOptChanged, .onRecvNewMessage, .onRecvMessageRevoked, .onRecvMessageModified,
      .onRecvMessageReactionsChanged, .onGroupMessagePinned, .onConversationRead, .onConversationChanged, .onSelfInfoUpdated:
      true
    default: false
    }
  }

  /// What becomes of the conversation where the event ends the user's membership; nil = it does not.
  func end(for userID: String) -> Conversation.Status? {
    switch self {
    case .onGroupDismissed, .onGroupRecycled: .dismissed
    case .onQuitFromGroup: .left
    case .onMemberKicked(let event): event.memberList.contains { $0.userID == userID } ? .removed : nil
    default: nil
    }
  }
}
