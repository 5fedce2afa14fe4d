/// What the server pushes (contract section 5), in the contract's order, with the members of its params.
public enum EventName: String, CaseIterable, Sendable {
  case onMemberEnter, onMemberLeave, onGroupCreated, onGroupDismissed, onGroupInfoChanged, onQuitFromGroup, onRecvNewMessage
  case onConnectSuccess, onKickedOffline, onUserSigExpired, onServerDraining

  /// The members of `params`, for descriptions.
  public var fields: [ResultField] {
    let group = [ResultField("groupID", "string"), ResultField("opTime", "integer")]
    let operation = group + [ResultField("opUser", "MemberInfo"), ResultField("platform", "string")]
    let tips = [ResultField("seq?", "integer"), ResultField("msgID?", "string")]
    switch self {
    case .onMemberEnter, .onMemberLeave:
      return group + [ResultField("memberList", "[MemberInfo]"), ResultField("memberCount", "integer")] + tips
    case .onGroupCreated, .onQuitFromGroup: return group
    case .onGroupDismissed: return operation
    case .onGroupInfoChanged: return operation + [ResultField("changeInfoList", "[{type, key?, value}]")] + tips
    case .onRecvNewMessage: return group + [ResultField("message", "Message")]
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
    case .onGroupCreated: "all sessions of the creator, and the initial members"
    case .onGroupDismissed: "all members, the operator included"
    case .onGroupInfoChanged: "all members"
    case .onQuitFromGroup: "all sessions of the user who quit"
    case .onRecvNewMessage: "all members but the sending session"
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
