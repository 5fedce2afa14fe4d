import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// What nodes tell each other of a session that signs in and ends, while nothing else happens (Cluster.md, "Measured").
@Suite struct PresenceEntriesTests {
  /// Entries of a sign-in and of an end.
  private struct Cost: Equatable {
    var signIn = 0
    var end = 0
  }

  /// Everybody is told that it begins, and that it is signed in; and the owners of the user's groups attach it,
  /// and answer.
  private static func expected(nodes: Int, owners: Int) -> Cost { Cost(signIn: 2 * (nodes - 1) + 2 * owners, end: nodes - 1) }

  @Test(arguments: [3, 20], [0, 3, 10])
  func aSignInTakesSoManyEntries(nodes: Int, groups: Int) async throws {
    try await LiveCluster.with(nodes) { cluster in
      let ids = (0..<groups).compactMap { GroupID("g\($0)") }
      for (number, id) in ids.enumerated() {
        let answer = try await cluster[number % nodes].backend.rpc(
          "createGroup",
          #"{"groupID":"\#(id.rawValue)","groupName":"g","groupType":"Public","ownerUserID":"owner","#
            + #""memberList":[{"userID":"mary"}]}"#)
        #expect(answer["result"]["groupID"].string == id.rawValue)
      }
      let owners = cluster.nodes.dropFirst().count { node in
        ids.contains { node.services.cluster?.network.router.leads($0) == true }
      }
      var cost = Cost()
      var sent = cluster.presenceEntries
      let client = try await cluster[0].signIn("mary")
      let expected = Self.expected(nodes: nodes, owners: owners)
      // The last of them leave behind the answer.
      try await waitUntil("all nodes know the session") { cluster.presenceEntries - sent >= expected.signIn }
      cost.signIn = cluster.presenceEntries - sent
      sent = cluster.presenceEntries
      try await client.leave()
      try await waitUntil("all nodes know its end") { cluster.presenceEntries - sent >= expected.end }
      cost.end = cluster.presenceEntries - sent
      #expect(cost == expected)
    }
  }
}

extension LiveCluster {
  /// The entries about sessions that all nodes have sent, and the requests and replies.
  fileprivate var presenceEntries: Int {
    let kinds: Set = ["sessionBegan", "sessionCompleted", "sessionEnded", "wantsGroups", "request", "reply"]
    return nodes.reduce(0) { sum, node in
      let sent = node.services.cluster?.linkCounters.sentEntries ?? []
      return sent.filter { kinds.contains($0.kind) }.reduce(sum) { $0 + $1.count }
    }
  }
}
