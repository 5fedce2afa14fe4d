import GroupModel
import GroupPermissions
import WireProtocol

/// Sending and recalling messages, and sendGroupSystemNotification (Protocol.md, "Sending",
/// "Recall" and "Application methods").
extension GroupState {
  mutating func send(
    _ content: Message.Content, _ options: MessageOptions, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    let sender = try checkedSender(caller, options)
    if let id = options.clientMsgID, let first = messages.receipt(of: id, from: caller.senderID, at: context.monotonic) {
      return Decision(.receipt(first))
    }
    try requireNotMuted(sender, at: context.wall)
    if options.needReadReceipt { try requireFewMembers() }
    if let wait = messageRate?.acquire(at: context.monotonic) { throw WireError(.groupMessageRate, retryAfterMs: wait) }

    let isStored = record.type.storesMessages && !options.onlineUserOnly
    let seq = isStored ? messages.lastSeq + 1 : nil
    let message = makeMessage(content, options, seq: seq, by: sender, caller, in: context)
    if rateLimiter != nil {
      return offer(message, isForOnlineUsers: options.onlineUserOnly, by: caller, in: context)
    }
    let answer = acknowledge(message, isStored ? .stored : .delivered, in: context)
    if isStored { messages.append(message) }
    var decision = Decision(
      changes: isStored ? [.append(message)] : [],
      effects: [publication(of: message, by: caller.profile, from: caller.session, in: context)],
      counts: [MessageCount(type: record.type, priority: message.priority, steps: [.accepted, .delivered])],
      showsMembers: false, fanOut: fanOut(of: content, in: context), answer: answer)
    storeReceiptMembers(at: message, into: &decision)
    if !rules.webhooks.isEmpty {
      postPublished(isDurable: isStored, pushes: !options.onlineUserOnly, in: context, into: &decision)
    }
    return decision
  }

  /// What a message sends to the members who are online.
  @inline(__always)
  func fanOut(of content: Message.Content, in context: DecisionContext) -> FanOut {
    FanOut(to: roster.onlineCount(usersSignedIn: context.usersSignedIn), ofBytes: 448 + content.byteCount)
  }

  @inline(__always)
  private mutating func makeMessage(
    _ content: Message.Content, _ options: MessageOptions, seq: Int64?, by sender: Sender, _ caller: Caller,
    in context: DecisionContext
  ) -> Message {
    Message(
      msgID: messages.nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: caller.senderID, nameCard: sender.nameCard,
      timestamp: context.now, content: content, priority: options.priority, clientMsgID: options.clientMsgID,
      atUserIDList: options.atUserIDList, platform: caller.platform, isFromManager: sender.isManager,
      needReadReceipt: options.needReadReceipt)
  }

  /// The sender, or the error of membership, rights and mentions.
  @inline(__always)
  private func checkedSender(_ caller: Caller, _ options: MessageOptions) throws(WireError) -> Sender {
    let sender = sender(caller)
    if sender.principal == .outsider { throw WireError(.noRight, "Not a member") }
    try require(.send, by: sender.principal)
    if options.needReadReceipt { try requireReceiptType() }
    try checkMentions(options, by: sender)
    return sender
  }

  // MARK: Asking the application first

  /// The answer of sending before the application is asked; `.empty` = it is to be asked.
  /// Nothing counts for a rate yet.
  func checkSend(_ options: MessageOptions, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    let sender = try checkedSender(caller, options)
    if let id = options.clientMsgID, let first = messages.receipt(of: id, from: caller.senderID, at: context.monotonic) {
      return Decision(.receipt(first))
    }
    try requireNotMuted(sender, at: context.wall)
    if options.needReadReceipt { try requireFewMembers() }
    if let wait = messageRate?.wait(at: context.monotonic) { throw WireError(.groupMessageRate, retryAfterMs: wait) }
    return Decision(.empty)
  }

  /// Answers a message as if it were sent, with the status Dropped: the application said so. It
  /// takes no `seq`, counts for no rate, and its clientMsgID is not remembered.
  mutating func drop(
    _ content: Message.Content, _ options: MessageOptions, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    let checked = try checkSend(options, by: caller, in: context)
    guard case .reply(.success(.empty)) = checked.answer else { return checked }
    let sender = sender(caller)
    let message = makeMessage(content, options, seq: nil, by: sender, caller, in: context)
    var decision = Decision(
      counts: [MessageCount(type: record.type, priority: message.priority, steps: [.accepted, .dropped])],
      answer: acknowledge(message, .dropped, in: context))
    postDropped(
      MessageInfo(message, senderProfile: caller.profile), .webhook,
      isDurable: record.type.storesMessages && !options.onlineUserOnly, at: context.now, into: &decision)
    return decision
  }

