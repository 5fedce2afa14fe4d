/// The shards that a node should take or give back, so that all nodes have about as many.
public struct ShardPlan: Hashable, Sendable {
  /// The most shards of one claim, so that others can take theirs, and loading is spread.
  public static let shardsPerClaim = 256
  /// The most shards that a node gives back at a time: their groups are loaded again elsewhere.
  public static let shardsPerRelease = 64

  public let claims: [Shard]
  public let releases: [Shard]

  /// The next step of a node.
  /// - Parameters:
  ///   - owners: the owner of each shard, by its number; nil = none that is there.
  ///   - nodes: all nodes that are there and not draining.
  public init(for node: NodeNumber, owners: [NodeNumber?], nodes: [NodeNumber]) {
    let nodes = Set(nodes)
    guard nodes.contains(node) else {
      (claims, releases) = ([], owners.indices.filter { owners[$0] == node }.compactMap(Shard.init))
      return
    }
    let own = owners.indices.filter { owners[$0] == node }
    let free = owners.indices.filter { owners[$0] == nil }
    let share = (owners.count + nodes.count - 1) / nodes.count
    let wanted = min(share - own.count, ShardPlan.shardsPerClaim, free.count)
    guard wanted <= 0 else {
      // Nodes begin at different places, so that they seldom want the same shards.
      let rank = nodes.count { $0 < node }
      let start = free.firstIndex { $0 >= rank * owners.count / nodes.count } ?? 0
      claims = (0..<wanted).map { free[(start + $0) % free.count] }.compactMap(Shard.init)
      releases = []
      return
    }
    claims = []
    // Where shards are free, others take those first.
    let surplus = free.isEmpty ? max(0, own.count - share) : 0
    releases = own.suffix(min(surplus, ShardPlan.shardsPerRelease)).compactMap(Shard.init)
  }

  private init(claims: [Shard], releases: [Shard]) { (self.claims, self.releases) = (claims, releases) }

  /// The plan without releases that are under way.
  public func keeping(_ mayRelease: (Shard) -> Bool) -> ShardPlan {
    ShardPlan(claims: claims, releases: releases.filter(mayRelease))
  }
}
