import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// Groups, sessions and requests over three nodes: whoever connects anywhere sees one server.
@Suite struct ClusterGroupTests {
  @Test func aGroupIsMadeAndUsedFromEveryNode() async throws {
    try await LiveCluster.with { cluster in
      for (maker, owner) in [(0, 0), (0, 1), (1, 2)] {
        let id = cluster.groupID(on: owner, "\(maker)")
        try await cluster[maker].backend.create(id, "Public", memberList("mary", "rita"))
        for node in 0..<3 {
          let info = try await cluster[node].backend.result("getGroupsInfo", as: "mary", #""groupIDList":["\#(id)"]"#)
          #expect(info["resultList"][0]["code"] == 0, "\(info)")
          #expect(info["resultList"][0]["info"]["memberCount"] == 3)
        }
        let again = try await cluster[2].backend.code(
          "createGroup", as: "rita", #""groupID":"\#(id)","groupType":"Public","groupName":"x""#)
        #expect(again == 10021)
      }
    }
  }

  @Test func aMessageReachesAllMembersOnceAndInOneOrder() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "rita", "nora"))
      let clients = [
        try await cluster[0].signIn("olga"), try await cluster[0].signIn("mary"), try await cluster[1].signIn("rita"),
        try await cluster[2].signIn("nora"),
      ]
      let stranger = try await cluster[2].signIn("vera")
      for number in 0..<30 {
        let sender = clients[number % clients.count]
        let said = try await sender.call("sendGroupTextMessage", #"{"groupID":"\#(id)","text":"\#(number)"}"#)
        #expect(said["result"]["seq"].integer != nil, "\(said)")
      }
      _ = try await cluster[2].backend.result("setGroupInfo", #""groupID":"\#(id)","introduction":"end""#)
      for client in clients {
        _ = try await client.reply { $0["params"]["changeInfoList"][0]["value"] == "end" }
      }
      for (index, client) in clients.enumerated() {
        // The sender itself is told nothing.
        let expected = (0..<30).filter { $0 % clients.count != index }.map(String.init)
        #expect(await client.texts() == expected, "client \(index)")
      }
      _ = try await stranger.call("ping")
      #expect(await stranger.events.isEmpty, "no member")
    }
  }

