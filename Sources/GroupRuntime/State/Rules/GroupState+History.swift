import GroupModel
import WireProtocol

/// Reading: history, reconnecting, read marks, unread counts and receive options (Protocol.md,
/// "History", "Reconnecting", "Unread counts" and "Receive options").
extension GroupState {
  // MARK: getGroupHistoryMessageList and syncGroups

  func history(_ request: GetGroupHistoryMessageList, _ turn: borrowing Turn) throws(WireError) -> StoredAnswer {
    let visible = try visibleHistory(turn)
    let (isOlder, count) = (request.direction == .older, Int64(request.count))
    return .history(
      HistoryQuestion(
        visible: visible, bound: isOlder && request.fromSeq == 0 ? .max : request.fromSeq, newestFirst: isOlder, count: count,
        scope: scope(of: visible.visibility)))
  }

  /// The history for a reader, as it is now.
  func scope(of visibility: Visibility) -> HistoryScope {
    HistoryScope(visibility: visibility, epoch: record.epoch, features: record.messageFeatures)
  }

  /// "Every message after seq that I may see, none missing, or recovered:false and none."
  func sync(
    epoch: String, seq: Int64, changeSeq: Int64?, bytes: Int, _ turn: borrowing Turn
  ) throws(WireError) -> SyncAnswer {
    try requireMembership(turn)
    let isKnown =
      record.type.storesMessages && epoch == record.epoch && seq <= messages.lastSeq && changeSeq ?? 0 <= record.changeSeq
    let visible = isKnown ? try visibleHistory(turn) : nil
    return SyncAnswer(
      epoch: record.epoch, lastSeq: messages.lastSeq, visible: visible.flatMap { $0.isComplete(after: seq) ? $0 : nil }, seq: seq,
      changeSeq: changeSeq, lastChangeSeq: record.changeSeq, features: record.messageFeatures, bytes: bytes)
  }

  // MARK: Visible messages

  /// The messages that the caller may see and that are kept; 10007 where the type has no history.
  func visibleHistory(_ turn: borrowing Turn) throws(WireError) -> VisibleHistory {
    VisibleHistory(try visibility(turn), keptFrom: messages.firstSeq)
  }

  /// The messages that a member may see and that are kept: retention shortens every reader's history.
  func visibleHistory(of member: Member) -> VisibleHistory {
    VisibleHistory(visibility(of: member), keptFrom: messages.firstSeq)
  }

  /// The messages that the caller may see; 10007 where the type has no history.
  func visibility(_ turn: borrowing Turn) throws(WireError) -> Visibility {
    try requireMembership(turn)
    guard record.type.storesMessages else { throw WireError(.noRight, "This type of group keeps no history") }
    guard let member = turn.userID.flatMap({ roster[$0] }) else {
      return Visibility(ofApplicationThrough: messages.lastSeq)
    }
    return visibility(of: member)
  }

  /// The messages that a member may see: the group's policy decides at the moment of reading.
  func visibility(of member: Member) -> Visibility {
    Visibility(
      of: member.userID, from: member.firstVisibleSeq, earlier: member.earlierVisibleRanges,
      clearedThrough: member.clearedSeq, through: messages.lastSeq, under: record.policy.historyVisibility)
  }

  /// The members who may see a message; nil = all.
  func readers(of message: Message) -> [UserID]? {
    readers(of: message.seq ?? 0, ChangeAnnouncements.Audience(of: message))
  }

  /// The same of a message that is known by its place.
  /// - Parameter audience: nil = it is for everybody.
  func readers(of seq: Int64, _ audience: ChangeAnnouncements.Audience?) -> [UserID]? {
    if let audience {
      return ([audience.sender] + audience.targets).filter { roster[$0].map { sees(seq, $0) } ?? false }
    }
    // As a rule the message is newer than the last joining, and nobody has cleared it.
    if seq > roster.clearedMax, record.policy.historyVisibility == .all || seq >= roster.firstVisibleMax { return nil }
    let readers = roster.all.filter { sees(seq, $0) }
    return readers.count == roster.count ? nil : readers.map(\.userID)
  }

  /// Whether a member may see what stands at a place. As a rule the present membership tells, and no
  /// ranges are made: every member of a large group is asked.
  private func sees(_ seq: Int64, _ member: Member) -> Bool {
    member.firstVisibleSeq <= seq && member.clearedSeq < seq || visibility(of: member).contains(seq: seq)
  }

  // MARK: Read marks and unread counts

