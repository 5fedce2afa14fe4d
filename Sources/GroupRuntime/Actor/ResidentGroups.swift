import DequeModule
import GroupModel
import Synchronization

/// How much memory groups take, by estimate, and which of them are to give it up first. Groups that are only looked at (getGroupsInfo,
/// searchGroups) share a small part of it; the groups of one owner have no more than a bounded part for long.
final class ResidentGroups: Sendable {
  /// How much groups may take that have been loaded and not been used since but for reading.
  static let mostBytesOnlyRead = 16 << 20
  /// How much the groups of one owner may take, but for those used within the last `shortIdleTime`.
  static let mostBytesOfOwner = 32 << 20
  /// How long a group stays unused, at least, before its owner's other groups make it go.
  static let shortIdleTime = Duration.seconds(10)

  /// What one group takes. Written by its actor, read by anybody.
  final class Footprint: Sendable {
    fileprivate let bytes = Atomic(0)
    fileprivate let owner = Mutex<UserID?>(nil)

    /// The group has grown or shrunk.
    func note(_ bytes: Int) { self.bytes.store(bytes, ordering: .relaxed) }

    /// - Parameter owner: nil = the group is not in memory.
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

  /// A group has been loaded.
  /// - Returns: groups that should go for it, unless they have been used since.
  func didLoad(_ group: Group, bytes: Int) -> [Group] {
    state.withLock { state in
      state.onlyRead.append(OnlyRead(group: group, bytes: bytes))
      state.bytesOnlyRead += bytes
      var going: [Group] = []
      // A busy one comes back to the end, so no more are looked at than make room for several.
      while going.count < 8, state.bytesOnlyRead > ResidentGroups.mostBytesOnlyRead, state.onlyRead.count > 1,
        let oldest = state.onlyRead.popFirst()
      {
        state.bytesOnlyRead -= oldest.bytes
        if let group = oldest.group { going.append(group) }
      }
      return going
    }
  }

  /// A group that was to go is busy: it has another turn later.
  func keep(_ group: Group, bytes: Int) {
    state.withLock { state in
      state.onlyRead.append(OnlyRead(group: group, bytes: bytes))
      state.bytesOnlyRead += bytes
    }
  }

  /// The groups whose owners have too much in memory.
  static func excessive(among groups: [Group]) -> [Group] {
    var byOwner: [UserID: Int] = [:]
    for group in groups {
      guard let owner = group.footprint.owner.withLock({ $0 }) else { continue }
      byOwner[owner, default: 0] += group.footprint.bytes.load(ordering: .relaxed)
    }
    let excessive = Set(byOwner.filter { $0.value > mostBytesOfOwner }.keys)
    if excessive.isEmpty { return [] }
    return groups.filter { $0.footprint.owner.withLock { $0 }.map(excessive.contains) ?? false }
  }
}

extension GroupState {
  /// About how many bytes of memory the group takes.
  var estimatedBytes: Int {
    8192 + roster.count * 400 + roster.former.count * 160 + applications.count * 400 + messages.receiptCount * 160 + attributes
      .values.count * 1024
  }
}
