import Cluster
import GroupModel
import Logging
import Synchronization

/// Tells of nodes that live and are not heard on the bus.
final class HearingCheck: Sendable {
  private let links: ClusterLinks
  private let membership: any ClusterMembership
  private let logger: Logger
  private let unheard = Mutex(UnheardNodes())

  init(_ links: ClusterLinks, _ membership: any ClusterMembership, logger: Logger) {
    self.links = links
    self.membership = membership
    self.logger = logger
  }

  /// What is wrong; nil = nothing.
  var obstacle: String? {
    let unheard = unheard.withLock { $0.nodes }
    return unheard.isEmpty ? nil : "not heard on the bus: \(names(of: unheard).joined(separator: ", "))"
  }

  /// The lease was lost: what was noted is another node's.
  func reset() { unheard.withLock { $0 = UnheardNodes() } }

  private func names(of nodes: [NodeNumber]) -> [String] {
    let view = membership.view
    return nodes.map { "\(view.nodes[$0]?.name ?? "a node") (\($0))" }
  }

  /// Looks for nodes that live and are not heard. A node that has told that it cannot reach the bus
  /// is a fault of its own, and leaves.
  func check(at now: MonotonicInstant) {
    let view = membership.view
    let missing = links.missingNodes.filter { view.nodes[$0]?.isOnBus == true }
    let signs = Dictionary(uniqueKeysWithValues: missing.map { ($0, membership.signsOfLife(of: $0)) })
    let (isChanged, nodes) = unheard.withLock { ($0.note(signs, at: now), $0.nodes) }
    guard isChanged else { return }
    guard !nodes.isEmpty else { return logger.notice("all nodes are heard on the bus") }
    logger.error(
      "a node renews its lease, and is not heard on the bus: it has another bus.subject, bus.url or cluster.secret, or the servers of NATS do not reach each other",
      metadata: [
        "nodes": .array(names(of: nodes).map { "\($0)" }),
        "unopened": .stringConvertible(links.counters.refused.values.reduce(0, +)),
      ])
  }
}
