import GroupModel
import GroupPermissions
import WireProtocol

/// Changes of stored messages besides the recall: edits, pins and reactions, and their events
/// (Protocol.md, "Changes of messages", "Edits", "Pinned messages" and "Reactions").
extension GroupState {
  /// How many messages may be pinned.
  static let maxPinned = 10

  /// Decides over a message that was looked up.
  mutating func decide(_ lookUp: MessageLookUp, over found: FoundMessage?, _ turn: inout Turn) throws(WireError) {
    switch lookUp.purpose {
    case .revoke: try revoke(found, seq: lookUp.seq, &turn)
    case .modify(let request, let step): try modify(found, request, step, &turn)
    case .reply(let content, let options, let step): try reply(content, options, step, over: .stored(found), &turn)
    case .pin(let isPinned): try pin(found, seq: lookUp.seq, isPinned, &turn)
    case .react(let reaction, let isAdded): try react(found, reaction, to: lookUp.seq, isAdded: isAdded, &turn)
    case .report(let request, let mayPass): try report(found, seq: lookUp.seq, request, mayPass: mayPass, &turn)
    case .eraseReaction(let reaction, of: let user): eraseReaction(found, reaction, to: lookUp.seq, of: user, &turn)
    case .announce(let announcement): announceAgain(announcement, found, &turn)
    }
  }

  /// The message as it is now: what changed since its reading began is in memory.
  func current(_ found: FoundMessage?, seq: Int64) -> Message? {
    if let recent = messages.recentChanges[seq] { return recent.message }
    // The group may have been disbanded and created again while the message was read.
    guard let message = found?.message, message.msgID == messages.messageID(seq: seq) else { return nil }
    return message
  }

  /// The same, where the caller may see it.
  func current(_ found: FoundMessage?, seq: Int64, _ turn: borrowing Turn) throws(WireError) -> Message? {
    let visible = try visibility(turn)
    return current(found, seq: seq).flatMap { visible.contains($0) ? $0 : nil }
  }

  /// "10033 after membership", and 10030 for what the caller may not see.
  func requireVisible(_ seq: Int64, field: String = "seq", _ turn: borrowing Turn) throws(WireError) {
    guard try storedHistory(turn).contains(seq) else { throw WireError(.messageUnknown, field: field) }
  }

  /// The messages that the caller may see; 10033 where the type stores none.
  private func storedHistory(_ turn: borrowing Turn) throws(WireError) -> VisibleHistory {
    try requireMembership(turn)
    guard record.type.storesMessages else { throw WireError(.recallUnsupported) }
    return try visibleHistory(turn)
  }

  // MARK: Edits

  func modify(
    _ request: ModifyGroupMessage, _ step: MessageLookUp.Step, _ turn: borrowing Turn
  ) throws(WireError) -> LookUp {
    try requireVisible(request.seq, turn)
    return .message(MessageLookUp(seq: request.seq, purpose: .modify(request, step)))
  }

  /// "The order: 10033, 10030, 10032, another kind 10004, 10031, 10017, words, the same content": what
  /// the request does not give stays.
  private mutating func modify(
    _ found: FoundMessage?, _ request: ModifyGroupMessage, _ step: MessageLookUp.Step, _ turn: inout Turn
  ) throws(WireError) {
    let (seq, isUser) = (request.seq, turn.userID != nil)
    try requireVisible(seq, turn)
    guard var message = try current(found, seq: seq, turn), !message.isRevoked else {
      throw WireError(.messageUnknown, field: "seq")
    }
    guard message.isChat, !isUser || message.sender == turn.userID else { throw WireError(.recallNotYours) }
    try request.content?.requireKind(of: message.content)
    let window = rules.limits.editWindow
    if isUser, window > .zero, turn.now - message.timestamp > window { throw WireError(.recallTooLate) }
    try requireNotMuted(turn)
    var given = request.content
    if step.comparesWords, let content = given { given = try filtered(content, turn) }
    var extras = message.extras
    if let text = request.extension { extras = extras.with(extension: text) }
    if given?.isSame(as: message.content) ?? true, extras == message.extras { return turn.answer(editTime: nil) }
    switch step {
    case .check: return turn.answer(.message(MessageInfo(message)))
    case .drop: return turn.answer(editTime: turn.now)
    case .perform: break
    }
    try requireRoomForEvent()
    turn.answer(editTime: turn.now)
    if let given { message.content = given }
    message.extras = extras
    message.editTime = turn.now
    noteChange(of: &message, seq: seq, .modified, &turn)
    turn.store(.revise(message))
    let event = announce(.onRecvMessageModified(MessageInfo(message)), .modified(seq: seq), seq: seq, &turn)
    turn.post(.messageModified, .event(event))
  }

