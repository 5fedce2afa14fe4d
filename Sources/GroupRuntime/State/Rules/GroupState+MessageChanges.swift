import GroupModel
import GroupPermissions
import WireProtocol

/// Changes of stored messages besides the recall: edits, pins and reactions, and their events
/// (Protocol.md, "Changes of messages", "Edits", "Pinned messages" and "Reactions").
extension GroupState {
  /// How many messages may be pinned.
  static let maxPinned = 10

  /// Decides over a message that was looked up.
  mutating func decide(
    _ lookUp: MessageLookUp, over found: FoundMessage?, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    switch lookUp.request {
    case .revoke: return try revoke(found, seq: lookUp.seq, by: caller, in: context)
    case .modify(let request, let step): return try modify(found, request, step, by: caller, in: context)
    case .pin(let isPinned): return try pin(found, seq: lookUp.seq, isPinned, by: caller, in: context)
    case .react(let reaction, let isAdded):
      return try react(found, reaction, to: lookUp.seq, isAdded: isAdded, by: caller, in: context)
    case .announce(let announcement): return announceAgain(announcement, found, in: context)
    }
  }

  /// The message as it is now: what changed since its reading began is in memory.
  func current(_ found: FoundMessage?, seq: Int64) -> Message? {
    if let recent = messages.recentChanges[seq] { return recent.message }
    // The group may have been disbanded and created again while the message was read.
    guard let message = found?.message, message.msgID == messages.messageID(seq: seq) else { return nil }
    return message
  }

  /// "10033 after membership", and 10030 for what the caller may not see.
  private func requireVisible(_ seq: Int64, by caller: Caller) throws(WireError) {
    try requireStoredMessages(caller)
    guard try visibleHistory(for: caller).contains(seq) else { throw WireError(.messageUnknown, field: "seq") }
  }

  private func requireStoredMessages(_ caller: Caller) throws(WireError) {
    try requireMembership(caller)
    guard record.type.storesMessages else { throw WireError(.recallUnsupported) }
  }

  // MARK: Edits

  func modify(
    _ request: ModifyGroupMessage, _ step: MessageLookUp.EditStep, by caller: Caller
  ) throws(WireError) -> Decision {
    try requireVisible(request.seq, by: caller)
    return .answer(.lookUp(MessageLookUp(seq: request.seq, request: .modify(request, step)), by: caller))
  }

  /// "The order: 10033, 10030, 10032, another kind 10004, 10031, 10017, the same content."
  private mutating func modify(
    _ found: FoundMessage?, _ request: ModifyGroupMessage, _ step: MessageLookUp.EditStep, by caller: Caller,
    in context: DecisionContext
  ) throws(WireError) -> Decision {
    let seq = request.seq
    try requireVisible(seq, by: caller)
    guard var message = current(found, seq: seq), !message.isRevoked else { throw WireError(.messageUnknown, field: "seq") }
    guard message.isChat, caller.userID == nil || message.sender == caller.userID else { throw WireError(.recallNotYours) }
    try request.content.requireKind(of: message.content)
    let window = rules.limits.editWindow
    if caller.userID != nil, window > .zero, context.now - message.timestamp > window { throw WireError(.recallTooLate) }
    try requireNotMuted(caller, at: context.wall)
    if request.content.isSame(as: message.content) { return Decision(.modified(ModifyGroupMessage.Result(editTime: nil))) }
    switch step {
    case .check: return Decision(.message(MessageInfo(message)))
    case .drop: return Decision(.modified(ModifyGroupMessage.Result(editTime: context.now)))
    case .perform: break
    }
    try requireRoomForEvent()
    var decision = Decision(.modified(ModifyGroupMessage.Result(editTime: context.now)))
    message.content = request.content
    message.editTime = context.now
    noteChange(of: &message, seq: seq, in: context, into: &decision)
    decision.changes.append(.revise(message))
    let content = GroupEvent.Content.onRecvMessageModified(MessageInfo(message))
    announce(content, .modified(seq: seq), seq: seq, in: context, into: &decision)
    post(.messageModified, .event(event(content, in: context)), at: context.now, into: &decision)
    return decision
  }

  // MARK: Pins

  func pin(_ request: PinGroupMessage, by caller: Caller) throws(WireError) -> Decision {
    try requirePinRight(over: request.seq, request.isPinned, by: caller)
    return .answer(.lookUp(MessageLookUp(seq: request.seq, request: .pin(request.isPinned)), by: caller))
  }

