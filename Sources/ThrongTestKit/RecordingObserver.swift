import GroupModel
import GroupRuntime
import Synchronization

/// Records the events that operators count and read.
public final class RecordingObserver: GroupObserver, Sendable {
  private struct Notes {
    var counts: [MessageCount] = []
    var signals: [SignalCounts] = []
    var failures: [(error: StoreError, group: GroupID)] = []
  }

  private let notes = Mutex(Notes())

  /// An observer without events.
  public init() {}

  /// The counted messages, in order.
  public var counts: [MessageCount] { notes.withLock { $0.counts } }

  /// The failures of the store, in order.
  public var failures: [(error: StoreError, group: GroupID)] { notes.withLock { $0.failures } }

  /// Records a message.
  public func didCount(_ message: MessageCount) { notes.withLock { $0.counts.append(message) } }

  /// What became of signals, in order.
  public var signals: [SignalCounts] { notes.withLock { $0.signals } }

  /// Records what became of signals.
  public func didCount(_ signals: SignalCounts) { notes.withLock { $0.signals.append(signals) } }

  /// Records a failure.
  public func storeFailed(_ error: StoreError, group: GroupID) { notes.withLock { $0.failures.append((error, group)) } }
}
