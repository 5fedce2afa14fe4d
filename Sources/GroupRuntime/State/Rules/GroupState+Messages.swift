import GroupModel
import GroupPermissions
import WireProtocol

/// Sending and recalling messages, and sendGroupSystemNotification (Protocol.md, "Sending",
/// "Recall" and "Application methods").
extension GroupState {
  /// - Parameter answered: the message that this one answers; nil = it is no reply, or that one is to be
  ///   looked up.
  mutating func send(
    _ content: Message.Content, _ options: MessageOptions, answering answered: AnsweredMessage? = nil, _ turn: inout Turn
  ) throws(WireError) {
    if answered == nil, let extras = options.extras {
      let step = MessageLookUp.Step.perform(isFiltered: turn.facts.isFiltered)
      if let first = extras.firstSentAt { return try resend(content, options, since: first, step, &turn) }
      if let seq = extras.replyTo { return try reply(to: seq, content, options, step, &turn) }
    }
    let sender = try checkedSender(options, turn)
    if let id = options.clientMsgID, let first = messages.receipt(of: id, from: turn.caller.senderID, at: turn.monotonic) {
      return turn.answer(.receipt(first))
    }
    // Whether it was sent before is not stored, nor what a live room has sent.
    if turn.caller.isRepeated, !record.type.storesMessages { throw .outcomeUnknown }
    let extras = try options.extras == nil ? nil : self.extras(options, answering: answered, turn)
    try requireNotMuted(sender, at: turn.wall)
    if options.needReadReceipt { try requireFewMembers() }
    try requireRate(of: sender, turn)
    let content = try filtered(content, turn)
    // Where a rate may drop the message, it counts when that is known.
    if rateLimiter == nil { countRate(of: sender, turn) }

    let isStored = record.type.storesMessages && !options.onlineUserOnly
    let seq = isStored ? messages.lastSeq + 1 : nil
    // Where a rate may hold the message up, it gets its place when it leaves.
    let isPlaced = live != nil && rateLimiter == nil && !options.onlineUserOnly
    let message = makeMessage(content, options, extras, seq: seq, place: isPlaced ? live?.nextSeq() : seq, by: sender, turn)
    // Its last use moves the message, which is large, and copies it nowhere.
    if rateLimiter != nil {
      if offer(message, isForOnlineUsers: options.onlineUserOnly, &turn) { countRate(of: sender, turn) }
      return
    }
    acknowledge(message, isStored ? .stored : .delivered, &turn)
    if isStored {
      turn.decision.changes = [.append(message)]
      if message.extras != nil { noteExtras(of: message, &turn) }
      messages.append(message)
    }
    turn.decision.counts = [MessageCount(type: record.type, priority: message.priority, steps: [.accepted, .delivered])]
    turn.decision.showsMembers = false
    turn.decision.fanOut = fanOut(of: message, turn)
    storeReceiptMembers(at: message, &turn)
    turn.decision.effects = [publication(of: message, by: turn.caller.profile, from: turn.session, turn)]
    if !rules.webhooks.isEmpty {
      postPublished(isDurable: isStored, pushes: !options.onlineUserOnly, trace: turn.caller.trace, &turn)
    }
    endHidden(&turn)
  }

  /// Notes in the record what messages the group has, and the last message where this one may not be
  /// it. Called before the message is the newest.
  mutating func noteExtras(of message: Message, _ turn: inout Turn) {
    guard let extras = message.extras else { return }
    let isBehind = !message.movesLastMessage && record.lastShownSeq != messages.lastShownSeq
    if isBehind { (record.lastShownSeq, record.lastShownTime) = (messages.lastShownSeq, messages.lastTime) }
    if !record.messageFeatures.isSuperset(of: extras.features) {
      record.messageFeatures.formUnion(extras.features)
      turn.store(recordChange())
    } else if isBehind {
      turn.store(.putLastShown(seq: record.lastShownSeq, at: record.lastShownTime, in: record.id))
    }
  }

  /// What a message sends to those of its members who are online.
  @inline(__always)
  func fanOut(of message: Message, _ turn: borrowing Turn) -> FanOut {
    let receivers =
      message.isTargeted
      ? roster.receivers(of: message).count { roster.isOnline($0) } : roster.onlineCount(usersSignedIn: turn.usersSignedIn)
    return FanOut(to: receivers, ofBytes: 448 + message.byteCount)
  }

