import Testing
import ThrongTestKit

@testable import Gateway

@Suite struct ReplyQueueTests {
  private func texts(_ replies: [[UInt8]]) -> [String] { replies.map { String(decoding: $0, as: UTF8.self) } }

  @Test func repliesLeaveInTheOrderOfTheirRequests() {
    var queue = ReplyQueue()
    let slots = (0..<3).map { _ in queue.open() }
    #expect(queue.fill(slots[2], with: Array("c".utf8)).isEmpty)
    #expect(queue.fill(slots[1], with: Array("b".utf8)).isEmpty)
    #expect(queue.count == 3)
    #expect(texts(queue.fill(slots[0], with: Array("a".utf8))) == ["a", "b", "c"])
    #expect(queue.count == 0)
  }

  @Test func whatWantsNoAnswerHoldsItsPlaceAndSendsNothing() {
    var queue = ReplyQueue()
    let silent = queue.open()
    let loud = queue.open()
    #expect(queue.fill(loud, with: Array("x".utf8)).isEmpty)
    #expect(texts(queue.fill(silent, with: [])) == ["x"])
    #expect(queue.count == 0)
  }

  /// Every order of answering: what has left is always the longest answered beginning.
  @Test(arguments: 0..<50) func anyOrderOfAnswersGivesTheOrderOfRequests(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var queue = ReplyQueue()
    var open: [(ReplyQueue.Slot, Int)] = []
    var sent: [String] = []
    var made = 0
    while sent.count < 200 {
      if made < 200, open.isEmpty || Bool.random(using: &random) {
        open.append((queue.open(), made))
        made += 1
      } else {
        let (slot, number) = open.remove(at: Int.random(in: open.indices, using: &random))
        sent += texts(queue.fill(slot, with: Array("\(number)".utf8)))
      }
    }
    #expect(sent == (0..<200).map(String.init))
    #expect(queue.count == 0)
  }
}

@Suite struct MailboxTests {
  private func put(_ text: String, into mailbox: inout Mailbox) {
    Array(text.utf8).withUnsafeBytes { mailbox.append($0) }
  }

  private func take(from mailbox: inout Mailbox) -> String? {
    var taken: String?
    mailbox.popFirst()?.read { taken = String(decoding: $0, as: UTF8.self) }
    return taken
  }

  @Test func textsComeBackInOrderAndTheirBytesAreCounted() {
    var mailbox = Mailbox()
    put("one", into: &mailbox)
    put("", into: &mailbox)
    put("three", into: &mailbox)
    #expect(mailbox.count == 3)
    #expect(mailbox.bytes == 8)
    #expect(take(from: &mailbox) == "one")
    #expect(mailbox.bytes == 5)
    #expect(take(from: &mailbox) == "")
    #expect(take(from: &mailbox) == "three")
    #expect(take(from: &mailbox) == nil)
    #expect(mailbox.isEmpty && mailbox.bytes == 0)
  }

  @Test func removingAllForgetsTheBytesToo() {
    var mailbox = Mailbox()
    put("text", into: &mailbox)
    mailbox.removeAll()
    #expect(mailbox.isEmpty && mailbox.count == 0 && mailbox.bytes == 0)
  }
}
