import DequeModule
import GroupModel
import GroupRuntime
import Synchronization

/// Keeps the order of a session's requests to one group, and of those about its user's own texts, while
/// the application is asked about one of them. Bounded by the requests that a session may have in flight.
final class RequestOrder: Sendable {
  struct Key: Hashable, Sendable {
    let session: SessionKey
    /// Nil = the user's own texts.
    let group: GroupID?
  }

  private struct Waiting {
    let asks: Bool
    let start: @Sendable () -> Void
  }

  /// The requests behind one that is asked about; none where nothing is asked.
  private let queues = Mutex<[Key: Deque<Waiting>]>([:])

  /// Starts a request when those before it have started, and the ones that are asked about have
  /// ended.
  /// - Parameter asks: the application is asked; then `end` must follow.
  func begin(_ key: Key, asks: Bool, _ start: @escaping @Sendable () -> Void) {
    let isFirst = queues.withLock { queues in
      guard queues[key] == nil else {
        queues[key]?.append(Waiting(asks: asks, start: start))
        return false
      }
      if asks { queues[key] = [] }
      return true
    }
    if isFirst { start() }
  }

  /// A request that was asked about has its reply.
  func end(_ key: Key) {
    while let next = popNext(key) {
      next.start()
      if next.asks { return }
    }
  }

  private func popNext(_ key: Key) -> Waiting? {
    queues.withLock { queues in
      let next = queues[key]?.popFirst()
      if next == nil { queues[key] = nil }
      return next
    }
  }

  /// How many sessions wait for the application, for each group, and for their users' texts.
  var count: Int { queues.withLock { $0.count } }
}
