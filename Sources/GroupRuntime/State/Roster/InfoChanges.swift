import GroupModel

/// The members whose info was changed last, a bounded number, so that nobody looks for them among all members of
/// a live room (Cluster.md, "Replay"). A joining is no change.
struct InfoChanges: Sendable {
  /// The changes that are kept at least. Up to twice as many may be there.
  static let keptCount = 400

  private struct Change: Sendable {
    let user: UserID
    let time: WallInstant

    /// The member; nil = there is a later change, or the user has left.
    func member(among members: [UserID: Member]) -> Member? {
      members[user].flatMap { $0.infoTime == time && InfoChanges.isChanged($0) ? $0 : nil }
    }
  }

  /// In the order in which they were made; outdated ones are among them.
  private var changes: [Change]

  /// The changes of the members of a group that is being loaded.
  init(_ members: some Collection<Member>) {
    let changed = members.filter { InfoChanges.isChanged($0) }.sorted { $0.infoTime < $1.infoTime }
    changes = changed.suffix(InfoChanges.keptCount).map { Change(user: $0.userID, time: $0.infoTime) }
  }

  private static func isChanged(_ member: Member) -> Bool { member.infoTime > member.joinTime }

  /// How many changes are kept, outdated ones included.
  var count: Int { changes.count }

  /// A member was added or changed.
  /// - Parameter members: all members after the change.
  mutating func note(_ member: Member, was previous: Member?, among members: [UserID: Member]) {
    guard InfoChanges.isChanged(member), member.infoTime != previous?.infoTime else { return }
    changes.append(Change(user: member.userID, time: member.infoTime))
    guard changes.count > 2 * InfoChanges.keptCount else { return }
    changes.removeAll { $0.member(among: members) == nil }
    changes.removeFirst(max(0, changes.count - InfoChanges.keptCount))
  }

  /// Those of the members whose last change is kept, and was at or after an instant.
  func changed(since: WallInstant, among members: [UserID: Member]) -> [Member] {
    var seen: Set<UserID> = []
    return changes.compactMap { change in
      guard change.time >= since, let member = change.member(among: members) else { return nil }
      return seen.insert(change.user).inserted ? member : nil
    }
  }
}
