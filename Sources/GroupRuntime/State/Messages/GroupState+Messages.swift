import GroupModel
import GroupPermissions
import WireProtocol

/// sendGroupTextMessage and sendGroupCustomMessage (contract section 4).
extension GroupState {
  mutating func send(
    _ content: Message.Content, _ options: MessageOptions, by caller: Caller, at moment: Moment
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.send, by: caller)
    let member = caller.userID.map { members[$0] ?? GroupState.everybody($0, in: record) }
    try checkMentions(options, by: member)
    if let first = sent.result(of: options.clientMsgID, from: caller.senderID, at: moment.now) {
      return .answer(sendAnswer(first))
    }
    if let member { try checkVoice(of: member, at: moment.now) }
    if let wait = messageRate?.pass(record.id, at: moment.clock) { throw WireError(.groupMessageRate, retryAfterMs: wait) }

    let isStored = record.type.storesMessages && !options.onlineUserOnly
    let seq = isStored ? lastSeq + 1 : nil
    let message = Message(
      msgID: nextMessageID(seq: seq), groupID: record.id, seq: seq, sender: caller.senderID, nameCard: member?.nameCard ?? "",
      timestamp: moment.now, content: content, priority: options.priority, clientMsgID: options.clientMsgID,
      atUserIDList: options.atUserIDList, platform: caller.platform, isFromManager: member?.role.isManager ?? true)
    var decision = Decision(answer: .reply(.empty))
    let status: SendStatus
    if gate != nil {
      status = admit(message, from: caller.session, at: moment, into: &decision)
    } else {
      status = isStored ? .stored : .delivered
      deliver(message, from: caller.session, [.accepted, .delivered], at: moment, into: &decision)
    }
    if isStored {
      lastMessage = message
      decision.changes.append(.append(message))
    }
    if status != .dropped { sent.note(message, status, at: moment.now) }
    decision.answer = sendAnswer(
      RecentlySent.Result(msgID: message.msgID, seq: seq, timestamp: message.timestamp, status: status))
    return decision
  }

  private func sendAnswer(_ result: RecentlySent.Result) -> Answer {
    .reply(
      .object(capacity: 128) { writer in
        writer.member("msgID", result.msgID)
        writer.member("seq", ifPresent: result.seq)
        writer.member("timestamp", result.timestamp)
        writer.member("status", result.status.rawValue)
      })
  }

  /// Hands a message to the fan-out: "all members but the sending session".
  func deliver(
    _ message: Message, from session: SessionKey?, _ steps: MessageCount.Steps, at moment: Moment, into decision: inout Decision
  ) {
    let frame = event(.onRecvNewMessage, at: moment, capacity: 448) { $0.member("message", message) }
    decision.effects.append(.publish(frame, chatClass(of: message), except: session))
    decision.counts.append(MessageCount(type: record.type, priority: message.priority, steps: steps))
  }

  private func chatClass(of message: Message) -> EventClass {
    record.type.storesMessages
      ? .storedChat(fromManager: message.isFromManager) : .liveChat(fromManager: message.isFromManager)
  }

  /// "@all": managers only.
  private func checkMentions(_ options: MessageOptions, by member: Member?) throws(WireError) {
    guard let member, !member.role.isManager, options.atUserIDList.contains(MessageOptions.everybody) else { return }
    throw WireError(.noRight, "Only managers mention everybody", field: "atUserIDList")
  }

  /// Muted, alone or with the group.
  private func checkVoice(of member: Member, at now: Instant) throws(WireError) {
    guard member.muteUntil <= now, !record.mute.current(at: now).silences(member.role) else { throw WireError(.muted) }
  }
}
