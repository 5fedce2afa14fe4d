import Dispatch
import GroupModel
import Synchronization
import Testing

/// `Alarms.wait` returns at its end, and no later than at its instant.
@Suite struct AlarmsTests {
  /// An alarm that a test rings.
  private final class Bell: Alarms {
    let alarm = Mutex<(instant: MonotonicInstant, body: @Sendable () -> Void)?>(nil)

    func schedule(at instant: MonotonicInstant, on queue: any WorkQueue, _ body: @escaping @Sendable () -> Void) {
      alarm.withLock { $0 = (instant, body) }
    }

    func ring() { alarm.withLock { $0?.body }?() }
  }

  private let instant = MonotonicInstant(nanoseconds: 7)

  @Test func aWaitEndsWhenItIsTold() async {
    let bell = Bell()
    await bell.wait(until: instant) { end in DispatchQueue.global().async { end() } }
    #expect(bell.alarm.withLock { $0?.instant } == instant)
    // It is over: the alarm finds nobody.
    bell.ring()
  }

  @Test func aWaitThatIsOverAtOnceReturns() async {
    let bell = Bell()
    await bell.wait(until: instant) { end in
      end()
      end()
    }
  }

  @Test func aWaitThatNobodyEndsReturnsAtTheInstant() async {
    let bell = Bell()
    let late = Mutex<(@Sendable () -> Void)?>(nil)
    await bell.wait(until: instant) { end in
      late.withLock { $0 = end }
      DispatchQueue.global().async { bell.ring() }
    }
    late.withLock { $0 }?()
  }
}
