import Cluster
import GroupModel
import GroupRuntime
import Logging

/// A member of a group that its last owner may not have told anybody of.
struct ExpectedFollow: Sendable, Hashable {
  let group: GroupID
  let user: UserID
  /// The one of the group's shard in which its next owner decides: a `follow` of it is not the last owner's.
  let term: Int64
  let lastOwner: NodeNumber
}

/// Users who were made members in the last moments of an owner that was lost: their nodes do not follow the
/// group yet, so no comparison would find them (Cluster.md, "Following").
package final class RecentAdditions: Sendable {
  /// The most members that are looked at.
  static let maxCount = 1000
  /// Beside the lease, for commits and claims.
  private static let margin = Duration.seconds(15)

  private let network: ClusterNetwork
  private let store: any GroupStore
  private let directory: SessionDirectory
  private let topics: FollowedTopics
  private let clocks: any Clocks
  private let observer: StoreObserver
  private let logger: Logger

  /// - Parameter topics: those of this node's sessions.
  package init(
    _ network: ClusterNetwork, store: any GroupStore, directory: SessionDirectory, topics: FollowedTopics,
    clocks: any Clocks, observer: StoreObserver, logger: Logger
  ) {
    self.network = network
    self.store = store
    self.directory = directory
    self.topics = topics
    self.clocks = clocks
    self.observer = observer
    self.logger = logger
  }

  /// Tells the nodes of such members.
  /// - Parameter shards: that this node has claimed, with their last owners, which were lost.
  func tell(of shards: [Shard: NodeNumber]) async {
    let now = clocks.wall
    let recent: [(GroupID, UserID)]
    do throws(StoreError) {
      recent = try await store.recentMembers(
        since: now - (network.ports.leaseDuration + RecentAdditions.margin), limit: RecentAdditions.maxCount)
    } catch {
      return observer.storeFailed(error)
    }
    if recent.count == RecentAdditions.maxCount {
      logger.notice(
        "more members were added in a lost node's last moments than are looked at",
        metadata: ["members": .stringConvertible(recent.count)])
    }
    var (here, elsewhere): ([ExpectedFollow], [NodeNumber: [ExpectedFollow]]) = ([], [:])
    for (group, user) in recent {
      let shard = Shard(of: group)
      guard let lastOwner = shards[shard] else { continue }
      let term = network.ports.membership.shards.term(of: shard)
      let expected = ExpectedFollow(group: group, user: user, term: term, lastOwner: lastOwner)
      if directory.isPresent(user) { here.append(expected) }
      for node in network.presence.otherNodes(of: user) { elsewhere[node, default: []].append(expected) }
    }
    topics.expect(here, before: now)
    for (node, expected) in elsewhere { network.links.send(.expectFollow(expected, before: now), to: node) }
  }
}
