import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Blocks and revocations on several nodes.
@Suite struct ClusterAccessTests {
  private func refusal(of token: String, on node: LiveCluster.Node) async throws -> String {
    let client = try await Client.open(port: node.live.port, query: "token=\(token)")
    let (code, reason) = try await client.closed()
    #expect(code == 4500)
    return reason
  }

  @Test func aBlockIsKnownOnAllNodesWithTheReply() async throws {
    try await LiveCluster.with { cluster in
      var clients: [Client] = []
      for node in 0..<3 { clients.append(try await cluster[node].signIn("mary", "platform=Web")) }
      let olga = try await cluster[2].signIn("olga", "platform=Web")
      let answer = try await cluster[1].backend.result("blockUser", #""userID":"mary","reason":"spam""#)
      #expect(answer == ["blockedUntil": 0])
      for client in clients {
        #expect(try await client.closed().code == 4503)
        #expect(await client.heard("onKickedOffline") == [["reason": "Blocked", "message": "spam"]])
      }
      for node in cluster.nodes { #expect(try await refusal(of: "mary", on: node).hasPrefix("70020")) }
      #expect(try await cluster[0].backend.result("getBlockedUsers")["userList"].column("userID") == ["mary"])
      #expect(try await cluster[0].backend.result("unblockUser", #""userID":"mary""#) == [:])
      for node in cluster.nodes {
        #expect(try await node.signIn("mary", "platform=Web").call("ping")["error"] == nil)
      }
      #expect(try await olga.call("ping")["error"] == nil)
      #expect(await olga.events == [])
    }
  }

  @Test func aRevocationEndsSessionsOfAllNodesByTheirTokens() async throws {
    try await LiveCluster.with { cluster in
      var (old, new): ([Client], [Client]) = ([], [])
      for node in 0..<3 {
        old.append(try await cluster[node].signIn("iat1:mary", "platform=Web"))
        new.append(try await cluster[node].signIn("mary", "platform=Web"))
      }
      #expect(try await cluster[1].backend.result("revokeTokens", #""userID":"mary""#) == [:])
      for client in old { #expect(try await client.closed() == (4006, "token revoked")) }
      for client in new { #expect(try await client.call("ping")["error"] == nil) }
      for node in cluster.nodes { #expect(try await refusal(of: "iat1:mary", on: node).hasPrefix("70021")) }
    }
  }

  /// The node has the user's session, and is not told: the session is closed when it hears of the others again.
  @Test func aSessionOfANodeThatMissesTheBlockIsClosedToo() async throws {
    try await LiveCluster.with { cluster in
      let mary = cluster.userID(on: 0, "mary").rawValue
      let (here, there) = (try await cluster[1].signIn(mary, "platform=Web"), try await cluster[2].signIn(mary, "platform=iOS"))
      let vera = try await cluster[2].signIn("vera")
      try cluster.lose(from: 0, to: 2)
      #expect(try await cluster[0].backend.result("blockUser", #""userID":"\#(mary)""#) == ["blockedUntil": 0])
      #expect(try await here.closed().code == 4503)
      #expect(try await there.closed() == (4008, "lost touch"))
      #expect(try await refusal(of: mary, on: cluster[2]).hasPrefix("70020"))
      #expect(try await vera.call("ping")["error"] == nil)
    }
  }

  /// A renewal reads the store, whatever its node has been told.
  @Test func aNodeThatIsCutOffRenewsNoBlockedUser() async throws {
    try await LiveCluster.with { cluster in
      let mary = cluster.userID(on: 0, "mary").rawValue
      let there = try await cluster[2].signIn(mary)
      let user = try #require(UserID(mary))
      let answer: Commit.Answer = await withCheckedContinuation { continuation in
        let change = StoreChange.putBlock(user, UserAccess.Block(until: nil, reason: ""), at: 5)
        cluster.world.store.commit(
          Commit(changes: [change], generation: CommitGeneration()) { continuation.resume(returning: $0) })
      }
      _ = try answer.get()
      #expect(try await there.call("login", #"{"token":"\#(mary)"}"#)["error"]["code"] == 70020)
      #expect(try await there.closed().code == 4500)
    }
  }
}
