import Testing

@testable import LoadGenerator

@Suite struct InFlightTests {
  private let timeout = InFlight.timeout

  /// Messages with these stamps.
  private func inFlight(_ stamps: some Sequence<UInt64>) -> InFlight {
    var inFlight = InFlight()
    for stamp in stamps { inFlight.insert(stamp) }
    return inFlight
  }

  @Test func aMessageIsRemovedOnceInAnyOrder() {
    var inFlight = inFlight([4, 8, 12])
    #expect(inFlight.count == 3)
    inFlight.recordReturn(8, at: 20)
    inFlight.recordReturn(8, at: 21)
    inFlight.recordReturn(9, at: 22)
    #expect(inFlight.count == 2)
    inFlight.remove(4)
    inFlight.recordReturn(12, at: 23)
    #expect(inFlight.count == 0 && inFlight.expired == 0)
    #expect(inFlight.deadline == .max)
  }

  @Test func stampsRiseEvenIfTheClockDoesNot() {
    var inFlight = InFlight()
    #expect(inFlight.nextStamp(at: 1003) == 1000)
    inFlight.insert(1000)
    #expect(inFlight.nextStamp(at: 1003) == 1004)
    inFlight.remove(1000)
    #expect(inFlight.nextStamp(at: 1003) == 1004)
    #expect(inFlight.nextStamp(at: 2000) == 2000)
  }

  @Test func inALongQueueOldMessagesDoNotExpire() {
    var inFlight = inFlight([0, 4, 8])
    // Ten times the timeout under way, and still something comes back now and then.
    for (number, stamp) in ([0, 4, 8] as [UInt64]).enumerated() {
      let now = timeout * UInt64(10 + number)
      inFlight.recordReturn(stamp, at: now)
      inFlight.expire(at: now + timeout - 1)
      #expect(inFlight.count == 2 - number && inFlight.expired == 0)
    }
  }

  @Test func aMessageOvertakenForLongExpires() {
    var inFlight = inFlight([0, 4, timeout, timeout + 4])
    inFlight.recordReturn(timeout, at: timeout * 3)
    inFlight.expire(at: timeout * 3)
    #expect(inFlight.expired == 1 && inFlight.count == 2, "only the first was sent so long before")
    inFlight.recordReturn(timeout + 4, at: timeout * 3)
    inFlight.expire(at: timeout * 3)
    #expect(inFlight.expired == 2 && inFlight.count == 0)
    inFlight.recordReturn(0, at: timeout * 3)
    #expect(inFlight.count == 0, "it comes after all")
  }

  @Test func withoutAnyReturnOldMessagesExpire() {
    var inFlight = inFlight([4, 400])
    inFlight.insert(800)
    inFlight.recordReturn(4, at: 1000)
    #expect(inFlight.deadline == 1000 + timeout)
    inFlight.expire(at: 999 + timeout)
    #expect(inFlight.expired == 0)
    inFlight.expire(at: 1000 + timeout)
    #expect(inFlight.expired == 2 && inFlight.count == 0)
    inFlight.insert(1000 + timeout)
    #expect(inFlight.deadline == 1000 + 2 * timeout)
  }

  @Test func behavesAsASetHoweverManyThereWere() {
    var inFlight = InFlight()
    var model: Set<UInt64> = []
    for _ in 1...20_000 {
      let stamp = inFlight.nextStamp(at: 0)
      inFlight.insert(stamp)
      model.insert(stamp)
      while model.count > 50, let over = model.randomElement() {
        model.remove(over)
        inFlight.remove(over)
      }
      #expect(inFlight.count == model.count)
    }
    for stamp in model { inFlight.remove(stamp) }
    #expect(inFlight.count == 0)
  }
}
