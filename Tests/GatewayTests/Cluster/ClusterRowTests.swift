import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// Lists over groups of several nodes: the same answers as on one node, in a few requests.
@Suite struct ClusterRowTests {
  @Test func aListOfManyGroupsTakesAHandfulOfRequests() async throws {
    try await LiveCluster.with { cluster in
      let ids = (0..<300).map { "g\($0)" }
      for id in ids { try await cluster[0].backend.create(id, "Public", memberList("mary")) }
      for (method, most) in [("getGroupUnreadCount", 2), ("getJoinedGroupList", 12), ("searchGroups", 30), ("listGroups", 8)] {
        for node in 0..<3 {
          let before = try cluster[node].sentRequests
          let found = try await cluster[node].groups(method)
          #expect(found == ids, "\(method)")
          #expect(try cluster[node].sentRequests - before <= most, "\(method)")
        }
      }
      let named = ids.prefix(50).map { #""\#($0)""# }.joined(separator: ",")
      let before = try cluster[1].sentRequests
      let infos = try await cluster[1].backend.result("getGroupsInfo", as: "mary", #""groupIDList":[\#(named)]"#)
      #expect(infos["resultList"].column("groupID").compactMap(\.string) == Array(ids.prefix(50)))
      #expect(infos["resultList"].elements.allSatisfy { $0["code"] == 0 && $0["info"]["memberCount"] == 2 })
      #expect(try cluster[1].sentRequests - before == 2)
    }
  }

  @Test func rowsOfAllNodesKeepTheirOrderAndTheirCodes() async throws {
    try await LiveCluster.with { cluster in
      var ids: [String] = []
      for number in 0..<12 {
        let id = cluster.groupID(on: number % 3, "p\(number)-")
        try await cluster[0].backend.create(id, number.isMultiple(of: 4) ? "Work" : "Public")
        ids.append(id)
      }
      let asked = ids + ["none", "é"]
      let names = asked.map { #""\#($0)""# }.joined(separator: ",")
      let positions = asked.map { #"{"groupID":"\#($0)","epoch":"","seq":0}"# }.joined(separator: ",")
      for node in 0..<3 {
        let backend = cluster[node].backend
        let infos = try await backend.result("getGroupsInfo", as: "mary", #""groupIDList":[\#(names)]"#)["resultList"]
        #expect(infos.column("groupID").compactMap(\.string) == asked)
        let codes = ids.indices.map { $0.isMultiple(of: 4) ? Int64(10007) : 0 } + [10010, 10015]
        #expect(infos.column("code").compactMap(\.integer) == codes)
        let synced = try await backend.result("syncGroups", as: "olga", #""groups":[\#(positions)]"#)["groups"]
        #expect(synced.column("groupID").compactMap(\.string) == asked)
        #expect(synced.column("code").compactMap(\.integer) == ids.map { _ in 0 } + [10010, 10015])
        let strange = ids.prefix(6).map { #""\#($0)""# }.joined(separator: ",")
        #expect(try await backend.code("getGroupUnreadCount", as: "mary", #""groupIDList":[\#(strange)]"#) == 10007)
        #expect(try await backend.result("getGroupUnreadCount", as: "mary")["groups"] == [])
      }
    }
  }

  @Test func aSyncOverNodesIsBoundedAndMissesNothing() async throws {
    let pageBytes = 2000
    try await LiveCluster.with(rules: .pages(of: pageBytes)) { cluster in
      let ids = (0..<9).map { cluster.groupID(on: $0 % 3, "s\($0)-") }
      for id in ids {
        try await cluster[0].backend.create(id, "Meeting")
        for number in 1...4 {
          let text = "\(number)" + String(repeating: "x", count: 150)
          _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"\#(text)""#)
        }
      }
      let names = ids.map { #""\#($0)""# }.joined(separator: ",")
      let infos = try await cluster[0].backend.result("getGroupsInfo", as: "olga", #""groupIDList":[\#(names)]"#)["resultList"]
      let epochs = infos.elements.map { $0["info"]["epoch"].string ?? "" }
      var seqs = [Int64](repeating: 0, count: ids.count)
      for round in 0..<40 where seqs.contains(where: { $0 < 4 }) {
        let positions = ids.indices.map { #"{"groupID":"\#(ids[$0])","epoch":"\#(epochs[$0])","seq":\#(seqs[$0])}"# }
        let answer = try await cluster[round % 3].backend.result(
          "syncGroups", as: "olga", #""groups":[\#(positions.joined(separator: ","))]"#)
        let rows = answer["groups"].elements
        #expect(rows.count == ids.count && rows.allSatisfy { $0["code"] == 0 && $0["recovered"] == true })
        var messages = 0
        for (index, row) in rows.enumerated() {
          for message in row["messageList"].elements {
            #expect(message["seq"].integer == seqs[index] + 1, "none missing, none twice")
            seqs[index] = message["seq"].integer ?? 0
            messages += 1
          }
          #expect(row["more"].bool == (seqs[index] != 4), "\(ids[index])")
        }
        // Each message has more than 200 bytes, and one may be beyond the bound.
        #expect(messages > 0 && messages <= pageBytes / 200 + 1)
      }
      #expect(seqs.allSatisfy { $0 == 4 })
    }
  }

  @Test func rowsBehindAFullPageComeWithTheNext() async throws {
    try await LiveCluster.with(rules: .pages(of: 2500)) { cluster in
      let ids = (0..<20).map { "f\($0)" }
      for id in ids { try await cluster[0].backend.create(id, "Public", memberList("mary")) }
      for node in 0..<3 { #expect(try await cluster[node].groups("getJoinedGroupList") == ids) }
    }
  }

  @Test func aRowThatWasRefusedIsAskedForAgain() async throws {
    try await LiveCluster.with { cluster in
      for number in 0..<30 { try await cluster[0].backend.create("m\(number)", "Public", memberList("mary")) }
      let router = try #require(cluster[1].services.cluster?.network.router)
      let before = try cluster[0].sentRequests
      // It owns its shards, and answers that they have moved.
      router.setServing(false)
      async let list = cluster[0].groups("getJoinedGroupList")
      try await waitUntil("the row is asked for again") { try cluster[0].sentRequests >= before + 4 }
      router.setServing(true)
      #expect(try await list == (0..<30).map { "m\($0)" })
    }
  }

  @Test func aRowWithoutAnOwnerIsAFaultOfTheWholeCall() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      let router = try #require(cluster[1].services.cluster?.network.router)
      router.setServing(false)
      let list = try await cluster.answer { try await cluster[0].backend.code("getJoinedGroupList", as: "mary") }
      #expect(list == 10002)
      let row = try await cluster.answer {
        try await cluster[0].backend.code("getGroupsInfo", as: "mary", #""groupIDList":["\#(id)"]"#)
      }
      #expect(row == 10002)
      router.setServing(true)
      #expect(try await cluster[0].groups("getJoinedGroupList") == [id])
    }
  }

  @Test func aListWhoseAnswerIsLostFails() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary"))
      try cluster.lose(from: 0, to: 1)
      #expect(try await cluster[0].backend.code("getJoinedGroupList", as: "mary") == 10002)
      try await cluster.settled()
      #expect(try await cluster[0].groups("getJoinedGroupList") == [id])
    }
  }

  @Test func listsStayCompleteWhileShardsMove() async throws {
    try await LiveCluster.with { cluster in
      let ids = (0..<60).map { "d\($0)" }
      for id in ids { try await cluster[1].backend.create(id, "Public", memberList("mary")) }
      async let drained: Void = cluster[0].engine.drain(until: cluster.world.clocks.monotonic + .seconds(20))
      let own = try cluster[0].number
      var hasMoved = false
      while !hasMoved {
        hasMoved = cluster[1].engine.view.owners.allSatisfy { $0.node != nil && $0.node != own }
        let counts = try await cluster[1].backend.rpc("getGroupUnreadCount", as: "mary")
        if counts["error"] == .null {
          #expect(counts["result"]["groups"].column("groupID").compactMap(\.string) == ids)
        } else {
          #expect(counts["error"]["code"] == 10002)
        }
      }
      await drained
      #expect(try await cluster[1].groups("getGroupUnreadCount") == ids)
    }
  }
}

extension LiveCluster.Node {
  /// The requests to other nodes since the start.
  fileprivate var sentRequests: Int {
    get throws { try #require(services.cluster).network.requests.sentCount }
  }

  /// The groupIDs of all pages of a list of mary's, or of the application's.
  fileprivate func groups(_ method: String) async throws -> [String] {
    var found: [String] = []
    var position: Int64 = 0
    let (user, list, more): (String?, String, String) =
      switch method {
      case "getGroupUnreadCount": ("mary", "groups", "")
      case "getJoinedGroupList": ("mary", "groupList", "")
      case "searchGroups": ("mary", "groupList", #","keywordList":["g"],"count":50"#)
      default: (nil, "groupList", #","count":200"#)
      }
    repeat {
      let paged = method == "getGroupUnreadCount" ? "" : #""nextSeq":\#(position)\#(more)"#
      let page = try await backend.result(method, as: user, paged)
      found += page[list].column("groupID").compactMap(\.string)
      position = page["nextSeq"].integer ?? 0
    } while position != 0
    return found
  }
}
