import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// That each request comes to whom it concerns, and what a store's failure answers.
@Suite struct DispatcherTests {
  private let backend = Backend()

  @Test func methodsWithoutAGroupAreAnsweredAtOnce() async throws {
    #expect(try await backend.result("ping")["serverTime"] == 1_700_000_000_000)
    #expect(try await backend.result("getServerInfo")["protocol"] == "throng.v1")
    #expect(try await backend.result("rpc.discover")["openrpc"].string?.hasPrefix("1.") == true)
  }

  @Test func comingTalkingAndGoing() async throws {
    try await backend.create("g", "Public", #""joinMode":"Any""#)
    #expect(try await backend.result("joinGroup", as: "mary", #""groupID":"g""#)["status"] == "Joined")
    #expect(try await backend.result("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"hi""#)["seq"] == 2)
    #expect(try await backend.result("sendGroupCustomMessage", as: "olga", #""groupID":"g","data":"x""#)["seq"] == 3)
    #expect(try await backend.result("setGroupInfo", as: "olga", #""groupID":"g","groupName":"new""#) == [:])
    #expect(try await backend.result("revokeGroupMessage", as: "mary", #""groupID":"g","seq":2"#) == [:])
    let history = try await backend.result("getGroupHistoryMessageList", as: "mary", #""groupID":"g""#)["messageList"]
    #expect(history.column("seq") == [4, 3, 2, 1])
    #expect(history.column("type") == ["GroupTips", "Custom", "Text", "GroupTips"])
    #expect(history.column("isRevoked") == [nil, nil, true, nil])
    #expect(try await backend.result("quitGroup", as: "mary", #""groupID":"g""#) == [:])
    #expect(try await backend.result("dismissGroup", as: "olga", #""groupID":"g""#) == [:])
    #expect(try await backend.code("joinGroup", as: "mary", #""groupID":"g""#) == 10010)
  }

  @Test func theMembersOfAGroup() async throws {
    try await backend.create("g", "Public", memberList("mary", "nick"))
    func users(_ method: String, _ more: String = "") async throws -> [JSON] {
      try await backend.result(method, as: "mary", #""groupID":"g""# + more)["memberList"].column("userID")
    }
    #expect(try await users("getGroupMemberList") == ["olga", "mary", "nick"])
    #expect(try await users("getGroupMembersInfo", #","userIDList":["olga","nobody"]"#) == ["olga"])
    #expect(try await backend.result("getGroupOnlineMemberCount", as: "mary", #""groupID":"g""#)["count"] == 0)
    let muted = try await backend.result("muteGroupMember", as: "olga", #""groupID":"g","userID":"nick","muteTime":60"#)
    #expect(muted["muteUntil"] == 1_700_000_060_000)
    #expect(try await users("getGroupMutedMembers") == ["nick"])
    _ = try await backend.result("setGroupMemberInfo", as: "mary", #""groupID":"g","userID":"mary","nameCard":"M""#)
    let info = try await backend.result("getGroupMembersInfo", as: "olga", #""groupID":"g","userIDList":["mary"]"#)
    #expect(info["memberList"][0]["nameCard"] == "M")
    _ = try await backend.result("setGroupMemberRole", as: "olga", #""groupID":"g","userID":"mary","role":"Admin""#)
    let roles = try await backend.result("getGroupMemberRoles", as: "nick", #""groupID":"g","userIDList":["mary","x"]"#)
    #expect(roles["roleList"].column("role") == ["Admin", "NotMember"])
    try await backend.bring("ivan", into: "g")
    let inviters = try await backend.result(
      "getGroupMemberInviters", as: "nick", #""groupID":"g","userIDList":["ivan","olga"]"#)
    #expect(inviters["inviterList"].column("inviter") == ["administrator", nil])
    let kicked = try await backend.result("kickGroupMember", as: "mary", #""groupID":"g","userIDList":["nick","x"]"#)
    #expect(kicked["memberList"].column("result") == ["Success", "Invalid"])
    _ = try await backend.result("transferGroupOwner", as: "olga", #""groupID":"g","userID":"mary""#)
    #expect(try await users("getGroupMemberList", #","filter":"Owner""#) == ["mary"])
  }

  @Test func theSettingsOfAGroup() async throws {
    try await backend.create("g", "Public", memberList("mary"))
    let until = try await backend.result("muteGroup", as: "olga", #""groupID":"g","mode":"Ordinary","duration":60"#)
    #expect(until["muteUntil"] == 1_700_000_060_000)
    #expect(try await backend.code("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"x""#) == 10017)
    _ = try await backend.result("muteGroup", as: "olga", #""groupID":"g","mode":"None""#)
    #expect(try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"x""#)["status"] == "Stored")
    _ = try await backend.result("markGroupMessageAsRead", as: "mary", #""groupID":"g""#)
    _ = try await backend.result("setGroupReceiveMessageOpt", as: "mary", #""groupID":"g","opt":"NotReceive""#)
    let own = try await backend.result("getGroupsInfo", as: "mary", #""groupIDList":["g"]"#)["resultList"][0]["info"]["selfInfo"]
    #expect(own["receiveMessageOpt"] == "NotReceive" && own["readSeq"] == 3)
    _ = try await backend.result("recycleGroup", #""groupID":"g""#)
    #expect(try await backend.code("muteGroup", as: "olga", #""groupID":"g","mode":"None""#) == 10010)
  }

  @Test func theAttributesOfARoom() async throws {
    try await backend.create("r", "AVChatRoom")
    func attributes(_ keys: String = "") async throws -> JSON {
      try await backend.result("getGroupAttributes", as: "olga", #""groupID":"r""# + keys)["attributes"]
    }
    _ = try await backend.result("initGroupAttributes", as: "olga", #""groupID":"r","attributes":{"a":"1","b":"2"}"#)
    _ = try await backend.result("setGroupAttributes", as: "olga", #""groupID":"r","attributes":{"b":"3","c":"4"}"#)
    #expect(try await attributes() == ["a": "1", "b": "3", "c": "4"])
    _ = try await backend.result("deleteGroupAttributes", as: "olga", #""groupID":"r","keys":["a"]"#)
    #expect(try await attributes() == ["b": "3", "c": "4"])
    #expect(try await attributes(#","keys":["c","x"]"#) == ["c": "4"])
    _ = try await backend.result("initGroupAttributes", as: "olga", #""groupID":"r","attributes":{"d":"5"}"#)
    #expect(try await attributes() == ["d": "5"], "init replaces all")
  }

  @Test(arguments: GroupType.allCases) func theCountersOfAGroup(type: GroupType) async throws {
    try await backend.found(type.rawValue)
    func counters(_ keys: String = "") async throws -> JSON {
      try await backend.result("getGroupCounters", as: "olga", #""groupID":"g""# + keys)["counters"]
    }
    _ = try await backend.result("setGroupCounters", as: "olga", #""groupID":"g","counters":{"a":5,"b":-1}"#)
    let raised = try await backend.result("increaseGroupCounter", as: "olga", #""groupID":"g","key":"a","value":2"#)
    #expect(raised == ["value": 7])
    #expect(try await backend.result("decreaseGroupCounter", #""groupID":"g","key":"c","value":9"#) == ["value": -9])
    _ = try await backend.result("setGroupCounters", #""groupID":"g","counters":{"b":null}"#)
    #expect(try await counters() == ["a": 7, "c": -9])
    #expect(try await counters(#","keys":["c","b"]"#) == ["c": -9])
    for _ in 0..<18 { _ = try await backend.result("decreaseGroupCounter", as: "olga", #""groupID":"g","key":"a","value":1"#) }
    #expect(try await backend.code("increaseGroupCounter", as: "olga", #""groupID":"g","key":"a","value":1"#) == 8511)
  }

  // MARK: The store fails

  @Test(arguments: ["getJoinedGroupList", "getGroupUnreadCount"])
  func aStoreThatCannotBeReadIsTemporary(method: String) async throws {
    backend.store.release(failing: StoreError(.unavailable, "test"))
    let error = try await backend.rpc(method, as: "olga")["error"]
    #expect(error["code"] == 10002 && error["data"]["temporary"] == true)
  }

  @Test func aStoreThatCannotWriteIsTemporaryAndChangesNothing() async throws {
    try await backend.create("g", "Public")
    try await backend.apply("mary", to: "g")
    let writes = [("setGroupApplicationRead", "olga"), ("setSystemNotificationRead", "olga"), ("importUsers", nil)]
    backend.store.inner.fail(with: StoreError(.unavailable, "test"))
    for (method, user) in writes {
      #expect(try await backend.code(method, as: user, user == nil ? #""userIDList":["x"]"# : "") == 10002, "\(method)")
    }
    backend.store.inner.fail(with: nil)
    #expect(try await backend.result("getGroupApplicationList", as: "olga")["unreadCount"] == 1)
    #expect(try await backend.result("getSystemNotificationList", as: "olga")["unreadCount"] == 2)
  }

  @Test func askingForGroupsThatAreNoneLeavesNoneInMemory() async throws {
    let names = (0..<50).map { "\"x\($0)\"" }.joined(separator: ",")
    for _ in 0..<3 { _ = try await backend.result("getGroupsInfo", as: "mary", #""groupIDList":[\#(names)]"#) }
    #expect(backend.services.registry.residentCount == 0)
  }
}
