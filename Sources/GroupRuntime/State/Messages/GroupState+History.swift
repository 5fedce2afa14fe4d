import GroupModel
import WireProtocol

/// getGroupHistoryMessageList and syncGroups (Protocol.md, "History" and "Reconnecting").
extension GroupState {
  func history(_ request: GetGroupHistoryMessageList, for caller: Caller) throws(WireError) -> Decision {
    let visible = try visibleHistory(for: caller)
    let count = Int64(request.count)
    switch request.direction {
    case .older:
      let page = visible.older(than: request.fromSeq == 0 ? Int64.max : request.fromSeq, count: count)
      return .answer(.stored(.history(page, newestFirst: true, epoch: record.epoch)))
    case .newer:
      let page = visible.newer(than: request.fromSeq, count: count)
      return .answer(.stored(.history(page, newestFirst: false, epoch: record.epoch)))
    }
  }

  /// "Every message after seq that I may see, none missing, or recovered:false and none."
  func sync(epoch: String, seq: Int64, bytes: Int, for caller: Caller) throws(WireError) -> Decision {
    try requireMembership(caller)
    let isKnown = record.type.storesMessages && epoch == record.epoch && seq <= lastSeq
    let page = isKnown ? try visibleHistory(for: caller).newer(than: seq, count: GroupState.syncPage) : nil
    return .answer(.stored(.sync(SyncAnswer(epoch: record.epoch, lastSeq: lastSeq, page: page, bytes: bytes))))
  }

  /// How many messages one row of syncGroups holds at most.
  private static let syncPage: Int64 = 100

  /// What the caller may read; 10007 where the type keeps no history.
  func visibleHistory(for caller: Caller) throws(WireError) -> VisibleHistory {
    try requireMembership(caller)
    guard record.type.storesMessages else { throw WireError(.noRight, "This type of group keeps no history") }
    guard let member = caller.userID.flatMap({ members[$0] }) else { return VisibleHistory(ranges: through(1)) }
    return visibleHistory(of: member)
  }

  /// What a member may read.
  func visibleHistory(of member: Member) -> VisibleHistory {
    if record.type.showsHistoryFromBeforeJoining { return VisibleHistory(ranges: through(1)) }
    return VisibleHistory(ranges: member.earlierVisibleRanges + through(member.firstVisibleSeq))
  }

  /// From a message to the newest; nothing where there is none yet.
  private func through(_ first: Int64) -> [ClosedRange<Int64>] { first <= lastSeq ? [first...lastSeq] : [] }
}
