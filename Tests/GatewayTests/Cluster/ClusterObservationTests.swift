import Cluster
import GroupModel
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// Any node's `POST /rpc` answers for all: traces, busy groups, and actions of administrators.
@Suite struct ClusterObservationTests {
  /// All entries of a trace up to now, read from a node.
  private func entries(_ node: LiveCluster.Node, _ id: String) async throws -> [JSON] {
    var (found, position): ([JSON], Int64) = ([], 0)
    while true {
      let page = try await node.backend.result("getTrace", #""traceID":"\#(id)","nextSeq":\#(position),"count":2"#)
      found += page["entryList"].elements
      position = page["nextSeq"].integer ?? 0
      if page["entryList"].elements.isEmpty || position == 0 { return found }
    }
  }

  private func trace(_ node: LiveCluster.Node, _ subject: String) async throws -> String {
    try #require(try await node.backend.result("trace", subject)["traceID"].string)
  }

  @Test func aTraceOfAUserSeesItsSessionsOnAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let name = try await trace(cluster[1], #""userID":"mary""#)
      let phone = try await cluster[0].signIn("mary", "platform=iOS")
      let web = try await cluster[2].signIn("mary", "platform=Web")
      let olga = try await cluster[1].signIn("olga")
      _ = try await phone.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"secret"}"#)
      _ = try await web.call("getGroupsInfo", #"{"groupIDList":["\#(id)"]}"#)
      _ = try await olga.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"hers"}"#)
      _ = try await web.reply { $0["params"]["message"]["text"] == "hers" }
      try await web.leave()
      try await waitUntil("the session has ended") { cluster[1].services.sessions.sessionCount == 2 }
      for node in 0..<3 {
        let seen = try await entries(cluster[node], name)
        func names(_ kind: String) -> [String] { seen.filter { $0["kind"].string == kind }.compactMap { $0["name"].string } }
        // From all nodes, also to one that did not begin it.
        #expect(Set(names("request")) == ["trace", "sendGroupTextMessage", "getGroupsInfo"])
        #expect(names("signIn").count == 2 && names("close").count == 1)
        // Once for an event, however many sessions and nodes it has reached.
        #expect(names("event").count { $0 == "onRecvNewMessage" } == 2)
        #expect(seen.allSatisfy { $0["userID"].string ?? "mary" == "mary" })
      }
    }
  }

  @Test func aTraceOfAGroupHasEachEventOnce() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      let other = cluster.groupID(on: 2, "other")
      try await cluster[0].backend.create(id, "Public", memberList("mary", "nora", "rita"))
      try await cluster[0].backend.create(other, "Public", memberList("mary", "nora", "rita"))
      let clients = [
        try await cluster[0].signIn("mary"), try await cluster[1].signIn("nora"), try await cluster[2].signIn("rita"),
      ]
      let name = try await trace(cluster[2], #""groupID":"\#(id)""#)
      for client in clients {
        _ = try await client.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"x"}"#)
        _ = try await client.call("sendGroupTextMessage", #"{"groupID":"\#(other)","text":"x"}"#)
      }
      let seen = try await entries(cluster[0], name)
      #expect(Set(seen.compactMap { $0["groupID"].string }) == [id])
      let names = seen.compactMap { $0["name"].string }
      #expect(names.count { $0 == "onRecvNewMessage" } == 3)
      #expect(names.count { $0 == "sendGroupTextMessage" } == 3)
      #expect(Set(seen.compactMap { $0["userID"].string }) == ["mary", "nora", "rita"])
    }
  }

  @Test func aTraceIsEndedByAnyNode() async throws {
    try await LiveCluster.with { cluster in
      let mine = try await trace(cluster[0], #""userID":"mary""#)
      let other = try await trace(cluster[1], #""userID":"olga""#)
      #expect(cluster.nodes.allSatisfy { $0.services.tracer.running.count == 2 })
      #expect(try await cluster[2].backend.result("endTrace", #""traceID":"\#(mine)""#) == [:])
      for node in cluster.nodes {
        #expect(node.services.tracer.running.map(\.id) == [other])
        for method in ["getTrace", "endTrace"] {
          for name in [mine, "unknown", "7-a", "-"] {
            #expect(try await node.backend.code(method, #""traceID":"\#(name)""#) == 10004, "\(name)")
          }
        }
      }
    }
  }

  @Test func aTraceEndsByItselfOnAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let id = try await trace(cluster[0], #""userID":"mary","duration":1"#)
      cluster.world.clocks.advance(for: .seconds(1))
      #expect(cluster.nodes.allSatisfy { $0.services.tracer.running.isEmpty })
      let mary = try await cluster[2].signIn("mary")
      #expect(try await entries(cluster[2], id).map { $0["name"] } == ["trace"])
      #expect(try await cluster[1].backend.result("getTrace", #""traceID":"\#(id)""#)["nextSeq"] == 0)
      _ = mary
    }
  }

  @Test func aNodeThatJoinsTracesToo() async throws {
    try await LiveCluster.with(2) { given in
      var cluster = given
      let id = try await trace(cluster[0], #""userID":"mary""#)
      try await cluster.add()
      try await cluster.settled()
      let added = cluster[2]
      try await waitUntil("it has heard of the trace") { added.services.tracer.running.count == 1 }
      let mary = try await added.signIn("mary")
      #expect(try await entries(cluster[1], id).map { $0["kind"] } == ["request", "signIn"])
      _ = mary
      await added.stop()
    }
  }

  @Test func aTraceGoesWithTheNodeOnWhichItWasBegun() async throws {
    try await LiveCluster.with { cluster in
      let id = try await trace(cluster[0], #""userID":"mary""#)
      let number = try cluster[0].number
      cluster.network.cut(cluster[0].name)
      cluster.database.cut(number)
      cluster.database.expire(number)
      try await waitUntil("others have forgotten it") {
        (1...2).allSatisfy { cluster[$0].services.tracer.running.isEmpty && cluster[$0].engine.view.nodes[number] == nil }
      }
      #expect(try await cluster[1].backend.code("getTrace", #""traceID":"\#(id)""#) == 10004)
    }
  }

  @Test func aNodeThatIsSilentHoldsNothingBack() async throws {
    try await LiveCluster.with { cluster in
      let id = try await trace(cluster[0], #""userID":"mary""#)
      cluster.network.hold(.init(from: cluster[2].name))
      let backend = cluster[0].backend
      let page = try await cluster.answer(unheard: 2) { try await backend.result("getTrace", #""traceID":"\#(id)""#) }
      #expect(page["nextSeq"] != 0)
      let actions = try await cluster.answer(unheard: 2) { try await backend.result("listAdministratorActions") }
      #expect(actions["actionList"].elements.isEmpty == false)
      let statistics = try await cluster.answer(unheard: 2) { try await backend.result("getStats") }
      #expect(statistics["uptime"].integer != nil)
      cluster.network.release()
      try await cluster.settled()
    }
  }

  @Test func actionsOfAdministratorsOfAllNodesAreListed() async throws {
    try await LiveCluster.with { cluster in
      for number in 0..<7 {
        cluster.world.clocks.moveWall(by: 1)
        _ = try await cluster[number % 3].backend.code("dismissGroup", #""groupID":"none\#(number)""#)
      }
      var (found, position, pages): ([String], Int64, Int) = ([], 0, 0)
      repeat {
        // Each page from another node.
        let page = try await cluster[pages % 3].backend.result("listAdministratorActions", #""nextSeq":\#(position),"count":2"#)
        found += page["actionList"].column("groupID").compactMap(\.string)
        position = page["nextSeq"].integer ?? 0
        pages += 1
      } while position != 0
      #expect(found == (0..<7).reversed().map { "none\($0)" })
    }
  }

  @Test func theBusiestGroupsOfAllNodesAreListed() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "nora", "rita"))
      let clients = [
        try await cluster[0].signIn("mary"), try await cluster[1].signIn("nora"), try await cluster[2].signIn("rita"),
      ]
      try await waitUntil("the group is busy on all nodes") {
        _ = try await cluster[0].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"x""#)
        let groups = try await cluster[2].backend.result("listActiveGroups")["groupList"]
        return groups.elements.count == 1 && groups[0]["groupID"].string == id && groups[0]["connections"] == 3
          && groups[0]["deliveries"].integer ?? 0 > groups[0]["events"].integer ?? 0
      }
      _ = clients
    }
  }

  @Test func theUptimeIsThatOfTheNodeThatRunsLongest() async throws {
    try await LiveCluster.with(1) { given in
      var cluster = given
      cluster.world.clocks.advance(for: .seconds(1))
      let before = try await cluster[0].backend.result("getStats")["uptime"].integer ?? 0
      try await cluster.add()
      try await cluster.settled()
      for node in 0..<2 { #expect(try await cluster[node].backend.result("getStats")["uptime"].integer ?? 0 >= max(1, before)) }
      await cluster[1].stop()
    }
  }
}
