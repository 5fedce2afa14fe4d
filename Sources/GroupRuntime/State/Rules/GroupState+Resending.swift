import GroupModel
import WireProtocol

/// Messages that may have been sent before, longer ago than receipts are remembered (Protocol.md, "Late
/// repeats").
extension GroupState {
  /// How far the clocks of nodes and clients may be off.
  private static let clockTolerance: Int64 = 60_000
  /// The longest time after which a live type takes a message again.
  static let mostLate: Int64 = 240_000
  /// The longest time after which a message is looked for.
  static let mostBack: Int64 = 30 * 86_400_000
  /// How often a user may have messages looked for in a group.
  private static let lookUps = (count: 10, milliseconds: Int64(60_000))

  /// Decides a send of which the sender does not know whether an earlier one was stored: its first receipt,
  /// where it is remembered; else the message is looked for, if that is needed.
  @inline(never)
  mutating func resend(
    _ content: Message.Content, _ options: MessageOptions, since first: WallInstant, _ step: MessageLookUp.Step,
    _ turn: inout Turn
  ) throws(WireError) {
    if let receipt = try firstReceipt(options, turn) { return turn.answer(.receipt(receipt)) }
    guard let clientMsgID = options.clientMsgID else {
      throw WireError(.badValue, "Only a clientMsgID tells whether it was sent before", field: "firstSentAt")
    }
    let fresh = options.withoutFirstSentAt
    // The checks before the application was asked have looked, and receipts outlive its answer.
    guard step.comparesWords, let since = try searchStart(of: options, since: first, turn) else {
      return try proceed(content, fresh, step, &turn)
    }
    try countLookUp(turn)
    turn.answer(
      over: .sent(
        SentLookUp(
          content: content, options: fresh, clientMsgID: clientMsgID, since: since, epoch: record.epoch, step: step)))
  }

  /// Decides a send over what was looked for: the same may have been sent meanwhile.
  mutating func decide(_ lookUp: SentLookUp, over found: SentSearch, _ turn: inout Turn) throws(WireError) {
    if let receipt = try firstReceipt(lookUp.options, turn) { return turn.answer(.receipt(receipt)) }
    // Another group uses the groupID by now.
    guard lookUp.epoch == record.epoch else { return try proceed(lookUp.content, lookUp.options, lookUp.step, &turn) }
    switch found {
    case .found(let sent):
      let receipt = MessageReceipt(msgID: sent.msgID, seq: sent.seq, timestamp: sent.timestamp, status: .stored)
      turn.answer(.receipt(receipt))
    case .absent: try proceed(lookUp.content, lookUp.options, lookUp.step, &turn)
    case .removed:
      throw WireError(.badValue, "Messages of that time are not kept, so whether it was sent is not known", field: "firstSentAt")
    case .tooMany:
      throw WireError(
        .badValue, "More than \(SentLookUp.mostMessages) messages have come since, so it is not looked for", field: "firstSentAt")
    }
  }

  /// From when on the message has to be looked for; nil = it was not stored, as far as receipts tell.
  private func searchStart(
    of options: MessageOptions, since first: WallInstant, _ turn: borrowing Turn
  ) throws(WireError) -> WallInstant? {
    let age = turn.wall.milliseconds(since: first)
    guard age >= -Self.clockTolerance else {
      throw WireError(.badValue, "It lies ahead of the server's clock", field: "firstSentAt")
    }
    guard record.type.storesMessages, !options.onlineUserOnly else {
      guard age <= Self.mostLate else {
        throw WireError(.recallUnsupported, "Nothing tells whether it was sent, and it is late", field: "firstSentAt")
      }
      return nil
    }
    guard age <= Self.mostBack else {
      throw WireError(.badValue, "It is too long ago to look for the message", field: "firstSentAt")
    }
    let since = first.advanced(byMilliseconds: -Self.clockTolerance)
    return messages.knowsReceipts(since: since, at: turn.monotonic) ? nil : since
  }

  /// Counts a look for a message; application administrators are not bound.
  private mutating func countLookUp(_ turn: borrowing Turn) throws(WireError) {
    guard let user = turn.userID else { return }
    var rate = lookUpRate ?? KeyedRateLimiter(limit: Self.lookUps.count, windowMilliseconds: Self.lookUps.milliseconds)
    let wait = rate.acquire(user, at: turn.monotonic)
    lookUpRate = rate
    if let wait { throw WireError(.groupMessageRate, "Too many messages are looked for", retryAfterMs: wait) }
  }

  /// Goes on with a message that is a new one.
  private mutating func proceed(
    _ content: Message.Content, _ options: MessageOptions, _ step: MessageLookUp.Step, _ turn: inout Turn
  ) throws(WireError) {
    switch step {
    case .check: try check(content, options, &turn)
    case .perform(let isFiltered):
      if isFiltered { turn.facts = .filtered }
      try send(content, options, &turn)
    case .drop: try drop(content, options, &turn)
    }
  }
}
