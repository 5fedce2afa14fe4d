import GroupModel
import WireProtocol

/// getGroupHistoryMessageList and syncGroups (contract section 4). There is no gap in `seq`, so a page is a range.
extension GroupState {
  func history(_ request: GetGroupHistoryMessageList, for caller: Caller) throws(WireError) -> Decision {
    let visible = try visibleRange(for: caller)
    guard let visible else {
      return .answer(.history(nil, newestFirst: request.direction == .older, isFinished: true))
    }
    switch request.direction {
    case .older: return .answer(older(than: request.fromSeq, count: Int64(request.count), in: visible))
    case .newer: return .answer(newer(than: request.fromSeq, count: Int64(request.count), in: visible))
    }
  }

  private func older(than fromSeq: Int64, count: Int64, in visible: ClosedRange<Int64>) -> Answer {
    let newest = fromSeq == 0 ? visible.upperBound : min(visible.upperBound, fromSeq - 1)
    guard newest >= visible.lowerBound else { return .history(nil, newestFirst: true, isFinished: true) }
    let oldest = max(visible.lowerBound, newest - count + 1)
    return .history(oldest...newest, newestFirst: true, isFinished: oldest == visible.lowerBound)
  }

  private func newer(than fromSeq: Int64, count: Int64, in visible: ClosedRange<Int64>) -> Answer {
    let oldest = max(visible.lowerBound, fromSeq + 1)
    guard oldest <= visible.upperBound else { return .history(nil, newestFirst: false, isFinished: true) }
    let newest = min(visible.upperBound, oldest + count - 1)
    return .history(oldest...newest, newestFirst: false, isFinished: newest == visible.upperBound)
  }

  /// "Every message after seq that I may see, none missing, or recovered:false and none."
  func sync(epoch: String, seq: Int64, bytes: Int, for caller: Caller) throws(WireError) -> Decision {
    try requireMembership(caller)
    guard record.type.storesMessages, epoch == record.epoch, seq <= lastSeq else {
      return .answer(.sync(SyncAnswer(epoch: record.epoch, lastSeq: lastSeq, recovered: false, range: nil, more: false, bytes: 0)))
    }
    let visible = try visibleRange(for: caller)
    guard let visible, seq < visible.upperBound else {
      return .answer(.sync(SyncAnswer(epoch: record.epoch, lastSeq: lastSeq, recovered: true, range: nil, more: false, bytes: 0)))
    }
    let oldest = max(visible.lowerBound, seq + 1)
    let newest = min(visible.upperBound, oldest + GroupState.syncPage - 1)
    return .answer(
      .sync(
        SyncAnswer(
          epoch: record.epoch, lastSeq: lastSeq, recovered: true, range: oldest...newest, more: newest < visible.upperBound,
          bytes: bytes)))
  }

  /// How many messages one row of syncGroups holds at most.
  private static let syncPage: Int64 = 100

  /// What the caller may read, or nil where that is nothing; 10007 where the type keeps no history.
  private func visibleRange(for caller: Caller) throws(WireError) -> ClosedRange<Int64>? {
    try requireMembership(caller)
    guard record.type.storesMessages else { throw WireError(.noRight, "This type of group keeps no history") }
    let first = caller.userID.flatMap { members[$0] }.map { firstVisibleSeq(for: $0) } ?? 1
    return first <= lastSeq ? first...lastSeq : nil
  }
}
