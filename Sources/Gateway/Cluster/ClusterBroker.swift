import Cluster
import GroupModel
import GroupRuntime

/// Carries frames to the sessions of all nodes.
package final class ClusterBroker: Broker {
  private let directory: SessionDirectory
  private let network: ClusterNetwork
  private let followed: FollowedTopics
  private let topics: OwnTopics
  private let tracer: Tracer

  /// - Parameters:
  ///   - directory: has the sessions of this node.
  ///   - followed: delivers to them.
  ///   - topics: gets those that are opened.
  package init(
    directory: SessionDirectory, network: ClusterNetwork, followed: FollowedTopics, topics: OwnTopics, tracer: Tracer
  ) {
    self.directory = directory
    self.network = network
    self.followed = followed
    self.topics = topics
    self.tracer = tracer
  }

  package func openTopic(of group: GroupID) -> any GroupTopic {
    // Without a number, this node decides for nobody, and has nobody to tell.
    let own = network.ports.membership.node ?? NodeNumber(0)
    // An event is noted once, by the owner of the group's shard, wherever it is heard.
    let term = network.ports.membership.shards.term(of: Shard(of: group))
    let topic = ClusterTopic(
      group, on: own, in: term, directory: directory, presence: network.presence, links: network.links,
      requests: network.requests, followed: followed, topics: topics, tracer: tracer)
    topics.add(topic, of: group)
    return topic
  }

  /// Nothing to note: each user who goes offline has a timer (`PresenceKeeper.presenceChanged`).
  package func noteSuspendedRoom(of users: [UserID]) {}

  package var usersSignedIn: Int { network.presence.userCount }

  package func signedIn(among users: [UserID]) -> [UserID] { network.presence.signedIn(among: users) }

  package func signedInUsers() -> [UserID] { network.presence.allUsers() }
}
