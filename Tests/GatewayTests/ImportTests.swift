import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// Imports from another system (Protocol.md, "Imports").
@Suite struct ImportTests {
  private let backend = Backend()
  private let now: WallInstant = 1_700_000_000_000

  private func importGroup(_ more: String = "") async throws {
    _ = try await backend.result(
      "importGroup", #""groupType":"Public","groupName":"g","groupID":"g","ownerUserID":"olga"\#(more)"#)
  }

  private func message(_ timestamp: WallInstant, _ text: String = "x") -> String {
    #"{"sender":"olga","timestamp":\#(timestamp),"text":"\#(text)"}"#
  }

  private func importMessages(_ messages: String..., to group: String = "g") async throws -> JSON {
    try await backend.rpc("importGroupMessages", #"{"groupID":"\#(group)","messageList":[\#(messages.joined(separator: ","))]}"#)
  }

  // MARK: Times

  @Test func nothingIsMadeInTheFuture() async throws {
    let group = #""groupType":"Public","groupName":"g","groupID":"g","ownerUserID":"olga""#
    let error = try await backend.rpc("importGroup", #"{\#(group),"createTime":\#(now + 1)}"#)["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "createTime")
    #expect(try await backend.code("getGroupMemberList", #""groupID":"g""#) == 10010)
    #expect(try await backend.code("importGroup", group + #","createTime":\#(now)"#) == 0)
    let info = try await backend.result("getGroupsInfo", #""groupIDList":["g"]"#)["resultList"][0]["info"]
    #expect(info["createTime"].instant == now && info["lastSeq"] == 0)
  }

  @Test func noTimeIsInTheFuture() async throws {
    try await importGroup()
    func bring(_ times: WallInstant..., to group: String = "g") async throws -> JSON {
      let members = times.enumerated().map { #"{"userID":"u\#($0)","joinTime":\#($1)}"# }.joined(separator: ",")
      return try await backend.rpc("importGroupMembers", #"{"groupID":"\#(group)","memberList":[\#(members)]}"#)
    }
    let error = try await bring(now, now + 1)["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "joinTime")
    #expect(try await bring(now + 1, to: "none")["error"]["code"] == 10004, "parameters before the group")
    #expect(try await bring(now, to: "none")["error"]["code"] == 10010)
    let members = try await backend.result("getGroupMemberList", #""groupID":"g""#)["memberList"]
    #expect(members.column("userID") == ["olga"], "nobody was imported")
    #expect(try await bring(now)["result"]["memberList"].column("result") == ["Success"])
  }

  @Test func nothingIsSaidInTheFuture() async throws {
    try await importGroup()
    let error = try await importMessages(message(now), message(now + 1))["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "messageList")
    #expect(try await importMessages(message(now + 1), to: "none")["error"]["code"] == 10004, "parameters before the group")
    #expect(try await importMessages(message(now), to: "none")["error"]["code"] == 10010)
    #expect(backend.store.inner.allMessages(of: "g").isEmpty, "none was imported")
    #expect(try await importMessages(message(now))["result"]["resultList"] == [["seq": 1, "code": 0]])
  }

  // MARK: Users

  @Test func usersAreKnownForGoodWhenThatIsAnswered() async throws {
    backend.store.inner.hold()
    let isAnswered = Flag()
    try await withThrowingTaskGroup { tasks in
      // The task must end for the group to end, also when the test fails.
      defer { backend.store.inner.release() }
      tasks.addTask {
        let answer = try await backend.result("importUsers", #""userIDList":["a","b"]"#)
        #expect(answer == [:])
        isAnswered.set()
      }
      try await waitUntil("the commit is held") { backend.store.inner.pendingCount > 0 || isAnswered.isSet }
      #expect(!isAnswered.isSet, "not before it is durable")
      backend.store.inner.release()
      try await tasks.waitForAll()
    }
    #expect(try await backend.store.inner.known(among: ["a", "b", "c"]) == ["a", "b"])
    backend.store.inner.fail(with: StoreError(.unavailable, "test"))
    #expect(try await backend.code("importUsers", #""userIDList":["c"]"#) == 10002)
  }

  // MARK: What is seen

  /// "A joiner sees nothing from before joining" holds for imported members by their joinTime.
  @Test func membersSeeTheHistorySinceTheyCame() async throws {
    try await importGroup(#","createTime":5"#)
    _ = try await importMessages(message(10, "1"), message(20, "2"), message(30, "3"))
    let times: KeyValuePairs = ["first": 5, "second": 11, "third": 30, "late": 31]
    let members = times.map { #"{"userID":"\#($0.key)","joinTime":\#($0.value)}"# }.joined(separator: ",")
    _ = try await backend.result("importGroupMembers", #""groupID":"g","memberList":[\#(members),{"userID":"always"}]"#)
    let expected = ["first": 3, "second": 2, "third": 1, "late": 0, "always": 3]
    for (user, count) in expected {
      let history = try await backend.result("getGroupHistoryMessageList", as: user, #""groupID":"g""#)["messageList"]
      #expect(history.elements.count == count, "\(user)")
    }
    let own = try await backend.result("getGroupUnreadCount", as: "first")
    #expect(own["totalCount"] == 0, "what was imported is not unread")
  }

  @Test func aUserWhoIsListedTwiceIsAddedOnce() async throws {
    try await importGroup(#","createTime":5"#)
    _ = try await importMessages(message(10), message(20))
    let rows = try await backend.result(
      "importGroupMembers",
      #""groupID":"g","memberList":[{"userID":"a","joinTime":15,"unreadCount":7},{"userID":"a"},{"userID":"olga"}]"#)[
        "memberList"]
    #expect(rows == [["userID": "a", "result": "Success"], ["userID": "olga", "result": "Invalid"]])
    let history = try await backend.result("getGroupHistoryMessageList", as: "a", #""groupID":"g""#)["messageList"]
    #expect(history.column("seq") == [2], "the first mention counts")
    #expect(try await backend.result("getGroupUnreadCount", as: "a")["totalCount"] == 7)
  }

  @Test func aGroupThatTalksTakesNoMore() async throws {
    try await importGroup()
    _ = try await importMessages(message(10))
    #expect(try await importMessages(message(10), message(11))["result"]["resultList"].column("seq") == [2, 3])
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"x""#)
    #expect(try await importMessages(message(now))["error"]["code"] == 10007)
  }

  @Test(arguments: ["AVChatRoom", "BChatRoom"]) func whereNothingIsKeptNothingIsImported(type: String) async throws {
    let group = #""groupType":"\#(type)","groupName":"g","ownerUserID":"olga","groupID":"g""#
    #expect(try await backend.code("importGroup", group) == 10007)
    _ = try await backend.result("createGroup", group)
    #expect(try await backend.code("importGroupMembers", #""groupID":"g",\#(memberList("mary"))"#) == 10007)
    #expect(try await importMessages(message(10))["error"]["code"] == 10007)
  }
}
