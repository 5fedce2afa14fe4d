import GroupModel
import WireProtocol

/// What users keep about a group for themselves: the settings of their own list of conversations, and
/// up to where they have cleared the history (Protocol.md, "Conversations").
extension GroupState {
  // MARK: Settings

  /// "Nothing changed, no event."
  mutating func setConversation(_ wanted: ConversationChange, _ turn: inout Turn) throws(WireError) {
    let member = try requireConversation(turn)
    var conversation = member.conversation
    guard let change = conversation.apply(wanted) else { return }
    updateMember(member.userID, &turn) { $0.conversation = conversation }
    turn.send(.onConversationChanged(change, clearedSeq: nil), to: [member.userID], except: turn.session)
  }

  /// "isHidden ends with the next message that counts as unread for the user or mentions them": the
  /// one that the decision publishes. It is taken from there, because a message that was kept for this
  /// would be copied where nobody has hidden the group, too. A targeted message is sent to those whom
  /// it names: it counts for nobody, and mentions nobody.
  mutating func endHidden(_ turn: inout Turn) {
    guard !roster.hidden.isEmpty else { return }
    for case .publish(let event, _, except: _) in turn.decision.effects {
      if case .onRecvNewMessage(let message) = event.content { return endHidden(by: message, &turn) }
    }
  }

  /// All sessions of the users who find the group again are told: none of them has asked for it. The
  /// end is stored also where the message is not, and both wait for that.
  /// - Parameter message: one just sent.
  mutating func endHidden(by message: Message, _ turn: inout Turn) {
    let mentioned = Set(message.atUserIDList)
    let everybody = mentioned.contains(MessageOptions.everybody)
    // Those whom no message brings back may be very many, and stay.
    let named = mentioned.compactMap { UserID($0) }.filter { roster.hidden.contains($0) }
    let found = everybody ? roster.hidden : roster.hiddenHearing.union(named)
    let users = found.filter { user in
      guard user != message.sender, let member = roster[user] else { return false }
      return everybody || mentioned.contains(user.rawValue) || isUnread(message, for: member)
    }.sorted()
    guard !users.isEmpty else { return }
    let now = turn.now
    for user in users {
      roster.update(user) { member in
        member.conversation.isHidden = false
        member.changeTime = now
      }
    }
    turn.store(.endHidden(users, at: now, in: record.id))
    var change = ConversationChange()
    change.isHidden = false
    turn.send(.onConversationChanged(change, clearedSeq: nil), to: users)
  }

  /// Whether a new message of somebody else counts as unread: see `unread(of:)`. One for
  /// `onlineUserOnly` has no place in the history, and never does.
  private func isUnread(_ message: Message, for member: Member) -> Bool {
    guard record.type.countsUnread, message.seq != nil, message.countsAsUnread else { return false }
    switch member.receiveOption {
    case .receive, .receiveNotNotify, .notifyFromManagers: return true
    case .receiveFromManagers: return message.isFromManager
    case .notReceive: return false
    }
  }

  // MARK: Clearing

  /// "Messages up to lastSeq become invisible to this user for good; nobody else notices." A count
  /// that the application has set ends as well.
  /// - Returns: the newest message that the caller does not see any more; 0 = there was none.
  mutating func clearHistory(_ turn: inout Turn) throws(WireError) -> Int64 {
    let member = try requireConversation(turn)
    let newest = messages.lastSeq
    guard newest > member.clearedSeq || member.unreadBase > 0 else { return member.clearedSeq }
    updateMember(member.userID, &turn) { member in
      member.clearedSeq = newest
      member.unreadBase = 0
      member.forgetUnheard(through: newest)
    }
    turn.send(.onConversationChanged(ConversationChange(), clearedSeq: newest), to: [member.userID], except: turn.session)
    return newest
  }

  /// The caller's record; 10007 for a type that is in no list of conversations.
  private func requireConversation(_ turn: borrowing Turn) throws(WireError) -> Member {
    try requireMembership(turn)
    guard record.type.isListed else {
      throw WireError(.noRight, "Groups of type \(record.type.rawValue) are in no list of conversations")
    }
    return try requireMember(turn)
  }
}
