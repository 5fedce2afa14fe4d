import GroupModel
import WireProtocol

/// Read marks, unread counts and receive options (Protocol.md, "Unread counts" and "Receive
/// options").
extension GroupState {
  /// "Default and at most lastSeq", forward only.
  mutating func markRead(seq: Int64?, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    var decision = Decision(.empty)
    guard record.type.storesMessages else { return decision }
    let member = try requireMember(caller)
    let seq = min(seq ?? lastSeq, lastSeq)
    // A count that the application has set ends with the next mark, also where there is nothing new to read.
    guard seq > member.readSeq || (seq == member.readSeq && member.unreadBase > 0) else { return decision }
    update(member.userID, in: context, into: &decision) { member in
      member.readSeq = seq
      // Without such a count, what was imported or came under NotReceive stays read.
      if member.unreadBase > 0 { member.unreadSinceSeq = nil }
      member.unreadBase = 0
    }
    guard seq > member.readSeq else { return decision }
    let event = event(.onConversationRead(readSeq: seq), in: context)
    decision.effects.append(.send(event, to: [member.userID], except: caller.session))
    return decision
  }

  func unreadCount(for caller: Caller) throws(WireError) -> Decision {
    try requireMembership(caller)
    guard let member = caller.userID.flatMap({ members[$0] }) else { return Decision(.unreadCount(0)) }
    return .answer(.stored(.unread(unread(of: member))))
  }

  /// "Text and Custom of others after readSeq, not recalled"; what was imported, or came under NotReceive, does not count.
  func unread(of member: Member) -> UnreadMessages {
    let counts = record.type.countsUnread && member.receiveOption != .notReceive
    let after = member.unreadSinceSeq.map { max($0, member.readSeq, record.importedThroughSeq) } ?? member.readSeq
    let managersOnly = member.receiveOption == .receiveFromManagers
    let (question, known, through) = unreadCounts.question(
      of: member.userID, after: counts ? after : lastSeq, managersOnly: managersOnly)
    let limit = rules.limits.unreadCount
    return UnreadMessages(
      reader: member.userID, base: counts ? member.unreadBase : 0, known: known,
      range: through < lastSeq && known < limit ? through + 1...lastSeq : nil, managersOnly: managersOnly, limit: limit,
      question: question)
  }

  mutating func setReceiveOption(_ option: ReceiveOption, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireMembership(caller)
    guard let user = caller.userID else { throw WireError(.noRight) }
    var decision = Decision(.empty)
    let before = receiveOption(of: user)
    guard option != before else { return decision }
    let newest = lastSeq
    update(user, in: context, into: &decision) { member in
      member.receiveOption = option
      // What came meanwhile was not received, so it is not unread either.
      if before == .notReceive {
        member.unreadBase = 0
        member.unreadSinceSeq = newest
      }
    }
    decision.effects.append(.receive(user, option))
    let event = event(.onReceiveMessageOptChanged(option), in: context)
    decision.effects.append(.send(event, to: [user], except: caller.session))
    return decision
  }

  /// The application says how much a member has not read.
  mutating func setUnreadCount(_ request: SetUnreadCount, in context: DecisionContext) throws(WireError) -> Decision {
    guard record.type.countsUnread else { throw WireError(.noRight, "This type of group counts no unread messages") }
    let member = try target(request.userID)
    var decision = Decision(.empty)
    let newest = lastSeq
    update(member.userID, in: context, into: &decision) { member in
      member.unreadBase = request.unreadCount
      member.unreadSinceSeq = newest
    }
    return decision
  }
}
