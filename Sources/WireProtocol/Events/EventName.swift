/// The events that the server pushes (Protocol.md, "Events"), in the order of that page.
public enum EventName: String, CaseIterable, Sendable {
  case onMemberEnter, onMemberLeave, onMemberInvited, onMemberKicked, onGroupMemberInfoChanged
  case onGroupCreated, onGroupDismissed, onGroupRecycled, onGroupInfoChanged
  case onReceiveJoinApplication, onReceiveGroupInvitation, onApplicationProcessed, onGroupApplicationListChanged
  case onGrantAdministrator, onRevokeAdministrator, onQuitFromGroup, onReceiveMessageOptChanged, onGroupAttributeChanged
  case onGroupCounterChanged
  case onRecvNewMessage, onRecvMessageRevoked, onRecvMessageModified, onRecvMessageReactionsChanged, onGroupMessagePinned
  case onMessageDropped, onConversationRead, onConversationChanged, onRecvMessageReadReceipts, onGroupSignal
  case onReceiveRESTCustomData
  case onSelfInfoUpdated, onUsersStatusChanged, onConnectSuccess, onKickedOffline, onUserSigExpired, onServerDraining

  /// The members of `params`, for descriptions.
  public var fields: [ResultField] { FieldRecorder.fields(of: example) }

  /// The receivers, in words.
  public var audience: String {
    switch self {
    case .onMemberEnter: "all members, the new one included; notification off: the new member"
    case .onMemberLeave: "the other members; notification off: nobody"
    case .onMemberInvited: "all members, inviter and invited included; notification off: inviter and invited"
    case .onMemberKicked: "all members and the removed; notification off: the removed and the operator"
    case .onGroupMemberInfoChanged:
      "all members, the one concerned included; notification off, and for nameCard and customInfo in an AVChatRoom: the one "
        + "concerned and the operator"
    case .onGroupCreated: "all sessions of the creator, and the initial members"
    case .onGroupDismissed, .onGroupRecycled: "all members, the operator included"
    case .onGroupInfoChanged, .onGroupAttributeChanged, .onGroupCounterChanged: "all members"
    case .onReceiveJoinApplication: "managers"
    case .onReceiveGroupInvitation: "the invited user"
    case .onApplicationProcessed: "the applicant; for an invitation, the inviter"
    case .onGroupApplicationListChanged:
      "everybody in whose list of received or sent applications it stands: the managers and the applicant, or the invited "
        + "user and the inviter"
    case .onGrantAdministrator, .onRevokeAdministrator: "all members; notification off: the operator and the one concerned"
    case .onQuitFromGroup: "all sessions of the user who quit"
    case .onReceiveMessageOptChanged: "the user's other sessions"
    case .onRecvNewMessage: "all members who may see the message but the sending session, as their receive option says"
    case .onRecvMessageRevoked, .onRecvMessageModified, .onRecvMessageReactionsChanged, .onGroupMessagePinned:
      "all members who may see the message"
    case .onMessageDropped: "the sending session"
    case .onConversationRead: "the user's other sessions, when it moved"
    case .onConversationChanged: "the user's other sessions; all of them where a message ended isHidden"
    case .onRecvMessageReadReceipts: "the sessions of the messages' sender, at most 5 in any second"
    case .onGroupSignal: "all members but the sending session and those who receive no messages"
    case .onReceiveRESTCustomData: "the members named by the administrator, or all"
    case .onSelfInfoUpdated: "the user's other sessions; after setUserInfo all"
    case .onUsersStatusChanged: "the sessions that watch the users, each at most once a second"
    case .onConnectSuccess, .onKickedOffline, .onUserSigExpired, .onServerDraining: "the session"
    }
  }
}
