import Cluster
import DequeModule

/// The other nodes that have gone, in their order.
struct NodeLosses: Sendable {
  /// The most nodes that are remembered: their groups have other owners soon.
  static let maxNodes = 1000

  /// How many have gone since the start.
  private(set) var count = 0
  private var nodes: Deque<NodeNumber> = []

  /// None.
  init() {}

  mutating func add(_ node: NodeNumber) {
    count += 1
    nodes.append(node)
    if nodes.count > NodeLosses.maxNodes { nodes.removeFirst() }
  }

  /// Whether a node was among the first ones that have gone; false also where that was too long ago.
  func includes(_ node: NodeNumber, amongFirst first: Int) -> Bool {
    guard let index = nodes.lastIndex(of: node) else { return false }
    return count - nodes.count + index < first
  }
}
