import DequeModule
import GroupModel
import Synchronization

/// Estimates the memory of groups, and selects those that retire. Groups that are only read
/// (getGroupsInfo, searchGroups) share a small part of it; the idle groups of one owner share
/// another.
final class ResidentGroups: Sendable {
  /// The memory of all groups that were only read since loading.
  static let maxBytesOnlyRead = 16 << 20
  /// The memory of one owner's groups, apart from those used within the last `shortIdleTime`.
  static let maxBytesOfOwner = 32 << 20
  /// The least idle time of a group that retires because of its owner's other groups.
  static let shortIdleTime = Duration.seconds(10)

  /// The memory of one group. Written by its actor, read on any thread.
  final class Footprint: Sendable {
    fileprivate let bytes = Atomic(0)
    fileprivate let owner = Mutex<UserID?>(nil)

    func note(_ bytes: Int) { self.bytes.store(bytes, ordering: .relaxed) }

    /// - Parameter owner: nil = the group is not loaded.
    func note(_ bytes: Int, owner: UserID?) {
      self.bytes.store(bytes, ordering: .relaxed)
      self.owner.withLock { $0 = owner }
    }
  }

  private struct OnlyRead {
    weak var group: Group?
    let bytes: Int
  }

  private struct State {
    var onlyRead: Deque<OnlyRead> = []
    var bytesOnlyRead = 0
  }

  private let state = Mutex(State())

  /// Notes a loaded group.
  /// - Returns: groups that should retire for it, unless they were used since.
  func didLoad(_ group: Group, bytes: Int) -> [Group] {
    state.withLock { state in
      state.onlyRead.append(OnlyRead(group: group, bytes: bytes))
      state.bytesOnlyRead += bytes
      var retiring: [Group] = []
      // A busy group returns to the end of the queue, so the loop must have a bound.
      while retiring.count < 8, state.bytesOnlyRead > ResidentGroups.maxBytesOnlyRead, state.onlyRead.count > 1,
        let oldest = state.onlyRead.popFirst()
      {
        state.bytesOnlyRead -= oldest.bytes
        if let group = oldest.group { retiring.append(group) }
      }
      return retiring
    }
  }

  /// Notes a busy group again, which was to retire.
  func keep(_ group: Group, bytes: Int) {
    state.withLock { state in
      state.onlyRead.append(OnlyRead(group: group, bytes: bytes))
      state.bytesOnlyRead += bytes
    }
  }

  /// The groups of owners whose groups take too much memory.
  static func excessive(among groups: [Group]) -> [Group] {
    var byOwner: [UserID: Int] = [:]
    for group in groups {
      guard let owner = group.footprint.owner.withLock({ $0 }) else { continue }
      byOwner[owner, default: 0] += group.footprint.bytes.load(ordering: .relaxed)
    }
    let excessive = Set(byOwner.filter { $0.value > maxBytesOfOwner }.keys)
    if excessive.isEmpty { return [] }
    return groups.filter { $0.footprint.owner.withLock { $0 }.map(excessive.contains) ?? false }
  }
}

extension GroupState {
  /// An estimate of the group's memory, in bytes. Mutating, though it changes nothing: see `currentNextWake`.
  mutating func estimatedBytes() -> Int {
    let rates = (slow?.count ?? 0) * 150 + (signals?.waitingCount ?? 0) * 1024
    return rates + 8192 + roster.count * 400 + roster.former.count * 160 + applications.count * 400 + messages.receiptCount * 160
      + attributes.values.count * 1024 + counters.values.count * 128 + announcements.count * 512
  }
}
