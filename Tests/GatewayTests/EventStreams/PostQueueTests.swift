import Testing

@testable import Gateway

/// Requests of streams: a few at a time, the others in order behind them, and so many at most.
@Suite struct PostQueueTests {
  private let one = StreamName(node: 1, id: "one")
  private let two = StreamName(node: 1, id: "two")
  private let most = PostQueue<Int>.maxInService

  @Test func aFewBeginAndTheOthersFollowInOrder() {
    var queue = PostQueue<Int>()
    for number in 0..<most { #expect(queue.add(number, bytes: 10, to: one) == .begin) }
    for number in most..<most + 3 { #expect(queue.add(number, bytes: 10, to: one) == .wait) }
    #expect(queue.add(0, bytes: 10, to: two) == .begin, "another stream waits for nobody")
    #expect((0..<3).map { _ in queue.end(of: one) } == [most, most + 1, most + 2])
    for _ in 0..<most { #expect(queue.end(of: one) == nil) }
    #expect(!queue.isEmpty)
    #expect(queue.end(of: two) == nil && queue.isEmpty, "nothing is kept of streams without requests")
    #expect(queue.end(of: two) == nil && queue.isEmpty)
  }

  @Test func soManyWaitAtMost() {
    var queue = PostQueue<Int>()
    for number in 0..<most + PostQueue<Int>.maxWaiting { #expect(queue.add(number, bytes: 0, to: one) != .refuse) }
    #expect(queue.add(0, bytes: 0, to: one) == .refuse)
    #expect(queue.end(of: one) == most)
    #expect(queue.add(0, bytes: 0, to: one) == .wait)
  }

  @Test func soManyBytesWaitAtMost() {
    var queue = PostQueue<Int>()
    let half = PostQueue<Int>.maxWaitingBytes / 2
    for number in 0..<most { #expect(queue.add(number, bytes: half * 3, to: one) == .begin, "only what waits counts") }
    #expect(queue.add(1, bytes: half, to: one) == .wait && queue.add(2, bytes: half, to: one) == .wait)
    #expect(queue.add(3, bytes: 1, to: one) == .refuse && queue.add(4, bytes: 0, to: one) == .wait)
    #expect(queue.end(of: one) == 1)
    #expect(queue.add(5, bytes: half, to: one) == .wait)
  }
}
