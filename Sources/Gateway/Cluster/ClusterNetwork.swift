import Cluster
import GroupModel
import GroupRuntime
import Logging

/// What connects this process with the other nodes. It is made before the groups, which use it.
package struct ClusterNetwork: Sendable {
  /// What it is made over.
  package let ports: ClusterPorts
  /// The links with all other nodes.
  package let links: ClusterLinks
  /// This node's requests to one other.
  package let requests: RemoteRequests
  /// This node's questions to all others.
  package let otherNodes: OtherNodes
  /// Brings the requests of users to the owners of shards.
  package let router: ShardRouter
  /// The sessions of all nodes.
  package let presence: ClusterPresence

  /// Links over the ports, which `ClusterNode` starts.
  package init(_ ports: ClusterPorts, clocks: any Clocks, logger: Logger) {
    self.ports = ports
    links = ClusterLinks(bus: ports.bus, key: ports.key, clocks: clocks, logger: logger)
    requests = RemoteRequests(links: links, clocks: clocks)
    otherNodes = OtherNodes(requests, ports.membership, logger: logger)
    router = ShardRouter(shards: ports.membership.shards, links: links, requests: requests, clocks: clocks)
    presence = ClusterPresence(
      links: links, shards: ports.membership.shards, clocks: clocks,
      gains: RecentGains(lifetime: RecentGains.lifetime(of: ports.leaseDuration)))
  }
}
