import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The laws of the message rate (Protocol.md, "Message rate of live types") over random arrivals.
@Suite struct PriorityRateLimiterTests {
  /// What happened to the messages of one run, in the order in which it happened.
  private struct Run {
    struct Message: Sendable, Equatable {
      let number: Int
      let priority: Priority
      let time: Instant
    }

    enum Fate: Equatable { case delivered, tooOld, noRoom }

    let limit: Int
    var offered: [Message] = []
    var fates: [(message: Message, fate: Fate, time: Instant)] = []
    /// Messages that were dropped for want of room, each with the number of the one that wanted it.
    var refused: [(message: Message, by: Int)] = []
    /// Messages that found room in the second and nothing before them, and were not delivered at once.
    var delayedWithoutNeed: [Message] = []
    var mostWaiting = 0

    init(seed: UInt64) {
      var generator = SeededGenerator(seed: seed)
      limit = [1, 2, 5, 40].randomElement(using: &generator) ?? 1
      var gate = PriorityRateLimiter<Message>(limit: limit)
      var now: Instant = 1_700_000_000_000
      for number in 0..<400 {
        let next = now + ([0, 0, 0, 1, 5, 20, 100, 700, 1500].randomElement(using: &generator) ?? 0)
        pass(&gate, from: now, until: next)
        now = next
        let priority = Priority.allCases.randomElement(using: &generator) ?? .normal
        offer(Message(number: number, priority: priority, time: now), to: &gate)
      }
      pass(&gate, from: now, until: .max)
    }

    /// Time passes, and the gate is woken when it wants to be.
    private mutating func pass(_ gate: inout PriorityRateLimiter<Message>, from start: Instant, until end: Instant) {
      var now = start
      while let wake = gate.nextExit, wake <= end {
        now = max(now, wake)
        leave(gate.advance(to: now), at: now)
      }
    }

    private mutating func offer(_ message: Message, to gate: inout PriorityRateLimiter<Message>) {
      offered.append(message)
      leave(gate.advance(to: message.time), at: message.time)
      let inSecond = fates.count { $0.fate == .delivered && message.time - $0.time < 1000 }
      let isFree = inSecond < limit && gate.count == 0
      let (admission, displaced) = gate.offer(message, message.priority, at: message.time)
      if let displaced {
        fates.append((displaced, .noRoom, message.time))
        refused.append((displaced, message.number))
      }
      switch admission {
      case .delivered: fates.append((message, .delivered, message.time))
      case .dropped:
        fates.append((message, .noRoom, message.time))
        refused.append((message, message.number))
      case .queued: break
      }
      if isFree, admission != .delivered { delayedWithoutNeed.append(message) }
      mostWaiting = max(mostWaiting, gate.count)
    }

    private mutating func leave(_ exits: [PriorityRateLimiter<Message>.Exit], at now: Instant) {
      for exit in exits {
        switch exit {
        case .delivered(let message): fates.append((message, .delivered, now))
        case .dropped(let message): fates.append((message, .tooOld, now))
        }
      }
    }

    var delivered: [(message: Message, time: Instant)] {
      fates.filter { $0.fate == .delivered }.map { ($0.message, $0.time) }
    }
  }

  @Test(arguments: 0..<100) func neverMoreThanTheLimitInAnySecond(seed: UInt64) {
    let run = Run(seed: seed)
    for (newer, older) in zip(run.delivered.dropFirst(run.limit), run.delivered) { #expect(newer.time - older.time >= 1000) }
  }

  @Test(arguments: 0..<100) func everyMessageLeavesOnce(seed: UInt64) {
    let run = Run(seed: seed)
    #expect(run.fates.map(\.message.number).sorted() == run.offered.map(\.number), "accepted = delivered + dropped")
    #expect(run.mostWaiting <= run.limit, "the room is as large as the limit")
  }

  @Test(arguments: 0..<100) func underTheLimitNothingIsDelayed(seed: UInt64) {
    #expect(Run(seed: seed).delayedWithoutNeed.isEmpty)
  }

  @Test(arguments: 0..<100) func nothingWaitsLongerThanASecond(seed: UInt64) {
    for (message, fate, time) in Run(seed: seed).fates {
      switch fate {
      case .delivered: #expect(time - message.time <= 1000)
      case .tooOld: #expect(time - message.time == 1001, "dropped as soon as it is too old")
      case .noRoom: #expect(time - message.time <= 1000)
      }
    }
  }

  /// "No message is delivered while one of higher priority that came before it is dropped for want of room": what came behind it, and was
  /// there when it was dropped, is not delivered unless it is as important.
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

  // MARK: By hand

  private func admissions(_ priorities: [Priority], limit: Int) -> [PriorityRateLimiter<Int>.Admission] {
    var gate = PriorityRateLimiter<Int>(limit: limit)
    return priorities.enumerated().map { gate.offer($0, $1, at: 0).admission }
  }

  @Test func theRoomFillsAndThenRefusesEquals() {
    let equals = Array(repeating: Priority.normal, count: 5)
    #expect(admissions(equals, limit: 2) == [.delivered, .delivered, .queued, .queued, .dropped])
  }

  @Test func aBetterOneDisplacesTheNewestOfTheLowest() {
    var gate = PriorityRateLimiter<Int>(limit: 3)
    for number in 0..<3 { #expect(gate.offer(number, .low, at: 0).admission == .delivered) }
    _ = gate.offer(3, .lowest, at: 0)
    _ = gate.offer(4, .lowest, at: 0)
    _ = gate.offer(5, .low, at: 0)
    let high = gate.offer(6, .high, at: 0)
    #expect(high.admission == .queued && high.displaced == 4)
    let low = gate.offer(7, .low, at: 0)
    #expect(low.admission == .queued && low.displaced == 3)
    #expect(gate.offer(8, .lowest, at: 0).admission == .dropped)
    #expect(gate.nextExit == 1000)
    let left = gate.advance(to: 1002).map { exit in
      switch exit {
      case .delivered(let number): number
      case .dropped(let number): -number
      }
    }
    #expect(left == [6, 5, 7], "woken a moment too late, not too old")
  }

  @Test func whoeverFindsNoPlaceWithinTheSecondIsDropped() {
    var gate = PriorityRateLimiter<Int>(limit: 1)
    _ = gate.offer(0, .normal, at: 0)
    #expect(gate.offer(1, .normal, at: 10).admission == .queued)
    #expect(gate.offer(2, .high, at: 20).displaced == 1)
    guard case .delivered(2)? = gate.advance(to: 1000).first else { return #expect(Bool(false)) }
    #expect(gate.offer(3, .normal, at: 1001).admission == .queued)
    #expect(gate.nextExit == 2000)
    guard case .delivered(3)? = gate.advance(to: 2000).first else { return #expect(Bool(false)) }
    #expect(gate.nextExit == nil)
  }
}
