import Testing

@testable import LoadGenerator

@Suite struct LedgerTests {
  /// Two groups; senders 0 and 1 in the first, 2 in the second. Instants from 100 to 200 count.
  private func ledger() -> Ledger { Ledger(groups: 2, groupOfSender: [0, 0, 1]) { 100..<200 } }

  @Test func acceptedMessagesMustArrive() {
    var ledger = ledger()
    for (sender, outcome) in [(0, Outcome.delivered), (1, .stored), (2, .done), (0, .delivered)] {
      let number = ledger.send(stamp: 100, sender: sender)
      #expect(ledger.settle(number, outcome)?.isVoid == false)
    }
    #expect(ledger.acceptedInGroup == [3, 1])
    #expect(ledger.acceptedBySender == [2, 1, 1])
    #expect(ledger.total == Ledger.Tally(sent: 4, delivered: 2, stored: 1))
    #expect(ledger.unanswered == 0)
  }

  @Test func droppedAndRefusedOnesNeedNot() {
    var ledger = ledger()
    #expect(ledger.settle(ledger.send(stamp: 101, sender: 0), .dropped)?.isVoid == true)
    #expect(ledger.settle(ledger.send(stamp: 101, sender: 0), .failed(code: 7008, "slow"))?.isVoid == true)
    #expect(ledger.acceptedInGroup == [0, 0])
    #expect(ledger.tallies[1] == Ledger.Tally(sent: 2, dropped: 1, errors: 1), "stamp 101 is of lane 1")
    #expect(ledger.errors == ["7008 slow": 1])
  }

  @Test func aQueuedMessageIsExpectedUntilItIsDropped() {
    var ledger = ledger()
    _ = ledger.settle(ledger.send(stamp: 104, sender: 0), .queued(messageID: "a"))
    _ = ledger.settle(ledger.send(stamp: 104, sender: 1), .queued(messageID: "b"))
    #expect(ledger.acceptedInGroup == [2, 0])
    #expect(ledger.drop("a")?.isVoid == true)
    #expect(ledger.acceptedInGroup == [1, 0])
    #expect(ledger.acceptedBySender == [0, 1, 0])
    #expect(ledger.total == Ledger.Tally(sent: 2, queued: 2, droppedLater: 1))
    #expect(ledger.drop("a") == nil, "once")
  }

  @Test func theDropMayComeBeforeTheReply() {
    var ledger = ledger()
    let number = ledger.send(stamp: 104, sender: 0)
    #expect(ledger.drop("a") == nil)
    #expect(ledger.settle(number, .queued(messageID: "a"))?.isVoid == true)
    #expect(ledger.acceptedInGroup == [0, 0])
    #expect(ledger.total == Ledger.Tally(sent: 1, queued: 1, droppedLater: 1))
  }

  @Test func whatIsOutsideTheWindowIsNotCounted() {
    var ledger = ledger()
    for stamp in [96, 200, 400] as [UInt64] { _ = ledger.settle(ledger.send(stamp: stamp, sender: 0), .delivered) }
    #expect(ledger.total == Ledger.Tally())
    #expect(ledger.acceptedInGroup == [0, 0])
  }

  @Test func unansweredMessagesMayHaveBeenAccepted() {
    var ledger = ledger()
    _ = ledger.send(stamp: 100, sender: 2)
    #expect(ledger.unanswered == 1)
    ledger.close()
    #expect(ledger.unanswered == 0)
    #expect(ledger.acceptedInGroup == [0, 1])
    #expect(ledger.total == Ledger.Tally(sent: 1, unanswered: 1))
  }

  @Test func aReplyToNothingChangesNothing() {
    var ledger = ledger()
    #expect(ledger.settle(1, .delivered) == nil)
    let number = ledger.send(stamp: 100, sender: 0)
    _ = ledger.settle(number, .delivered)
    #expect(ledger.settle(number, .delivered) == nil)
    #expect(ledger.acceptedInGroup == [1, 0])
  }

  @Test func aSenderDoesNotGetItsOwn() {
    var ledger = ledger()
    for (sender, count) in [(0, 3), (1, 2), (2, 1)] {
      for _ in 0..<count { _ = ledger.settle(ledger.send(stamp: 100, sender: sender), .delivered) }
    }
    // Connections 10, 11, 12 send; 13 and 14 are one more member of each group.
    let audience = Audience(senders: [10, 11, 12], groups: 2, groupOf: { [0, 0, 1, 0, 1][$0 - 10] }, sendersReceive: true)
    let expected = audience.expected(ledger, receivers: 10...14)
    #expect(expected.map(\.messages) == [2, 3, 0, 5, 1])
  }
}
