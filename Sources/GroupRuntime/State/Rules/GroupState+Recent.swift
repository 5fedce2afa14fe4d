import GroupModel
import WireProtocol

/// Live rooms that remember messages: reading these, and recalling messages there (Protocol.md,
/// "Messages that a live room remembers"). The memory itself is outside (`RecentMessages`); `live` has
/// its numbers.
extension GroupState {
  // MARK: getGroupHistoryMessageList, getGroupMessages and syncGroups

  /// "For members, on what is remembered, whenever they joined."
  func recentHistory(_ request: GetGroupHistoryMessageList, _ turn: borrowing Turn) throws(WireError) -> RecentQuestion {
    try requireMembership(turn)
    return .history(request.direction, from: request.fromSeq, count: request.count)
  }

  /// "Those I may see, as they are now, in the order of seqList, each once; live rooms too."
  func recentMessages(_ request: GetGroupMessages, _ turn: borrowing Turn) throws(WireError) -> RecentQuestion {
    try requireMembership(turn)
    return .messages(request.seqs)
  }

  func recentSync(
    epoch: String, seq: Int64, changeSeq: Int64?, bytes: Int, _ turn: borrowing Turn
  ) throws(WireError) -> RecentQuestion {
    try requireMembership(turn)
    return .sync(epoch: epoch, seq: seq, changeSeq: changeSeq, bytes: bytes)
  }

  // MARK: Sending

  /// Gives a message its place when it is handed to the fan-out, "unless onlineUserOnly".
  @inline(__always)
  mutating func giveSeq(to message: inout Message, isForOnlineUsers: Bool) {
    if live != nil, !isForOnlineUsers { message.seq = live?.nextSeq() }
  }

  // MARK: Recalling

  /// revokeGroupMessage, by `seq` or by `msgID`: "msgID in live rooms only, 10004 elsewhere".
  mutating func revoke(_ target: RevokeGroupMessage.Target, _ turn: inout Turn) throws(WireError) {
    switch target {
    case .seq(let seq):
      if live == nil { return turn.answer(over: try revoke(seq: seq, turn)) }
      try requireRecallSupport(turn)
    case .msgID(let id):
      try requireRecallSupport(turn)
      guard live != nil else { throw WireError(.badValue, "Only live rooms know messages by msgID", field: "msgID") }
      if let queued = rateLimiter?.first(where: { $0.message.msgID.isSame(as: id) }) {
        return try revoke(queued: queued, &turn)
      }
    }
    turn.answer(over: RecentLookUp(target: target, purpose: .revoke))
  }

  /// "A message that is Queued may be recalled by msgID: it is dropped", and its sender alone is told.
  private mutating func revoke(queued waiting: WaitingMessage, _ turn: inout Turn) throws(WireError) {
    try requireRecallRight(over: waiting.message.sender, turn)
    try requireRecallWindow(of: waiting.message.sender, since: waiting.message.timestamp, turn)
    _ = rateLimiter?.remove { $0.message.msgID.isSame(as: waiting.message.msgID) }
    drop(waiting, because: .revoked, &turn)
  }

  /// Decides a request over what is remembered at this moment.
  mutating func decide(_ lookUp: RecentLookUp, over found: RecentMessage?, _ turn: inout Turn) throws(WireError) {
    switch lookUp.purpose {
    case .revoke: try revoke(found, lookUp.target, &turn)
    case .reply(let content, let options, let step): try reply(content, options, step, over: .remembered(found), &turn)
    case .report(let request, let mayPass): try report(found, request, mayPass: mayPass, &turn)
    }
  }

  private mutating func revoke(
    _ found: RecentMessage?, _ target: RevokeGroupMessage.Target, _ turn: inout Turn
  ) throws(WireError) {
    try requireRecallSupport(turn)
    guard let found else { throw WireError(.messageUnknown, field: target.parameter) }
    try requireRecallRight(over: found.sender, turn)
    guard !found.isRecalled else { return }
    try requireRecallWindow(of: found.sender, since: found.timestamp, turn)
    // Nil = another recall of it is decided, and not performed yet.
    guard let changeSeq = live?.recall(found.seq) else { return }
    turn.perform(.forgetContent(seq: found.seq, changeSeq: changeSeq))
    let event = announce(
      .onRecvMessageRevoked(msgID: found.msgID, seq: found.seq, changeSeq: changeSeq, by: eventOperator(turn)), &turn)
    turn.post(.messageRevoked, .event(event), isDurable: false)
  }
}
