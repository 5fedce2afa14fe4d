import Dispatch
import GroupModel
import Synchronization
import Testing
import ThrongTestKit

@testable import Cluster

/// Values of the bus.
@Suite struct BusValueTests {
  @Test(arguments: ["a", "n12.requests", "all.rooms-2_x", String(repeating: "a", count: 128)])
  func wordsWithDotsBetweenThemAreASubject(_ name: String) { #expect(BusSubject(name)?.rawValue == name) }

  @Test(arguments: ["", ".", "a.", ".a", "a..b", "a b", "a*", ">", "ä", String(repeating: "a", count: 129)])
  func anythingElseIsNone(_ name: String) { #expect(BusSubject(name) == nil) }

  @Test func theSubjectsOfNodesDiffer() {
    #expect(BusSubject(of: NodeNumber(12), "requests").rawValue == "n12.requests")
    #expect(BusSubject(ofAll: "rooms").rawValue == "all.rooms")
  }
}

/// Deliveries that wait for a subscriber.
@Suite struct SubscriberQueueTests {
  /// A subscriber that stands still until it is let go.
  private final class Slow: Sendable {
    let received = Mutex<[BusDelivery]>([])
    let gate = DispatchSemaphore(value: 0)
    let entered = DispatchSemaphore(value: 0)

    func receive(_ delivery: BusDelivery) {
      received.withLock { $0.append(delivery) }
      entered.signal()
      gate.wait()
    }
  }

  @Test func aSlowSubscriberLosesMessagesAndHearsOfItOnceInTheirPlace() async throws {
    let slow = Slow()
    let queue = SubscriberQueue(try #require(BusSubject("a")), maxMessages: 3, maxBytes: 100) {
      slow.receive($0)
    } didCancel: {
    }
    #expect(queue.add([1]))
    slow.entered.wait()
    #expect(queue.add([2]) && queue.add([3]))
    #expect(!queue.add([4]) && !queue.add([5]))
    for _ in 0..<4 { slow.gate.signal() }
    try await waitUntil("the gap has come") { slow.received.withLock { $0.last == .gap } }
    for _ in 0..<4 { slow.gate.signal() }
    try await waitUntil("a later one has come") { queue.add([6]) }
    try await waitUntil("it has arrived") { slow.received.withLock { $0.last == .message([6]) } }
    #expect(slow.received.withLock { Array($0.prefix(4)) } == [.message([1]), .message([2]), .message([3]), .gap])
    #expect(slow.received.withLock { $0.count { $0 == .gap } } == 1)
  }

  @Test func bytesAreBoundedToo() async throws {
    let slow = Slow()
    let queue = SubscriberQueue(try #require(BusSubject("a")), maxMessages: 100, maxBytes: 10) {
      slow.receive($0)
    } didCancel: {
    }
    #expect(queue.add([UInt8](repeating: 0, count: 8)))
    slow.entered.wait()
    #expect(!queue.add([1, 2, 3]))
    #expect(queue.add([1, 2]))
    for _ in 0..<4 { slow.gate.signal() }
    try await waitUntil("all have come") { slow.received.withLock { $0.count } == 3 }
    #expect(slow.received.withLock { Array($0.dropFirst()) } == [.gap, .message([1, 2])])
  }

  @Test func aCancelledSubscriberGetsNothingMore() async throws {
    let slow = Slow()
    let ended = Atomic(0)
    let queue = SubscriberQueue(try #require(BusSubject("a"))) {
      slow.receive($0)
    } didCancel: {
      ended.add(1, ordering: .relaxed)
    }
    _ = queue.add([1])
    slow.entered.wait()
    _ = queue.add([2])
    queue.cancel()
    queue.cancel()
    slow.gate.signal()
    #expect(ended.load(ordering: .relaxed) == 1)
    #expect(queue.add([3]))
    #expect(slow.received.withLock { $0 } == [.message([1])])
  }
}
