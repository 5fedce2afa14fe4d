import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// Counts queued searches. They run one at a time on a connection of their own, so that no other
/// read waits for them.
package final class SearchQueue<Connection: Sendable>: Sendable {
  private struct State {
    var count = 0
    var countByReader: [UserID: Int] = [:]
  }

  package let connection: Connection
  private let state = Mutex(State())
  private let maxCount: Int
  private let maxCountPerReader: Int

  /// A queue in front of a connection.
  /// - Parameters:
  ///   - maxCount: the most searches, the running one included.
  ///   - maxCountPerReader: the most searches of one user, so that no user fills the queue alone.
  package init(connection: Connection, maxCount: Int, maxCountPerReader: Int) {
    self.connection = connection
    self.maxCount = maxCount
    self.maxCountPerReader = maxCountPerReader
  }

  /// The number of searches that run or wait.
  package var count: Int { state.withLock { $0.count } }

  /// Runs a search, unless too many wait.
  /// - Parameter reader: nil = an application administrator.
  package func run<Value: Sendable>(
    for reader: UserID?, _ logger: Logger, _ search: (Connection) async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    guard enter(reader) else { throw StoreError(.unavailable, "too many searches wait") }
    defer { leave(reader) }
    do throws(StoreError) {
      return try await search(connection)
    } catch {
      if error.kind == .unavailable { logger.error("cannot search", metadata: ["error": "\(error)"]) }
      throw error
    }
  }

  /// Counts a search; false where there are too many.
  /// - Parameter reader: nil = an application administrator.
  package func enter(_ reader: UserID?) -> Bool {
    state.withLock { state in
      if state.count >= maxCount { return false }
      if let reader {
        let count = state.countByReader[reader, default: 0]
        if count >= maxCountPerReader { return false }
        state.countByReader[reader] = count + 1
      }
      state.count += 1
      return true
    }
  }

  /// Ends a search that `enter` has counted.
  package func leave(_ reader: UserID?) {
    state.withLock { state in
      state.count -= 1
      guard let reader, let count = state.countByReader[reader] else { return }
      state.countByReader[reader] = count > 1 ? count - 1 : nil
    }
  }
}
