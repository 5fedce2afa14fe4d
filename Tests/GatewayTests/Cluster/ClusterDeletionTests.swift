import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// A user is deleted by the owner of the user's shard, in groups of all nodes (Cluster.md).
@Suite struct ClusterDeletionTests {
  private func state(_ node: LiveCluster.Node) async throws -> JSON {
    try await node.live.backend.result("getUserDeletion", #""userID":"mary""#)["state"]
  }

  private func finish(_ cluster: LiveCluster) async throws {
    for node in cluster.nodes { node.services.deletions.start() }
    try await waitUntil("mary is deleted") { try await state(cluster.nodes[0]) == "Done" }
    for node in cluster.nodes {
      #expect(try await state(node) == "Done", "any node tells it")
      await node.services.deletions.stop()
    }
  }

  @Test func groupsOfAllNodesAndSessionsOfAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let groups = (0..<3).map { cluster.groupID(on: $0, "g\($0)") }
      for (node, id) in groups.enumerated() {
        try await cluster[node].backend.create(id, "Public", by: "olga", memberList("mary"))
      }
      let phone = try await cluster[0].signIn("mary", "platform=iOS")
      let web = try await cluster[2].signIn("mary", "platform=Web")
      let olga = try await cluster[1].signIn("olga")
      _ = try await cluster[1].backend.result("deleteUser", #""userID":"mary""#)
      try await finish(cluster)
      for client in [phone, web] { #expect(try await client.closed().code == 4503) }
      var left: Set<String> = []
      for _ in groups { left.insert(try #require(try await olga.event("onMemberLeave")["groupID"].string)) }
      #expect(left == Set(groups))
      for id in groups {
        let list = try await cluster[0].backend.result("getGroupMemberList", #""groupID":"\#(id)""#)["memberList"]
        #expect(list.column("userID") == ["olga"])
      }
      try await olga.leave()
    }
  }

  @Test func noNodeShowsTheNameFromMemory() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 2)
      _ = try await cluster[0].backend.result("setUserInfo", #""userID":"mary","nickName":"secret""#)
      try await cluster[2].backend.create(id, "Public", by: "olga", memberList("mary"))
      _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "mary", #""groupID":"\#(id)","text":"t""#)
      func names(_ node: LiveCluster.Node) async throws -> [JSON] {
        try await node.live.backend.result("getGroupHistoryMessageList", #""groupID":"\#(id)""#)["messageList"].column("nickName")
      }
      for node in cluster.nodes { #expect(try await names(node).contains("secret")) }
      _ = try await cluster[0].backend.result("deleteUser", #""userID":"mary""#)
      try await finish(cluster)
      for node in cluster.nodes { #expect(try await !names(node).contains("secret")) }
    }
  }
}
