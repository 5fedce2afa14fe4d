import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Sends in flight to an owner that is lost: those that the group knows again are asked once more, and answered
/// once; the others close their sessions, as before.
@Suite struct ClusterRepeatTests {
  private func send(_ id: String, named: String? = "m1") -> String {
    let name = if let named { #","clientMsgID":"\#(named)""# } else { "" }
    return #"{"groupID":"\#(id)","text":"once"\#(name)}"#
  }

  private func history(_ id: String, at node: LiveCluster.Node) async throws -> [JSON] {
    try await node.backend.result("getGroupHistoryMessageList", as: "olga", #""groupID":"\#(id)""#)["messageList"].column("text")
  }

  /// Returns when a request of node one waits for its answer. Frames without one are held, too.
  private func underWay(_ cluster: LiveCluster) async throws {
    let requests = try #require(cluster[1].services.cluster).network.requests
    try await waitUntil("it is on its way") { requests.count > 0 }
  }

  /// A group on node zero with members on nodes one and two.
  private func begin(_ cluster: LiveCluster) async throws -> (id: String, mary: Client, nora: Client) {
    let id = cluster.groupID(on: 0)
    try await cluster[0].backend.create(id, "Public", memberList("mary", "nora"))
    return (id, try await cluster[1].signIn("mary"), try await cluster[2].signIn("nora"))
  }

  private func check(_ cluster: LiveCluster, _ id: String, _ mary: Client, _ nora: Client, _ said: JSON) async throws {
    #expect(said["result"]["seq"] == 1, "\(said)")
    #expect(try await nora.event("onRecvNewMessage")["message"]["text"] == "once")
    _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"end""#)
    for client in [mary, nora] {
      _ = try await client.reply { $0["params"]["message"]["text"] == "end" }
      #expect(await client.texts() == [], "the sender gets its reply, and others one event")
    }
    #expect(try await history(id, at: cluster[1]) == ["end", "once"])
  }

  /// The owner dies before the request has come.
  @Test func aRequestThatWasNotPerformedIsPerformedOnce() async throws {
    try await LiveCluster.with { cluster in
      let (id, mary, nora) = try await begin(cluster)
      cluster.network.hold(.init(from: cluster[1].name, to: cluster[0].name))
      async let said = mary.call("sendGroupTextMessage", send(id))
      try await underWay(cluster)
      try await cluster.kill(0)
      try await check(cluster, id, mary, nora, try await said)
      #expect(cluster[1].services.cluster?.repeatedRequests.answered == 1)
    }
  }

  /// It dies behind the commit: the message is there, and neither the reply nor the event has come.
  @Test func aRequestThatWasPerformedIsAnsweredByTheNextOwner() async throws {
    try await LiveCluster.with { cluster in
      let (id, mary, nora) = try await begin(cluster)
      cluster.network.hold(.init(from: cluster[0].name))
      async let said = mary.call("sendGroupTextMessage", send(id))
      while try await history(id, at: cluster[0]).isEmpty { await Task.yield() }
      try await cluster.kill(0)
      try await check(cluster, id, mary, nora, try await said)
    }
  }

  /// The owner lives, and its answer was lost with the link.
  @Test func anOwnerThatLivesAnswersTheFirstReceipt() async throws {
    try await LiveCluster.with { cluster in
      let (id, mary, nora) = try await begin(cluster)
      try cluster.lose(from: 0, to: 1)
      let said = try await mary.call("sendGroupTextMessage", send(id))
      try await check(cluster, id, mary, nora, said)
    }
  }

  @Test func theApplicationIsAnsweredToo() async throws {
    try await LiveCluster.with { cluster in
      let (id, mary, nora) = try await begin(cluster)
      try cluster.lose(from: 0, to: 1)
      let params = #""groupID":"\#(id)","text":"once","clientMsgID":"m1""#
      let said = try await cluster[1].backend.result("sendGroupTextMessage", as: "mary", params)
      #expect(said["seq"] == 1)
      for client in [mary, nora] { #expect(try await client.event("onRecvNewMessage")["message"]["text"] == "once") }
      #expect(try await history(id, at: cluster[1]) == ["once"])
    }
  }

  @Test func aSendWithoutANameClosesItsSession() async throws {
    try await LiveCluster.with { cluster in
      let (id, mary, nora) = try await begin(cluster)
      cluster.network.hold(.init(from: cluster[0].name))
      try await mary.send(#"{"jsonrpc":"2.0","id":"x","method":"sendGroupTextMessage","params":\#(send(id, named: nil))}"#)
      while try await history(id, at: cluster[0]).isEmpty { await Task.yield() }
      try await cluster.kill(0)
      #expect(try await mary.closed() == (4008, "lost touch"))
      #expect(try await nora.event("onRecvNewMessage")["message"]["text"] == "once")
    }
  }

  /// Whether it was said is not stored.
  @Test func aSendToALiveRoomClosesItsSession() async throws {
    try await LiveCluster.with { cluster in
      let room = cluster.groupID(on: 0)
      try await cluster[0].backend.create(room, "AVChatRoom")
      let mary = try await cluster[1].signIn("mary")
      #expect(try await mary.call("joinGroup", #"{"groupID":"\#(room)"}"#)["result"]["status"] == "Joined")
      cluster.network.hold(.init(from: cluster[1].name, to: cluster[0].name))
      try await mary.send(#"{"jsonrpc":"2.0","id":"x","method":"sendGroupTextMessage","params":\#(send(room))}"#)
      try await underWay(cluster)
      try await cluster.kill(0)
      #expect(try await mary.closed() == (4008, "lost touch"))
    }
  }
}