  /// - Parameters:
  ///   - seq: in the store, which makes the msgID: those of a live room go on when its places begin anew.
  ///   - place: the message's `seq`.
  @inline(__always)
  private mutating func makeMessage(
    _ content: Message.Content, _ options: MessageOptions, _ extras: MessageExtras?, seq: Int64?, place: Int64?,
    by sender: Sender, _ turn: borrowing Turn
  ) -> Message {
    Message(
      msgID: messages.nextMessageID(seq: seq), groupID: record.id, seq: place, sender: turn.caller.senderID,
      nameCard: sender.nameCard, timestamp: turn.now, content: content, priority: options.priority,
      clientMsgID: options.clientMsgID, atUserIDList: options.atUserIDList, platform: turn.caller.platform,
      isFromManager: sender.isManager, needReadReceipt: options.needReadReceipt, extras: extras)
  }

  /// The sender, or the error of membership, rights and mentions.
  @inline(__always)
  private func checkedSender(_ options: MessageOptions, _ turn: borrowing Turn) throws(WireError) -> Sender {
    let sender = sender(turn.caller)
    if sender.principal == .outsider { throw WireError(.noRight, "Not a member") }
    try require(.send, by: sender.principal)
    if options.needReadReceipt { try requireReceiptType() }
    try checkMentions(options, by: sender)
    return sender
  }

  /// The receipt of a message that is sent again, or the error of membership, rights and mentions,
  /// which come before it; nil = the message is new.
  func firstReceipt(_ options: MessageOptions, _ turn: borrowing Turn) throws(WireError) -> MessageReceipt? {
    _ = try checkedSender(options, turn)
    return messages.receipt(of: options.clientMsgID, from: turn.caller.senderID, at: turn.monotonic)
  }

  // MARK: Rates

  /// Throws where the sender has to wait, by slow mode or by the group's rate: with the longer of both
  /// waits. Nothing is counted.
  @inline(__always)
  private func requireRate(of sender: Sender, _ turn: borrowing Turn) throws(WireError) {
    let wait = messageRate?.wait(at: turn.monotonic)
    if record.policy.slowMode > 0, sender.isSlowed,
      let own = slow?.wait(turn.caller.senderID, seconds: record.policy.slowMode, at: turn.monotonic), own >= wait ?? 0
    {
      throw WireError(.groupMessageRate, "The group is in slow mode", retryAfterMs: own)
    }
    if let wait { throw WireError(.groupMessageRate, retryAfterMs: wait) }
  }

  /// Counts a message that is sent, or waits in the queue of a live room.
  @inline(__always)
  private mutating func countRate(of sender: Sender, _ turn: borrowing Turn) {
    _ = messageRate?.acquire(at: turn.monotonic)
    if record.policy.slowMode > 0, sender.isSlowed { noteSlowMode(of: turn.caller.senderID, at: turn.monotonic) }
  }

  @inline(never)
  private mutating func noteSlowMode(of user: UserID, at now: MonotonicInstant) {
    if slow == nil { slow = SlowMode() }
    slow?.note(user, seconds: record.policy.slowMode, at: now)
  }

  // MARK: Asking the application first

  /// The checks of sending before the application is asked. Nothing counts for a rate yet.
  /// - Returns: the receipt of a message that is sent again; nil = the application is to be asked.
  func checkSend(
    _ options: MessageOptions, answering answered: AnsweredMessage?, _ turn: borrowing Turn
  ) throws(WireError) -> MessageReceipt? {
    let sender = try checkedSender(options, turn)
    if let id = options.clientMsgID, let first = messages.receipt(of: id, from: turn.caller.senderID, at: turn.monotonic) {
      return first
    }
    if options.extras != nil { _ = try extras(options, answering: answered, turn) }
    try requireNotMuted(sender, at: turn.wall)
    if options.needReadReceipt { try requireFewMembers() }
    try requireRate(of: sender, turn)
    return nil
  }

