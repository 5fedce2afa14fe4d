import GroupModel
import WireProtocol

/// Messages that answer others, and reading them (Protocol.md, "Replies").
extension GroupState {
  // MARK: Sending

  /// Looks up the message that a new one answers, unless the sender is answered before: a repeated
  /// clientMsgID gets the first receipt whatever became of the message that it answers.
  @inline(never)
  mutating func reply(
    to seq: Int64, _ content: Message.Content, _ options: MessageOptions, _ step: MessageLookUp.Step, _ turn: inout Turn
  ) throws(WireError) {
    if let first = try firstReceipt(options, turn) { return turn.answer(.receipt(first)) }
    if live != nil {
      return turn.answer(over: RecentLookUp(target: .seq(seq), purpose: .reply(content, options, step)))
    }
    try requireVisible(seq, field: "replyTo", turn)
    turn.answer(over: .message(MessageLookUp(seq: seq, purpose: .reply(content, options, step))))
  }

  /// Decides a reply over the message that it answers.
  mutating func reply(
    _ content: Message.Content, _ options: MessageOptions, _ step: MessageLookUp.Step, over answered: AnsweredMessage,
    _ turn: inout Turn
  ) throws(WireError) {
    switch step {
    case .check:
      if let first = try checkSend(options, answering: answered, turn) { return turn.answer(.receipt(first)) }
      _ = try filtered(content, turn)
    case .perform(let isFiltered):
      if isFiltered { turn.facts = .filtered }
      try send(content, options, answering: answered, &turn)
    case .drop: try drop(content, options, answering: answered, &turn)
    }
  }

  /// "A message that the sender may see now, not a tip, not recalled: else 10030", after 10033.
  func replyReference(
    of given: SendExtras, _ answered: AnsweredMessage?, _ turn: borrowing Turn
  ) throws(WireError) -> ReplyReference? {
    guard let seq = given.replyTo else { return nil }
    let unknown = WireError(.messageUnknown, field: "replyTo")
    switch answered {
    case .remembered(let message):
      guard let message, !message.isRecalled else { throw unknown }
      return ReplyReference(seq: seq, sender: message.sender)
    case .stored(let found):
      try requireVisible(seq, field: "replyTo", turn)
      guard let message = try current(found, seq: seq, turn), message.isChat, !message.isRevoked else { throw unknown }
      return ReplyReference(seq: seq, sender: message.sender)
    case nil:
      try requireVisible(seq, field: "replyTo", turn)
      throw unknown
    }
  }

  // MARK: Reading

  /// "getGroupMessageReplies of an unknown or invisible seq is 10030, of a recalled message its
  /// replies."
  func replies(_ request: GetGroupMessageReplies, _ turn: borrowing Turn) throws(WireError) -> StoredAnswer {
    try requireVisible(request.seq, turn)
    return .replies(
      ReplyQuestion(seq: request.seq, after: request.nextSeq, count: request.count, scope: scope(of: try visibility(turn))))
  }
}

/// The message that a reply answers, as it was looked up. One word, because every send is asked for it.
indirect enum AnsweredMessage: Sendable {
  /// As the store had it; nil = there is none.
  case stored(FoundMessage?)
  /// As a live room remembers it; nil = it does not.
  case remembered(RecentMessage?)
}
