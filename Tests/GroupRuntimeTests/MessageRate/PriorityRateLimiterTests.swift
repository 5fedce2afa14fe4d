import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The properties of the message rate (Protocol.md, "Message rate of live types") over random
/// arrivals.
@Suite struct PriorityRateLimiterTests {
  /// The fates of the messages of one run, in their order.
  private struct Run {
    struct Message: Sendable, Equatable {
      let number: Int
      let priority: Priority
      let time: WallInstant
    }

    enum Fate: Equatable { case delivered, tooOld, queueFull }

    let limit: Int
    var offered: [Message] = []
    var fates: [(message: Message, fate: Fate, time: WallInstant)] = []
    /// Messages that were dropped by a full queue, each with the number of the cause.
    var refused: [(message: Message, by: Int)] = []
    /// Messages that had a free slot and an empty queue, and were not delivered at once.
    var delayedWithoutNeed: [Message] = []
    var mostWaiting = 0

    init(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      limit = [1, 2, 5, 40].randomElement(using: &generator) ?? 1
      var limiter = PriorityRateLimiter<Message>(limit: limit)
      var now: WallInstant = 1_700_000_000_000
      for number in 0..<400 {
        let next = now + ([0, 0, 0, 1, 5, 20, 100, 700, 1500].randomElement(using: &generator) ?? 0)
        pass(&limiter, from: now, until: next)
        now = next
        let priority = Priority.allCases.randomElement(using: &generator) ?? .normal
        offer(Message(number: number, priority: priority, time: now), to: &limiter)
      }
      pass(&limiter, from: now, until: .distantFuture)
    }

    /// Lets time pass; the limiter advances whenever it has an item to remove.
    private mutating func pass(_ limiter: inout PriorityRateLimiter<Message>, from start: WallInstant, until end: WallInstant) {
      var now = start
      while let wake = limiter.nextChange, wake <= end {
        now = max(now, wake)
        leave(limiter.advance(to: now), at: now)
      }
    }

    private mutating func offer(_ message: Message, to limiter: inout PriorityRateLimiter<Message>) {
      offered.append(message)
      leave(limiter.advance(to: message.time), at: message.time)
      let inSecond = fates.count { $0.fate == .delivered && message.time < $0.time + 1000 }
      let isFree = inSecond < limit && limiter.count == 0
      let (outcome, displaced) = limiter.offer(message, message.priority, at: message.time)
      if let displaced {
        fates.append((displaced, .queueFull, message.time))
        refused.append((displaced, message.number))
      }
      switch outcome {
      case .delivered: fates.append((message, .delivered, message.time))
      case .dropped:
        fates.append((message, .queueFull, message.time))
        refused.append((message, message.number))
      case .queued: break
      }
      if isFree, outcome != .delivered { delayedWithoutNeed.append(message) }
      mostWaiting = max(mostWaiting, limiter.count)
    }

    private mutating func leave(_ dequeued: [PriorityRateLimiter<Message>.Dequeued], at now: WallInstant) {
      for item in dequeued {
        switch item {
        case .delivered(let message): fates.append((message, .delivered, now))
        case .dropped(let message): fates.append((message, .tooOld, now))
        }
      }
    }

    var delivered: [(message: Message, time: WallInstant)] {
      fates.filter { $0.fate == .delivered }.map { ($0.message, $0.time) }
    }
  }

