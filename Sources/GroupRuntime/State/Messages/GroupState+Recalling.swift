import GroupModel
import GroupPermissions
import WireProtocol

/// revokeGroupMessage, before and after the message is read (Protocol.md, "Recall").
extension GroupState {
  func revoke(seq: Int64, by caller: Caller) throws(WireError) -> Decision {
    try checkRecall(of: seq, by: caller)
    return .answer(.lookUp(seq: seq, by: caller))
  }

  /// - Parameter message: as the store had it a moment ago; whoever asked may have lost the right since.
  mutating func revoke(
    _ message: Message?, seq: Int64, by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try checkRecall(of: seq, by: caller)
    // The group may have been disbanded and made again while the message was read.
    guard var message, message.msgID == messageID(seq: seq) else { throw WireError(.messageUnknown, field: "seq") }
    try checkRights(over: message, by: caller)
    guard !message.isRevoked, !recentlyRevoked.contains(seq) else { return Decision(.empty) }
    if message.sender == caller.userID, context.now - message.timestamp > rules.limits.revokeWindow {
      throw WireError(.recallTooLate)
    }
    var decision = Decision(.empty)
    message.revoke()
    recentlyRevoked.insert(seq)
    unreadCounts.forgetAll()
    if lastSeq == seq { lastMessage = message }
    record.changeTime = context.now
    decision.changes += [.revise(message), .putGroup(record, isNew: false)]
    let event = event(.onRecvMessageRevoked(msgID: message.msgID, seq: seq, by: eventOperator(caller)), in: context)
    decision.effects.append(recallEffect(event, seq: seq))
    return decision
  }

  /// No message is being read any more that could show less than was recalled.
  mutating func forgetRevoked() { recentlyRevoked = [] }

  /// "Unknown or invisible 10030"; 10033 where the type has no recall.
  private func checkRecall(of seq: Int64, by caller: Caller) throws(WireError) {
    try requireMembership(caller)
    if rules.permissions.requirement(for: .recallOthers, in: record.type) == .nobody { throw WireError(.recallUnsupported) }
    guard try visibleHistory(for: caller).contains(seq) else { throw WireError(.messageUnknown, field: "seq") }
  }

  /// "Others' by the table, any time; a tip 10032."
  private func checkRights(over message: Message, by caller: Caller) throws(WireError) {
    guard message.isChat else { throw WireError(.recallNotYours, "Tips cannot be recalled") }
    if message.sender == caller.userID { return }
    try require(.recallOthers, by: caller)
    guard let user = caller.userID else { return }
    // Nobody in the group stands above the application.
    if message.sender == .administrator { throw WireError(.noRight, "Sent by the application") }
    let role = members[message.sender]?.role ?? .member
    guard isAllowed(.recallOthers, by: .user(user, platform: caller.platform, session: nil), on: role) else {
      throw WireError(.noRight)
    }
  }

  /// onRecvMessageRevoked: "all members who may see it".
  private func recallEffect(_ event: GroupEvent, seq: Int64) -> Effect {
    if record.type.showsHistoryFromBeforeJoining { return .publish(event, .control, except: nil) }
    let seeing = members.values.filter { member in
      member.firstVisibleSeq <= seq || member.earlierVisibleRanges.contains { $0.contains(seq) }
    }
    if seeing.count == members.count { return .publish(event, .control, except: nil) }
    return .send(event, to: seeing.map(\.userID))
  }
}

extension Message {
  /// "A recalled message keeps its place with `isRevoked:true` and no content."
  fileprivate mutating func revoke() {
    isRevoked = true
    switch content {
    case .text: content = .text("")
    case .custom: content = .custom("")
    case .tips: break
    }
  }
}
