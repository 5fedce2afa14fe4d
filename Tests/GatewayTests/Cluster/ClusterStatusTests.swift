import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Statuses of users among several nodes (Cluster.md, "Users").
@Suite struct ClusterStatusTests {
  private func subscribe(_ client: Client, to user: UserID) async throws -> JSON {
    try await client.call("subscribeUsersStatus", #"{"userIDList":["\#(user.rawValue)"]}"#)["result"]["userList"]
  }

  /// The next row that a client is told, while time passes.
  private func told(_ client: Client, _ cluster: LiveCluster) async throws -> JSON {
    try await cluster.answer { try await client.event("onUsersStatusChanged")["userList"][0] }
  }

  private func gone(_ user: UserID, _ cluster: LiveCluster, but killed: Int? = nil) async throws {
    try await waitUntil("\(user) has no session") {
      cluster.nodes.indices.allSatisfy { $0 == killed || !cluster[$0].services.sessions.isPresent(user) }
    }
  }

  @Test func aUserIsOnlineAsLongAsAnyNodeHasASession() async throws {
    try await LiveCluster.with { cluster in
      let (olga, vera) = (try await cluster[0].signIn("olga"), try await cluster[0].signIn("vera"))
      #expect(try await subscribe(olga, to: "mary") == [])
      let phone = try await cluster[1].signIn("mary", "platform=iOS")
      #expect(try await told(olga, cluster)["platformList"] == ["iOS"])
      let web = try await cluster[2].signIn("mary", "platform=Web")
      #expect(try await told(olga, cluster)["platformList"] == ["iOS", "Web"])
      try await phone.leave()
      #expect(try await told(olga, cluster)["platformList"] == ["Web"])
      let found = try await cluster[1].backend.result("getUsersStatus", #""userIDList":["mary"]"#)["userList"]
      #expect(found.column("platformList") == [["Web"]])
      try await web.leave()
      let last = try await told(olga, cluster)
      #expect(last["isOnline"] == false && last["platformList"] == [] && (last["lastOnlineTime"].integer ?? 0) > 0)
      for node in cluster.nodes {
        let row = try await node.backend.result("getUsersStatus", #""userIDList":["mary"]"#)["userList"][0]
        #expect(row["isOnline"] == false && (row["lastOnlineTime"].integer ?? 0) > 0)
      }
      _ = try await vera.call("ping")
      #expect(await vera.heard("onUsersStatusChanged") == [], "she watches nobody")
    }
  }

  @Test func aCustomStatusIsToldOnAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let user = cluster.userID(on: 1, "mary")
      let mary = try await cluster[2].signIn(user.rawValue, "platform=Web")
      var watchers: [Client] = []
      for (node, name) in ["olga", "vera", "nora"].enumerated() { watchers.append(try await cluster[node].signIn(name)) }
      let never = try await cluster[0].signIn("ivan")
      for watcher in watchers { #expect(try await subscribe(watcher, to: user).column("customStatus") == [""]) }
      #expect(try await mary.call("setSelfStatus", #"{"customStatus":"at lunch"}"#)["result"] == [:])
      for watcher in watchers { #expect(try await told(watcher, cluster)["customStatus"] == "at lunch") }
      for node in cluster.nodes {
        let rows = try await node.backend.result("getUsersStatus", #""userIDList":["\#(user.rawValue)"]"#)["userList"]
        #expect(rows.column("customStatus") == ["at lunch"])
      }
      for client in [never, mary] {
        _ = try await client.call("ping")
        #expect(await client.heard("onUsersStatusChanged") == [])
      }
    }
  }

  /// The node reads the statuses of watched users again when its link is back.
  @Test func aCustomStatusWhoseNewsIsLostIsToldAllTheSame() async throws {
    try await LiveCluster.with { cluster in
      let user = cluster.userID(on: 1, "mary")
      let (olga, vera) = (try await cluster[0].signIn("olga"), try await cluster[0].signIn("vera"))
      _ = try await cluster[1].backend.result("importUsers", #""userIDList":["\#(user.rawValue)"]"#)
      #expect(try await subscribe(olga, to: user).column("customStatus") == [""])
      try cluster.lose(from: 1, to: 0)
      let set = try await cluster[1].backend.result("setSelfStatus", as: user.rawValue, #""customStatus":"at lunch""#)
      #expect(set == [:])
      #expect(try await olga.event("onUsersStatusChanged")["userList"][0]["customStatus"] == "at lunch")
      _ = try await vera.call("ping")
      #expect(await vera.heard("onUsersStatusChanged") == [])
    }
  }

  @Test func whoComesBackOnAnotherNodeInTimeWasNeverAway() async throws {
    try await LiveCluster.with { cluster in
      let olga = try await cluster[0].signIn("olga")
      let mary = try await cluster[1].signIn("mary", "platform=iOS")
      #expect(try await subscribe(olga, to: "mary").column("isOnline") == [true])
      try await cluster.kill(1)
      try await gone("mary", cluster, but: 1)
      let row = try await olga.call("getUsersStatus", #"{"userIDList":["mary"]}"#)["result"]["userList"][0]
      #expect(row["isOnline"] == true && row["platformList"] == ["iOS"], "within the grace")
      let again = try await cluster[2].signIn("mary", "platform=iOS")
      for _ in 0..<14 { try await cluster.pass(unheard: 1, killed: 1) }
      _ = try await olga.call("ping")
      #expect(await olga.heard("onUsersStatusChanged") == [])
      _ = (mary, again)
    }
  }
}
