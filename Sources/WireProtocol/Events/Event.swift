import GroupModel

/// A notification that the server pushes. Its fields are the members of `params`.
public protocol Event: FieldEncodable {
  var name: EventName { get }
  /// About the bytes of the notification.
  var capacity: Int { get }
}

extension Event {
  public var capacity: Int { 320 }

  /// The whole JSON-RPC notification.
  public var frame: [UInt8] { makeFrame() }

  func makeFrame() -> [UInt8] {
    JSONWriter.text(capacity: capacity) { writer in
      writer.notification(name.rawValue) { encodeFields(into: &$0) }
    }
  }
}

extension EventName {
  /// An event of that name, from which descriptions learn the members.
  var example: any Event {
    let members: [MemberInfo] = []
    let by = EventOperator(.administrator, on: .restAPI)
    return switch self {
    case .onMemberEnter: GroupEvent.example(.onMemberEnter(members, memberCount: 0, on: nil, nil))
    case .onMemberLeave: GroupEvent.example(.onMemberLeave(members, memberCount: 0, on: nil, nil))
    case .onMemberInvited: GroupEvent.example(.onMemberInvited(members, memberCount: 0, by: by, isAccepted: true, nil))
    case .onMemberKicked: GroupEvent.example(.onMemberKicked(members, memberCount: 0, reason: "", by: by, nil))
    case .onGroupMemberInfoChanged: GroupEvent.example(.onGroupMemberInfoChanged([], by: by, nil))
    case .onGroupCreated: GroupEvent.example(.onGroupCreated(on: .restAPI, nil))
    case .onGroupDismissed: GroupEvent.example(.onGroupDismissed(by: by))
    case .onGroupRecycled: GroupEvent.example(.onGroupRecycled(by: by))
    case .onGroupInfoChanged: GroupEvent.example(.onGroupInfoChanged([], by: by, nil))
    case .onReceiveJoinApplication:
      GroupEvent.example(
        .onReceiveJoinApplication(applicationID: "", member: .administrator, on: .restAPI, opReason: ""))
    case .onReceiveGroupInvitation:
      GroupEvent.example(
        .onReceiveGroupInvitation(
          applicationID: "", opReason: "", attach: "", by: by,
          to: InvitedGroup(groupName: "", groupType: .work, faceURL: "", memberCount: 0)))
    case .onApplicationProcessed:
      GroupEvent.example(.onApplicationProcessed(applicationID: "", isAgreeJoin: true, opReason: "", by: by))
    case .onGroupApplicationListChanged: GroupEvent.example(.onGroupApplicationListChanged(.example))
    case .onGrantAdministrator: GroupEvent.example(.onGrantAdministrator(members, by: by, nil))
    case .onRevokeAdministrator: GroupEvent.example(.onRevokeAdministrator(members, by: by, nil))
    case .onQuitFromGroup: GroupEvent.example(.onQuitFromGroup(on: .restAPI))
    case .onReceiveMessageOptChanged: GroupEvent.example(.onReceiveMessageOptChanged(.receive))
    case .onGroupAttributeChanged: GroupEvent.example(.onGroupAttributeChanged(TextMap([]), holders: nil))
    case .onGroupCounterChanged: GroupEvent.example(.onGroupCounterChanged(CounterMap([])))
    case .onRecvNewMessage: GroupEvent.example(.onRecvNewMessage(.example))
    case .onRecvMessageRevoked: GroupEvent.example(.onRecvMessageRevoked(msgID: "", seq: 1, changeSeq: 1, by: by))
    case .onRecvMessageModified: GroupEvent.example(.onRecvMessageModified(MessageInfo(.example)))
    case .onRecvMessageReactionsChanged:
      GroupEvent.example(
        .onRecvMessageReactionsChanged(ReactionsChange(seq: 1, changeSeq: 1, reactions: [], reaction: "", isAdded: true), by: by))
    case .onGroupMessagePinned: GroupEvent.example(.onGroupMessagePinned(seq: 1, changeSeq: 1, MessageInfo(.example), by: by))
    case .onMessageDropped: GroupEvent.example(.onMessageDropped(msgID: "", clientMsgID: nil, .normal, .rateLimit))
    case .onConversationRead: GroupEvent.example(.onConversationRead(readSeq: 0))
    case .onConversationChanged: GroupEvent.example(.onConversationChanged(ConversationChange(), clearedSeq: nil))
    case .onRecvMessageReadReceipts: GroupEvent.example(.onRecvMessageReadReceipts([]))
    case .onGroupSignal:
      GroupEvent.example(.onGroupSignal(GroupSignal(name: "", data: nil, sender: .administrator, nameCard: "")))
    case .onReceiveRESTCustomData: GroupEvent.example(.onReceiveRESTCustomData("", on: .restAPI))
    case .onSelfInfoUpdated: SessionEvent.onSelfInfoUpdated(UserInfoFields(), opTime: .unset)
    case .onUsersStatusChanged: SessionEvent.onUsersStatusChanged([], opTime: .unset)
    case .onConnectSuccess: SessionEvent.onConnectSuccess(.example)
    case .onKickedOffline: SessionEvent.onKickedOffline(reason: "", message: nil)
    case .onUserSigExpired: SessionEvent.onUserSigExpired(expiresAt: .unset)
    case .onServerDraining: SessionEvent.onServerDraining(retryAfterMs: 0)
    }
  }
}
