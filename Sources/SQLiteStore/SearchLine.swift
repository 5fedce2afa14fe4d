import GRDB
import GroupModel
import GroupRuntime
import Synchronization

/// Where searches stand in line: they run one at a time, on a connection of their own, so that none takes a reader from anybody else.
final class SearchLine: Sendable {
  private struct State {
    var count = 0
    var countByReader: [UserID: Int] = [:]
  }

  let connection: DatabaseQueue
  private let state = Mutex(State())
  private let maxCount: Int
  private let maxCountPerReader: Int

  /// - Parameters:
  ///   - maxCount: how many searches stand in line at most, the one that runs included.
  ///   - maxCountPerReader: how many of one user, so that nobody fills the line alone.
  init(connection: DatabaseQueue, maxCount: Int, maxCountPerReader: Int) {
    self.connection = connection
    self.maxCount = maxCount
    self.maxCountPerReader = maxCountPerReader
  }

  /// How many stand in line.
  var count: Int { state.withLock { $0.count } }

  /// Takes a place in the line; false where there is none.
  /// - Parameter reader: nil = an application administrator.
  func enter(_ reader: UserID?) -> Bool {
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

  /// Gives the place back.
  func leave(_ reader: UserID?) {
    state.withLock { state in
      state.count -= 1
      guard let reader, let count = state.countByReader[reader] else { return }
      state.countByReader[reader] = count > 1 ? count - 1 : nil
    }
  }
}
