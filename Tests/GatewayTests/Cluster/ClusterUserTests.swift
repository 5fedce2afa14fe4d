import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Users with sessions on several nodes.
@Suite struct ClusterUserTests {
  @Test func aLaterSignInReplacesASessionOnAnotherNode() async throws {
    try await LiveCluster.with { cluster in
      let phone = try await cluster[0].signIn("mary", "platform=iOS")
      let other = try await cluster[1].signIn("olga", "platform=iOS")
      let later = try await cluster[2].signIn("mary", "platform=iOS")
      #expect(try await phone.closed().code == 4502)
      #expect(await phone.events.map { $0["params"]["reason"] } == ["OtherDevice"])
      #expect(try await later.call("ping")["result"]["serverTime"].integer != nil)
      #expect(try await other.call("ping")["result"]["serverTime"].integer != nil, "another user")
      let sessions = try await cluster[1].backend.result("listSessions", #""userID":"mary""#)["sessionList"]
      #expect(sessions.elements.count == 1)
    }
  }

  @Test func sessionsOfAllNodesAreListedAndKicked() async throws {
    try await LiveCluster.with { cluster in
      var clients: [Client] = []
      for node in 0..<3 { clients.append(try await cluster[node].signIn("mary", "platform=Web")) }
      let stranger = try await cluster[1].signIn("olga", "platform=Web")
      #expect(try await cluster[1].backend.result("listSessions", #""userID":"mary""#)["sessionList"].elements.count == 3)
      #expect(try await cluster[2].backend.result("getStats")["sessions"] == 4)
      #expect(try await cluster[1].backend.result("kickUser", #""userID":"mary""#)["kicked"] == 3)
      for client in clients { #expect(try await client.closed().code == 4503) }
      #expect(try await cluster[1].backend.result("listSessions", #""userID":"mary""#)["sessionList"] == [])
      #expect(try await stranger.call("ping")["result"]["serverTime"].integer != nil)
    }
  }

  @Test func aNewProfileIsSeenOnAllNodesWithTheReply() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 2)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let here = try await cluster[0].signIn("mary", "platform=Web")
      let there = try await cluster[1].signIn("mary", "platform=iOS")
      let olga = try await cluster[2].signIn("olga")
      #expect(try await here.call("setSelfInfo", #"{"nickName":"Mary B"}"#)["result"] == [:])
      _ = try await there.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"x"}"#)
      let message = try await olga.event("onRecvNewMessage")["message"]
      #expect(message["nickName"] == "Mary B")
      #expect(try await there.event("onSelfInfoUpdated")["nickName"] == "Mary B")
      #expect(await here.events.allSatisfy { $0["method"] != "onSelfInfoUpdated" }, "not the session itself")
    }
  }

  /// The node has the user's session, and a group that has shown the user, but no group of the node that tells.
  @Test func aNewProfileWhoseNewsIsLostIsReadAgain() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 2)
      let mary = cluster.userID(on: 0, "mary").rawValue
      try await cluster[0].backend.create(id, "Public", memberList(mary))
      let (here, there) = (try await cluster[1].signIn(mary, "platform=Web"), try await cluster[2].signIn(mary, "platform=iOS"))
      let (olga, vera) = (try await cluster[2].signIn("olga"), try await cluster[2].signIn("vera"))
      func shown() async throws -> JSON {
        let members = try await olga.call("getGroupMemberList", #"{"groupID":"\#(id)"}"#)["result"]["memberList"]
        return members.elements.first { $0["userID"].string == mary }?["nickName"] ?? .null
      }
      #expect(try await shown() == .null)
      try cluster.lose(from: 0, to: 2)
      #expect(try await here.call("setSelfInfo", #"{"nickName":"Mary B"}"#)["result"] == [:])
      #expect(try await there.closed() == (4008, "lost touch"))
      try await waitUntil("the group shows it") { try await shown() == "Mary B" }
      for client in [here, vera] { #expect(try await client.call("ping")["result"]["serverTime"].integer != nil) }
    }
  }

  /// Both could reach the store and not each other: groups of the one have sent nothing to sessions of the
  /// other. Their clients come back, and look.
  @Test func aNodeThatServedWithoutAnotherTellsItsSessions() async throws {
    try await LiveCluster.with { cluster in
      let (mary, olga) = (try await cluster[1].signIn("mary"), try await cluster[2].signIn("olga"))
      let vera = try await cluster[0].signIn("vera")
      let users = try #require(cluster[0].services.cluster).users
      users.setReady(true, without: [try cluster[1].number])
      #expect(try await mary.closed() == (4008, "lost touch"))
      let again = try await cluster[1].signIn("mary")
      try await waitUntil("the node has confirmed it") { !users.isBehind(with: try cluster[1].number) }
      for client in [olga, vera, again] { #expect(try await client.call("ping")["result"]["serverTime"].integer != nil) }
    }
  }

  /// PostgreSQL restarts: a session signs in before the group's node has renewed its lease, which goes on.
  @Test func aGroupInMemoryHearsOfASessionWhileItsNodeDoesNotDecide() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let olga = try await cluster[0].signIn("olga")
      let node = try #require(cluster[0].services.cluster)
      node.network.router.setServing(false)
      let mary = try await cluster[1].signIn("mary")
      let stranger = try await cluster[1].signIn("vera")
      #expect(!node.network.router.leads(GroupID(id)!), "nobody decides for the group")
      node.network.router.setServing(true)
      let said = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"x"}"#)
      #expect(said["result"]["seq"].integer != nil, "\(said)")
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "x")
      _ = try await stranger.call("ping")
      #expect(await stranger.events.isEmpty, "no member")
    }
  }

  @Test func presenceIsThatOfAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      func online(_ node: Int) async throws -> JSON {
        try await cluster[node].backend.result("getGroupOnlineMemberCount", as: "olga", #""groupID":"\#(id)""#)["count"]
      }
      let first = try await cluster[0].signIn("mary", "platform=Web")
      let second = try await cluster[2].signIn("mary", "platform=iOS")
      #expect(try await online(0) == 1)
      try await first.leave()
      #expect(try await online(1) == 1)
      try await second.leave()
      try await waitUntil("mary is offline") { cluster.nodes.allSatisfy { !$0.services.sessions.isPresent("mary") } }
      #expect(try await online(2) == 0)
      try await waitUntil("the store knows") { try await cluster.world.store.inner.offlineSince(of: "mary") != nil }
    }
  }

  /// The notes of the user's owner come from nobody else, so a wrong one lasts until the next owner looks.
  @Test func theNextOwnerOfAUserCorrectsWhatTheLastHasNoted() async throws {
    try await LiveCluster.with { cluster in
      let users = (
        here: cluster.userID(on: 0, "here"), gone: cluster.userID(on: 0, "gone"), other: cluster.userID(on: 1, "other")
      )
      let clients = [
        try await cluster[1].signIn(users.here.rawValue), try await cluster[2].signIn(users.other.rawValue),
      ]
      let store = cluster.world.store.inner
      try await waitUntil("the store knows both") {
        Set(try await store.usersOnline()) == [users.here, users.other]
      }
      // A late note of each kind; one of a user whose owner stays is that owner's to mend.
      store.notePresence(of: users.here, offlineSince: 5)
      store.notePresence(of: users.gone, offlineSince: nil)
      store.notePresence(of: users.other, offlineSince: 6)
      try await cluster.kill(0)
      try await waitUntil("the next owner has compared") {
        Set(try await store.usersOnline()) == [users.here]
      }
      #expect(try await store.offlineSince(of: users.gone) != nil)
      #expect(try await store.offlineSince(of: users.other) == 6)
      for client in clients { #expect(try await client.call("ping")["error"] == .null) }
    }
  }

  /// The timer of the grace was the node's that was lost, and the room was in its memory alone.
  @Test func aGraceEndsThoughTheOwnersOfUserAndRoomAreLost() async throws {
    let grace = 10_000
    var limits = GroupRules().limits
    limits.offlineGrace = .milliseconds(grace)
    try await LiveCluster.with(rules: GroupRules(limits: limits)) { cluster in
      let room = cluster.groupID(on: 0)
      let (mary, rita) = (cluster.userID(on: 0, "mary"), cluster.userID(on: 0, "rita"))
      try await cluster[1].backend.create(room, "AVChatRoom")
      for user in [mary, rita] {
        _ = try await cluster[1].backend.result("joinGroup", as: user.rawValue, #""groupID":"\#(room)""#)
        try await cluster[1].signIn(user.rawValue).leave()
      }
      let store = cluster.world.store.inner
      try await waitUntil("the graces have begun") { cluster[0].services.absenceTimers.count == 2 }
      try await cluster.kill(0)
      // It lives on in this process, where nothing fences its commits.
      for user in [mary, rita] { cluster[0].services.absenceTimers.cancel(for: user) }
      cluster[0].services.registry.abandonGroups()
      try await waitUntil("the next owners have them") {
        cluster[1].services.absenceTimers.count + cluster[2].services.absenceTimers.count == 2
      }
      let back = try await cluster[2].signIn(rita.rawValue)
      // The owner of her shard may hear of it a moment later.
      try await waitUntil("rita's has ended") {
        cluster[1].services.absenceTimers.count + cluster[2].services.absenceTimers.count == 1
      }
      for _ in 0...(grace / 500) { try await cluster.pass(unheard: 0, killed: 0) }
      try await waitUntil("mary has left") { try await store.memberships(of: mary).isEmpty }
      #expect(try await store.memberships(of: rita).map(\.groupID.rawValue) == [room], "who has come back")
      #expect(try await store.memberships(of: "olga").map(\.groupID.rawValue) == [room], "the owner")
      #expect(try await back.call("ping")["error"] == .null)
    }
  }
}
