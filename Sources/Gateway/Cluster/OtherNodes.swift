import Cluster
import Logging

/// Asks the other nodes, all at once (Cluster.md, "Answers of all nodes").
package final class OtherNodes: Sendable {
  /// For how long an answer is waited for; a link that is lost ends the wait before.
  static let wait = Duration.seconds(2)

  private let requests: RemoteRequests
  private let membership: any ClusterMembership
  private let logger: Logger

  init(_ requests: RemoteRequests, _ membership: any ClusterMembership, logger: Logger) {
    self.requests = requests
    self.membership = membership
    self.logger = logger
  }

  /// This node; nil while it belongs to no cluster.
  var own: NodeNumber? { membership.node }

  /// All nodes but this one.
  var all: [NodeNumber] {
    let view = membership.view
    return view.nodes.keys.filter { $0 != view.ownNode }.sorted()
  }

  /// Asks nodes, each for itself.
  /// - Parameters:
  ///   - purpose: for the log, which names the nodes that have not answered in time.
  ///   - nodes: nil = all.
  /// - Returns: the answers, in the order of the nodes' numbers.
  func ask(
    _ purpose: StaticString, of nodes: [NodeNumber]? = nil, timeout: Duration = OtherNodes.wait,
    _ makeRequest: (NodeNumber) -> RemoteRequest
  ) async -> [(node: NodeNumber, reply: RemoteReply)] {
    await withTaskGroup(of: (NodeNumber, RemoteRequests.Outcome).self) { group in
      for node in nodes ?? all {
        let request = makeRequest(node)
        group.addTask { [requests] in (node, await requests.outcome(of: request, to: node, timeout: timeout)) }
      }
      var found: [(node: NodeNumber, reply: RemoteReply)] = []
      for await (node, outcome) in group {
        switch outcome {
        case .reply(let reply): found.append((node, reply))
        case .lost, .notSent:
          logger.warning("a node did not answer", metadata: ["node": .stringConvertible(node.rawValue), "request": "\(purpose)"])
        }
      }
      return found.sorted { $0.node < $1.node }
    }
  }

  /// Asks one node.
  func outcome(of request: RemoteRequest, from node: NodeNumber) async -> RemoteRequests.Outcome {
    await requests.outcome(of: request, to: node, timeout: OtherNodes.wait)
  }

  /// Tells a node something, whose answer nobody waits for.
  func tell(_ request: RemoteRequest, to node: NodeNumber) {
    requests.send(request, to: node, timeout: OtherNodes.wait) { _ in }
  }
}