  @Test func repliesComeInTheOrderOfTheRequests() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id)
      let olga = try await cluster[0].signIn("olga")
      let texts = (1...50).map {
        #"{"jsonrpc":"2.0","id":\#($0),"method":"sendGroupTextMessage","params":{"groupID":"\#(id)","text":"\#($0)"}}"#
      }
      try await olga.send(texts)
      var (ids, seqs): ([Int64], [Int64]) = ([], [])
      while ids.count < 50 {
        let reply = try await olga.reply { $0["id"].integer != nil }
        ids.append(reply["id"].integer ?? 0)
        seqs.append(reply["result"]["seq"].integer ?? 0)
      }
      #expect(ids == Array(1...50))
      #expect(seqs == seqs.sorted() && Set(seqs).count == 50, "\(seqs)")
    }
  }

  @Test func aBatchForGroupsOfSeveralNodesIsAnsweredInItsOrder() async throws {
    try await LiveCluster.with { cluster in
      let ids = (0..<3).map { cluster.groupID(on: $0) }
      for id in ids { try await cluster[0].backend.create(id) }
      let olga = try await cluster[1].signIn("olga")
      let calls = ids.enumerated().map {
        #"{"jsonrpc":"2.0","id":\#($0),"method":"sendGroupTextMessage","params":{"groupID":"\#($1)","text":"\#($1)"}}"#
      }
      try await olga.send("[" + calls.joined(separator: ",") + "]")
      let reply = try await olga.reply { !$0.elements.isEmpty }
      #expect(reply.column("id") == [0, 1, 2])
      #expect(reply.elements.allSatisfy { $0["result"]["seq"].integer != nil }, "\(reply)")
    }
  }

  @Test func errorsOfAnotherNodeArriveUnchanged() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 2)
      try await cluster[0].backend.create(id)
      for node in 0..<3 {
        let backend = cluster[node].backend
        #expect(try await backend.code("sendGroupTextMessage", as: "mary", #""groupID":"\#(id)","text":"x""#) == 10007)
        let refused = try await backend.rpc("setGroupInfo", #"{"groupID":"\#(id)","joinMode":"Never"}"#)
        #expect(refused["error"]["code"] == 10004 && refused["error"]["data"]["field"] == "joinMode", "\(refused)")
        #expect(try await backend.code("dismissGroup", as: "olga", #""groupID":"none-\#(node)""#) == 10010)
      }
    }
  }

  @Test func eventsBehindAJoinComeFromAnyNode() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Meeting")
      let mary = try await cluster[2].signIn("mary")
      _ = try await cluster[1].backend.result("sendGroupTextMessage", #""groupID":"\#(id)","text":"before""#)
      #expect(try await mary.call("joinGroup", #"{"groupID":"\#(id)"}"#)["result"]["status"] == "Joined")
      _ = try await cluster[1].backend.result("sendGroupTextMessage", #""groupID":"\#(id)","text":"behind""#)
      let heard = try await mary.event("onRecvNewMessage")
      #expect(heard["message"]["text"] == "behind")
      #expect(try await mary.call("quitGroup", #"{"groupID":"\#(id)"}"#)["result"] == [:])
      _ = try await cluster[1].backend.result("sendGroupTextMessage", #""groupID":"\#(id)","text":"after""#)
      // The same link carries this answer behind what the group has sent.
      _ = try await mary.call("getGroupsInfo", #"{"groupIDList":["\#(id)"]}"#)
      #expect(await mary.texts() == [])
    }
  }

  @Test func aNodeKeepsATopicForAsLongAsAMemberIsThere() async throws {
    try await LiveCluster.with { cluster in
      let id = cluster.groupID(on: 0)
      try await cluster[0].backend.create(id, "Public", memberList("mary", "nora"))
      let mary = try await cluster[1].signIn("mary")
      let nora = try await cluster[2].signIn("nora")
      func topics(_ node: Int) -> Int? { cluster[node].services.cluster?.topics.count }
      try await waitUntil("both nodes have a topic") { topics(1) == 1 && topics(2) == 1 }
      #expect(try await mary.call("quitGroup", #"{"groupID":"\#(id)"}"#)["result"] == [:])
      try await nora.leave()
      try await waitUntil("neither has one") { topics(1) == 0 && topics(2) == 0 }
    }
  }

  @Test func listsHoldGroupsOfAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let ids = (0..<3).map { cluster.groupID(on: $0) }
      for id in ids {
        try await cluster[0].backend.create(id, "Public", memberList("mary"))
        _ = try await cluster[1].backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"x""#)
      }
      for node in 0..<3 {
        let backend = cluster[node].backend
        let joined = try await backend.result("getJoinedGroupList", as: "mary")
        #expect(Set(joined["groupList"].column("groupID").compactMap(\.string)) == Set(ids))
        #expect(try await backend.result("getGroupUnreadCount", as: "mary")["totalCount"] == 3)
        let found = try await backend.result("searchGroups", as: "mary", #""keywordList":["g"]"#)
        #expect(Set(found["groupList"].column("groupID").compactMap(\.string)) == Set(ids))
        let positions = ids.map { #"{"groupID":"\#($0)","epoch":"","seq":0}"# }.joined(separator: ",")
        let synced = try await backend.result("syncGroups", as: "mary", #""groups":[\#(positions)]"#)
        #expect(synced["groups"].column("groupID").compactMap(\.string) == ids, "\(synced)")
        #expect(synced["groups"].column("code") == [0, 0, 0])
      }
    }
  }

  @Test func liveRoomsAndBroadcastsReachAllNodes() async throws {
    try await LiveCluster.with { cluster in
      let room = cluster.groupID(on: 1)
      try await cluster[0].backend.create(room, "AVChatRoom")
      var clients: [Client] = []
      for node in 0..<3 {
        let client = try await cluster[node].signIn("m\(node)")
        #expect(try await client.call("joinGroup", #"{"groupID":"\#(room)"}"#)["result"]["status"] == "Joined")
        clients.append(client)
      }
      _ = try await clients[0].call("sendGroupTextMessage", #"{"groupID":"\#(room)","text":"live"}"#)
      for client in clients.dropFirst() { #expect(try await client.event("onRecvNewMessage")["message"]["text"] == "live") }
      let all = cluster.groupID(on: 2, "b")
      _ = try await cluster[0].backend.result(
        "createGroup", #""groupType":"BChatRoom","groupName":"all","groupID":"\#(all)","ownerUserID":"olga""#)
      let late = try await cluster[1].signIn("late")
      _ = try await cluster[1].backend.result("sendGroupTextMessage", #""groupID":"\#(all)","text":"to all""#)
      for client in clients + [late] {
        let heard = try await client.reply { $0["params"]["message"]["text"] == "to all" }
        #expect(heard["params"]["groupID"].string == all || heard["params"]["message"]["groupID"].string == all)
      }
      let count = try await cluster[0].backend.result("getGroupOnlineMemberCount", as: "olga", #""groupID":"\#(room)""#)
      #expect(count["count"] == 3, "\(count)")
    }
  }
}