  /// Answers a message as if it were sent, with the status Dropped: the application said so. It
  /// takes no `seq`, counts for no rate, and its clientMsgID is not remembered.
  /// - Parameter answered: see `send`.
  mutating func drop(
    _ content: Message.Content, _ options: MessageOptions, answering answered: AnsweredMessage? = nil, _ turn: inout Turn
  ) throws(WireError) {
    if answered == nil, let extras = options.extras {
      if let first = extras.firstSentAt { return try resend(content, options, since: first, .drop, &turn) }
      if let seq = extras.replyTo { return try reply(to: seq, content, options, .drop, &turn) }
    }
    if let first = try checkSend(options, answering: answered, turn) { return turn.answer(.receipt(first)) }
    let profile = turn.caller.profile
    let extras = try options.extras == nil ? nil : self.extras(options, answering: answered, turn)
    let message = makeMessage(content, options, extras, seq: nil, place: nil, by: sender(turn.caller), turn)
    acknowledge(message, .dropped, &turn)
    count(message, [.accepted, .dropped], &turn)
    turn.post(
      .messageDropped, .messageDropped(MessageInfo(message, senderProfile: profile), .webhook),
      isDurable: record.type.storesMessages && !options.onlineUserOnly)
  }

  /// The reply to a message's sender, which a repeated send gets again.
  mutating func acknowledge(_ message: Message, _ status: MessageReceipt.Status, _ turn: inout Turn) {
    let receipt = MessageReceipt(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: status)
    if status != .dropped { messages.recordReceipt(of: message, status, at: turn.monotonic) }
    turn.answer(.receipt(receipt))
  }

  /// The event of a message to "all members but the sending session", or to those whom it names.
  func publication(
    of message: consuming Message, by profile: UserProfile?, from session: SessionKey?, _ turn: borrowing Turn
  ) -> Effect {
    let kind: EventClass =
      record.type.storesMessages
      ? .storedChat(fromManager: message.isFromManager) : .liveChat(fromManager: message.isFromManager)
    let receivers = message.isTargeted ? roster.receivers(of: message) : nil
    let event = GroupEvent(groupID: record.id, opTime: turn.now, .onRecvNewMessage(message), senderProfile: profile)
    if let receivers { return .send(event, to: receivers, except: session) }
    return .publish(event, kind, except: session)
  }

  /// The caller's record, looked up once per message. Inlined, as `requireNotMuted`: a call
  /// would get a copy of the state.
  @inline(__always)
  private func sender(_ caller: Caller) -> Sender {
    guard let user = caller.userID else { return Sender(principal: .administrator, muteUntil: .unset, nameCard: "") }
    if let member = roster[user] {
      return Sender(principal: .member(member.role), muteUntil: member.muteUntil, nameCard: member.nameCard)
    }
    return Sender(principal: record.type.everyoneIsMember ? .member(.member) : .outsider, muteUntil: .unset, nameCard: "")
  }

  /// "@all": managers only.
  private func checkMentions(_ options: MessageOptions, by sender: Sender) throws(WireError) {
    guard !sender.isManager, options.atUserIDList.contains(MessageOptions.everybody) else { return }
    throw WireError(.noRight, "Only managers mention everybody", field: "atUserIDList")
  }

  /// Throws during a mute of the member or of the group.
  @inline(__always)
  private func requireNotMuted(_ sender: Sender, at now: WallInstant) throws(WireError) {
    guard case .member(let role) = sender.principal else { return }
    guard sender.muteUntil <= now else { throw WireError(.muted, "The member is muted") }
    guard !record.mute.silences(role, at: now) else { throw WireError(.muted, "The group is muted") }
  }

  /// The same for the caller of another request.
  func requireNotMuted(_ turn: borrowing Turn) throws(WireError) { try requireNotMuted(sender(turn.caller), at: turn.wall) }

  // MARK: Recalling

  func revoke(seq: Int64, _ turn: borrowing Turn) throws(WireError) -> LookUp {
    try checkRecall(of: seq, turn)
    return .message(MessageLookUp(seq: seq, purpose: .revoke))
  }

