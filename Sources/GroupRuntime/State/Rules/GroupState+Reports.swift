import GroupModel
import WireProtocol

/// Reports of messages (Protocol.md, "Reports"). The owner of the reporter's shard counts them and says
/// whether one more may succeed.
extension GroupState {
  /// Looks up the message that is reported. "The order: 10007, 10033, a msgID outside live rooms 10004,
  /// 10030, the caller's own 10004, 8511."
  func report(_ request: ReportMessage, mayPass: Bool, _ turn: inout Turn) throws(WireError) {
    if live != nil {
      try requireMembership(turn)
      return turn.answer(over: RecentLookUp(target: request.target, purpose: .report(request, mayPass: mayPass)))
    }
    switch request.target {
    case .seq(let seq):
      try requireVisible(seq, turn)
      turn.answer(over: .message(MessageLookUp(seq: seq, purpose: .report(request, mayPass: mayPass))))
    case .msgID:
      try requireMembership(turn)
      guard record.type.storesMessages else { throw WireError(.recallUnsupported) }
      throw WireError(.badValue, "Only live rooms know messages by msgID", field: "msgID")
    }
  }

  /// Decides a report over a stored message.
  func report(
    _ found: FoundMessage?, seq: Int64, _ request: ReportMessage, mayPass: Bool, _ turn: inout Turn
  ) throws(WireError) {
    try requireVisible(seq, turn)
    guard let message = try current(found, seq: seq, turn), message.isChat, !message.isRevoked else {
      throw WireError(.messageUnknown, field: "seq")
    }
    let info = MessageInfo(message, senderProfile: found?.senderProfile)
    let encoded = Encoded(info, capacity: 384 + message.byteCount)
    try report(request, message.msgID, seq: seq, by: message.sender, encoded.text, mayPass: mayPass, &turn)
  }

  /// Decides a report over what a live room remembers.
  func report(
    _ found: RecentMessage?, _ request: ReportMessage, mayPass: Bool, _ turn: inout Turn
  ) throws(WireError) {
    try requireMembership(turn)
    guard let found, !found.isRecalled else { throw WireError(.messageUnknown, field: request.target.parameter) }
    try report(request, found.msgID, seq: found.seq, by: found.sender, found.frame.sent.text, mayPass: mayPass, &turn)
  }

  private func report(
    _ request: ReportMessage, _ msgID: String, seq: Int64, by sender: UserID, _ text: [UInt8], mayPass: Bool,
    _ turn: inout Turn
  ) throws(WireError) {
    guard let reporter = turn.userID else { throw WireError(.noRight, "Only users report messages") }
    guard sender != reporter else {
      throw WireError(.badValue, "The message is the caller's own", field: request.target.parameter)
    }
    guard mayPass else { throw WireError(.attributeCallsTooOften) }
    let report = MessageReport(
      id: MessageReport.id(of: msgID, by: reporter), groupID: record.id, epoch: record.epoch, seq: seq, msgID: msgID,
      reporter: reporter, category: request.category, text: request.text, time: turn.now, message: text)
    turn.store(.putReport(report))
    turn.post(.messageReported, .report(report))
    turn.answer(.reported(ReportMessage.Result(reportID: report.id)))
  }
}
