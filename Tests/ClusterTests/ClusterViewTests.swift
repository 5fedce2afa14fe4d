import GroupModel
import Testing
import ThrongTestKit

@testable import Cluster

/// Views of the cluster.
@Suite struct ClusterViewTests {
  private let first = NodeNumber(1)
  private let second = NodeNumber(2)
  private let one = Shard(1)!
  private let two = Shard(2)!

  private func node(_ number: NodeNumber) -> NodeInfo {
    NodeInfo(number: number, name: "n", address: "a", busVersion: 1, release: "r")
  }

  private func view(_ nodes: [NodeNumber], _ owners: [Shard: ShardOwner], own: NodeNumber? = nil) -> ClusterView {
    ClusterView(
      version: 1, ownNode: own, nodes: Dictionary(uniqueKeysWithValues: nodes.map { ($0, node($0)) }),
      owners: Shard.all.map { owners[$0] ?? ShardOwner(node: nil, term: 0) })
  }

  @Test func anOwnerThatHasGoneIsNone() {
    let view = view([first], [one: ShardOwner(node: first, term: 1), two: ShardOwner(node: second, term: 4)])
    #expect(view.owner(of: one) == first && view.owner(of: two) == nil)
    #expect(view.term(of: two) == 4)
    #expect(view.shards(of: first) == [one])
  }

  @Test func changesNameNodesThatCameAndWentAndShardsThatMoved() {
    let before = view([first], [one: ShardOwner(node: first, term: 1), two: ShardOwner(node: first, term: 1)])
    let after = view([second], [one: ShardOwner(node: first, term: 1), two: ShardOwner(node: second, term: 2)])
    #expect(after.changes(since: before) == ClusterChanges(joined: [second], gone: [first], moved: [one, two]))
    #expect(after.changes(since: after) == ClusterChanges(joined: [], gone: [], moved: []))
  }

  @Test func aNodeIsCalledByItsNameOrElseByItsNumber() {
    func view(_ names: (Int64, String)...) -> ClusterView {
      let nodes = names.map { number, name in
        NodeInfo(number: NodeNumber(number), name: name, address: "a", busVersion: 1, release: "r")
      }
      return ClusterView(
        version: 1, ownNode: nil, nodes: Dictionary(uniqueKeysWithValues: nodes.map { ($0.number, $0) }),
        owners: ClusterView.empty.owners)
    }
    // Nodes that start together join in any order.
    let mixed = view((1, "node3"), (2, "node1"), (3, "2"), (4, "twin"), (5, "twin"))
    #expect(mixed.node(called: "node3")?.number == NodeNumber(1) && mixed.node(called: "1")?.name == "node3")
    #expect(mixed.node(called: "2")?.number == NodeNumber(3), "a name comes before a number")
    #expect(mixed.node(called: "twin") == nil && mixed.node(called: "4")?.number == NodeNumber(4))
    #expect(mixed.node(called: "node2") == nil && mixed.node(called: "") == nil && mixed.node(called: "01") == nil)
  }

  @Test func aNodeIsTheLastToServeWhereNoOtherTakesItsShards() {
    func isLast(_ others: NodeInfo...) -> Bool {
      let nodes = Dictionary(uniqueKeysWithValues: ([node(first)] + others).map { ($0.number, $0) })
      return ClusterView(version: 1, ownNode: nil, nodes: nodes, owners: ClusterView.empty.owners).isLastToServe(first)
    }
    func other(_ number: NodeNumber, isDraining: Bool = false, isOnBus: Bool = true) -> NodeInfo {
      NodeInfo(number: number, name: "n", address: "a", busVersion: 1, release: "r", isDraining: isDraining, isOnBus: isOnBus)
    }
    #expect(isLast() && isLast(other(second, isDraining: true)) && isLast(other(second, isOnBus: false)))
    #expect(!isLast(other(second)) && !isLast(other(second, isDraining: true), other(NodeNumber(3))))
  }

  @Test func theMapLeadsWhatTheNodeHoldsUntilItsLeaseEnds() {
    let map = ShardMap()
    #expect(map.ownNode == nil && map.owner(of: one) == nil)
    let view = view(
      [first, second], [one: ShardOwner(node: first, term: 3), two: ShardOwner(node: second, term: 5)], own: first)
    map.replace(by: view, leading: [one: 3])
    #expect(map.ownNode == first && map.owner(of: one) == first && map.owner(of: two) == second)
    #expect(map.term(of: two) == 5)
    // No lease yet.
    #expect(map.term(of: one, at: 0) == nil)
    map.extendLease(to: 1000)
    #expect(map.term(of: one, at: 999) == 3 && map.term(of: two, at: 999) == nil)
    #expect(map.term(of: one, at: 1000) == nil)
    map.stopLeading([one])
    #expect(map.term(of: one, at: 999) == nil && map.owner(of: one) == first)
  }

  @Test func nodesOfNeighbouringVersionsMayBeInOneCluster() {
    let joining = { NodeDescription(name: "n", address: "a", release: "0.2.0", busVersion: $0) }
    let there = [node(first)]
    #expect(LeaseRefusal(joining(1), among: there) == nil)
    #expect(LeaseRefusal(joining(2), among: there) == nil)
    #expect(LeaseRefusal(joining(3), among: there)?.description.contains("0.2.0") == true)
    #expect(LeaseRefusal(joining(9), among: []) == nil)
  }
}
