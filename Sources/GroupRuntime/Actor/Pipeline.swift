import DequeModule
import GroupModel

/// What a group has decided and not yet done: decisions whose changes are on their way to the disk, and those that came after them.
/// Bounded by the requests that sessions may have under way.
struct Pipeline {
  typealias Entry = (decision: Decision, completion: Group.Completion)

  private var entries: Deque<Entry> = []

  /// Nothing waits.
  var isEmpty: Bool { entries.isEmpty }

  mutating func append(_ decision: Decision, _ completion: @escaping Group.Completion) { entries.append((decision, completion)) }

  /// The oldest decision, which is durable now.
  mutating func popCommitted() -> Entry? { entries.popFirst() }

  /// The oldest decision, where it changes nothing and so need not wait any more.
  mutating func popUnchanging() -> Entry? {
    guard let first = entries.first, first.decision.changes.isEmpty else { return nil }
    return entries.removeFirst()
  }

  /// The oldest decision, where it only corrects.
  mutating func popCorrection() -> Decision? {
    guard entries.first?.decision.isCorrection == true else { return nil }
    return entries.removeFirst().decision
  }

  /// Nothing in it is on its way to the disk.
  var changesNothing: Bool { entries.allSatisfy(\.decision.changes.isEmpty) }

  /// Whether a user is to be admitted by a decision that is not durable yet.
  func willAdmit(_ user: UserID) -> Bool { entries.contains { $0.decision.admits(user) } }

  /// What has been decided, the oldest first.
  var decisions: [Decision] { entries.map(\.decision) }

  mutating func popAll() -> [Entry] {
    defer { entries.removeAll() }
    return Array(entries)
  }
}

extension Decision {
  fileprivate func admits(_ user: UserID) -> Bool {
    effects.contains { effect in
      if case .attach(user, receiving: _) = effect { true } else { false }
    }
  }
}
