import GroupModel
import Testing
import WireProtocol

@testable import GroupRuntime

/// Marks of messages that no store keeps hold a group in memory, for as long as they count.
@Suite struct RecentlySentTests {
  private func message(_ seq: Int64?, at time: Instant, mark: String? = "c") -> Message {
    Message(
      msgID: "m\(time)", groupID: "g", seq: seq, sender: "mary", nameCard: "", timestamp: time, content: .text("x"),
      priority: .normal, clientMsgID: mark, platform: .web)
  }

  @Test func aMarkOfAMessageThatIsNotStoredIsRememberedForFiveMinutes() {
    var sent = RecentlySent([], at: 1000)
    #expect(!sent.remembersVolatile(at: 1000))
    sent.note(message(nil, at: 1000), .delivered, at: 1000)
    #expect(sent.remembersVolatile(at: 1000) && sent.remembersVolatile(at: 300_999) && !sent.remembersVolatile(at: 301_000))
    sent.note(message(nil, at: 200_000, mark: "d"), .delivered, at: 200_000)
    #expect(sent.remembersVolatile(at: 499_999) && !sent.remembersVolatile(at: 500_000))
  }

  @Test func whatTheStoreTellsAgainOrHasNoMarkHoldsNothing() {
    let stored = SentMessage(sender: "mary", clientMsgID: "c", msgID: "e-1", seq: 1, timestamp: 900)
    var sent = RecentlySent([stored], at: 1000)
    sent.note(message(2, at: 1000, mark: "d"), .stored, at: 1000)
    sent.note(message(nil, at: 1000, mark: nil), .delivered, at: 1000)
    #expect(!sent.remembersVolatile(at: 1000))
    #expect(sent.result(of: "c", from: "mary", at: 1000)?.msgID == "e-1")
  }
}
