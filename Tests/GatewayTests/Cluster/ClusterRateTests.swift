import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// Limits that hold over all nodes: the rate of a user, and the bad tokens of an address.
@Suite struct ClusterRateTests {
  private static let burst = 32
  /// What a node lets pass without a word.
  private static let untold = burst / UnreportedCharges.share

  /// A cluster where everybody may send so many requests, sign-ins included, and never another one.
  private func withRequests(_ body: (LiveCluster) async throws -> Void) async throws {
    try await LiveCluster.with(3) {
      $0.requestsPerSecond = 0
      $0.requestBurst = ClusterRateTests.burst
    } _: { cluster in
      try await body(cluster)
    }
  }

  /// Pings until one is refused.
  /// - Returns: how many were not.
  private func pings(_ client: Client) async throws -> Int {
    for count in 0..<1000 {
      let error = try await client.call("ping")["error"]
      if error == .null { continue }
      #expect(error["code"] == 7008)
      return count
    }
    return 1000
  }

  @Test func aUserWithSessionsOnAllNodesGetsLittleMoreThanOnOne() async throws {
    try await withRequests { cluster in
      var clients: [Client] = []
      for node in 0..<3 { clients.append(try await cluster[node].signIn("alice", "platform=Web")) }
      let bob = try await cluster[1].signIn("bob")
      var count = clients.count
      for node in 0..<3 {
        count += try await pings(clients[node])
        try await cluster.heard(from: node)
      }
      #expect(count >= ClusterRateTests.burst && count <= ClusterRateTests.burst + 2 * ClusterRateTests.untold, "\(count)")
      #expect(try await bob.call("ping")["error"] == .null, "another user is not affected")
      // A sign-in counts as a request, on whichever node.
      for node in 0..<3 {
        let end = try await Client.open(port: cluster[node].live.port, query: "token=alice&platform=Web").closed()
        #expect(end.code == 4004 && end.reason.hasPrefix("7008 retry after "), "\(end)")
      }
    }
  }

  @Test func comingAgainElsewhereBringsNothingNew() async throws {
    try await withRequests { cluster in
      let first = try await cluster[0].signIn("alice")
      #expect(try await pings(first) == ClusterRateTests.burst - 1)
      try await first.leave()
      try await cluster.heard(from: 0)
      let second = try await cluster[1].signInUnlessRefused("alice")
      #expect(second == nil, "all was told: the burst is a multiple of its eighth")
      _ = try await cluster[2].signIn("bob")
    }
  }

  @Test func nothingIsToldOfAUserWhoSendsLittle() async throws {
    try await withRequests { cluster in
      let alice = try await cluster[0].signIn("alice")
      for _ in 0..<(ClusterRateTests.untold - 2) { #expect(try await alice.call("ping")["error"] == .null) }
      try await cluster.heard(from: 0)
      #expect(cluster.nodes.map(\.services.budgets.count) == [1, 0, 0])
      #expect(try await alice.call("ping")["error"] == .null)
      try await cluster.heard(from: 0)
      #expect(cluster.nodes.map(\.services.budgets.count) == [1, 1, 1])
    }
  }

  @Test func badTokensCountOnAllNodes() async throws {
    try await LiveCluster.with(3) {
      $0.failureDelay = .seconds(60)
    } _: { cluster in
      for number in 0..<20 {
        let node = number % 2
        let client = try await cluster[node].live.connect()
        #expect(try await client.call("login", #"{"token":"bad"}"#)["error"]["code"] == 70003)
        try await cluster.heard(from: node)
      }
      let late = try await cluster[2].live.connect()
      try await late.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"bad"}}"#)
      try await waitUntil("the answer is delayed") {
        for session in await cluster[2].live.openSessions().joined() {
          if await session.session?.waits == .refusal { return true }
        }
        return false
      }
      _ = try await cluster[2].signIn("alice")
    }
  }

  @Test func badTokensOfAnotherAddressCountForItself() async throws {
    try await LiveCluster.with(2) {
      $0.failureDelay = .seconds(60)
    } _: { cluster in
      let now = cluster.world.clocks.monotonic
      for _ in 0..<20 { _ = cluster[0].services.signInPolicy.noteBadToken(from: "192.0.2.1", at: now) }
      try await cluster.heard(from: 0)
      #expect(cluster[1].services.connectionLimiter.noteBadToken(from: "192.0.2.1", at: now))
      let client = try await cluster[1].live.connect()
      #expect(try await client.call("login", #"{"token":"bad"}"#)["error"]["code"] == 70003)
    }
  }

  @Test func withoutTheDelayNothingIsTold() async throws {
    try await LiveCluster.with(2) {
      $0.failureDelay = .zero
    } _: { cluster in
      for _ in 0..<20 { _ = cluster[0].services.signInPolicy.noteBadToken(from: "192.0.2.1", at: cluster.world.clocks.monotonic) }
      try await cluster.heard(from: 0)
      #expect(cluster[1].services.connectionLimiter.addressCount == 0)
    }
  }
}

extension LiveCluster {
  /// Returns when all other nodes have read what a node has told them so far.
  fileprivate func heard(from node: Int) async throws {
    for other in nodes.indices where other != node {
      // A request travels behind earlier entries.
      #expect(try await nodes[node].backend.code("getGroupOnlineMemberCount", #""groupID":"\#(groupID(on: other))""#) == 10010)
    }
  }
}

extension LiveCluster.Node {
  /// A session by the upgrade; nil where the user's rate is used up.
  fileprivate func signInUnlessRefused(_ user: String) async throws -> Client? {
    let client = try await Client.open(port: live.port, query: "token=\(user)")
    do {
      return try await client.next()["method"] == "onConnectSuccess" ? client : nil
    } catch let failure as Client.Failed {
      guard failure.description.contains("closed with 4004 7008") else { throw failure }
      return nil
    }
  }
}