  /// - Parameter found: as the store had it a moment ago; the caller may have lost the right since.
  mutating func revoke(_ found: FoundMessage?, seq: Int64, _ turn: inout Turn) throws(WireError) {
    try checkRecall(of: seq, turn)
    guard var message = try current(found, seq: seq, turn) else { throw WireError(.messageUnknown, field: "seq") }
    try requireRecallRight(over: message, turn)
    guard !message.isRevoked else { return }
    try requireRecallWindow(of: message.sender, since: message.timestamp, turn)
    // A message that never changed has no reactions.
    if message.changeSeq > 0 { turn.store(.removeReactions(seq: seq, in: record.id)) }
    message.revoke()
    pinned.removeAll { $0 == seq }
    announcements.removeAll(of: seq)
    noteChange(of: &message, seq: seq, .revoked, reactions: ReactionsOfMessage([]), &turn)
    turn.store(.revise(message))
    let content = GroupEvent.Content.onRecvMessageRevoked(
      msgID: message.msgID, seq: seq, changeSeq: message.changeSeq, by: eventOperator(turn))
    let event = announce(content, .single(changeSeq: message.changeSeq), seq: seq, &turn)
    turn.post(.messageRevoked, .event(event))
  }

  /// Membership; 10033 where messages cannot be recalled.
  func requireRecallSupport(_ turn: borrowing Turn) throws(WireError) {
    try requireMembership(turn)
    if rules.permissions.requirement(for: .recallOthers, in: record.type) == .nobody { throw WireError(.recallUnsupported) }
  }

  /// "Unknown or invisible 10030"; 10033 where the type has no recall.
  private func checkRecall(of seq: Int64, _ turn: borrowing Turn) throws(WireError) {
    try requireRecallSupport(turn)
    guard try visibleHistory(turn).contains(seq) else { throw WireError(.messageUnknown, field: "seq") }
  }

  /// "Others' by the table, any time; a tip 10032."
  private func requireRecallRight(over message: Message, _ turn: borrowing Turn) throws(WireError) {
    guard message.isChat else { throw WireError(.recallNotYours, "Tips cannot be recalled") }
    try requireRecallRight(over: message.sender, turn)
  }

  /// "Own within limits.revokeWindow."
  func requireRecallWindow(of sender: UserID, since timestamp: WallInstant, _ turn: borrowing Turn) throws(WireError) {
    if sender == turn.userID, turn.now - timestamp > rules.limits.revokeWindow { throw WireError(.recallTooLate) }
  }

  /// The right to recall what somebody has said.
  func requireRecallRight(over sender: UserID, _ turn: borrowing Turn) throws(WireError) {
    if sender == turn.userID { return }
    try require(.recallOthers, turn)
    // Application administrators stand above all members.
    if turn.userID == nil { return }
    if sender == .administrator { throw WireError(.noRight, "Sent by the application") }
    let role = roster[sender]?.role ?? .member
    guard isAllowed(.recallOthers, on: role, turn) else {
      throw WireError(.noRight, DenialReason.lowRoleForTarget.sentence(in: record.type))
    }
  }

  // MARK: Custom events

  /// onReceiveRESTCustomData: "the members named by the administrator, or all"; ignores other
  /// users.
  func customData(_ request: SendGroupSystemNotification, _ turn: inout Turn) {
    let content = GroupEvent.Content.onReceiveRESTCustomData(request.content, on: turn.caller.platform)
    let named = request.userIDList?.filter { roster.isMember($0) }
    if named == nil { turn.publish(content) }
    if let named, !named.isEmpty { turn.send(content, to: named) }
    notify(.custom, named ?? roster.userIDs, data: request.content, &turn)
  }
}

/// The properties of a caller that a message depends on.
private struct Sender {
  let principal: Principal
  let muteUntil: WallInstant
  let nameCard: String

  /// An application administrator, or a manager of the group.
  var isManager: Bool {
    switch principal {
    case .administrator: true
    case .member(let role): role.isManager
    case .outsider: false
    }
  }

  /// Whether slow mode is for the sender: "messages of Member and custom roles".
  var isSlowed: Bool { if case .member(let role) = principal { !role.isManager } else { false } }
}

extension Message {
  /// "A recalled message keeps its place with `isRevoked:true` and no content."
  fileprivate mutating func revoke() {
    isRevoked = true
    isPinned = false
    switch content {
    case .text: content = .text("")
    case .custom: content = .custom("")
    case .tips: break
    }
    extras = extras?.with(extension: nil)
  }
}
