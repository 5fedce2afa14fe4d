import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Receipts of messages that no store holds keep a group in memory until they expire.
@Suite struct RecentlySentTests {
  private func message(_ seq: Int64?, at time: WallInstant, clientMsgID: String? = "c") -> Message {
    Message(
      msgID: "m\(time)", groupID: "g", seq: seq, sender: "mary", nameCard: "", timestamp: time, content: .text("x"),
      priority: .normal, clientMsgID: clientMsgID, platform: .web)
  }

  @Test func aVolatileReceiptIsKeptForFiveMinutes() {
    var sent = RecentlySent([], at: 1000)
    #expect(!sent.remembersVolatile(at: 1000))
    sent.record(message(nil, at: 1000), .delivered, at: 1000)
    #expect(sent.remembersVolatile(at: 1000) && sent.remembersVolatile(at: 300_999) && !sent.remembersVolatile(at: 301_000))
    // A live room that remembers has given it a place.
    sent.record(message(7, at: 200_000, clientMsgID: "d"), .delivered, at: 200_000)
    #expect(sent.remembersVolatile(at: 499_999) && !sent.remembersVolatile(at: 500_000))
  }

  @Test func itSaysFromWhenOnItKnowsAll() {
    var sent = RecentlySent([], at: 1000)
    #expect(sent.isComplete(since: .unset, at: 1000), "of a new group")
    for seq in 1...4 {
      let sentAt = message(Int64(seq), at: WallInstant(seq * 10_000), clientMsgID: "c\(seq)")
      sent.record(sentAt, .stored, at: MonotonicInstant(milliseconds: seq * 10_000))
    }
    #expect(sent.isComplete(since: 1, at: 309_999))
    // The first two are expired, and deleted with the next message alone.
    #expect(!sent.isComplete(since: 20_000, at: 320_000) && sent.isComplete(since: 20_001, at: 320_000))
    sent.record(message(5, at: 320_000, clientMsgID: nil), .stored, at: 320_000)
    #expect(!sent.isComplete(since: 20_000, at: 320_000) && sent.isComplete(since: 20_001, at: 320_000))
    #expect(!sent.isComplete(since: 40_000, at: 999_000) && sent.isComplete(since: 40_001, at: 999_000))
    let loaded = RecentlySent([], since: 700, at: 1000)
    #expect(!loaded.isComplete(since: 699, at: 1000) && loaded.isComplete(since: 700, at: 1000))
  }

  @Test func storedReceiptsAndMessagesWithoutAnIDKeepNothing() {
    let stored = SentMessage(sender: "mary", clientMsgID: "c", msgID: "e-1", seq: 1, timestamp: 900)
    var sent = RecentlySent([stored], at: 1000)
    sent.record(message(2, at: 1000, clientMsgID: "d"), .stored, at: 1000)
    sent.record(message(nil, at: 1000, clientMsgID: nil), .delivered, at: 1000)
    #expect(!sent.remembersVolatile(at: 1000))
    #expect(sent.receipt(of: "c", from: "mary", at: 1000)?.msgID == "e-1")
  }
}
