import Cluster
import GroupRuntime
import PostgreSQLStore
import Synchronization
import Webhooks

/// Numbers the shards that this node gains, for the outbox of webhooks.
final class ShardGains: LaneOwnership {
  private struct State {
    var last: Int64 = 0
    /// By the shard's number; the term 0 is before the first.
    var gains = [(term: Int64, number: Int64)](repeating: (0, 0), count: Shard.count)
  }

  private let membership: any ClusterMembership
  private let state = Mutex(State())

  init(_ membership: any ClusterMembership) { self.membership = membership }

  func gain(of lane: WebhookEntry.Lane) -> Int64? {
    let shard = Shard(of: lane)
    guard membership.owns(shard) else { return nil }
    // An owner is removed before the term changes: with a later term the shard is another node's, which
    // the next look sees.
    let term = membership.shards.term(of: shard)
    return state.withLock { state in
      if state.gains[shard.number].term != term { look(&state) }
      return state.gains[shard.number].term == term ? state.gains[shard.number].number : nil
    }
  }

  var lastGain: Int64 {
    state.withLock { state in
      look(&state)
      return state.last
    }
  }

  /// All shards that were gained since the last look share a number: the store is searched once for them.
  private func look(_ state: inout State) {
    let number = state.last + 1
    for shard in Shard.all where membership.owns(shard) {
      let term = membership.shards.term(of: shard)
      guard state.gains[shard.number].term != term else { continue }
      state.gains[shard.number] = (term, number)
      state.last = number
    }
  }
}