  /// The reply to a message's sender, which a repeated send gets again.
  mutating func acknowledge(_ message: Message, _ status: MessageReceipt.Status, in context: DecisionContext) -> Answer {
    let receipt = MessageReceipt(msgID: message.msgID, seq: message.seq, timestamp: message.timestamp, status: status)
    if status != .dropped { messages.recordReceipt(of: message, status, at: context.monotonic) }
    return .reply(.success(.receipt(receipt)))
  }

  /// The event of a message to "all members but the sending session".
  func publication(
    of message: Message, by profile: UserProfile?, from session: SessionKey?, in context: DecisionContext
  ) -> Effect {
    let kind: EventClass =
      record.type.storesMessages
      ? .storedChat(fromManager: message.isFromManager) : .liveChat(fromManager: message.isFromManager)
    return .publish(
      GroupEvent(groupID: record.id, opTime: context.now, .onRecvNewMessage(message), senderProfile: profile), kind,
      except: session)
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
    guard sender.muteUntil <= now, !record.mute.silences(role, at: now) else { throw WireError(.muted) }
  }

  /// The same for the caller of another request.
  func requireNotMuted(_ caller: Caller, at now: WallInstant) throws(WireError) { try requireNotMuted(sender(caller), at: now) }

  // MARK: Recalling

  func revoke(seq: Int64, by caller: Caller) throws(WireError) -> Decision {
    try checkRecall(of: seq, by: caller)
    return .answer(.lookUp(MessageLookUp(seq: seq, request: .revoke), by: caller))
  }

  /// - Parameter found: as the store had it a moment ago; the caller may have lost the right since.
  mutating func revoke(
    _ found: FoundMessage?, seq: Int64, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try checkRecall(of: seq, by: caller)
    guard var message = current(found, seq: seq) else { throw WireError(.messageUnknown, field: "seq") }
    try requireRecallRight(over: message, by: caller)
    guard !message.isRevoked else { return Decision(.empty) }
    if message.sender == caller.userID, context.now - message.timestamp > rules.limits.revokeWindow {
      throw WireError(.recallTooLate)
    }
    var decision = Decision(.empty)
    // A message that never changed has no reactions.
    if message.changeSeq > 0 { decision.changes.append(.removeReactions(seq: seq, in: record.id)) }
    message.revoke()
    pinned.removeAll { $0 == seq }
    announcements.removeAll(of: seq)
    noteChange(of: &message, seq: seq, reactions: ReactionsOfMessage([]), in: context, into: &decision)
    decision.changes.append(.revise(message))
    let content = GroupEvent.Content.onRecvMessageRevoked(
      msgID: message.msgID, seq: seq, changeSeq: message.changeSeq, by: eventOperator(caller))
    announce(content, .single(changeSeq: message.changeSeq), seq: seq, in: context, into: &decision)
    post(.messageRevoked, .event(event(content, in: context)), at: context.now, into: &decision)
    return decision
  }

  /// "Unknown or invisible 10030"; 10033 where the type has no recall.
  private func checkRecall(of seq: Int64, by caller: Caller) throws(WireError) {
    try requireMembership(caller)
    if rules.permissions.requirement(for: .recallOthers, in: record.type) == .nobody { throw WireError(.recallUnsupported) }
    guard try visibleHistory(for: caller).contains(seq) else { throw WireError(.messageUnknown, field: "seq") }
  }

  /// "Others' by the table, any time; a tip 10032."
  private func requireRecallRight(over message: Message, by caller: Caller) throws(WireError) {
    guard message.isChat else { throw WireError(.recallNotYours, "Tips cannot be recalled") }
    if message.sender == caller.userID { return }
    try require(.recallOthers, by: caller)
    guard let user = caller.userID else { return }
    // Application administrators stand above all members.
    if message.sender == .administrator { throw WireError(.noRight, "Sent by the application") }
    let role = roster[message.sender]?.role ?? .member
    guard isAllowed(.recallOthers, by: .user(user, platform: caller.platform, session: nil), on: role) else {
      throw WireError(.noRight, DenialReason.lowRoleForTarget.sentence(in: record.type))
    }
  }

  // MARK: Custom events

  /// onReceiveRESTCustomData: "the members named by the administrator, or all"; ignores other
  /// users.
  func customData(_ request: SendGroupSystemNotification, by caller: Caller, in context: DecisionContext) -> Decision {
    var decision = Decision(.empty)
    let event = event(.onReceiveRESTCustomData(request.content, on: caller.platform), in: context)
    let named = request.userIDList?.filter { roster.isMember($0) }
    if let named {
      if !named.isEmpty { decision.effects.append(.send(event, to: named)) }
    } else {
      decision.effects.append(.publish(event, .control, except: nil))
    }
    notify(
      .custom, named ?? roster.userIDs, by: eventOperator(caller), data: request.content, in: context, into: &decision)
    return decision
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
  }
}
