import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// A sign-in among several nodes: the owners of the user's groups attach the session, and all others have heard
/// of it with the answer.
@Suite struct ClusterSignInTests {
  @Test func allNodesFindTheSessionWithTheAnswer() async throws {
    try await LiveCluster.with { cluster in
      for number in 0..<10 {
        let mary = try await cluster[1].signIn("mary\(number)")
        let id = cluster.groupID(on: 2, "mary\(number)g")
        try await cluster[2].backend.create(id, "Public", memberList("mary\(number)"))
        _ = try await cluster[2].backend.result(
          "sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"first""#)
        #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "first")
      }
      #expect(cluster.wishes(of: 2) == 0)
    }
  }

  @Test func aNodeThatHasJustGotShardsAsksForAllGroups() async throws {
    try await LiveCluster.with { cluster in
      _ = try await cluster[1].signIn("mary")
      #expect(cluster.wishes(of: 2) == 0)
      try await cluster.kill(0)
      _ = try await cluster[1].signIn("vera")
      #expect(cluster.wishes(of: 2) == 1)
    }
  }

  @Test func aNodeWithAGroupOfEverybodyAsksForEverybody() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 2)
      _ = try await cluster[0].backend.result(
        "createGroup", #""groupType":"BChatRoom","groupName":"all","groupID":"\#(id)","ownerUserID":"olga""#)
      for number in 0..<10 {
        let client = try await cluster[1].signIn("mary\(number)")
        _ = try await cluster[2].backend.result("sendGroupTextMessage", #""groupID":"\#(id)","text":"\#(number)""#)
        _ = try await client.reply { $0["params"]["message"]["text"].string == "\(number)" }
      }
      #expect(cluster.wishes(of: 2) == 10 && cluster.wishes(of: 0) == 0)
    }
  }

  /// The next owner of a group has loaded it before it hears of a session that the last one has attached.
  @Test func aSessionWhoseNewsIsLateForTheNextOwnerMissesNothingSilently() async throws {
    try await LiveCluster.with { cluster in
      let ids = (0..<12).map { cluster.groupID(on: 0, "g\($0)x") }
      for id in ids { try await cluster[1].backend.create(id, "Public", memberList("mary")) }
      cluster.network.hold(.init(from: cluster[1].name, to: cluster[2].name))
      let signIn = Task { try await cluster[1].signIn("mary") }
      try await waitUntil("the news is on its way") { cluster.network.heldCount > 0 }
      try await cluster.kill(0)
      let moved = ids.filter { id in
        GroupID(id).map { cluster[2].services.cluster?.network.router.leads($0) == true } == true
      }
      try #require(!moved.isEmpty)
      for id in moved {
        _ = try await cluster[2].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"late""#)
      }
      cluster.network.release()
      do {
        let mary = try await signIn.value
        for id in moved {
          let text = "after \(id)"
          _ = try await cluster[2].backend.result(
            "sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"\#(text)""#)
          _ = try await mary.reply { $0["params"]["message"]["text"].string == text }
        }
      } catch let failure as Client.Failed where failure.description.hasPrefix("closed with 4008") {
        // It was told that something may be missing.
      }
    }
  }
}

extension LiveCluster {
  /// How often a node has asked for all groups of a user.
  fileprivate func wishes(of index: Int) -> Int {
    let sent = self[index].services.cluster?.linkCounters.sentEntries ?? []
    return sent.first { $0.kind == "wantsGroups" }?.count ?? 0
  }
}
