import GroupModel
import GroupPermissions
import WireProtocol

/// sendGroupTextMessage and sendGroupCustomMessage (Protocol.md, "Sending").
extension GroupState {
  mutating func send(
    _ content: Message.Content, _ options: MessageOptions, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    let sender = sender(caller)
    if sender.principal == .outsider { throw WireError(.noRight, "Not a member") }
    try require(.send, by: sender.principal)
    try checkMentions(options, by: sender)
    if let first = sent.result(of: options.clientMsgID, from: caller.senderID, at: context.steady) {
      return Decision(.receipt(first))
    }
    try checkVoice(of: sender, at: context.wall)
    if let wait = messageRate?.pass(at: context.steady) { throw WireError(.groupMessageRate, retryAfterMs: wait) }

    let isStored = record.type.storesMessages && !options.onlineUserOnly
    let seq = isStored ? lastSeq + 1 : nil
    let message = Message(
      msgID: nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: caller.senderID, nameCard: sender.nameCard,
      timestamp: context.now, content: content, priority: options.priority, clientMsgID: options.clientMsgID,
      atUserIDList: options.atUserIDList, platform: caller.platform, isFromManager: sender.isManager)
    var decision = Decision(.empty)
    let status: MessageReceipt.Status
    if rateLimiter != nil {
      status = offer(message, from: caller.session, in: context, into: &decision)
    } else {
      status = isStored ? .stored : .delivered
      deliver(message, from: caller.session, [.accepted, .delivered], in: context, into: &decision)
    }
    if isStored {
      lastMessage = message
      decision.changes.append(.append(message))
    }
    if status != .dropped { sent.note(message, status, at: context.steady) }
    decision.answer = .reply(
      .success(
        .receipt(MessageReceipt(msgID: message.msgID, seq: seq, timestamp: message.timestamp, status: status))))
    return decision
  }

  /// Hands a message to the fan-out: "all members but the sending session".
  func deliver(
    _ message: Message, from session: SessionKey?, _ steps: MessageCount.Steps, in context: DecisionContext,
    into decision: inout Decision
  ) {
    decision.effects.append(
      .publish(event(.onRecvNewMessage(message), in: context), chatClass(of: message), except: session))
    decision.counts.append(MessageCount(type: record.type, priority: message.priority, steps: steps))
  }

  private func chatClass(of message: Message) -> EventClass {
    record.type.storesMessages
      ? .storedChat(fromManager: message.isFromManager) : .liveChat(fromManager: message.isFromManager)
  }

  /// The caller, found once for each message.
  private func sender(_ caller: Caller) -> Sender {
    guard let user = caller.userID else { return Sender(principal: .administrator, muteUntil: 0, nameCard: "") }
    if let member = members[user] {
      return Sender(principal: .member(member.role), muteUntil: member.muteUntil, nameCard: member.nameCard)
    }
    return Sender(principal: record.type.everyoneIsMember ? .member(.member) : .outsider, muteUntil: 0, nameCard: "")
  }

  /// "@all": managers only.
  private func checkMentions(_ options: MessageOptions, by sender: Sender) throws(WireError) {
    guard !sender.isManager, options.atUserIDList.contains(MessageOptions.everybody) else { return }
    throw WireError(.noRight, "Only managers mention everybody", field: "atUserIDList")
  }

  /// Muted, alone or with the group.
  private func checkVoice(of sender: Sender, at now: Instant) throws(WireError) {
    guard case .member(let role) = sender.principal else { return }
    guard sender.muteUntil <= now, !record.mute.current(at: now).silences(role) else { throw WireError(.muted) }
  }
}

/// What a message takes from whoever sends it.
private struct Sender {
  let principal: Principal
  let muteUntil: Instant
  let nameCard: String

  /// An administrator of the application, or a manager of the group.
  var isManager: Bool {
    switch principal {
    case .administrator: true
    case .member(let role): role.isManager
    case .outsider: false
    }
  }
}
