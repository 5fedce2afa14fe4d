import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// What live rooms remember, over three nodes: the owner's memory answers everywhere, and a new
/// owner begins anew (Protocol.md, "Messages that a live room remembers").
@Suite struct ClusterRecentTests {
  private static var rules: GroupRules {
    var configuration = RightsConfiguration()
    configuration.remembersLiveMessages = true
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [:]
    return GroupRules(permissions: GroupPermissions(configuration), limits: limits)
  }

  private func say(_ text: String, in id: String, on node: LiveCluster.Node) async throws -> JSON {
    try await node.backend.result("sendGroupTextMessage", as: "olga", #""groupID":"\#(id)","text":"\#(text)""#)
  }

  private func sync(_ id: String, _ epoch: String, _ seq: Int, on node: LiveCluster.Node) async throws -> JSON {
    let position = #"{"groupID":"\#(id)","epoch":"\#(epoch)","seq":\#(seq),"changeSeq":0}"#
    return try await node.backend.result("syncGroups", as: "mary", #""groups":[\#(position)]"#)["groups"][0]
  }

  @Test func everyNodeAnswersOutOfTheOwnersMemory() async throws {
    try await LiveCluster.with(rules: Self.rules) { cluster in
      let id = cluster.groupID(on: 1)
      try await cluster[0].backend.create(id, "AVChatRoom")
      let mary = try await cluster[2].signIn("mary")
      let joined = try await mary.call("joinGroup", #"{"groupID":"\#(id)"}"#)["result"]
      let epoch = try #require(joined["epoch"].string)
      #expect(joined["lastSeq"] == 0)
      for number in 1...3 {
        #expect(try await say("\(number)", in: id, on: cluster[number % 3])["seq"].integer == Int64(number))
      }
      _ = try await cluster[0].backend.result("revokeGroupMessage", #""groupID":"\#(id)","seq":1"#)
      let revoked = try await mary.reply { $0["method"] == "onRecvMessageRevoked" }
      #expect(revoked["params"]["seq"] == 1 && revoked["params"]["changeSeq"] == 1)
      for node in 0..<3 {
        let row = try await sync(id, epoch, 1, on: cluster[node])
        #expect(row["recovered"] == true && row["lastSeq"] == 3 && row["changeSeq"] == 1, "\(row)")
        #expect(row["messageList"].column("text") == ["2", "3"] && row["changeList"].column("seq") == [1])
        let backend = cluster[node].backend
        let page = try await backend.result("getGroupHistoryMessageList", as: "mary", #""groupID":"\#(id)""#)
        #expect(page["messageList"].column("seq") == [3, 2, 1])
        let info = try await backend.result("getGroupsInfo", as: "mary", #""groupIDList":["\#(id)"]"#)["resultList"][0]["info"]
        #expect(info["lastSeq"] == 3 && info["epoch"].string == epoch && !info.names.contains("firstSeq"))
        #expect(try await backend.code("getGroupHistoryMessageList", as: "vera", #""groupID":"\#(id)""#) == 10007)
      }
    }
  }

  @Test func aNewOwnerBeginsAnew() async throws {
    try await LiveCluster.with(rules: Self.rules) { cluster in
      let (lost, kept) = (cluster.groupID(on: 0), cluster.groupID(on: 1))
      var epochs: [String: String] = [:]
      for id in [lost, kept] {
        try await cluster[1].backend.create(id, "AVChatRoom")
        epochs[id] = try await cluster[1].backend.result("joinGroup", as: "mary", #""groupID":"\#(id)""#)["epoch"].string
        _ = try await say("before", in: id, on: cluster[2])
      }
      try await cluster.kill(0)
      for (id, isKept) in [(lost, false), (kept, true)] {
        let epoch = try #require(epochs[id])
        let row = try await sync(id, epoch, 0, on: cluster[2])
        #expect(row["recovered"] == .bool(isKept) && (row["epoch"].string == epoch) == isKept, "\(row)")
        #expect(row["messageList"].elements.count == (isKept ? 1 : 0))
        #expect(try await say("after", in: id, on: cluster[1])["seq"] == (isKept ? 2 : 1))
      }
    }
  }
}
