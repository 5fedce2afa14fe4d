import GroupModel

/// Holds the commits of a group that was loaded, until the nodes of its members know that they follow it
/// (Cluster.md, "Stamps"): otherwise its first decision could be durable, its node dead, and another node
/// without a reason to ask for it.
struct FollowGate {
  /// How long commits wait at most.
  static let maxWait = Duration.milliseconds(500)

  private(set) var isClosed = false
  private var held: [Commit] = []
  /// How often it was closed: an answer to an earlier time opens nothing.
  private var number = 0

  /// Commits wait from now on.
  /// - Returns: the number by which it is opened.
  mutating func close() -> Int {
    number += 1
    isClosed = true
    return number
  }

  /// A commit comes by.
  /// - Returns: the commit, unless it waits.
  mutating func pass(_ commit: consuming Commit) -> Commit? {
    guard isClosed else { return commit }
    held.append(commit)
    return nil
  }

  /// Lets the commits go.
  /// - Returns: those that have waited, in their order.
  mutating func open(_ number: Int) -> [Commit] {
    guard isClosed, number == self.number else { return [] }
    return empty()
  }

  /// Forgets the commits, because what they hold is void.
  mutating func drop() { _ = empty() }

  private mutating func empty() -> [Commit] {
    isClosed = false
    defer { held = [] }
    return held
  }
}
