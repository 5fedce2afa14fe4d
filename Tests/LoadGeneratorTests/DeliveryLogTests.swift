import Testing

@testable import LoadGenerator

@Suite struct DeliveryLogTests {
  /// Two groups; senders 0 and 1 in the first, 2 in the second. Instants from 100 to 200 count.
  private func deliveryLog() -> DeliveryLog { DeliveryLog(groups: 2, groupOfSender: [0, 0, 1]) { 100..<200 } }

  @Test func acceptedMessagesMustArrive() {
    var deliveryLog = deliveryLog()
    for (sender, outcome) in [(0, Outcome.delivered), (1, .stored), (2, .done), (0, .delivered)] {
      let number = deliveryLog.recordSend(stamp: 100, sender: sender)
      #expect(deliveryLog.recordReply(number, outcome)?.isVoid == false)
    }
    #expect(deliveryLog.acceptedInGroup == [3, 1])
    #expect(deliveryLog.acceptedBySender == [2, 1, 1])
    #expect(deliveryLog.total == DeliveryLog.Tally(sent: 4, delivered: 2, stored: 1))
    #expect(deliveryLog.unanswered == 0)
  }

  @Test func droppedAndRefusedMessagesNeedNotArrive() {
    var deliveryLog = deliveryLog()
    #expect(deliveryLog.recordReply(deliveryLog.recordSend(stamp: 101, sender: 0), .dropped)?.isVoid == true)
    #expect(deliveryLog.recordReply(deliveryLog.recordSend(stamp: 101, sender: 0), .failed(code: 7008, "slow"))?.isVoid == true)
    #expect(deliveryLog.acceptedInGroup == [0, 0])
    #expect(deliveryLog.tallies[1] == DeliveryLog.Tally(sent: 2, dropped: 1, errors: 1), "stamp 101 is of flow 1")
    #expect(deliveryLog.errors == ["7008 slow": 1])
  }

  @Test func aQueuedMessageIsExpectedUntilItIsDropped() {
    var deliveryLog = deliveryLog()
    _ = deliveryLog.recordReply(deliveryLog.recordSend(stamp: 104, sender: 0), .queued(messageID: "a"))
    _ = deliveryLog.recordReply(deliveryLog.recordSend(stamp: 104, sender: 1), .queued(messageID: "b"))
    #expect(deliveryLog.acceptedInGroup == [2, 0])
    #expect(deliveryLog.recordDrop("a")?.isVoid == true)
    #expect(deliveryLog.acceptedInGroup == [1, 0])
    #expect(deliveryLog.acceptedBySender == [0, 1, 0])
    #expect(deliveryLog.total == DeliveryLog.Tally(sent: 2, queued: 2, droppedLater: 1))
    #expect(deliveryLog.recordDrop("a") == nil, "once")
  }

  @Test func theDropMayComeBeforeTheReply() {
    var deliveryLog = deliveryLog()
    let number = deliveryLog.recordSend(stamp: 104, sender: 0)
    #expect(deliveryLog.recordDrop("a") == nil)
    #expect(deliveryLog.recordReply(number, .queued(messageID: "a"))?.isVoid == true)
    #expect(deliveryLog.acceptedInGroup == [0, 0])
    #expect(deliveryLog.total == DeliveryLog.Tally(sent: 1, queued: 1, droppedLater: 1))
  }

  @Test func messagesOutsideTheWindowAreNotCounted() {
    var deliveryLog = deliveryLog()
    for stamp in [96, 200, 400] as [UInt64] {
      _ = deliveryLog.recordReply(deliveryLog.recordSend(stamp: stamp, sender: 0), .delivered)
    }
    #expect(deliveryLog.total == DeliveryLog.Tally())
    #expect(deliveryLog.acceptedInGroup == [0, 0])
  }

  @Test func unansweredMessagesMayHaveBeenAccepted() {
    var deliveryLog = deliveryLog()
    _ = deliveryLog.recordSend(stamp: 100, sender: 2)
    #expect(deliveryLog.unanswered == 1)
    deliveryLog.finish()
    #expect(deliveryLog.unanswered == 0)
    #expect(deliveryLog.acceptedInGroup == [0, 1])
    #expect(deliveryLog.total == DeliveryLog.Tally(sent: 1, unanswered: 1))
  }

  @Test func anUnknownReplyChangesNothing() {
    var deliveryLog = deliveryLog()
    #expect(deliveryLog.recordReply(1, .delivered) == nil)
    let number = deliveryLog.recordSend(stamp: 100, sender: 0)
    _ = deliveryLog.recordReply(number, .delivered)
    #expect(deliveryLog.recordReply(number, .delivered) == nil)
    #expect(deliveryLog.acceptedInGroup == [1, 0])
  }

  @Test func aSenderDoesNotGetItsOwn() {
    var deliveryLog = deliveryLog()
    for (sender, count) in [(0, 3), (1, 2), (2, 1)] {
      for _ in 0..<count { _ = deliveryLog.recordReply(deliveryLog.recordSend(stamp: 100, sender: sender), .delivered) }
    }
    // Connections 10, 11, 12 send; 13 and 14 are one more member of each group.
    let participants = Participants(
      senders: [10, 11, 12], groups: 2, groupOf: { [0, 0, 1, 0, 1][$0 - 10] }, sendersReceive: true)
    let expected = participants.expected(deliveryLog, receivers: 10...14)
    #expect(expected.map(\.messages) == [2, 3, 0, 5, 1])
  }
}
