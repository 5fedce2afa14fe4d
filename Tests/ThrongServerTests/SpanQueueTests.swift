import GroupModel
import Testing

@testable import ThrongServer

/// What waits for the collector, and when it goes.
@Suite final class SpanQueueTests {
  private static let start = MonotonicInstant(nanoseconds: 1_000_000_000)
  private var queue = SpanQueue()

  private static func after(_ seconds: Int64) -> MonotonicInstant { start + .seconds(seconds) }

  private static let span = Span(
    .webhook(.messageSent, status: 200, failure: nil), in: .begin(), parentID: nil, from: start, to: start)

  /// Adds so many spans, and gives the steps that are one.
  private func add(_ count: Int, at now: MonotonicInstant = start) -> [SpanQueue.Step] {
    (0..<count).map { _ in queue.add(Self.span, at: now) }.filter { $0 != .nothing }
  }

  @Test func aSpanWaitsASecondForOthers() {
    #expect(add(3) == [.wait(until: Self.after(1))])
    #expect(queue.timeHasCome(at: Self.start) == .nothing, "too early")
    #expect(queue.timeHasCome(at: Self.after(1)) == .send)
    #expect(queue.batch.count == 3 && queue.count == 3)
    #expect(queue.didSend(at: Self.after(1)) == .nothing)
    #expect(queue.sent == 3 && queue.count == 0)
  }

  @Test func aFullBatchGoesAtOnce() {
    #expect(add(SpanQueue.batchSize) == [.wait(until: Self.after(1)), .send])
    #expect(queue.batch.count == SpanQueue.batchSize)
    #expect(queue.timeHasCome(at: Self.after(1)) == .nothing, "its timer means nothing any more")
  }

  @Test func whatCameMeanwhileFollows() {
    _ = add(SpanQueue.batchSize + 2)
    #expect(queue.didSend(at: Self.after(2)) == .wait(until: Self.after(3)))
    #expect(queue.timeHasCome(at: Self.after(3)) == .send && queue.batch.count == 2)
    _ = add(2 * SpanQueue.batchSize, at: Self.after(3))
    #expect(queue.didSend(at: Self.after(4)) == .send && queue.batch.count == SpanQueue.batchSize, "a full one")
  }

  @Test func moreThanMayWaitAreDroppedAndCounted() {
    _ = add(SpanQueue.batchSize)
    #expect(add(SpanQueue.maxWaiting).isEmpty && queue.overflowed == 0)
    #expect(add(7).isEmpty && queue.overflowed == 7)
    #expect(queue.count == SpanQueue.maxWaiting + SpanQueue.batchSize)
  }

  @Test func whatACollectorRefusesForeverIsDropped() {
    _ = add(SpanQueue.batchSize)
    #expect(queue.didFail(isTemporary: false, at: Self.start) == .nothing)
    #expect(queue.refused == SpanQueue.batchSize && queue.sent == 0 && queue.count == 0)
  }

  @Test func whatACollectorCannotTakeNowIsRepeatedAFewTimes() {
    _ = add(SpanQueue.batchSize)
    var now = Self.start
    for pause in [1, 2, 4, 8] {
      #expect(queue.didFail(isTemporary: true, at: now) == .wait(until: now + .seconds(pause)))
      #expect(queue.timeHasCome(at: now) == .nothing)
      now = now + .seconds(pause)
      #expect(queue.timeHasCome(at: now) == .send && queue.batch.count == SpanQueue.batchSize)
    }
    #expect(queue.didFail(isTemporary: true, at: now) == .nothing)
    #expect(queue.refused == SpanQueue.batchSize)
    // The next one has as many attempts.
    _ = add(SpanQueue.batchSize, at: now)
    #expect(queue.didFail(isTemporary: true, at: now) == .wait(until: now + .seconds(1)))
  }

  @Test func partsOfABatchMayBeRefused() {
    _ = add(SpanQueue.batchSize)
    #expect(queue.didSend(rejected: 12, at: Self.start) == .nothing)
    #expect(queue.refused == 12 && queue.sent == SpanQueue.batchSize - 12)
    _ = add(SpanQueue.batchSize)
    _ = queue.didSend(rejected: .max, at: Self.start)
    #expect(queue.sent == SpanQueue.batchSize - 12, "no more than there were")
    _ = add(SpanQueue.batchSize)
    _ = queue.didSend(rejected: -3, at: Self.start)
    #expect(queue.refused == 12 + SpanQueue.batchSize)
  }

  @Test func theEndSendsWhatWaitsInOneRequest() {
    #expect(queue.flush() == .nothing)
    _ = add(5)
    #expect(queue.flush() == .send && queue.batch.count == 5)
    #expect(queue.flush() == .nothing, "it is under way")
  }

  /// Whatever happens, no span is lost from the counts, and something follows while any waits.
  @Test func everySpanIsCountedOnce() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<50 {
      var (queue, now, added) = (SpanQueue(), Self.start, 0)
      var (isSending, timers) = (false, [MonotonicInstant]())
      func follow(_ step: SpanQueue.Step) {
        switch step {
        case .nothing: break
        case .send:
          #expect(!isSending)
          isSending = true
        case .wait(let instant): timers.append(instant)
        }
      }
      for _ in 0..<300 {
        now = now + .milliseconds(Int64.random(in: 0...900, using: &generator))
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
          for _ in 0..<Int.random(in: 1...400, using: &generator) {
            follow(queue.add(Self.span, at: now))
            added += 1
          }
        case 1:
          let due = timers.filter { $0 <= now }
          timers.removeAll { $0 <= now }
          for _ in due { follow(queue.timeHasCome(at: now)) }
        default:
          guard isSending else { continue }
          isSending = false
          if Bool.random(using: &generator) {
            follow(queue.didSend(rejected: Int.random(in: 0...3, using: &generator), at: now))
          } else {
            follow(queue.didFail(isTemporary: Bool.random(using: &generator), at: now))
          }
        }
        #expect(queue.sent + queue.refused + queue.overflowed + queue.count == added)
        #expect(queue.count == 0 || isSending || !timers.isEmpty)
        #expect(queue.count <= SpanQueue.maxWaiting + SpanQueue.batchSize)
      }
    }
  }
}