  private mutating func pin(
    _ found: FoundMessage?, seq: Int64, _ isPinned: Bool, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requirePinRight(over: seq, isPinned, by: caller)
    let known = current(found, seq: seq)
    if known?.isChat == false { throw WireError(.recallNotYours, "Tips are not pinned") }
    guard var message = known, !message.isRevoked else {
      if isPinned { throw WireError(.messageUnknown, field: "seq") }
      return Decision(.empty)
    }
    guard pinned.contains(seq) != isPinned else { return Decision(.empty) }
    if isPinned, pinned.count >= GroupState.maxPinned { throw WireError(.tooManyPinned) }
    try requireRoomForEvent()
    var decision = Decision(.empty)
    if isPinned { pinned.insert(seq, at: 0) } else { pinned.removeAll { $0 == seq } }
    message.isPinned = isPinned
    noteChange(of: &message, seq: seq, in: context, into: &decision)
    decision.changes.append(.noteChange(message))
    let content = GroupEvent.Content.onGroupMessagePinned(
      seq: seq, changeSeq: message.changeSeq, isPinned ? MessageInfo(message) : nil, by: eventOperator(caller))
    announce(content, .single(changeSeq: message.changeSeq), seq: seq, in: context, into: &decision)
    return decision
  }

  /// "Pinning what is unknown or invisible is 10030, after rights; unpinning works on what is
  /// pinned, visible or not."
  private func requirePinRight(over seq: Int64, _ isPinned: Bool, by caller: Caller) throws(WireError) {
    try requireStoredMessages(caller)
    try require(.pinMessage, by: caller)
    if isPinned { try requireVisible(seq, by: caller) }
  }

  func pinnedMessages(for caller: Caller) throws(WireError) -> Decision {
    try requireStoredMessages(caller)
    let visible = try visibleHistory(for: caller)
    return .answer(
      .stored(.pinned(pinned.filter(visible.contains), epoch: record.epoch, reader: caller.userID), for: caller.requester))
  }

  // MARK: Reactions

  func react(_ reaction: String, to seq: Int64, isAdded: Bool, by caller: Caller) throws(WireError) -> Decision {
    try requireVisible(seq, by: caller)
    return .answer(.lookUp(MessageLookUp(seq: seq, request: .react(reaction, isAdded: isAdded)), by: caller))
  }

  private mutating func react(
    _ found: FoundMessage?, _ reaction: String, to seq: Int64, isAdded: Bool, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireVisible(seq, by: caller)
    guard let user = caller.userID else { throw WireError(.noRight, "Only users react to messages") }
    guard var message = current(found, seq: seq), !message.isRevoked else { throw WireError(.messageUnknown, field: "seq") }
    guard message.isChat else { throw WireError(.recallNotYours, "Tips have no reactions") }
    try requireNotMuted(caller, at: context.wall)
    var reactions = messages.recentChanges[seq]?.reactions ?? ReactionsOfMessage(found?.reactions ?? [])
    let isGiven =
      reactions.isGiven(reaction, by: user)
      ?? found?.reactions.contains { $0.isByReader && $0.reaction.isSame(as: reaction) } ?? false
    guard isGiven != isAdded else { return Decision(.empty) }
    if isAdded, reactions.kind(reaction) == nil, reactions.kinds.count >= rules.limits.reactionsPerMessage {
      throw WireError(.tooManyReactions)
    }
    try requireRoomForEvent()
    let changeSeq = record.changeSeq + 1
    let number = isAdded ? reactions.add(reaction, by: user, changeSeq: changeSeq) : reactions.remove(reaction, by: user)
    guard let number else { throw WireError(.internalError) }
    var decision = Decision(.empty)
    noteChange(of: &message, seq: seq, reactions: reactions, in: context, into: &decision)
    decision.changes += [
      .noteChange(message),
      .updateReaction(
        ReactionUpdate(
          group: record.id, seq: seq, number: number, reaction: reaction, user: user, isAdded: isAdded, changeSeq: changeSeq)),
    ]
    let counts = reactions.kinds.map { ReactionCount(reaction: $0.reaction, count: $0.count) }
    announce(
      .onRecvMessageReactionsChanged(
        ReactionsChange(seq: seq, changeSeq: changeSeq, reactions: counts, reaction: reaction, isAdded: isAdded),
        by: eventOperator(caller)),
      .reactions(seq: seq), seq: seq, in: context, into: &decision)
    return decision
  }

  /// "getMessageReactions leaves out unknown and invisible seqs."
  func reactions(_ request: GetMessageReactions, for caller: Caller) throws(WireError) -> Decision {
    try requireStoredMessages(caller)
    let visible = try visibleHistory(for: caller)
    let seqs = request.seqs.filter(visible.contains)
    return .answer(
      .stored(
        .reactions(seqs, users: request.userCount, epoch: record.epoch, reader: caller.userID), for: caller.requester))
  }

  // MARK: Numbers and events

