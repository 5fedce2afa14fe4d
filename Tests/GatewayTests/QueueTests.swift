import Testing
import ThrongTestKit

@testable import Gateway

@Suite struct ReplyQueueTests {
  /// Fills a place, and takes what may leave then.
  private func fill(_ slot: ReplyQueue.Slot, _ text: String, in queue: ReplyQueue) -> [String] {
    queue.fill(slot, with: Array(text.utf8))
    var ready: [String] = []
    while let text = queue.popReady() { ready.append(String(decoding: text, as: UTF8.self)) }
    return ready
  }

  @Test func repliesLeaveInTheOrderOfTheirRequests() {
    let queue = ReplyQueue()
    let slots = (0..<3).map { _ in queue.open() }
    #expect(fill(slots[2], "c", in: queue).isEmpty)
    #expect(fill(slots[1], "b", in: queue).isEmpty)
    #expect(queue.count == 3)
    #expect(fill(slots[0], "a", in: queue) == ["a", "b", "c"])
    #expect(queue.count == 0)
  }

  @Test func aRequestWithoutAnIDKeepsItsPlaceAndIsEmpty() {
    let queue = ReplyQueue()
    let silent = queue.open()
    let loud = queue.open()
    #expect(fill(loud, "x", in: queue).isEmpty)
    #expect(fill(silent, "", in: queue) == ["", "x"])
    #expect(queue.count == 0)
  }

  @Test func readyRepliesBehindASlowOneAreCounted() {
    let queue = ReplyQueue()
    let slots = (0..<4).map { _ in queue.open() }
    _ = fill(slots[1], "four", in: queue)
    _ = fill(slots[3], "three", in: queue)
    #expect(queue.readyBytes == 9)
    #expect(fill(slots[0], "a", in: queue) == ["a", "four"])
    #expect(queue.readyBytes == 5)
    _ = fill(slots[2], "", in: queue)
    #expect(queue.readyBytes == 0)
  }

  /// Every order of answering: what has left is always the longest answered beginning.
  @Test(arguments: 0..<50) func anyOrderOfAnswersGivesTheOrderOfRequests(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let queue = ReplyQueue()
    var open: [(ReplyQueue.Slot, Int)] = []
    var sent: [String] = []
    var made = 0
    while sent.count < 200 {
      if made < 200, open.isEmpty || Bool.random(using: &random) {
        open.append((queue.open(), made))
        made += 1
      } else {
        let (slot, number) = open.remove(at: Int.random(in: open.indices, using: &random))
        sent += fill(slot, "\(number)", in: queue)
      }
    }
    #expect(sent == (0..<200).map(String.init))
    #expect(queue.count == 0)
  }
}

@Suite struct ReceiveQueueTests {
  private func put(_ text: String, into queue: ReceiveQueue) {
    Array(text.utf8).withUnsafeBytes { queue.append($0) }
  }

  private func take(from queue: ReceiveQueue) -> String? {
    var taken: String?
    queue.popFirst()?.read { taken = String(decoding: $0, as: UTF8.self) }
    return taken
  }

  @Test func textsComeBackInOrderAndTheirBytesAreCounted() {
    let queue = ReceiveQueue()
    put("one", into: queue)
    put("", into: queue)
    put("three", into: queue)
    #expect(queue.count == 3)
    #expect(queue.bytes == 8)
    #expect(take(from: queue) == "one")
    #expect(queue.bytes == 5)
    #expect(take(from: queue) == "")
    #expect(take(from: queue) == "three")
    #expect(take(from: queue) == nil)
    #expect(queue.isEmpty && queue.bytes == 0)
  }

  @Test func removingAllForgetsTheBytesToo() {
    let queue = ReceiveQueue()
    put("text", into: queue)
    queue.removeAll()
    #expect(queue.isEmpty && queue.count == 0 && queue.bytes == 0)
  }
}
