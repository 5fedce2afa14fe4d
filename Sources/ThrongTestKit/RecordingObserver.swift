import GroupModel
import GroupRuntime
import Synchronization

/// Notes what operators would count and read.
public final class RecordingObserver: GroupObserver, Sendable {
  private struct Notes {
    var counts: [MessageCount] = []
    var failures: [(error: StoreError, group: GroupID)] = []
  }

  private let notes = Mutex(Notes())

  /// An observer that has heard nothing.
  public init() {}

  /// What became of messages, in order.
  public var counts: [MessageCount] { notes.withLock { $0.counts } }

  /// The failures of the store, in order.
  public var failures: [(error: StoreError, group: GroupID)] { notes.withLock { $0.failures } }

  /// Notes a message.
  public func didCount(_ message: MessageCount) { notes.withLock { $0.counts.append(message) } }

  /// Notes a failure.
  public func storeFailed(_ error: StoreError, group: GroupID) { notes.withLock { $0.failures.append((error, group)) } }
}