  // MARK: Pins

  func pin(_ request: PinGroupMessage, _ turn: borrowing Turn) throws(WireError) -> LookUp {
    try requirePinRight(over: request.seq, request.isPinned, turn)
    return .message(MessageLookUp(seq: request.seq, purpose: .pin(request.isPinned)))
  }

  private mutating func pin(_ found: FoundMessage?, seq: Int64, _ isPinned: Bool, _ turn: inout Turn) throws(WireError) {
    try requirePinRight(over: seq, isPinned, turn)
    let known = try isPinned ? current(found, seq: seq, turn) : current(found, seq: seq)
    if known?.isChat == false { throw WireError(.recallNotYours, "Tips are not pinned") }
    guard var message = known, !message.isRevoked else {
      if isPinned { throw WireError(.messageUnknown, field: "seq") }
      return
    }
    guard pinned.contains(seq) != isPinned else { return }
    if isPinned, pinned.count >= GroupState.maxPinned { throw WireError(.tooManyPinned) }
    try requireRoomForEvent()
    if isPinned { pinned.insert(seq, at: 0) } else { pinned.removeAll { $0 == seq } }
    message.isPinned = isPinned
    noteChange(of: &message, seq: seq, .pinned, isAdded: isPinned, &turn)
    turn.store(.noteChange(message))
    let content = GroupEvent.Content.onGroupMessagePinned(
      seq: seq, changeSeq: message.changeSeq, isPinned ? MessageInfo(message) : nil, by: eventOperator(turn))
    announce(content, .single(changeSeq: message.changeSeq), seq: seq, &turn)
  }

  /// "Pinning what is unknown or invisible is 10030, after rights; unpinning works on what is
  /// pinned, visible or not."
  private func requirePinRight(over seq: Int64, _ isPinned: Bool, _ turn: borrowing Turn) throws(WireError) {
    let visible = try storedHistory(turn)
    try require(.pinMessage, turn)
    if isPinned, !visible.contains(seq) { throw WireError(.messageUnknown, field: "seq") }
  }

  func pinnedMessages(_ turn: borrowing Turn) throws(WireError) -> StoredAnswer {
    let visible = try storedHistory(turn)
    return .pinned(pinned.filter(visible.contains), scope(of: visible.visibility))
  }

  /// "Those I may see, as they are now, in the order of seqList, each once; else 10033."
  func chosenMessages(_ request: GetGroupMessages, _ turn: borrowing Turn) throws(WireError) -> StoredAnswer {
    let visible = try storedHistory(turn)
    return .messages(request.seqs.filter(visible.contains), scope(of: visible.visibility))
  }

  // MARK: Reactions

  func react(
    _ reaction: String, to seq: Int64, isAdded: Bool, _ turn: borrowing Turn
  ) throws(WireError) -> LookUp {
    try requireVisible(seq, turn)
    return .message(MessageLookUp(seq: seq, purpose: .react(reaction, isAdded: isAdded)))
  }

  private mutating func react(
    _ found: FoundMessage?, _ reaction: String, to seq: Int64, isAdded: Bool, _ turn: inout Turn
  ) throws(WireError) {
    try requireVisible(seq, turn)
    guard let user = turn.userID else { throw WireError(.noRight, "Only users react to messages") }
    guard var message = try current(found, seq: seq, turn), !message.isRevoked else {
      throw WireError(.messageUnknown, field: "seq")
    }
    guard message.isChat else { throw WireError(.recallNotYours, "Tips have no reactions") }
    try requireNotMuted(turn)
    var reactions = messages.recentChanges[seq]?.reactions ?? ReactionsOfMessage(found?.reactions ?? [])
    let isGiven =
      reactions.isGiven(reaction, by: user)
      ?? found?.reactions.contains { $0.isByReader && $0.reaction.isSame(as: reaction) } ?? false
    guard isGiven != isAdded else { return }
    if isAdded, reactions.kind(reaction) == nil, reactions.kinds.count >= rules.limits.reactionsPerMessage {
      throw WireError(.tooManyReactions)
    }
    try requireRoomForEvent()
    let changeSeq = record.changeSeq + 1
    let number = isAdded ? reactions.add(reaction, by: user, changeSeq: changeSeq) : reactions.remove(reaction, by: user)
    guard let number else { throw WireError(.internalError) }
    noteChange(of: &message, seq: seq, .reaction, reaction: reaction, isAdded: isAdded, reactions: reactions, &turn)
    turn.store(.noteChange(message))
    turn.store(
      .updateReaction(
        ReactionUpdate(
          group: record.id, seq: seq, number: number, reaction: reaction, user: user, isAdded: isAdded, changeSeq: changeSeq)))
    let counts = reactions.kinds.map { ReactionCount(reaction: $0.reaction, count: $0.count) }
    let change = ReactionsChange(seq: seq, changeSeq: changeSeq, reactions: counts, reaction: reaction, isAdded: isAdded)
    announce(.onRecvMessageReactionsChanged(change, by: eventOperator(turn)), .reactions(seq: seq), seq: seq, &turn)
  }