  /// Gives a change its number, and keeps it for readings that have begun.
  /// - Parameter reactions: nil = they do not change.
  mutating func noteChange(
    of message: inout Message, seq: Int64, reactions: ReactionsOfMessage? = nil, in context: DecisionContext,
    into decision: inout Decision
  ) {
    record.changeSeq += 1
    record.changeTime = context.now
    message.changeSeq = record.changeSeq
    messages.noteChange(of: message, seq: seq, reactions: reactions)
    decision.changesMessages = true
    decision.changes.append(.putChangeSeq(record.changeSeq, at: context.now, in: record.id))
  }

  /// Further events than fit are refused, because the last state of each message has to arrive.
  private func requireRoomForEvent() throws(WireError) {
    guard announcements.isFull else { return }
    throw WireError(.groupMessageRate, retryAfterMs: ChangeAnnouncements.interval.wholeMilliseconds)
  }

  /// Adds the event of a change, and sends those that are due.
  mutating func announce(
    _ content: GroupEvent.Content, _ kind: ChangeAnnouncements.Kind, seq: Int64, in context: DecisionContext,
    into decision: inout Decision
  ) {
    if !announcements.isWaiting(kind) { charge(event(content, in: context), in: context, into: &decision) }
    announcements.add(content, kind, seq: seq, changeSeq: record.changeSeq)
    publishChanges(in: context, into: &decision)
  }

  /// Sends the events of changes that are due.
  mutating func publishChanges(in context: DecisionContext, into decision: inout Decision) {
    while let due = announcements.popDue(at: context.monotonic) {
      let event = event(due.content, in: context)
      guard let readers = readers(of: due.seq) else {
        decision.effects.append(.publish(event, .control, except: nil))
        continue
      }
      if !readers.isEmpty { decision.effects.append(.send(event, to: readers)) }
    }
  }

  /// The members who may see a message; nil = all.
  private func readers(of seq: Int64) -> [UserID]? {
    if record.type.showsHistoryFromBeforeJoining { return nil }
    let readers = roster.all.filter { member in
      member.firstVisibleSeq <= seq || member.earlierVisibleRanges.contains { $0.contains(seq) }
    }
    return readers.count == roster.count ? nil : readers.map(\.userID)
  }

  /// The event of a change was lost with the state, because a later commit failed. It is made again
  /// from what is stored.
  private mutating func announceAgain(
    _ lost: ChangeAnnouncements.Announcement, _ found: FoundMessage?, in context: DecisionContext
  ) -> Decision {
    var decision = Decision(.empty)
    let seq = lost.seq
    guard let message = current(found, seq: seq), message.changeSeq > 0 else { return decision }
    let reactions = messages.recentChanges[seq]?.reactions?.kinds ?? found?.reactions ?? []
    guard let (content, kind) = lost.content.again(for: message, reactions) else { return decision }
    announcements.add(content, kind, seq: seq, changeSeq: message.changeSeq)
    publishChanges(in: context, into: &decision)
    return decision
  }
}

extension GroupEvent.Content {
  /// The event of the same kind for the message as it is now; nil = nothing of it is stored.
  fileprivate func again(
    for message: Message, _ reactions: [StoredReaction]
  ) -> (GroupEvent.Content, ChangeAnnouncements.Kind)? {
    let (seq, changeSeq) = (message.seq ?? 0, message.changeSeq)
    switch self {
    case .onRecvMessageRevoked(_, _, _, let by):
      guard message.isRevoked else { return nil }
      return (
        .onRecvMessageRevoked(msgID: message.msgID, seq: seq, changeSeq: changeSeq, by: by), .single(changeSeq: changeSeq)
      )
    case _ where message.isRevoked: return nil
    case .onRecvMessageModified: return (.onRecvMessageModified(MessageInfo(message)), .modified(seq: seq))
    case .onRecvMessageReactionsChanged(let change, let by):
      let counts = reactions.map { ReactionCount(reaction: $0.reaction, count: $0.count) }
      let now = ReactionsChange(
        seq: seq, changeSeq: changeSeq, reactions: counts, reaction: change.reaction, isAdded: change.isAdded)
      return (.onRecvMessageReactionsChanged(now, by: by), .reactions(seq: seq))
    case .onGroupMessagePinned(_, _, _, let by):
      let info = message.isPinned ? MessageInfo(message) : nil
      return (.onGroupMessagePinned(seq: seq, changeSeq: changeSeq, info, by: by), .single(changeSeq: changeSeq))
    default: return nil
    }
  }
}

extension Message.Content {
  /// Another kind than the message's own is 10004.
  fileprivate func requireKind(of content: Message.Content) throws(WireError) {
    switch (self, content) {
    case (.text, .text), (.custom, .custom): return
    case (.text, _): throw WireError(.badValue, "The message has data", field: "text")
    case (_, _): throw WireError(.badValue, "The message has a text", field: "data")
    }
  }

  fileprivate func isSame(as content: Message.Content) -> Bool {
    switch (self, content) {
    case (.text(let a), .text(let b)), (.custom(let a), .custom(let b)): a.isSame(as: b)
    default: false
    }
  }
}
