import Cluster
import GroupModel
import Synchronization
import Testing
import ThrongTestKit

@testable import Gateway

/// Messages that are lost for good, nodes that go, and nodes that lose touch: whoever may have missed
/// something is told so by close code 4008, and nobody else.
@Suite struct ClusterFaultTests {
  @Test func aLostMessageIsToldAgain() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "nora"))
      let mary = try await cluster[1].signIn("mary")
      let nora = try await cluster[2].signIn("nora")
      let stranger = try await cluster[1].signIn("vera")
      let olga = try await cluster[0].signIn("olga")
      try cluster.lose(from: 0, to: 1)
      _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"lost"}"#)
      for client in [mary, nora] { #expect(try await client.event("onRecvNewMessage")["message"]["text"] == "lost") }
      for client in [mary, nora, stranger, olga] {
        #expect(try await client.call("ping")["result"]["serverTime"].integer != nil)
      }
      try await cluster.settled()
      _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"next"}"#)
      for client in [mary, nora] { #expect(try await client.event("onRecvNewMessage")["message"]["text"] == "next") }
    }
  }

  /// Who is a member cannot be told again.
  @Test func aLostChangeOfMembersClosesTheSessionsConcerned() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "nora"))
      let mary = try await cluster[1].signIn("mary")
      let nora = try await cluster[2].signIn("nora")
      let stranger = try await cluster[1].signIn("vera")
      try cluster.lose(from: 0, to: 1)
      _ = try await cluster[0].backend.result("setGroupInfo", #""groupID":"\#(id)","introduction":"lost""#)
      #expect(try await mary.closed() == (4008, "lost touch"))
      _ = try await nora.event("onGroupInfoChanged")
      for client in [nora, stranger] { #expect(try await client.call("ping")["result"]["serverTime"].integer != nil) }
      // Back again, and heard from then on.
      let again = try await cluster[1].signIn("mary")
      try await cluster.settled()
      _ = try await cluster[0].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"next""#)
      #expect(try await again.event("onRecvNewMessage")["message"]["text"] == "next")
    }
  }

  @Test func aRequestThatMayHaveBeenPerformedClosesItsSession() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let (mary, vera) = (try await cluster[1].signIn("mary"), try await cluster[1].signIn("vera"))
      // No event goes this way: only who asked is concerned.
      try cluster.lose(from: 1, to: 0)
      let message = #"{"groupID":"\#(id)","text":"?"}"#
      try await mary.send(#"{"jsonrpc":"2.0","id":"lost","method":"sendGroupTextMessage","params":\#(message)}"#)
      #expect(try await mary.closed() == (4008, "lost touch"))
      #expect(await mary.events.allSatisfy { $0["id"].string != "lost" })
      #expect(try await vera.call("ping")["result"]["serverTime"].integer != nil)
    }
  }

  /// It has no session that could be closed.
  @Test func theApplicationIsToldThatARequestMayHaveBeenPerformed() async throws {
    try await LiveCluster.with { cluster in
      let (near, far) = (cluster.groupID(on: 1), cluster.groupID(on: 0))
      for id in [near, far] { try await cluster[0].backend.create(id, "Public") }
      // The request arrives, and its answer does not.
      try cluster.lose(from: 0, to: 1)
      let backend = cluster[1].backend
      async let sent = backend.rpc("sendGroupTextMessage", as: "olga", #""groupID":"\#(far)","text":"x""#)
      async let read = backend.rpc("getGroupMemberRoles", #"{"groupID":"\#(far)","userIDList":["olga"]}"#)
      let (error, reading) = (try await sent["error"], try await read)
      #expect(error["code"] == -32603 && error["data"]["temporary"] == false, "\(error)")
      // It may have come before the frame was lost.
      #expect(reading["result"] != .null || reading["error"]["code"] == 10002, "\(reading)")
      #expect(reading["error"] == .null || reading["error"]["data"]["temporary"] == true, "\(reading)")
      #expect(try await backend.code("sendGroupTextMessage", as: "olga", #""groupID":"\#(near)","text":"x""#) == 0)
      try await cluster.settled()
      let history = try await backend.result("getGroupHistoryMessageList", as: "olga", #""groupID":"\#(far)""#)
      #expect(history["messageList"].column("text") == ["x"], "it was performed")
      #expect(try await backend.code("sendGroupTextMessage", as: "olga", #""groupID":"\#(far)","text":"y""#) == 0)
    }
  }

  @Test func aReadWhoseAnswerIsLostHasChangedNothing() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public")
      try cluster.lose(from: 0, to: 1)
      let error = try await cluster[1].backend.rpc("getGroupOnlineMemberCount", as: "olga", #""groupID":"\#(id)""#)["error"]
      #expect(error["code"] == 10002 && error["data"]["temporary"] == true, "\(error)")
    }
  }

  @Test func aNodeThatGoesIsReplaced() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[1].backend.create(id, "Public", memberList("mary"))
      let mary = try await cluster[1].signIn("mary")
      let olga = try await cluster[0].signIn("olga")
      try await cluster.kill(0)
      let again = try await cluster[2].signIn("mary")
      let said = try await again.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"after"}"#)
      #expect(said["result"]["seq"].integer != nil, "\(said)")
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "after", "it has missed nothing")
      _ = olga
    }
  }

  @Test func drainedShardsMoveWithoutALostEvent() async throws {
    // A fast machine sends more than a burst within the tests' slow second.
    try await LiveCluster.with(3, { $0.requestBurst = 1_000 }) { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[1].backend.create(id, "Public", memberList("mary"))
      let mary = try await cluster[1].signIn("mary")
      let olga = try await cluster[2].signIn("olga")
      async let drained: Void = cluster[0].engine.drain(until: cluster.world.clocks.monotonic + .seconds(20))
      var sent: [String] = []
      for number in 0..<100 {
        let said = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"\#(number)"}"#)
        if said["result"]["seq"].integer != nil { sent.append("\(number)") } else { #expect(said["error"]["code"] == 10002) }
      }
      await drained
      let own = try cluster[0].number
      try await waitUntil("the shards have moved") {
        cluster[1].engine.view.owners.allSatisfy { $0.node != nil && $0.node != own }
      }
      _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"end"}"#)
      _ = try await mary.reply { $0["params"]["message"]["text"] == "end" }
      #expect(await mary.texts() == sent)
      #expect(sent.count > 90)
    }
  }

  @Test func aSignInWhoseNewsIsLostMissesNothingSilently() async throws {
    try await LiveCluster.with { cluster in
      let olga = try await cluster[0].signIn("olga")
      let stranger = try await cluster[1].signIn("vera")
      var closed = 0
      for user in (0..<10).map({ "mary\($0)" }) {
        let id = cluster.groupID(on: 0, user)
        try await cluster[0].backend.create(id, "Public", memberList(user))
        // The owner's side of the session is there, so that only the lost attachment is missing.
        let before = try await cluster[1].signInUnlessClosed(user)
        try cluster.lose(from: 1, to: 0)
        let mary = try await cluster[1].signInUnlessClosed(user)
        try await cluster.settled()
        _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"\#(user)"}"#)
        if let mary, try await mary.hears(user) { continue }
        closed += 1
        _ = before
      }
      #expect(closed > 0, "no news was lost")
      #expect(try await stranger.call("ping")["error"] == .null, "who was known before misses nothing")
    }
  }

  @Test func twoNodesThatLostTouchRecover() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      cluster.network.cut(cluster[0].name)
      while cluster[1].services.cluster?.hearsAll == true { try await cluster.pass(unheard: 0) }
      cluster.network.mend(cluster[0].name)
      try await cluster.settled()
      let mary = try await cluster[1].signIn("mary")
      _ = try await cluster[2].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"again""#)
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "again")
    }
  }

  @Test func aNodeThatJoinsAgainWithoutTheBusWaitsForIt() async throws {
    try await LiveCluster.with { cluster in
      let number = try cluster[0].number
      cluster.network.cut(cluster[0].name)
      cluster.database.expire(number)
      // All nodes have the last view before the bus is back.
      try await waitUntil("it has joined again, and the shards are shared") {
        let owners = Set(cluster[1].engine.view.owners.map(\.node))
        let views = Set((0...2).map { cluster[$0].engine.view.version })
        return !owners.contains(number) && !owners.contains(nil) && owners.count == 3 && views.count == 1
      }
      cluster.network.mend(cluster[0].name)
      try await cluster.settled()
      let id = cluster.groupID(on: 0)
      try await cluster[1].backend.create(id, "Public", memberList("mary"))
      let mary = try await cluster[2].signIn("mary")
      _ = try await cluster[2].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"again""#)
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "again")
    }
  }

  /// Whoever publishes on the bus without the cluster's key is not heard.
  @Test func framesOfStrangersAreRefusedAndChangeNothing() async throws {
    try await LiveCluster.with(2) { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let mary = try await cluster[0].signIn("mary")
      let (one, two) = (try cluster[0].number, try cluster[1].number)
      let stranger = cluster.network.bus("stranger")
      let seal = FrameSeal(ClusterKey(number: ClusterKey.ofTests.number, secret: Array(repeating: 7, count: 32)))
      // A number beyond all would begin the link again.
      let close = ClusterEntry.unit("g", TopicUnit(nil, [.close])).bytes(from: two)
      let contents: [LinkFrame.Content] = [.open(at: nil), .entries(origin: .max, number: 1, close)]
      let frames = contents.map { LinkFrame(from: two, to: one, link: .max, $0) }
      for frame in frames {
        try stranger.publish(try seal.seal(frame), to: BusSubject(of: one, "link"))
        // As a release without seals sends it.
        var writer = ByteWriter()
        frame.writeHeader(to: &writer)
        writer.append(frame.entries)
        for version in [1, LinkFrame.version] {
          try stranger.publish([version] + writer.bytes.dropFirst(), to: BusSubject(of: one, "link"))
        }
      }
      let node = try #require(cluster[0].services.cluster)
      try await waitUntil("all are refused") { node.linkCounters.refused == [.seal: 2, .malformed: 4] }
      #expect(node.linkCounters.gaps == 0 && node.hearsAll)
      _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"heard""#)
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "heard")
      await stranger.close()
    }
  }

  /// Whoever reads the bus reads no text, and can repeat what was said without any effect.
  @Test func framesThatAreReadAndRepeatedChangeNothing() async throws {
    try await LiveCluster.with(2) { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let mary = try await cluster[0].signIn("mary")
      let subjects = try cluster.nodes.map { BusSubject(of: try $0.number, "link") }
      let stranger = cluster.network.bus("stranger")
      let recorded = Mutex<[(BusSubject, [UInt8])]>([])
      for subject in subjects {
        _ = try await stranger.subscribe(to: subject) { delivery in
          if case .message(let bytes) = delivery { recorded.withLock { $0.append((subject, bytes)) } }
        }
      }
      let vera = try await cluster[0].signIn("vera")
      // By way of the other node: a request there, and the event back.
      _ = try await cluster[0].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"spoken once""#)
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "spoken once")
      let frames = recorded.withLock { $0 }
      #expect(frames.count > 4)
      for text in ["spoken", "mary"] { #expect(frames.allSatisfy { !$0.1.contains(Array(text.utf8)) }) }
      for _ in 0..<3 { for (subject, bytes) in frames.reversed() { try stranger.publish(bytes, to: subject) } }
      let nodes = try cluster.nodes.map { try #require($0.services.cluster) }
      _ = try await cluster[0].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"end""#)
      #expect(try await mary.event("onRecvNewMessage")["message"]["text"] == "end")
      let history = try await cluster[1].backend.result("getGroupHistoryMessageList", as: "olga", #""groupID":"\#(id)""#)
      #expect(history["messageList"].column("text") == ["end", "spoken once"])
      #expect(nodes.allSatisfy { $0.linkCounters.gaps == 0 && $0.hearsAll && $0.sessionCount == 2 })
      #expect(try await vera.call("ping")["error"] == .null)
      await stranger.close()
    }
  }

  /// Without the bus a node cannot keep what a sign-in promises: it says so, and serves whom it can.
  @Test func withoutTheBusNobodySignsInAndLocalGroupsGoOn() async throws {
    try await LiveCluster.with(2) { cluster in
      let (near, far) = (cluster.groupID(on: 0), cluster.groupID(on: 1))
      try await cluster[0].backend.create(near, "Public", memberList("mary", "nora"))
      try await cluster[0].backend.create(far, "Public", memberList("vera"))
      let (mary, vera) = (try await cluster[0].signIn("mary"), try await cluster[0].signIn("vera"))
      for node in cluster.nodes { cluster.network.cut(node.name) }
      while cluster[0].services.cluster?.hearsAll == true { try await cluster.pass(unheard: 1) }
      let sent = try await mary.call("sendGroupTextMessage", "{\"groupID\":\"\(near)\",\"text\":\"here\"}")
      #expect(sent["result"]["seq"].integer != nil, "\(sent)")
      let nora = try await Client.open(port: cluster[0].live.port, query: "token=nora")
      #expect(try await nora.closed().code == 1013)
      // By the other node, which keeps it for the sessions here.
      let late = #""groupID":"\#(far)","text":"late""#
      _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "olga", late)
      for node in cluster.nodes { cluster.network.mend(node.name) }
      try await cluster.settled()
      #expect(try await vera.event("onRecvNewMessage")["message"]["text"] == "late")
      _ = try await cluster[0].signIn("nora")
      for client in [mary, vera] { #expect(try await client.call("ping")["error"] == .null) }
    }
  }

  @Test func aNodeThatJoinsHearsOfAllSessions() async throws {
    try await LiveCluster.with(2) { given in
      var cluster = given
      let mary = try await cluster[0].signIn("mary")
      try await cluster.add()
      try await cluster.settled()
      let id = cluster.groupID(on: 2)
      try await cluster[1].backend.create(id, "Public", memberList("mary"))
      _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"new""#)
      #expect(try await mary.reply { $0["params"]["message"]["text"] == "new" }["method"] == "onRecvNewMessage")
      await cluster[2].stop()
    }
  }
}

extension Client {
  /// Waits for a message's text.
  /// - Returns: false where the session closed with the code that says that it may be missing.
  fileprivate func hears(_ text: String) async throws -> Bool {
    do {
      return try await reply { $0["params"]["message"]["text"].string == text }["method"] == "onRecvNewMessage"
    } catch let failure as Failed where failure.description.hasPrefix("closed with 4008") {
      return false
    }
  }
}

extension LiveCluster.Node {
  /// Nil where the session closed with 4008 before it was signed in.
  fileprivate func signInUnlessClosed(_ user: String) async throws -> Client? {
    do {
      return try await signIn(user)
    } catch let failure as Client.Failed where failure.description.hasPrefix("closed with 4008") {
      return nil
    }
  }
}