  /// "Default and at most lastSeq", forward only.
  mutating func markRead(seq: Int64?, _ turn: inout Turn) throws(WireError) {
    try requireMembership(turn)
    guard record.type.storesMessages else { return }
    let member = try requireMember(turn)
    let seq = min(seq ?? messages.lastSeq, messages.lastSeq)
    // A count set by the application ends with the next mark, also where there is nothing new to
    // read.
    let moves = seq > member.readSeq || (seq == member.readSeq && member.unreadBase > 0)
    // So does the user's own mark, whatever they have read.
    let isMarkedUnread = member.conversation.isMarkedUnread
    guard moves || isMarkedUnread else { return }
    updateMember(member.userID, &turn) { member in
      member.conversation.isMarkedUnread = false
      guard moves else { return }
      member.readSeq = seq
      member.forgetUnheard(through: seq)
      // Without such a count, imported messages stay read.
      if member.unreadBase > 0 { member.unreadSinceSeq = nil }
      member.unreadBase = 0
    }
    if seq > member.readSeq { turn.send(.onConversationRead(readSeq: seq), to: [member.userID], except: turn.session) }
    guard isMarkedUnread else { return }
    var change = ConversationChange()
    change.isMarkedUnread = false
    turn.send(.onConversationChanged(change, clearedSeq: nil), to: [member.userID], except: turn.session)
  }

  /// Nil = the caller is an administrator, or has no record: nothing is unread.
  func unread(_ turn: borrowing Turn) throws(WireError) -> UnreadMessages? {
    try requireMembership(turn)
    return turn.userID.flatMap { roster[$0] }.map { unread(of: $0) }
  }

  /// "Text and Custom of others after readSeq, not recalled"; imported messages and those that came
  /// under NotReceive do not count.
  func unread(of member: Member) -> UnreadMessages {
    let lastSeq = messages.lastSeq
    let counts = record.type.countsUnread && member.receiveOption != .notReceive
    let unread = member.unreadSinceSeq.map { max($0, member.readSeq, record.importedThroughSeq) } ?? member.readSeq
    // Counts of before a removal have another start, so they are not used again.
    let after = counts ? max(unread, messages.firstSeq - 1, member.clearedSeq) : lastSeq
    let managersOnly = member.receiveOption == .receiveFromManagers
    let unheard = member.unheardRanges.filter { $0.upperBound > after }
    let (question, known, through) = messages.unreadQuestion(
      of: member.userID, after: after, unheard: unheard, managersOnly: managersOnly)
    let limit = rules.limits.unreadCount
    return UnreadMessages(
      reader: member.userID, base: counts ? member.unreadBase : 0, known: known,
      ranges: through < lastSeq && known < limit ? (through + 1...lastSeq).without(unheard) : [], through: lastSeq,
      managersOnly: managersOnly, skipsFlagged: !record.messageFeatures.isDisjoint(with: .uncounted), limit: limit,
      question: question)
  }

  /// An application administrator sets a member's unread count.
  mutating func setUnreadCount(_ request: SetUnreadCount, _ turn: inout Turn) throws(WireError) {
    guard record.type.countsUnread else { throw WireError(.noRight, "This type of group counts no unread messages") }
    let member = try requireTarget(request.userID)
    let newest = messages.lastSeq
    updateMember(member.userID, &turn) { member in
      // Under NotReceive nothing is unread, and afterwards only what was before.
      member.unreadBase = member.receiveOption == .notReceive ? 0 : request.unreadCount
      member.unreadSinceSeq = newest
    }
  }

  // MARK: Receive options

  mutating func setReceiveOption(_ option: ReceiveOption, _ turn: inout Turn) throws(WireError) {
    try requireMembership(turn)
    guard let user = turn.userID else { throw WireError(.noRight, "Only users have a receive option") }
    let previous = roster.receiveOption(of: user)
    guard option != previous else { return }
    let newest = messages.lastSeq
    updateMember(user, &turn) { member in
      member.receiveOption = option
      // Messages that came under NotReceive were not received, so they do not become unread.
      if option == .notReceive { member.beginUnheard(after: newest) }
      if previous == .notReceive, !member.endUnheard(at: newest) {
        member.unreadBase = 0
        member.unreadSinceSeq = newest
      }
    }
    turn.perform(.setReceiveOption(user, option.delivered))
    turn.send(.onReceiveMessageOptChanged(option), to: [user], except: turn.session)
  }
}

extension ClosedRange<Int64> {
  /// The range without others, which ascend.
  fileprivate func without(_ others: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
    var (parts, next): ([ClosedRange<Int64>], Int64) = ([], lowerBound)
    for other in others where other.upperBound >= next && next <= upperBound {
      let end = Swift.min(other.lowerBound - 1, upperBound)
      if next <= end { parts.append(next...end) }
      next = other.upperBound + 1
    }
    return next <= upperBound ? parts + [next...upperBound] : parts
  }
}
