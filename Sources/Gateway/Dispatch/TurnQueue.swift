import DequeModule
import Synchronization

/// Lets one task at a time pass for each key, in the order of their coming.
final class TurnQueue<Key: Hashable & Sendable>: Sendable {
  /// The tasks that wait for each key behind the running one; a key without tasks is absent.
  private let queues = Mutex<[Key: Deque<CheckedContinuation<Void, Never>>]>([:])

  /// Returns when no other task has the key; `release` must follow.
  func acquire(_ key: Key) async {
    await withCheckedContinuation { continuation in
      let isFirst = queues.withLock { queues in
        guard queues[key] != nil else {
          queues[key] = []
          return true
        }
        queues[key]?.append(continuation)
        return false
      }
      if isFirst { continuation.resume() }
    }
  }

  /// Lets the next task pass.
  func release(_ key: Key) {
    let next = queues.withLock { queues in
      let next = queues[key]?.popFirst()
      if next == nil { queues[key] = nil }
      return next
    }
    next?.resume()
  }

  /// The number of keys with a task that runs or waits.
  var count: Int { queues.withLock { $0.count } }
}
