import Cluster
import GroupModel
import GroupRuntime
import Synchronization

/// Tells which shards this process does background work for. Several processes on one database must
/// not do the same work.
public protocol Leadership: Sendable {
  /// Whether this process decides for a shard now.
  func leads(_ shard: Shard) -> Bool

  /// Whether a shard is this process's, also while its lease is not renewed.
  func owns(_ shard: Shard) -> Bool
}

extension Leadership {
  func leads(_ group: GroupID) -> Bool { leads(Shard(of: group)) }

  public func owns(_ shard: Shard) -> Bool { leads(shard) }

  /// Whether this process posts the after-events of a lane.
  func owns(_ lane: WebhookEntry.Lane) -> Bool { owns(Shard(of: lane)) }

  /// Whether this process does the work that belongs to no group.
  var leadsDatabase: Bool { leads(Shard.ofDatabase) }
}

/// The only process on a database leads all shards.
struct SoleLeadership: Leadership {
  func leads(_ shard: Shard) -> Bool { true }
}

/// A node of a cluster leads the shards that it owns; none before it has joined.
final class MembershipLeadership: Leadership {
  private let membership = Mutex<(membership: any ClusterMembership, clocks: any Clocks)?>(nil)

  /// Leads what the membership says from now on.
  func follow(_ membership: any ClusterMembership, clocks: any Clocks) { self.membership.withLock { $0 = (membership, clocks) } }

  func leads(_ shard: Shard) -> Bool {
    guard let (membership, clocks) = membership.withLock({ $0 }) else { return false }
    return membership.leads(shard, at: clocks.monotonic)
  }

  func owns(_ shard: Shard) -> Bool { membership.withLock { $0 }?.membership.owns(shard) ?? false }
}

extension Shard {
  /// The shard of a group's or user's after-events.
  public init(of lane: WebhookEntry.Lane) {
    switch lane {
    case .group(let group): self.init(of: group)
    case .user(let user): self.init(of: user)
    }
  }

  /// Work that belongs to no group goes with one of the shards: there are always some.
  fileprivate static let ofDatabase = Shard.all[0]
}