  @Test(arguments: 0..<100) func neverMoreThanTheLimitInAnySecond(seed: UInt64) {
    let run = Run(seed: seed)
    for (newer, older) in zip(run.delivered.dropFirst(run.limit), run.delivered) { #expect(newer.time >= older.time + 1000) }
  }

  @Test(arguments: 0..<100) func everyMessageLeavesOnce(seed: UInt64) {
    let run = Run(seed: seed)
    #expect(run.fates.map(\.message.number).sorted() == run.offered.map(\.number), "accepted = delivered + dropped")
    #expect(run.mostWaiting <= run.limit, "the queue is as long as the limit")
  }

  @Test(arguments: 0..<100) func underTheLimitNothingIsDelayed(seed: UInt64) {
    #expect(Run(seed: seed).delayedWithoutNeed.isEmpty)
  }

  @Test(arguments: 0..<100) func nothingWaitsLongerThanASecond(seed: UInt64) {
    for (message, fate, time) in Run(seed: seed).fates {
      switch fate {
      case .delivered: #expect(time <= message.time + 1000)
      case .tooOld: #expect(time == message.time + 1001, "dropped as soon as it is too old")
      case .queueFull: #expect(time <= message.time + 1000)
      }
    }
  }

  /// "No message is delivered while one of higher priority that came before it is dropped for want
  /// of room": what came behind it, and was there when it was dropped, is not delivered unless it
  /// is as important.
  @Test(arguments: 0..<100) func nothingLessImportantIsPreferred(seed: UInt64) {
    let run = Run(seed: seed)
    let delivered = Set(run.delivered.map(\.message.number))
    for (better, newest) in run.refused {
      let preferred = run.offered[(better.number + 1)..<max(better.number + 1, newest)].filter { delivered.contains($0.number) }
      #expect(preferred.allSatisfy { $0.priority >= better.priority }, "\(better) was dropped")
    }
  }

  /// "Highest priority first, first come first served inside one priority."
  @Test(arguments: 0..<100) func theOrderIsKept(seed: UInt64) {
    let run = Run(seed: seed)
    for priority in Priority.allCases {
      let numbers = run.delivered.filter { $0.message.priority == priority }.map(\.message.number)
      #expect(numbers == numbers.sorted())
    }
    for (index, (message, time)) in run.delivered.enumerated() {
      for (later, laterTime) in run.delivered[(index + 1)...].prefix(run.limit) where later.time < time && laterTime > time {
        #expect(later.priority <= message.priority, "\(later) waited while \(message) left")
      }
    }
  }

  // MARK: Examples

  private func outcomes(_ priorities: [Priority], limit: Int) -> [PriorityRateLimiter<Int>.Outcome] {
    var limiter = PriorityRateLimiter<Int>(limit: limit)
    return priorities.enumerated().map { limiter.offer($0, $1, at: 0).outcome }
  }

  @Test func theRoomFillsAndThenRefusesEquals() {
    let equals = Array(repeating: Priority.normal, count: 5)
    #expect(outcomes(equals, limit: 2) == [.delivered, .delivered, .queued, .queued, .dropped])
  }

  @Test func aBetterOneDisplacesTheNewestOfTheLowest() {
    var limiter = PriorityRateLimiter<Int>(limit: 3)
    for number in 0..<3 { #expect(limiter.offer(number, .low, at: 0).outcome == .delivered) }
    _ = limiter.offer(3, .lowest, at: 0)
    _ = limiter.offer(4, .lowest, at: 0)
    _ = limiter.offer(5, .low, at: 0)
    let high = limiter.offer(6, .high, at: 0)
    #expect(high.outcome == .queued && high.displaced == 4)
    let low = limiter.offer(7, .low, at: 0)
    #expect(low.outcome == .queued && low.displaced == 3)
    #expect(limiter.offer(8, .lowest, at: 0).outcome == .dropped)
    #expect(limiter.nextChange == 1000)
    let left = limiter.advance(to: 1002).map { item in
      switch item {
      case .delivered(let number): number
      case .dropped(let number): -number
      }
    }
    #expect(left == [6, 5, 7], "woken a moment too late, not too old")
  }

  @Test func whoeverFindsNoPlaceWithinTheSecondIsDropped() {
    var limiter = PriorityRateLimiter<Int>(limit: 1)
    _ = limiter.offer(0, .normal, at: 0)
    #expect(limiter.offer(1, .normal, at: 10).outcome == .queued)
    #expect(limiter.offer(2, .high, at: 20).displaced == 1)
    guard case .delivered(2)? = limiter.advance(to: 1000).first else { return #expect(Bool(false)) }
    #expect(limiter.offer(3, .normal, at: 1001).outcome == .queued)
    #expect(limiter.nextChange == 2000)
    guard case .delivered(3)? = limiter.advance(to: 2000).first else { return #expect(Bool(false)) }
    #expect(limiter.nextChange == nil)
  }
}
