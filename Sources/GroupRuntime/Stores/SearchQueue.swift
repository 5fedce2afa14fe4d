import GroupModel
import Synchronization

/// Counts queued searches. They run one at a time on a connection of their own, so that no other
/// read waits for them.
public final class SearchQueue<Connection: Sendable>: Sendable {
  private struct State {
    var count = 0
    var countByReader: [UserID: Int] = [:]
  }

  public let connection: Connection
  private let state = Mutex(State())
  private let maxCount: Int
  private let maxCountPerReader: Int

  /// A queue in front of a connection.
  /// - Parameters:
  ///   - maxCount: the most searches, the running one included.
  ///   - maxCountPerReader: the most searches of one user, so that no user fills the queue alone.
  public init(connection: Connection, maxCount: Int, maxCountPerReader: Int) {
    self.connection = connection
    self.maxCount = maxCount
    self.maxCountPerReader = maxCountPerReader
  }

  /// The number of searches that run or wait.
  public var count: Int { state.withLock { $0.count } }

  /// Counts a search; false where there are too many.
  /// - Parameter reader: nil = an application administrator.
  public func enter(_ reader: UserID?) -> Bool {
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
  public func leave(_ reader: UserID?) {
    state.withLock { state in
      state.count -= 1
      guard let reader, let count = state.countByReader[reader] else { return }
      state.countByReader[reader] = count > 1 ? count - 1 : nil
    }
  }
}
