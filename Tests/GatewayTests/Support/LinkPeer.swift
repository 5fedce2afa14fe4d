import Cluster
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import ThrongTestKit

@testable import Gateway

/// A node that has links and nothing else: it keeps what comes, and answers as a test says.
final class LinkPeer: LinkObserver {
  let number: NodeNumber
  let links: ClusterLinks
  private let received = Mutex<[(entry: ClusterEntry, from: NodeNumber)]>([])
  private let react: @Sendable (ClusterEntry, NodeNumber) -> Void

  /// - Parameter react: is told each entry, on the bus's thread.
  init(
    _ number: NodeNumber, on network: InProcessNetwork, _ clocks: any Clocks,
    react: @escaping @Sendable (ClusterEntry, NodeNumber) -> Void = { _, _ in }
  ) {
    self.number = number
    self.react = react
    let logger = Logger(label: "peer") { _ in SwiftLogNoOpLogHandler() }
    links = ClusterLinks(bus: network.bus("node\(number)"), key: .ofTests, clocks: clocks, logger: logger)
    links.observer = self
  }

  /// Opens the links between all of these.
  static func connect(_ peers: [LinkPeer]) async throws {
    for peer in peers { try await peer.links.start(as: peer.number) }
    for peer in peers { for other in peers where other !== peer { peer.links.add(other.number) } }
    try await waitUntil("the links are open") { peers.allSatisfy(\.links.missingNodes.isEmpty) }
  }

  /// All that has come.
  var entries: [(entry: ClusterEntry, from: NodeNumber)] { received.withLock { $0 } }

  /// The requests that have come, with their numbers.
  var requests: [(number: UInt64, request: RemoteRequest, from: NodeNumber)] {
    entries.compactMap { entry, node in
      if case .request(let number, let request) = entry { (number, request, node) } else { nil }
    }
  }

  /// The users that were said to have missed something.
  var missed: [[UserID]] {
    entries.compactMap { entry, _ in
      if case .missed(let users) = entry { users } else { nil }
    }
  }

  func didReceive(_ entries: [ClusterEntry], from node: NodeNumber) {
    for entry in entries {
      received.withLock { $0.append((entry, node)) }
      react(entry, node)
    }
  }

  func didOpenLink(to node: NodeNumber) {}
  func didResumeLink(to node: NodeNumber) {}
  func linkBegan(from node: NodeNumber) {}
  func didLoseLink(from node: NodeNumber) {}
  func tick(at now: MonotonicInstant) {}
}
