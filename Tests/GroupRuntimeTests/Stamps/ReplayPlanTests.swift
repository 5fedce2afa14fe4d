import GroupModel
import Testing

@testable import GroupRuntime

/// What is read to tell again what came between two stamps.
@Suite struct ReplayPlanTests {
  private func stamp(
    _ seq: Int64 = 10, _ changeSeq: Int64 = 5, revision: Int64 = 3, board: Int64 = 2, epoch: String = "e"
  ) -> GroupStamp {
    GroupStamp(epoch: epoch, seq: seq, changeSeq: changeSeq, revision: revision, board: board)
  }

  private func plan(
    from: GroupStamp?, through: GroupStamp, now: GroupStamp? = nil, type: GroupType = .public, firstSeq: Int64 = 1,
    imported: Int64 = 0
  ) throws(GroupReplay.Reason) -> ReplayPlan {
    try ReplayPlan(
      from: from, through: through,
      in: ReplayPlan.History(type: type, stamp: now ?? through, firstSeq: firstSeq, importedThroughSeq: imported))
  }

  private func expect(
    _ reason: GroupReplay.Reason, from: GroupStamp?, through: GroupStamp, now: GroupStamp? = nil, type: GroupType = .public,
    firstSeq: Int64 = 1, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(throws: reason, sourceLocation: sourceLocation) {
      try plan(from: from, through: through, now: now, type: type, firstSeq: firstSeq)
    }
  }

  @Test func nothingIsReadBetweenEqualStamps() throws {
    #expect(try plan(from: stamp(), through: stamp(), now: stamp(20, 9, revision: 9, board: 9)).isEmpty)
  }

  @Test func eachComponentIsReadForItself() throws {
    let messages = try plan(from: stamp(), through: stamp(12))
    #expect(messages.messages == 11...12 && messages.changes == nil && !messages.tellsBoard && messages.receipts == nil)
    let changes = try plan(from: stamp(), through: stamp(10, 7))
    #expect(changes.messages == nil && changes.changes == ReplayPlan.Changes(after: 5, through: 7, seqs: 1...10))
    let board = try plan(from: stamp(), through: stamp(board: 4))
    #expect(board.tellsBoard && board.receipts == 1...10 && board.messages == nil && board.changes == nil)
    #expect(try plan(from: stamp(300), through: stamp(300, board: 4)).receipts == 101...300)
    #expect(try plan(from: stamp(), through: stamp(board: 4), type: .meeting).receipts == nil, "the type has no receipts")
  }

  @Test func importedMessagesAreNotTold() throws {
    #expect(try plan(from: stamp(0, 0), through: stamp(40, 0), imported: 38).messages == 39...40)
    #expect(try plan(from: stamp(0, 0), through: stamp(40, 0), imported: 40).isEmpty)
  }

  @Test func tooMuchIsNotTold() throws {
    #expect(try plan(from: stamp(10), through: stamp(210)).messages?.count == 200)
    expect(.tooMuch, from: stamp(10), through: stamp(211))
    #expect(try plan(from: stamp(0), through: stamp(1000, 5), imported: 900).messages?.count == 100)
  }

  @Test func whatRetentionHasRemovedIsNotTold() throws {
    expect(.retention, from: stamp(10), through: stamp(14), firstSeq: 12)
    #expect(try plan(from: stamp(10), through: stamp(14), firstSeq: 11).messages == 11...14)
    #expect(try plan(from: stamp(10), through: stamp(10, 6), firstSeq: 11).messages == nil, "no message was missed")
  }

  @Test func anotherRevisionOrACounterThatIsGoneIsNotTold() {
    expect(.revision, from: stamp(), through: stamp(11, revision: 4))
    expect(.revision, from: stamp(), through: stamp(board: 2 + GroupStamp.removalStep))
  }

  @Test func whoKnowsMoreThanTheStoreIsToldNothing() {
    expect(.ahead, from: stamp(11), through: stamp(10))
    expect(.ahead, from: stamp(11, 4), through: stamp(10, 5))
    expect(.ahead, from: stamp(), through: stamp(12), now: stamp(11))
  }

  @Test func anotherHistoryIsNotTold() {
    expect(.epoch, from: stamp(epoch: "d"), through: stamp())
    expect(.epoch, from: stamp(), through: stamp(epoch: "d"), now: stamp())
    expect(.epoch, from: nil, through: stamp())
    expect(.epoch, from: stamp(), through: stamp(), type: .avChatRoom)
  }

  @Test func aLiveRoomHasItsLastStateTold() throws {
    let plan = try plan(from: nil, through: stamp(), type: .avChatRoom)
    #expect(plan.tellsBoard && plan.receipts == nil && plan.messages == nil && plan.changes == nil)
  }

  /// Small stamps of all kinds: what is told is behind `from` and not beyond `through`.
  @Test func aPlanNeverLeavesTheSpan() {
    for bits in 0..<1024 {
      let digits = (0..<5).map { Int64(bits >> (2 * $0) & 3) }
      let (from, through) = (stamp(digits[0], digits[1]), stamp(digits[2], digits[3]))
      guard let plan = try? plan(from: from, through: through, firstSeq: digits[4]) else { continue }
      #expect(from.order(to: through) != .ahead && from.order(to: through) != .apart)
      if let messages = plan.messages { #expect(messages == from.seq + 1...through.seq && messages.lowerBound >= digits[4]) }
      #expect((plan.messages == nil) == (from.seq == through.seq))
      // A message that was never sent has no change.
      #expect((plan.changes == nil) == (from.changeSeq == through.changeSeq || through.seq == 0))
    }
  }
}
