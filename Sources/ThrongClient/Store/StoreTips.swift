/// What an event of the server is as a message of its group's history (Protocol.md, "Tips").
extension ServerEvent {
  /// The tip; nil = the event is none.
  func tip(in info: GroupInfo) -> GroupMessage? {
    switch self {
    case .onMemberEnter(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.memberList.first)
        .message(.join, info, memberList: event.memberList, memberCount: event.memberCount)
    case .onMemberLeave(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.memberList.first)
        .message(.quit, info, memberList: event.memberList, memberCount: event.memberCount)
    case .onMemberInvited(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.opUser)
        .message(
          .invite, info, memberList: event.memberList, memberCount: event.memberCount, isAccepted: event.isAccepted)
    case .onMemberKicked(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.opUser)
        .message(.kicked, info, memberList: event.memberList, memberCount: event.memberCount)
    case .onGrantAdministrator(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.opUser)
        .message(.setAdmin, info, memberList: event.memberList)
    case .onRevokeAdministrator(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.opUser)
        .message(.cancelAdmin, info, memberList: event.memberList)
    case .onGroupInfoChanged(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.opUser)
        .message(.groupInfoChange, info, changeInfoList: event.changeInfoList.map(\.json))
    case .onGroupMemberInfoChanged(let event):
      Tip(event.groupID, event.seq, event.msgID, event.opTime, event.platform, by: event.opUser)
        .message(.memberInfoChange, info, changeInfoList: event.changeInfoList.map(\.json))
    default: nil
    }
  }
}

/// What the events of tips have in common.
private struct Tip {
  let groupID: String
  let seq: Int?
  let msgID: String?
  let time: Int
  let platform: String?
  let opUser: MemberInfo?

  init(_ groupID: String, _ seq: Int?, _ msgID: String?, _ time: Int, _ platform: String?, by opUser: MemberInfo?) {
    self.groupID = groupID
    self.seq = seq
    self.msgID = msgID
    self.time = time
    self.platform = platform
    self.opUser = opUser
  }

  /// Nil where the history has none: a live type, or one that was not stored.
  func message(
    _ type: TipsKind, _ info: GroupInfo, memberList: [MemberInfo]? = nil, changeInfoList: [JSONValue]? = nil,
    memberCount: Int? = nil, isAccepted: Bool? = nil
  ) -> GroupMessage? {
    guard let seq, let msgID, let opUser, ClientLimits.isIdentifier(msgID) else { return nil }
    let tips = GroupTips(
      type: type, opUser: opUser, memberList: memberList, changeInfoList: changeInfoList.map(JSONValue.array),
      memberCount: memberCount ?? info.memberCount, isAccepted: isAccepted)
    return GroupMessage(
      msgID: msgID, groupID: groupID, seq: seq, sender: opUser.userID, timestamp: time, type: .groupTips, tips: tips,
      priority: .normal, platform: platform ?? Platform.unknown.rawValue)
  }
}

extension ServerEvent.GroupInfoChanged.ChangeInfoRow {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["type": .string(type), "value": value]
    members["key"] = key.map(JSONValue.string)
    return .object(members)
  }
}

extension MemberChange {
  fileprivate var json: JSONValue {
    var members: [String: JSONValue] = ["userID": .string(userID)]
    members["muteTime"] = muteTime.map(JSONValue.integer)
    members["nameCard"] = nameCard.map(JSONValue.string)
    members["customInfo"] = customInfo.map { JSONValue.object($0.mapValues(JSONValue.string)) }
    members["role"] = role.map(JSONValue.string)
    return .object(members)
  }
}
