import Cluster
import Testing
import ThrongTestKit

/// Requests to drain a node.
@Suite struct DrainRequestTests {
  private let database = InMemoryLeaseDatabase { 0 }

  private func join(_ names: String...) throws -> [NodeNumber] {
    try names.map { try database.join(NodeDescription(name: $0, address: $0, release: "r")) }
  }

  private var draining: [String] { get throws { try database.read().nodes.filter(\.isDraining).map(\.name) } }

  @Test func aNodeIsNamedByItsNameOrItsNumberAndTheLastOneIsAskedForExpressly() throws {
    let nodes = try join("one", "two", "three", "three")
    #expect(try database.requestDrain(of: "three", evenLast: false) == .unknownNode)
    #expect(try database.requestDrain(of: "four", evenLast: true) == .unknownNode)
    #expect(try database.requestDrain(of: "one", evenLast: false).node?.name == "one")
    #expect(try database.requestDrain(of: "one", evenLast: false).node?.name == "one", "it drains already")
    for node in nodes[2...] { try database.leave(node) }
    let version = try database.read().version
    #expect(try database.requestDrain(of: "two", evenLast: false) == .lastNode)
    #expect(try draining == ["one"] && database.read().version == version)
    #expect(try database.requestDrain(of: "\(nodes[1])", evenLast: true).node?.number == nodes[1])
    #expect(try draining == ["one", "two"])
  }

  @Test func ofTwoAtTheSameInstantTheLaterOneIsRefusedWhereItWouldTakeTheLastNode() throws {
    _ = try join("one", "two")
    let database = database
    database.interpose {
      let outcome = try database.requestDrain(of: "two", evenLast: false)
      #expect(outcome.node?.name == "two")
    }
    #expect(try database.requestDrain(of: "one", evenLast: false) == .lastNode)
    #expect(try draining == ["two"])
  }

  @Test func aChangeOfSomethingElseRefusesNobody() throws {
    let nodes = try join("one", "two")
    let database = database
    database.interpose { try database.noteBus(of: nodes[0], isConnected: false) }
    #expect(try database.requestDrain(of: "one", evenLast: false).node?.name == "one")
    database.interpose { database.expire(nodes[1]) }
    #expect(try database.requestDrain(of: "two", evenLast: true) == .unknownNode)
    #expect(try draining == ["one"])
  }
}
