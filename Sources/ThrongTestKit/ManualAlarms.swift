import GroupModel
import GroupRuntime
import Synchronization

/// Alarms that tests ring.
public final class ManualAlarms: Alarms, Sendable {
  private struct Alarm: Sendable {
    let instant: WallInstant
    let executor: any GroupExecutor
    let body: @Sendable () -> Void
  }

  private let alarms = Mutex<[Alarm]>([])

  /// No alarms yet.
  public init() {}

  /// The instants of the alarms, earliest first.
  public var instants: [WallInstant] { alarms.withLock { $0.map(\.instant).sorted() } }

  /// Rings the alarms up to an instant, earliest first, each on its executor.
  public func ring(upTo now: WallInstant) {
    let due = alarms.withLock { alarms in
      let due = alarms.filter { $0.instant <= now }.sorted { $0.instant < $1.instant }
      alarms.removeAll { $0.instant <= now }
      return due
    }
    for alarm in due { alarm.executor.perform(alarm.body) }
  }

  public func ring(at instant: WallInstant, on executor: any GroupExecutor, _ body: @escaping @Sendable () -> Void) {
    alarms.withLock { $0.append(Alarm(instant: instant, executor: executor, body: body)) }
  }
}
