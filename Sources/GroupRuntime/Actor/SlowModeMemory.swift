import DequeModule
import GroupModel
import Synchronization

/// When members have written last in groups with slow mode that are not in memory: a group may be idle
/// for less time than its members wait. Bounded; the group that left memory first is forgotten first.
final class SlowModeMemory: Sendable {
  /// The most users of all groups, at about 150 bytes each.
  static let maxUsers = 100_000

  private struct Entry {
    let slow: SlowMode
    /// From then on nobody waits.
    let end: MonotonicInstant
    let number: UInt64
  }

  private struct State {
    var groups: [GroupID: Entry] = [:]
    /// In the order in which they left memory. One that came back stands there by a number that is not
    /// its own any more.
    var order: Deque<(group: GroupID, number: UInt64)> = []
    var users = 0
    var lastNumber: UInt64 = 0

    func has(_ place: (group: GroupID, number: UInt64)) -> Bool { groups[place.group]?.number == place.number }

    @discardableResult
    mutating func remove(_ group: GroupID) -> SlowMode? {
      guard let entry = groups.removeValue(forKey: group) else { return nil }
      users -= entry.slow.count
      return entry.slow
    }

    /// Forgets groups in which nobody waits, and beyond the bound those that left first.
    mutating func removeOldest(at now: MonotonicInstant) {
      while let first = order.first {
        if has(first), let entry = groups[first.group] {
          guard entry.end <= now || users > SlowModeMemory.maxUsers else { break }
          remove(first.group)
        }
        order.removeFirst()
      }
      // Now and then: the places of groups that came back.
      if order.count > 2 * groups.count + 64 {
        let groups = groups
        order.removeAll { groups[$0.group]?.number != $0.number }
      }
    }
  }

  private let state = Mutex(State())

  /// An empty memory.
  init() {}

  /// How many groups are remembered.
  var count: Int { state.withLock { $0.groups.count } }

  /// Keeps what a group knows, because it leaves memory.
  /// - Parameter seconds: the least time between two messages of a user.
  func keep(_ known: SlowMode, of group: GroupID, seconds: Int64, at now: MonotonicInstant) {
    var known = known
    guard let end = known.removeExpired(seconds: seconds, at: now) else { return }
    let slow = known
    state.withLock { state in
      state.remove(group)
      state.lastNumber += 1
      state.groups[group] = Entry(slow: slow, end: end, number: state.lastNumber)
      state.order.append((group, state.lastNumber))
      state.users += slow.count
      state.removeOldest(at: now)
    }
  }

  /// Removes what is known of a group that is in memory again; nil = nothing.
  func pop(_ group: GroupID) -> SlowMode? { state.withLock { $0.remove(group) } }

  /// Forgets groups that another node is to decide for.
  func removeAll(where isRemoved: (GroupID) -> Bool) {
    state.withLock { state in
      for group in state.groups.keys.filter(isRemoved) { state.remove(group) }
    }
  }
}
