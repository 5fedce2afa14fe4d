import GroupModel
import GroupRuntime
import Synchronization

/// Notes what operators would count and read.
public final class RecordingObserver: GroupObserver, Sendable {
  private struct Notes {
    var delivered: [DeliveredMessage] = []
    var failures: [(error: StoreError, group: GroupID)] = []
  }

  private let notes = Mutex(Notes())

  /// An observer that has heard nothing.
  public init() {}

  /// The messages that were handed to the fan-out, in order.
  public var delivered: [DeliveredMessage] { notes.withLock { $0.delivered } }

  /// The failures of the store, in order.
  public var failures: [(error: StoreError, group: GroupID)] { notes.withLock { $0.failures } }

  /// Notes a message.
  public func didDeliver(_ message: DeliveredMessage) { notes.withLock { $0.delivered.append(message) } }

  /// Notes a failure.
  public func storeFailed(_ error: StoreError, group: GroupID) { notes.withLock { $0.failures.append((error, group)) } }
}
