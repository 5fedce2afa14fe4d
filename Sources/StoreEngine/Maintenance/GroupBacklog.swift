import GroupModel
import GroupRuntime
import Synchronization

/// The groups that background work has to look at: those that got messages lately and, after the
/// start and whenever it has lost sight of some, all. It notes the groups in memory, so that a message
/// costs no row.
package final class GroupBacklog: Sendable {
  private struct State {
    var touched: Set<GroupID> = []
    /// All groups behind this number are still to be looked at; nil = none.
    var scanAfter: Int64? = 0
    /// Another look at all follows the present one.
    var mustScanAgain = false

    mutating func scanAll() {
      if scanAfter == nil { scanAfter = 0 } else { mustScanAgain = true }
    }
  }

  private let state = Mutex(State())
  private let capacity: Int

  /// - Parameter capacity: beyond so many groups all are looked at instead.
  package init(capacity: Int = 100_000) { self.capacity = capacity }

  /// Whether no group is to be looked at.
  package var isEmpty: Bool { state.withLock { $0.touched.isEmpty && $0.scanAfter == nil } }

  /// How many groups are noted.
  package var count: Int { state.withLock { $0.touched.count } }

  /// Notes the groups that get messages.
  package func noteAppends(_ commits: [Commit]) {
    let groups = commits.flatMap { commit in
      commit.changes.compactMap { if case .append(let message) = $0 { message.groupID } else { nil } }
    }
    if !groups.isEmpty { insert(groups) }
  }

  /// Notes groups.
  package func insert(_ groups: [GroupID]) {
    state.withLock { state in
      guard state.touched.count + groups.count <= capacity else {
        state.touched = []
        return state.scanAll()
      }
      state.touched.formUnion(groups)
    }
  }

  /// Looks at all groups again.
  package func scanAll() { state.withLock { $0.scanAll() } }

  /// Takes some of the noted groups.
  package func popTouched(_ limit: Int) -> [GroupID] {
    state.withLock { state in
      let taken = Array(state.touched.prefix(limit))
      for group in taken { state.touched.remove(group) }
      return taken
    }
  }

  /// All groups behind this number are still to be looked at; nil = none.
  package var scanAfter: Int64? { state.withLock { $0.scanAfter } }

  /// - Parameter number: the last group that was looked at; nil = it was the last of all.
  package func continueScan(after number: Int64?) {
    state.withLock { state in
      state.scanAfter = number
      guard number == nil, state.mustScanAgain else { return }
      state.mustScanAgain = false
      state.scanAfter = 0
    }
  }
}
