import Cluster
import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// The owner of a group goes: sessions elsewhere that missed nothing stay, what was stored and not told is told
/// again, and only where it cannot be said exactly sessions lose touch (4008).
@Suite struct ClusterFollowTests {
  /// Public groups have attributes here.
  private static let rules = GroupRules(permissions: GroupPermissions(attributeTypes: [.public, .avChatRoom]))

  /// A decision of the owner that nobody else hears.
  struct Gap: Sendable, CustomTestStringConvertible {
    let method: String
    let params: String
    let event: String

    var testDescription: String { method }
  }

  private static let gaps = [
    Gap(method: "sendGroupTextMessage", params: #""text":"lost""#, event: "onRecvNewMessage"),
    Gap(method: "revokeGroupMessage", params: #""seq":1"#, event: "onRecvMessageRevoked"),
    Gap(method: "modifyGroupMessage", params: #""seq":1,"text":"other""#, event: "onRecvMessageModified"),
    Gap(method: "addMessageReaction", params: #""seq":1,"reaction":"r""#, event: "onRecvMessageReactionsChanged"),
    Gap(method: "pinGroupMessage", params: #""seq":1,"isPinned":true"#, event: "onGroupMessagePinned"),
    Gap(method: "setGroupAttributes", params: #""attributes":{"k":"v"}"#, event: "onGroupAttributeChanged"),
    Gap(method: "setGroupCounters", params: #""counters":{"k":1}"#, event: "onGroupCounterChanged"),
  ]

  /// A group on node zero with a message that all have heard.
  private func begin(_ cluster: LiveCluster, _ members: String..., heardBy clients: [Client]) async throws -> String {
    let id = cluster.groupID(on: 0)
    let list = #""memberList":["# + members.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",") + "]"
    try await cluster[0].backend.create(id, "Public", list)
    try await say("first", in: id, at: cluster[0])
    for client in clients { #expect(try await client.event("onRecvNewMessage")["message"]["text"] == "first") }
    return id
  }

  private func say(_ text: String, in id: String, at node: LiveCluster.Node) async throws {
    _ = try await node.backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"\#(text)""#)
  }

  /// The sessions are open, and hear what comes.
  private func hear(_ text: String, in id: String, at node: LiveCluster.Node, _ clients: [Client]) async throws {
    try await say(text, in: id, at: node)
    for client in clients {
      _ = try await client.reply { $0["params"]["message"]["text"].string == text }
      #expect(try await client.call("ping")["error"] == .null)
    }
  }

  @Test(arguments: [2, 3]) func equalStampsCloseNobody(nodes: Int) async throws {
    try await LiveCluster.with(nodes, rules: Self.rules) { cluster in
      let clients = [try await cluster[1].signIn("mary"), try await cluster[nodes - 1].signIn("nora")]
      let id = try await begin(cluster, "mary", "nora", heardBy: clients)
      _ = try await cluster[0].backend.result(
        "addMessageReaction", as: "olga", #""groupID":"\#(id)","seq":1,"reaction":"r""#)
      _ = try await cluster[0].backend.result("setGroupAttributes", as: "olga", #""groupID":"\#(id)","attributes":{"k":"v"}"#)
      _ = try await cluster[0].backend.result("setGroupInfo", #""groupID":"\#(id)","introduction":"i""#)
      for client in clients {
        for name in ["onRecvMessageReactionsChanged", "onGroupAttributeChanged", "onGroupInfoChanged"] {
          _ = try await client.event(name)
        }
      }
      try await cluster.kill(0)
      try await hear("after", in: id, at: cluster[1], clients)
      for client in clients { #expect(await client.texts() == []) }
    }
  }

  @Test(arguments: gaps, [2, 3]) func whatWasStoredAndNotToldIsToldAgain(gap: Gap, nodes: Int) async throws {
    try await LiveCluster.with(nodes, rules: Self.rules) { cluster in
      let mary = try await cluster[1].signIn("mary")
      let id = try await begin(cluster, "mary", heardBy: [mary])
      cluster.network.hold(.init(from: cluster[0].name))
      _ = try await cluster[0].backend.result(gap.method, as: "olga", #""groupID":"\#(id)",\#(gap.params)"#)
      try await cluster.kill(0)
      let params = try await mary.event(gap.event)
      #expect(params["groupID"].string == id || params["message"]["groupID"].string == id, "\(params)")
      try await hear("after", in: id, at: cluster[1], [mary])
      #expect(await mary.heard(gap.event).isEmpty, "once")
    }
  }

  /// Its frames were on the way while the next owner told again what they say.
  @Test func framesThatComeLateAreOld() async throws {
    try await LiveCluster.with { cluster in
      let mary = try await cluster[1].signIn("mary")
      let id = try await begin(cluster, "mary", heardBy: [mary])
      cluster.network.hold(.init(from: cluster[0].name, to: cluster[1].name))
      for text in ["1", "2", "3"] { try await say(text, in: id, at: cluster[0]) }
      try await cluster.kill(0)
      for text in ["1", "2", "3"] { #expect(try await mary.event("onRecvNewMessage")["message"]["text"].string == text) }
      cluster.network.release()
      try await hear("after", in: id, at: cluster[2], [mary])
      #expect(await mary.texts() == [])
    }
  }

  @Test func aTargetedMessageIsToldAgainToItsTargetsOnly() async throws {
    try await LiveCluster.with { cluster in
      let (mary, nora) = (try await cluster[1].signIn("mary"), try await cluster[1].signIn("nora"))
      let id = try await begin(cluster, "mary", "nora", heardBy: [mary, nora])
      cluster.network.hold(.init(from: cluster[0].name))
      let targeted = #""groupID":"\#(id)","text":"secret","toUserIDList":["mary"]"#
      _ = try await cluster[0].backend.result("sendGroupTextMessage", as: "olga", targeted)
      try await cluster.kill(0)
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "secret")
      try await hear("after", in: id, at: cluster[1], [mary, nora])
      #expect(await nora.texts() == [])
    }
  }

  /// Who is a member cannot be told by the events that were missed.
  @Test(arguments: ["kickGroupMember", "dismissGroup"])
  func aChangeOfMembersClosesThoseOfTheGroupAndNobodyElse(method: String) async throws {
    try await LiveCluster.with { cluster in
      let (mary, nora) = (try await cluster[1].signIn("mary"), try await cluster[1].signIn("nora"))
      let others = [try await cluster[1].signIn("vera"), try await cluster[2].signIn("rita")]
      let id = try await begin(cluster, "mary", "nora", heardBy: [mary, nora])
      let second = cluster.groupID(on: 0, "other")
      try await cluster[0].backend.create(second, "Public", memberList("vera", "rita"))
      try await hear("second", in: second, at: cluster[0], others)
      cluster.network.hold(.init(from: cluster[0].name))
      let params = method == "dismissGroup" ? "" : #","userIDList":["nora"]"#
      _ = try await cluster[0].backend.result(method, as: "olga", #""groupID":"\#(id)"\#(params)"#)
      try await cluster.kill(0)
      for client in [mary, nora] { #expect(try await client.closed() == (4008, "lost touch")) }
      try await hear("after", in: second, at: cluster[1], others)
    }
  }

  @Test func twoOwnersThatGoOneBehindTheOtherCloseNobody() async throws {
    try await LiveCluster.with(4) { cluster in
      let mary = try await cluster[3].signIn("mary")
      let id = try await begin(cluster, "mary", heardBy: [mary])
      cluster.network.hold(.init(from: cluster[0].name))
      try await say("1", in: id, at: cluster[0])
      try await cluster.kill(0)
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "1")
      let shard = Shard(of: try #require(GroupID(id)))
      let owner = cluster[3].engine.view.owner(of: shard)
      let next = [1, 2].first { (try? cluster[$0].number) == owner } ?? 1
      try await cluster.kill(next, besides: [0])
      try await hear("after", in: id, at: cluster[3], [mary])
      #expect(await mary.texts() == [])
    }
  }

  /// Her node does not follow the group, so no comparison finds her.
  @Test func whoWasMadeAMemberInTheLastMomentsLosesTouch() async throws {
    try await LiveCluster.with { cluster in
      let (mary, vera) = (try await cluster[1].signIn("mary"), try await cluster[1].signIn("vera"))
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Work", memberList("nora"))
      cluster.world.clocks.moveWall(by: 1_000)
      cluster.network.hold(.init(from: cluster[0].name))
      _ = try await cluster[0].backend.result("inviteUserToGroup", as: "olga", #""groupID":"\#(id)","userIDList":["mary"]"#)
      cluster.world.clocks.moveWall(by: 1_000)
      try await cluster.kill(0)
      #expect(try await mary.closed() == (4008, "lost touch"))
      #expect(try await vera.call("ping")["error"] == .null)
    }
  }

  /// Her client reads what is stored behind the answer, which waits for the owner's end.
  @Test func whoSignsInWhileTheOwnerIsSilentStays() async throws {
    try await LiveCluster.with { cluster in
      let ids = (0..<12).map { cluster.groupID(on: 0, "g\($0)x") }
      for id in ids { try await cluster[1].backend.create(id, "Public", memberList("mary")) }
      cluster.network.hold(.init(from: cluster[0].name))
      let signIn = Task { try await cluster[1].signIn("mary") }
      try await waitUntil("the sign-in waits for the owner") {
        cluster[1].services.cluster.map { $0.users.unconfirmedCount > 0 } == true
      }
      cluster.world.clocks.moveWall(by: 1_000)
      try await cluster.kill(0)
      let mary = try await signIn.value
      // The news of the last moments comes before what the next owner says.
      try await waitUntil("new members are named") {
        cluster[2].services.cluster?.linkCounters.sentEntries.contains { $0.kind == "expectFollow" && $0.count > 0 } == true
      }
      let moved = ids.filter { id in
        GroupID(id).map { cluster[2].services.cluster?.network.router.leads($0) == true } == true
      }
      try #require(!moved.isEmpty)
      for id in moved { try await hear("after \(id)", in: id, at: cluster[2], [mary]) }
    }
  }

  /// An owner that is not heard goes on for its own sessions. A sign-in does not wait for it for ever.
  @Test func whoHasSignedInWithoutTheOwnerLosesTouchWhenItGoes() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      // She is no new member.
      cluster.world.clocks.moveWall(by: 60_000)
      let vera = try await cluster[1].signIn("vera")
      cluster.network.hold(.init(from: cluster[0].name, to: cluster[1].name))
      let mary = try await cluster.answer(unheard: 1) { try await cluster[1].signIn("mary") }
      try await say("unheard", in: id, at: cluster[0])
      try await cluster.kill(0)
      #expect(try await mary.closed() == (4008, "lost touch"))
      #expect(try await vera.call("ping")["error"] == .null)
    }
  }

  /// They are new, too, and the next owner has the group in memory: but the last one had told them all.
  @Test func whoHasHeardOfTheMembershipStays() async throws {
    try await LiveCluster.with { cluster in
      let (mary, nora) = (try await cluster[1].signIn("mary"), try await cluster[2].signIn("nora"))
      let id = try await begin(cluster, "mary", "nora", heardBy: [mary, nora])
      cluster.world.clocks.moveWall(by: 1_000)
      cluster.network.hold(.init(from: cluster[0].name))
      try await say("lost", in: id, at: cluster[0])
      try await cluster.kill(0)
      for client in [mary, nora] { #expect(try await client.event("onRecvNewMessage")["message"]["text"] == "lost") }
      try await hear("after", in: id, at: cluster[1], [mary, nora])
    }
  }

  /// Nothing of it is stored that could be compared.
  @Test func aLiveRoomGoesOn() async throws {
    try await LiveCluster.with { cluster in
      let room = cluster.groupID(on: 0)
      try await cluster[0].backend.create(room, "AVChatRoom")
      let mary = try await cluster[1].signIn("mary")
      #expect(try await mary.call("joinGroup", #"{"groupID":"\#(room)"}"#)["result"]["status"] == "Joined")
      _ = try await cluster[0].backend.result("setGroupAttributes", #""groupID":"\#(room)","attributes":{"k":"v"}"#)
      #expect(try await mary.event("onGroupAttributeChanged")["groupAttributeMap"]["k"] == "v")
      try await cluster.kill(0)
      let nora = try await cluster[2].signIn("nora")
      #expect(try await nora.call("joinGroup", #"{"groupID":"\#(room)"}"#)["result"]["status"] == "Joined")
      _ = try await nora.call("sendGroupTextMessage", #"{"groupID":"\#(room)","text":"live"}"#)
      _ = try await mary.reply { $0["params"]["message"]["text"] == "live" }
      #expect(try await mary.call("ping")["error"] == .null)
    }
  }

  /// Only groups that differ are loaded by their next owners.
  @Test func equalGroupsAreComparedAndNotLoaded() async throws {
    try await LiveCluster.with { cluster in
      let mary = try await cluster[1].signIn("mary")
      let ids = (0..<20).map { cluster.groupID(on: 0, "many\($0)x") }
      for id in ids {
        try await cluster[0].backend.create(id, "Public", memberList("mary"))
        try await say("first", in: id, at: cluster[0])
        _ = try await mary.event("onRecvNewMessage")
      }
      cluster.network.hold(.init(from: cluster[0].name))
      for id in ids.prefix(3) { try await say("lost", in: id, at: cluster[0]) }
      let loads = cluster.world.store.loads
      try await cluster.kill(0)
      for _ in 0..<3 { #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "lost") }
      let node = try #require(cluster[1].services.cluster)
      try await waitUntil("all are compared") { node.followCounters.unsettled == 0 }
      #expect(cluster.world.store.loads - loads == 3)
      #expect(try await mary.call("ping")["error"] == .null)
    }
  }

  @Test func aLostMessageOfALivingOwnerIsToldAgain() async throws {
    try await LiveCluster.with { cluster in
      let mary = try await cluster[1].signIn("mary")
      let id = try await begin(cluster, "mary", heardBy: [mary])
      try cluster.lose(from: 0, to: 1)
      try await say("lost", in: id, at: cluster[0])
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "lost")
      try await hear("after", in: id, at: cluster[0], [mary])
    }
  }
}
