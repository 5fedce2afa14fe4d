/// What the server pushes (contract section 5), in the contract's order, with the members of its params.
public enum EventName: String, CaseIterable, Sendable {
  case onMemberEnter, onMemberLeave, onMemberInvited, onMemberKicked, onGroupMemberInfoChanged
  case onGroupCreated, onGroupDismissed, onGroupRecycled, onGroupInfoChanged
  case onReceiveJoinApplication, onReceiveGroupInvitation, onApplicationProcessed
  case onGrantAdministrator, onRevokeAdministrator, onQuitFromGroup, onReceiveMessageOptChanged, onGroupAttributeChanged
  case onRecvNewMessage, onRecvMessageRevoked, onMessageDropped, onConversationRead, onReceiveRESTCustomData
  case onConnectSuccess, onKickedOffline, onUserSigExpired, onServerDraining

  /// The members of `params`, for descriptions.
  public var fields: [ResultField] {
    let group = [ResultField("groupID", "string"), ResultField("opTime", "integer")]
    let operation = group + [ResultField("opUser", "MemberInfo"), ResultField("platform", "string")]
    let members = [ResultField("memberList", "[MemberInfo]"), ResultField("memberCount", "integer")]
    let tips = [ResultField("seq?", "integer"), ResultField("msgID?", "string")]
    let application = ResultField("applicationID", "string")
    switch self {
    case .onMemberEnter, .onMemberLeave: return group + members + tips
    case .onMemberInvited: return operation + members + tips
    case .onMemberKicked: return operation + members + [ResultField("reason", "string")] + tips
    case .onGroupMemberInfoChanged: return operation + [ResultField("changeInfoList", "[MemberChange]")] + tips
    case .onGroupCreated, .onQuitFromGroup: return group
    case .onGroupDismissed, .onGroupRecycled: return operation
    case .onGroupInfoChanged: return operation + [ResultField("changeInfoList", "[{type, key?, value}]")] + tips
    case .onReceiveJoinApplication:
      return group + [application, ResultField("member", "MemberInfo"), ResultField("opReason", "string")]
    case .onReceiveGroupInvitation:
      return operation + [application, ResultField("opReason", "string"), ResultField("attach", "string")]
    case .onApplicationProcessed:
      return operation + [application, ResultField("isAgreeJoin", "boolean"), ResultField("opReason", "string")]
    case .onGrantAdministrator, .onRevokeAdministrator: return operation + [ResultField("memberList", "[MemberInfo]")] + tips
    case .onReceiveMessageOptChanged: return group + [ResultField("opt", "string")]
    case .onGroupAttributeChanged: return group + [ResultField("groupAttributeMap", "map")]
    case .onRecvNewMessage: return group + [ResultField("message", "Message")]
    case .onRecvMessageRevoked: return operation + [ResultField("msgID", "string"), ResultField("seq", "integer")]
    case .onMessageDropped:
      return group + [
        ResultField("msgID", "string"), ResultField("clientMsgID?", "string"), ResultField("priority", "string"),
        ResultField("reason", "string"),
      ]
    case .onConversationRead: return group + [ResultField("readSeq", "integer")]
    case .onReceiveRESTCustomData: return group + [ResultField("customData", "string")]
    case .onConnectSuccess: return Login.specification.result
    case .onKickedOffline: return [ResultField("reason", "string"), ResultField("message?", "string")]
    case .onUserSigExpired: return [ResultField("expiresAt", "integer")]
    case .onServerDraining: return [ResultField("retryAfterMs", "integer")]
    }
  }

  /// Who gets it, as the contract says.
  public var audience: String {
    switch self {
    case .onMemberEnter: "all members, the new one included; notification off: the new member"
    case .onMemberLeave: "the other members; notification off: nobody"
    case .onMemberInvited: "all members, inviter and invited included; notification off: inviter and invited"
    case .onMemberKicked: "all members and the removed; notification off: the removed and the operator"
    case .onGroupMemberInfoChanged:
      "all members, the one concerned included; notification off, and AVChatRoom: the one concerned and the operator"
    case .onGroupCreated: "all sessions of the creator, and the initial members"
    case .onGroupDismissed, .onGroupRecycled: "all members, the operator included"
    case .onGroupInfoChanged, .onGroupAttributeChanged: "all members"
    case .onReceiveJoinApplication: "managers"
    case .onReceiveGroupInvitation: "the invited user"
    case .onApplicationProcessed: "the applicant; for an invitation, the inviter"
    case .onGrantAdministrator, .onRevokeAdministrator: "all members; notification off: the operator and the one concerned"
    case .onQuitFromGroup: "all sessions of the user who quit"
    case .onReceiveMessageOptChanged: "the user's other sessions"
    case .onRecvNewMessage: "all members but the sending session, as their receive option says"
    case .onRecvMessageRevoked: "all members who may see it"
    case .onMessageDropped: "the sending session"
    case .onConversationRead: "the user's other sessions, when it moved"
    case .onReceiveRESTCustomData: "the members named by the administrator, or all"
    case .onConnectSuccess, .onKickedOffline, .onUserSigExpired, .onServerDraining: "the session"
    }
  }

  /// The whole JSON-RPC notification with the params that `body` writes.
  public func text(capacity: Int = 320, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    JSONWriter.text(capacity: capacity) { writer in
      writer.object { writer in
        writer.member("jsonrpc", "2.0")
        writer.member("method", rawValue)
        writer.key("params")
        writer.object(body)
      }
    }
  }
}
