import GroupModel

/// A node's own view of its lease and its shards: for which it may answer, and what it may commit
/// (Cluster.md, "The lease"). Times are those of the node's monotonic clock.
///
/// The clock decides only whether the node answers. Commits are fenced by the database.
public struct NodeLease: Hashable, Sendable {
  private enum Phase: Hashable {
    case held
    /// The node decides nothing more for the shard, and waits for its commits.
    case releasing
  }

  private struct Holding: Hashable {
    let term: Int64
    var phase = Phase.held
    /// Commits that have no answer.
    var commits = 0
  }

  /// The number that the database has given this node.
  public let node: NodeNumber
  private let duration: Duration
  private let margin: Duration
  private var end: MonotonicInstant
  /// The database has removed this node: it must join as another.
  public private(set) var isLost = false
  /// The node takes no more shards.
  public private(set) var isDraining = false
  private var shards: [Shard: Holding] = [:]

  /// A node that has joined.
  /// - Parameters:
  ///   - sent: when it asked to join, or earlier.
  ///   - duration: for how long the database takes it for alive.
  public init(_ node: NodeNumber, joinSentAt sent: MonotonicInstant, duration: Duration) {
    self.node = node
    self.duration = duration
    margin = duration / 6
    end = sent + duration - margin
  }

  // MARK: Time

  /// The database has noted a heartbeat.
  /// - Parameter sent: when it was sent. The database's clock began later.
  public mutating func didRenew(sentAt sent: MonotonicInstant) {
    if !isLost { end = max(end, sent + duration - margin) }
  }

  /// The database does not know this node any more, or its fence has refused a commit.
  public mutating func didLose() {
    isLost = true
    shards = [:]
  }

  /// The instant from which on the node answers nothing, unless a heartbeat succeeds before.
  public var pauseInstant: MonotonicInstant { isLost ? .distantPast : end }

  // MARK: Shards

  /// The database has made this node the owner.
  public mutating func didClaim(_ terms: [Shard: Int64]) {
    guard !isLost else { return }
    for (shard, term) in terms { shards[shard] = Holding(term: term) }
  }

  /// The shards of this node, those that it gives back included.
  public var ownShards: [Shard] { shards.keys.sorted() }

  /// The shards that the node holds and does not give back, with their terms.
  public var heldTerms: [Shard: Int64] { shards.filter { $0.value.phase == .held }.mapValues(\.term) }

  /// The term under which the node may decide and answer for a shard now; nil = it may not.
  public func term(of shard: Shard, at now: MonotonicInstant) -> Int64? {
    guard now < end, let holding = shards[shard], holding.phase == .held else { return nil }
    return holding.term
  }

  // MARK: Commits

  /// Counts a commit that is decided under a term.
  /// - Returns: false where the node no longer has the shard in this term: the commit fails.
  public mutating func beginCommit(under shard: Shard, term: Int64) -> Bool {
    guard let holding = shards[shard], holding.phase == .held, holding.term == term else { return false }
    shards[shard]?.commits += 1
    return true
  }

  /// A commit has its answer.
  /// - Returns: the shard, if it is to be given back now.
  public mutating func endCommit(under shard: Shard, term: Int64) -> Shard? {
    guard let holding = shards[shard], holding.term == term else { return nil }
    shards[shard]?.commits -= 1
    return holding.phase == .releasing && holding.commits == 1 ? shard : nil
  }

  // MARK: Release

  /// Decides nothing more for a shard.
  /// - Returns: whether it can be given back at once; otherwise the last `endCommit` tells.
  public mutating func beginRelease(of shard: Shard) -> Bool {
    guard let holding = shards[shard], holding.phase == .held else { return false }
    shards[shard]?.phase = .releasing
    return holding.commits == 0
  }

  /// The database has no longer this node as the owner.
  public mutating func didRelease(_ shard: Shard) { shards[shard] = nil }

  /// The node is about to end: it takes no more shards.
  /// - Returns: those that can be given back at once; the last `endCommit` tells of the others.
  public mutating func drain() -> [Shard] {
    isDraining = true
    return ownShards.filter { beginRelease(of: $0) }
  }
}

extension MonotonicInstant {
  fileprivate static func - (instant: MonotonicInstant, length: Duration) -> MonotonicInstant {
    instant.advanced(byMilliseconds: -length.wholeMilliseconds)
  }
}
