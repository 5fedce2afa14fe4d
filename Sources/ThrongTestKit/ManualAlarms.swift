import GroupModel
import Synchronization

/// Alarms that tests ring.
public final class ManualAlarms: Alarms, Sendable {
  private struct Alarm: Sendable {
    let instant: MonotonicInstant
    let queue: any WorkQueue
    let body: @Sendable () -> Void
  }

  private let alarms = Mutex<[Alarm]>([])

  /// No alarms yet.
  public init() {}

  /// The instants of the alarms, earliest first.
  public var instants: [MonotonicInstant] { alarms.withLock { $0.map(\.instant).sorted() } }

  /// Rings the alarms up to an instant, earliest first, each on its queue.
  public func ring(upTo now: MonotonicInstant) {
    let due = alarms.withLock { alarms in
      let due = alarms.filter { $0.instant <= now }.sorted { $0.instant < $1.instant }
      alarms.removeAll { $0.instant <= now }
      return due
    }
    for alarm in due { alarm.queue.perform(alarm.body) }
  }

  public func schedule(at instant: MonotonicInstant, on queue: any WorkQueue, _ body: @escaping @Sendable () -> Void) {
    alarms.withLock { $0.append(Alarm(instant: instant, queue: queue, body: body)) }
  }
}
