import ThrongTestKit

/// How far members have read, what they have not, and which chat they want.
extension ModelWorld {
  /// "Text and Custom of others after readSeq, not recalled."
  func unreadCount(of member: ModelMember) -> Int {
    guard g.countsUnread, member.option != "NotReceive" else { return 0 }
    let counted = g.kept.filter { message in
      let isSettled = member.unreadFrom.map { message.isImported || message.seq! <= $0 } ?? false
      let isWanted = member.option != "ReceiveFromManagers" || message.isFromManager
      let after = max(member.readSeq, g.clearedThrough[member.name, default: 0])
      return message.seq! > after && !isSettled && !member.unheard.contains(message.seq!) && isWanted
        && message.countsAsUnread && message.sender != member.name && !message.isRevoked
    }
    return member.unreadSet + counted.count
  }

  /// "Default and at most lastSeq, forward only."
  mutating func markRead() throws(ModelRefusal) -> JSON {
    try requireMembership()
    guard g.keepsHistory else { return .object([:]) }
    let member = asker!
    let seq = min(operation["seq"].int ?? g.lastSeq, g.lastSeq)
    // A number that the application has said ends with the next mark, also where there is nothing
    // new to read.
    let moves = seq > member.readSeq || (seq == member.readSeq && member.unreadSet > 0)
    let endsMark = member.conversation["isMarkedUnread"] == true
    guard moves || endsMark else { return .object([:]) }
    g.update(member.name, at: now) { member in
      member.conversation.removeValue(forKey: "isMarkedUnread")
      guard moves else { return }
      member.readSeq = seq
      if member.unreadSet > 0 { member.unreadFrom = nil }
      member.unreadSet = 0
    }
    // "When it moved."
    if seq > member.readSeq { tell("onConversationRead", [member.name], except: operation.by.session, ["readSeq": .int(seq)]) }
    if endsMark { tell("onConversationChanged", [member.name], except: operation.by.session, ["isMarkedUnread": false]) }
    return .object([:])
  }

  mutating func setReceiveOption() throws(ModelRefusal) -> JSON {
    try requireMembership()
    let member = asker!
    let option = operation["opt"].string!
    guard option != member.option else { return .object([:]) }
    let last = g.lastSeq
    g.update(member.name, at: now) { member in
      // Messages that came meanwhile were not received, so they do not become unread.
      if option == "NotReceive" { member.unheardAfter = last }
      if member.option == "NotReceive", let first = member.unheardAfter, first < last {
        member.unheard.formUnion(first + 1...last)
      }
      member.option = option
    }
    tell("onReceiveMessageOptChanged", [member.name], except: operation.by.session, ["opt": .string(option)])
    return .object([:])
  }

  mutating func setUnreadCount() throws(ModelRefusal) -> JSON {
    guard g.countsUnread, g.member(operation["userID"].string!) != nil else { throw ModelRefusal(10007) }
    let (last, said) = (g.lastSeq, operation["unreadCount"].int!)
    g.update(operation["userID"].string!, at: now) { member in
      (member.unreadSet, member.unreadFrom) = (member.option == "NotReceive" ? 0 : said, last)
    }
    return .object([:])
  }
}