  /// "getMessageReactions leaves out unknown and invisible seqs."
  func reactions(_ request: GetMessageReactions, _ turn: borrowing Turn) throws(WireError) -> StoredAnswer {
    let visible = try storedHistory(turn)
    return .reactions(request.seqs.filter(visible.contains), users: request.userCount, scope(of: visible.visibility))
  }

  // MARK: Numbers and events

  /// Gives a change its number, and keeps it for readings that have begun.
  /// - Parameters:
  ///   - reaction: that is added or removed.
  ///   - isAdded: of a reaction or a pin.
  ///   - reactions: nil = they do not change.
  mutating func noteChange(
    of message: inout Message, seq: Int64, _ kind: ChangeOrigin.Kind, reaction: String? = nil, isAdded: Bool = true,
    reactions: ReactionsOfMessage? = nil, _ turn: inout Turn
  ) {
    record.changeSeq += 1
    record.changeTime = turn.now
    message.changeSeq = record.changeSeq
    messages.noteChange(of: message, seq: seq, reactions: reactions)
    turn.decision.changesMessages = true
    turn.store(.putChangeSeq(record.changeSeq, at: turn.now, in: record.id))
    guard rules.keepsStamps else { return }
    let origin = ChangeOrigin(
      kind, by: turn.caller.senderID, on: turn.caller.platform, reaction: reaction, isAdded: isAdded)
    turn.decision.notedChange = NotedChange(origin, seq: seq, changeSeq: record.changeSeq)
  }

  /// Further events than fit are refused, because the last state of each message has to arrive.
  private func requireRoomForEvent() throws(WireError) {
    guard announcements.isFull else { return }
    throw WireError(.groupMessageRate, retryAfterMs: ChangeAnnouncements.intervalMilliseconds)
  }

  /// Adds the event of a change, and sends those that are due.
  @discardableResult
  mutating func announce(
    _ content: GroupEvent.Content, _ kind: ChangeAnnouncements.Kind, seq: Int64, _ turn: inout Turn
  ) -> GroupEvent {
    let event = turn.event(content)
    // The change was noted, so the message is among the recent ones.
    let audience = messages.recentChanges[seq].flatMap { ChangeAnnouncements.Audience(of: $0.message) }
    if !announcements.isWaiting(kind) { charge(event, to: audience.map { [$0.sender] + $0.targets }, &turn) }
    announcements.add(content, kind, seq: seq, changeSeq: record.changeSeq, audience: audience)
    publishChanges(&turn)
    return event
  }

  /// Sends the events of changes that are due.
  mutating func publishChanges(_ turn: inout Turn) {
    while let due = announcements.popDue(at: turn.monotonic) {
      guard let readers = readers(of: due.seq, due.audience) else {
        turn.publish(due.content)
        continue
      }
      if !readers.isEmpty { turn.send(due.content, to: readers) }
    }
  }

  /// The event of a change was lost with the state, because a later commit failed. It is made again
  /// from what is stored.
  private mutating func announceAgain(
    _ lost: ChangeAnnouncements.Announcement, _ found: FoundMessage?, _ turn: inout Turn
  ) {
    let seq = lost.seq
    guard let message = current(found, seq: seq), message.changeSeq > 0 else { return }
    let reactions = messages.recentChanges[seq]?.reactions?.kinds ?? found?.reactions ?? []
    guard let (content, kind) = lost.content.again(for: message, reactions) else { return }
    announcements.add(
      content, kind, seq: seq, changeSeq: message.changeSeq, audience: ChangeAnnouncements.Audience(of: message))
    publishChanges(&turn)
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

extension MessageExtras? {
  /// The same with another extension; an empty one is none.
  fileprivate func with(extension text: String) -> MessageExtras? {
    self?.with(extension: text) ?? MessageExtras(extension: text)
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
