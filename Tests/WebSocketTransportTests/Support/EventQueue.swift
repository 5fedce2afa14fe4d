import Dispatch
import Synchronization

/// Events in their order; a test waits for the next one.
final class EventQueue<Event: Sendable>: Sendable {
  struct TimedOut: Error {}

  private let events = Mutex<[Event]>([])
  private let filled = DispatchSemaphore(value: 0)

  func add(_ event: Event) {
    events.withLock { $0.append(event) }
    filled.signal()
  }

  var isEmpty: Bool { events.withLock { $0.isEmpty } }

  /// The time limit only ends a test that has already failed.
  func next() throws -> Event {
    guard filled.wait(timeout: .now() + 60) == .success else { throw TimedOut() }
    return events.withLock { $0.removeFirst() }
  }
}
