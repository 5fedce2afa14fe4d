import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// A node that lives and is not heard is a fault; one that has ended is none.
@Suite struct UnheardNodesTests {
  private let node = NodeNumber(2)

  @Test func aNodeThatRenewsItsLeaseAndIsNotHeardIsAFault() {
    var unheard = UnheardNodes()
    #expect(unheard.note([node: 10], at: 0) == false)
    #expect(unheard.note([node: 11], at: 1_999) == false && unheard.nodes.isEmpty)
    #expect(unheard.note([node: 12], at: 2_000) == true && unheard.nodes == [node])
    #expect(unheard.note([node: 12], at: 2_100) == false)
    #expect(unheard.note([:], at: 2_200) == true && unheard.nodes.isEmpty)
    #expect(unheard.note([node: 13], at: 2_300) == false && unheard.nodes.isEmpty)
  }

  @Test func aNodeThatHasEndedIsNone() {
    var unheard = UnheardNodes()
    #expect(unheard.note([node: 10], at: 0) == false)
    // Its last sign may be seen late.
    #expect(unheard.note([node: 11], at: 500) == false)
    #expect(unheard.note([node: 11], at: 60_000) == false && unheard.nodes.isEmpty)
  }

  @Test func theNodesOnBothSidesAreNotReadyUntilTheyHearEachOther() async throws {
    try await LiveCluster.with(2) { cluster in
      let nodes = try cluster.nodes.map { try #require($0.services.cluster) }
      #expect(nodes.allSatisfy { $0.obstacle == nil && $0.missingNodes.isEmpty })
      cluster.network.cut(cluster[0].name)
      while nodes.contains(where: { $0.obstacle == nil }) { try await cluster.pass(unheard: 0) }
      let other = try cluster[1].number
      #expect(nodes[0].obstacle == "not heard on the bus: node1 (\(other))")
      #expect(nodes[0].missingNodes == [other.rawValue])
      cluster.network.mend(cluster[0].name)
      try await cluster.settled()
      try await waitUntil("both are ready") { nodes.allSatisfy { $0.obstacle == nil } }
    }
  }

  @Test func aNodeThatIsKilledMakesNobodyUnready() async throws {
    try await LiveCluster.with(2) { cluster in
      let survivor = try #require(cluster[1].services.cluster)
      let killed = try cluster[0].number
      cluster.network.cut(cluster[0].name)
      cluster.database.cut(killed)
      while cluster[1].engine.view.nodes[killed] != nil {
        try await cluster.pass(unheard: 0, killed: 0)
        #expect(survivor.obstacle == nil)
      }
      try await waitUntil("it is forgotten") { survivor.missingNodes.isEmpty }
      #expect(survivor.obstacle == nil)
    }
  }
}
