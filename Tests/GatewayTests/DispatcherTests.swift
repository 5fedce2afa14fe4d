import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// Requests by way of `asUser`, the shortest way to the dispatcher.
@Suite struct DispatcherTests {
  private let backend = Backend()

  private func create(_ id: String, _ type: String = "Public", by user: String = "olga", _ more: String = "") async throws {
    let reply = try await backend.rpc(
      "createGroup", #"{"groupType":"\#(type)","groupName":"\#(id)","groupID":"\#(id)","asUser":"\#(user)"\#(more)}"#)
    try #require(reply["result"]["groupID"].string == id, "\(reply)")
  }

  private func rpc(_ method: String, as user: String, _ more: String) async throws -> JSON {
    try await backend.rpc(method, #"{"asUser":"\#(user)",\#(more)}"#)
  }

  @Test func eachMethodOfOneGroupComesToThatGroup() async throws {
    try await create("g", "Public", by: "olga", #","joinMode":"Any""#)
    #expect(try await rpc("joinGroup", as: "mary", #""groupID":"g""#)["result"]["status"] == "Joined")
    #expect(try await rpc("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"hi""#)["result"]["seq"] == 2)
    #expect(try await rpc("sendGroupCustomMessage", as: "olga", #""groupID":"g","data":"x""#)["result"]["seq"] == 3)
    #expect(try await rpc("setGroupInfo", as: "olga", #""groupID":"g","groupName":"new""#)["result"] == [:])
    let history = try await rpc("getGroupHistoryMessageList", as: "mary", #""groupID":"g""#)["result"]["messageList"].elements
    #expect(history.map { $0["seq"].integer } == [4, 3, 2, 1])
    let members = try await rpc("getGroupMemberList", as: "mary", #""groupID":"g""#)["result"]["memberList"].elements
    #expect(members.map { $0["userID"].string } == ["olga", "mary"])
    let infos = try await rpc("getGroupMembersInfo", as: "mary", #""groupID":"g","userIDList":["olga","nobody"]"#)
    #expect(infos["result"]["memberList"].elements.map { $0["userID"].string } == ["olga"])
    #expect(try await rpc("getGroupOnlineMemberCount", as: "mary", #""groupID":"g""#)["result"]["count"] == 0)
    #expect(try await rpc("quitGroup", as: "mary", #""groupID":"g""#)["result"] == [:])
    #expect(try await rpc("dismissGroup", as: "olga", #""groupID":"g""#)["result"] == [:])
    #expect(try await rpc("joinGroup", as: "mary", #""groupID":"g""#)["error"]["code"] == 10010)
  }

  @Test func whatNeedsNoGroupIsAnsweredAtOnce() async throws {
    #expect(try await backend.rpc("ping")["result"]["serverTime"] == 1_700_000_000_000)
    #expect(try await backend.rpc("getServerInfo")["result"]["protocol"] == "throng.v1")
    #expect(try await backend.rpc("rpc.discover")["result"]["openrpc"].string?.hasPrefix("1.") == true)
  }

  @Test func joinedGroupsArePagedByTheGroupsNumber() async throws {
    for name in ["a", "b", "c", "d", "e"] { try await create(name) }
    try await create("room", "AVChatRoom")
    var names: [String?] = []
    var next: Int64 = 0
    var pages = 0
    repeat {
      let page = try await rpc("getJoinedGroupList", as: "olga", #""count":2,"nextSeq":\#(next)"#)["result"]
      names += page["groupList"].elements.map { $0["groupID"].string }
      next = try #require(page["nextSeq"].integer)
      pages += 1
    } while next != 0 && pages < 10
    #expect(names == ["a", "b", "c", "d", "e"])
    #expect(pages == 3)
    #expect(try await rpc("getJoinedGroupList", as: "olga", #""groupType":"Meeting""#)["result"]["groupList"] == [])
  }

  @Test func aListEndsWhereTheGroupsDo() async throws {
    for name in ["a", "b"] { try await create(name) }
    let page = try await rpc("getJoinedGroupList", as: "olga", #""count":2"#)["result"]
    #expect(page["nextSeq"] == 0 && page["groupList"].elements.count == 2)
  }

  @Test func aPageEndsBeforeItIsTooLarge() async throws {
    let limits = GroupLimits(maxMemberNum: GroupLimits.standard.maxMemberNum, pageBytes: 10)
    let small = Backend(rules: GroupRules(limits: limits))
    for name in ["a", "b"] {
      _ = try await small.rpc("createGroup", #"{"groupType":"Work","groupName":"g","groupID":"\#(name)","asUser":"olga"}"#)
    }
    let page = try await small.rpc("getJoinedGroupList", #"{"asUser":"olga"}"#)["result"]
    #expect(page["groupList"].elements.map { $0["groupID"].string } == ["a"])
    let rest = try await small.rpc(
      "getJoinedGroupList", #"{"asUser":"olga","nextSeq":\#(try #require(page["nextSeq"].integer))}"#)["result"]
    #expect(rest["groupList"].elements.map { $0["groupID"].string } == ["b"])
    #expect(rest["nextSeq"] == 0)
  }

  @Test func leftGroupsAreToldSinceAnInstant() async throws {
    try await create("a")
    try await create("b")
    _ = try await rpc("dismissGroup", as: "olga", #""groupID":"a""#)
    let since = try await rpc("getJoinedGroupList", as: "olga", #""updatedSince":1"#)["result"]
    #expect(since["leftGroupIDList"] == ["a"])
    #expect(try await rpc("getJoinedGroupList", as: "olga", #""count":5"#)["result"]["leftGroupIDList"] == [])
    let later = try await rpc("getJoinedGroupList", as: "olga", #""updatedSince":1700000000001"#)["result"]
    #expect(later["leftGroupIDList"] == [] && later["groupList"] == [])
  }

  @Test func rowsOfGroupsInfoCarryTheirCodes() async throws {
    try await create("g")
    try await create("w", "Work")
    let rows = try await rpc("getGroupsInfo", as: "mary", #""groupIDList":["g","w","none","é"]"#)["result"]["resultList"].elements
    #expect(rows.map { $0["code"].integer } == [0, 10007, 10010, 10015])
    #expect(rows.map { $0["groupID"].string } == ["g", "w", "none", "é"])
    #expect(rows[0]["info"]["owner"] == "olga" && rows[1]["info"] == nil)
    #expect(rows[1]["message"].string?.isEmpty == false)
  }

  @Test func askingForGroupsThatAreNoneLeavesNoneInMemory() async throws {
    let names = (0..<50).map { "\"x\($0)\"" }.joined(separator: ",")
    for _ in 0..<3 { _ = try await rpc("getGroupsInfo", as: "mary", #""groupIDList":[\#(names)]"#) }
    #expect(backend.services.registry.residentCount == 0)
  }

  @Test func syncGroupsAnswersARowForEachPosition() async throws {
    try await create("g", "Meeting")
    _ = try await rpc("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"one""#)
    let epoch =
      try await rpc("getGroupsInfo", as: "olga", #""groupIDList":["g"]"#)["result"]["resultList"][0]["info"]["epoch"].string ?? ""
    let rows = try await rpc(
      "syncGroups", as: "olga",
      #""groups":[{"groupID":"g","epoch":"\#(epoch)","seq":0},{"groupID":"none","epoch":"x","seq":0},{"groupID":"g","epoch":"other","seq":0}]"#
    )["result"]["groups"].elements
    #expect(rows.map { $0["code"].integer } == [0, 10010, 0])
    #expect(rows.map { $0["recovered"].bool } == [true, nil, false])
    #expect(rows[0]["messageList"][0]["text"] == "one")
  }

  @Test func aStoreThatCannotBeReadIsTemporary() async throws {
    backend.store.release(failing: StoreError(.unavailable, "test"))
    let error = try await rpc("getJoinedGroupList", as: "olga", #""count":1"#)["error"]
    #expect(error["code"] == 10002 && error["data"]["temporary"] == true)
  }

  // MARK: users.requireKnown

  @Test func whereUsersMustBeKnownStrangersFail() async throws {
    let strict = Backend { $0.requiresKnownUsers = true }
    strict.store.inner.remember(["mary"])
    let create = #""groupType":"Public","groupName":"g","memberList":[{"userID":"mary"},{"userID":"nobody"}]"#
    let reply = try await strict.rpc("createGroup", #"{"asUser":"olga",\#(create)}"#)
    let rows = reply["result"]["memberList"].elements
    #expect(rows.map { $0["result"].string } == ["Success", "Fail"])
    #expect(
      try await strict.store.inner.known(among: ["olga", "nobody"]) == ["olga"], "asUser makes known, being listed does not")

    let byOwner = try await strict.rpc("createGroup", #"{"ownerUserID":"ghost",\#(create)}"#)["error"]
    #expect(byOwner["code"] == 10019 && byOwner["data"]["field"] == "ownerUserID")
    #expect(try await strict.rpc("createGroup", #"{"ownerUserID":"mary","groupType":"Public","groupName":"g"}"#)["result"] != nil)
  }

  @Test func elsewhereBeingNamedMakesKnown() async throws {
    try await create("g", "Public", by: "olga", #","memberList":[{"userID":"mary"}]"#)
    #expect(try await backend.store.inner.known(among: ["olga", "mary", "ghost"]) == ["olga", "mary"])
  }
}
