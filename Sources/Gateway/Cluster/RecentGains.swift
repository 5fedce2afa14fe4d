import GroupModel

/// Whether this node has got a shard lately. Its groups may have been loaded before the news of a session
/// was here whose node still takes another one for their owner (Cluster.md, "Users").
struct RecentGains: Sendable {
  /// Longer than a node may know of an older owner, and than a sign-in waits for answers.
  static func lifetime(of lease: Duration) -> Duration { lease * 2 + .seconds(30) }

  private let lifetime: Duration
  private var lastCount = 0
  private var end = MonotonicInstant.distantPast

  /// None.
  init(lifetime: Duration) { self.lifetime = lifetime }

  /// - Parameter count: `ShardMap.gainCount`. A gain counts from the first call behind it on.
  mutating func isRecent(_ count: Int, at now: MonotonicInstant) -> Bool {
    if count != lastCount {
      lastCount = count
      end = now + lifetime
    }
    return now < end
  }

  /// As if all gains were long ago.
  mutating func forget(_ count: Int) {
    lastCount = count
    end = .distantPast
  }
}
