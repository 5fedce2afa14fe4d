import ThrongTestKit

/// What users keep about the group for themselves.
extension ModelWorld {
  /// "Members of stored types, else 10007; nothing changed, no event."
  mutating func setConversation() throws(ModelRefusal) -> JSON {
    let member = try conversationMember()
    var changed: [String: JSON] = [:]
    for name in ["isPinned", "isHidden", "isMarkedUnread"] {
      guard let flag = operation[name].bool, flag != (member.conversation[name] == true) else { continue }
      changed[name] = .bool(flag)
    }
    if operation["marks"] != .null {
      var marks: [String] = []
      for mark in operation["marks"].strings where !marks.contains(mark) { marks.append(mark) }
      if marks != member.conversation["marks"]?.strings ?? [] { changed["marks"] = .strings(marks) }
    }
    guard !changed.isEmpty else { return .object([:]) }
    g.update(member.name, at: now) { member in
      // selfInfo has what is true, and marks where there are any.
      for (name, value) in changed {
        member.conversation[name] = value
        if value == false || value == [] { member.conversation.removeValue(forKey: name) }
      }
    }
    tell("onConversationChanged", [member.name], except: operation.by.session, changed)
    return .object([:])
  }

  /// "isHidden ends with the next message that counts as unread for the user or mentions them." All
  /// their sessions are told. A message for `onlineUserOnly` is never unread, but may mention.
  mutating func endHidden(by message: ModelMessage, isStored: Bool) {
    let users = g.members.filter { member in
      guard member.conversation["isHidden"] == true, member.name != message.sender else { return false }
      let isMentioned = message.mentions.contains("@all") || message.mentions.contains(member.name)
      let isReceived = member.option == "ReceiveFromManagers" ? message.isFromManager : member.option != "NotReceive"
      return isMentioned || isStored && g.countsUnread && message.countsAsUnread && isReceived
    }.map(\.name)
    for user in users { g.update(user, at: now) { $0.conversation.removeValue(forKey: "isHidden") } }
    if !users.isEmpty { tell("onConversationChanged", users, ["isHidden": false]) }
  }

  /// "Messages up to lastSeq become invisible to this user for good; nobody else notices."
  mutating func clearHistory() throws(ModelRefusal) -> JSON {
    let member = try conversationMember()
    let (last, before) = (g.lastSeq, g.clearedThrough[member.name, default: 0])
    guard last > before || member.unreadSet > 0 else { return ["clearedSeq": .int(before)] }
    g.clearedThrough[member.name] = last
    g.update(member.name, at: now) { $0.unreadSet = 0 }
    tell("onConversationChanged", [member.name], except: operation.by.session, ["clearedSeq": .int(last)])
    return ["clearedSeq": .int(last)]
  }

  private func conversationMember() throws(ModelRefusal) -> ModelMember {
    try requireMembership()
    guard g.keepsHistory, let member = asker else { throw ModelRefusal(10007) }
    return member
  }
}
