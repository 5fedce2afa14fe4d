import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// Links that are interrupted go on: between two nodes that live, nothing is lost, and nobody is closed.
@Suite struct ClusterLinkTests {
  @Test func anEventWhoseFrameIsLostComesLateAndInItsOrder() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "nora"))
      let (mary, nora) = (try await cluster[1].signIn("mary"), try await cluster[2].signIn("nora"))
      let (stranger, olga) = (try await cluster[1].signIn("vera"), try await cluster[0].signIn("olga"))
      cluster.network.drop(next: 1, .init(from: cluster[0].name, to: cluster[1].name))
      for text in ["lost", "next", "end"] {
        _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"\#(text)"}"#)
      }
      for client in [mary, nora] {
        _ = try await client.reply { $0["params"]["message"]["text"] == "end" }
        #expect(await client.texts() == ["lost", "next"])
      }
      for client in [mary, nora, stranger, olga] { #expect(try await client.call("ping")["error"] == .null) }
      #expect(await stranger.texts() == [])
      let counters = try cluster.linkCounters(of: 1)
      #expect(counters.gaps == 1 && counters.resumes == 1 && counters.losses == 0)
    }
  }

  @Test(arguments: [(1, 0), (0, 1)]) func aRequestWhoseFrameOrAnswerIsLostIsAnswered(from: Int, to: Int) async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let mary = try await cluster[1].signIn("mary")
      cluster.network.drop(next: 1, .init(from: cluster[from].name, to: cluster[to].name))
      let said = try await cluster.answer { try await mary.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"once"}"#) }
      #expect(said["result"]["seq"].integer != nil, "\(said)")
      let history = try await cluster[2].backend.result("getGroupHistoryMessageList", as: "mary", #""groupID":"\#(id)""#)
      #expect(history["messageList"].column("text") == ["once"])
      for node in 0..<3 { #expect(try cluster.linkCounters(of: node).losses == 0) }
    }
  }

  /// Another node may hear better: the session is sent there.
  @Test func aNodeThatIsNotHeardForLongLosesTheSessionsOfItsGroups() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "nora"))
      let (mary, nora) = (try await cluster[1].signIn("mary"), try await cluster[2].signIn("nora"))
      let stranger = try await cluster[1].signIn("vera")
      cluster.network.drop(next: .max, .init(from: cluster[0].name, to: cluster[1].name))
      let start = cluster.world.clocks.monotonic
      let code = try await cluster.answer(unheard: 1) { try await mary.closed().code }
      #expect(code == 4008)
      #expect(cluster.world.clocks.monotonic >= start + IncomingLink.patience, "the link may still go on before")
      for client in [nora, stranger] { #expect(try await client.call("ping")["error"] == .null) }
    }
  }

  /// The news has come, late: the session has missed nothing.
  @Test func newsThatIsNotConfirmedInTimeClosesNobodyBehindAnInterruption() async throws {
    try await LiveCluster.with { cluster in
      let mary = cluster.userID(on: 0, "mary").rawValue
      let (here, there) = (try await cluster[1].signIn(mary, "platform=Web"), try await cluster[2].signIn(mary, "platform=iOS"))
      cluster.network.hold(.init(from: cluster[0].name, to: cluster[2].name))
      let set = try await cluster.answer(unheard: 2) { try await here.call("setSelfInfo", #"{"nickName":"Mary B"}"#) }
      #expect(set["result"] == [:])
      cluster.network.release()
      try await cluster.settled()
      #expect(try await there.event("onSelfInfoUpdated")["nickName"] == "Mary B")
      let requests = try #require(cluster[0].services.cluster).network.requests
      try await waitUntil("the node has confirmed it") { requests.count == 0 }
      // A link that begins anew closes the sessions of users whose news is not confirmed.
      try cluster.lose(from: 0, to: 2)
      for _ in 0..<2 { try await cluster.pass() }
      try await cluster.settled()
      for client in [here, there] { #expect(try await client.call("ping")["error"] == .null) }
    }
  }
}

extension LiveCluster {
  fileprivate func linkCounters(of index: Int) throws -> LinkCounters {
    try #require(self[index].services.cluster).linkCounters
  }
}
