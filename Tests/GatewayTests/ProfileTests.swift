import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// setSelfInfo, setUserInfo, getUsersInfo and importUsers (Protocol.md, "Profiles").
@Suite struct ProfileMethodTests {
  private let backend = Backend()

  private func infos(_ users: String...) async throws -> [JSON] {
    let list = users.map { "\"\($0)\"" }.joined(separator: ",")
    return try await backend.result("getUsersInfo", #""userIDList":[\#(list)]"#)["userList"].elements
  }

  @Test func textsAreEmptyAtFirstAndMerge() async throws {
    #expect(try await infos("olga") == [], "unknown")
    #expect(try await backend.result("setSelfInfo", as: "olga", "") == [:])
    #expect(try await infos("olga") == [["userID": "olga", "nickName": "", "faceURL": "", "customInfo": [:]]])
    _ = try await backend.result("setSelfInfo", as: "olga", #""nickName":"O","customInfo":{"a":"1","b":"2"}"#)
    _ = try await backend.result("setSelfInfo", as: "olga", #""faceURL":"f","nickName":null,"customInfo":{"a":null,"c":"3"}"#)
    let all: JSON = ["userID": "olga", "nickName": "O", "faceURL": "f", "customInfo": ["b": "2", "c": "3"]]
    #expect(try await infos("olga") == [all])
    _ = try await backend.result("setUserInfo", #""userID":"olga","nickName":"","customInfo":{"b":"","c":null}"#)
    #expect(try await infos("olga") == [["userID": "olga", "nickName": "", "faceURL": "f", "customInfo": [:]]])
  }

  @Test func asManyKeysAsAGroupHasAndAllOrNothing() async throws {
    let ten = (0..<10).map { #""k\#($0)":"v""# }.joined(separator: ",")
    _ = try await backend.result("setSelfInfo", as: "olga", #""customInfo":{\#(ten)}"#)
    let error = try await backend.rpc("setSelfInfo", as: "olga", #""nickName":"O","customInfo":{"more":"v"}"#)["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "customInfo")
    #expect(try await infos("olga")[0]["nickName"] == "", "nothing was changed")
    #expect(try await backend.code("setSelfInfo", as: "olga", #""customInfo":{"more":"v","k0":""}"#) == 0)
    let list = #"[{"userID":"mary","nickName":"M"},{"userID":"olga","customInfo":{"x":"v"}}]"#
    let refused = try await backend.rpc("importUsers", #"{"userList":\#(list)}"#)["error"]
    #expect(refused["code"] == 10004 && refused["data"]["field"] == "customInfo")
    #expect(try await infos("mary") == [], "all of it or nothing")
  }

  @Test func importingMergesAndMakesKnown() async throws {
    _ = try await backend.result("setUserInfo", #""userID":"mary","nickName":"M","customInfo":{"a":"1"}"#)
    let list = #"[{"userID":"mary","customInfo":{"b":"2"}},{"userID":"ivan"},{"userID":"mary","faceURL":"f"}]"#
    #expect(try await backend.result("importUsers", #""userList":\#(list)"#) == [:])
    _ = try await backend.result("importUsers", #""userIDList":["nick","mary"]"#)
    let mary: JSON = ["userID": "mary", "nickName": "M", "faceURL": "f", "customInfo": ["a": "1", "b": "2"]]
    let found = try await infos("ivan", "ghost", "mary", "nick", "mary")
    #expect(found.map { $0["userID"] } == ["ivan", "mary", "nick"] && found[1] == mary, "in order, once, the unknown left out")
  }

  @Test func badUserIDsAreNamed() async throws {
    for (method, params, field) in [
      ("getUsersInfo", #""userIDList":["@x"]"#, "userIDList"), ("setUserInfo", #""userID":"administrator""#, "userID"),
      ("importUsers", #""userIDList":["a b"]"#, "userIDList"), ("setSelfInfo", #""asUser":"@x""#, "asUser"),
      ("getUsersInfo", #""userIDList":["a"],"asUser":"administrator""#, "asUser"),
    ] {
      let error = try await backend.rpc(method, "{\(params)}")["error"]
      #expect(error["code"] == 10004 && error["data"]["field"].string == field, "\(method) \(params)")
    }
    #expect(try await backend.result("getStats")["users"] == 0)
  }

  @Test func aFailedStoreChangesNothing() async throws {
    _ = try await backend.result("setSelfInfo", as: "olga", #""nickName":"O""#)
    backend.store.inner.fail(with: StoreError(.unavailable, "test"))
    let error = try await backend.rpc("setSelfInfo", as: "olga", #""nickName":"P""#)["error"]
    #expect(error["code"] == 10002 && error["data"]["temporary"] == true)
    backend.store.inner.fail(with: nil)
    #expect(try await infos("olga")[0]["nickName"] == "O")
    #expect(try await backend.code("setSelfInfo", as: "olga", #""nickName":"Q""#) == 0, "the next one is not in its way")
  }

  /// Each is decided on the one before, though all are under way at once.
  @Test func changesOfOneUserFollowOneAnother() async throws {
    let backend = backend
    backend.store.inner.hold()
    try await withThrowingTaskGroup { tasks in
      defer { backend.store.inner.release() }
      for number in 0..<8 {
        tasks.addTask {
          let other = #"{"userID":"mary","customInfo":{"k\#(number)":"v"}}"#
          let own = #"{"userID":"olga","customInfo":{"k\#(number)":"v"}}"#
          let list = number % 2 == 0 ? "[\(own),\(other)]" : "[\(other),\(own)]"
          let answer = try await backend.result("importUsers", #""userList":\#(list)"#)
          #expect(answer == [:])
        }
      }
      try await waitUntil("a commit waits") { backend.store.inner.pendingCount > 0 }
      backend.store.inner.release()
      try await tasks.waitForAll()
    }
    for info in try await infos("olga", "mary") { #expect(info["customInfo"].names.count == 8) }
  }

  /// Being named makes nobody known.
  @Test func whoeverIsInvitedIsStillUnknown() async throws {
    try await backend.create("g", "Work", by: "olga", memberList("mary"))
    _ = try await backend.result("inviteUserToGroup", as: "olga", #""groupID":"g","userIDList":["ivan"]"#)
    #expect(try await infos("olga", "mary", "ivan").map { $0["userID"] } == ["olga"])
  }

  // MARK: Groups

  @Test func groupsShowThemInListsMessagesAndNotifications() async throws {
    _ = try await backend.result("setUserInfo", #""userID":"olga","nickName":"The O","faceURL":"f""#)
    try await backend.create("g", "Public", by: "olga", memberList("mary"))
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"x""#)
    _ = try await backend.result("kickGroupMember", as: "olga", #""groupID":"g","userIDList":["mary"]"#)
    _ = try await backend.result("setUserInfo", #""userID":"olga","nickName":"Later""#)
    let members = try await backend.result("getGroupMemberList", as: "olga", #""groupID":"g""#)["memberList"]
    #expect(members[0]["nickName"] == "Later" && members[0]["faceURL"] == "f")
    let history = try await backend.result("getGroupHistoryMessageList", as: "olga", #""groupID":"g""#)["messageList"].elements
    #expect(history.count == 2 && history.allSatisfy { $0["nickName"] == "Later" && $0["faceURL"] == "f" })
    #expect(history[0]["tips"]["opUser"]["nickName"] == "Later" && history[0]["tips"]["memberList"][0]["nickName"] == .null)
    let info = try await backend.result("getGroupsInfo", as: "olga", #""groupIDList":["g"]"#)["resultList"][0]["info"]
    #expect(info["lastMessage"]["nickName"] == "Later" && info["lastMessage"]["tips"]["opUser"]["nickName"] == "Later")
    let joined = try await backend.result("getJoinedGroupList", as: "olga")["groupList"]
    #expect(joined[0]["lastMessage"]["nickName"] == "Later")
    let epoch = info["epoch"].string ?? ""
    let synced = try await backend.result(
      "syncGroups", as: "olga", #""groups":[{"groupID":"g","epoch":"\#(epoch)","seq":0}]"#)["groups"][0]["messageList"]
    #expect(synced.elements.count == 2 && synced.column("nickName") == ["Later", "Later"])
    let kept = try await backend.result("getSystemNotificationList", as: "mary")["notificationList"][0]
    #expect(kept["opUser"]["nickName"] == "The O" && kept["opUser"]["faceURL"] == "f", "as it was when it was made")
    #expect(kept["platform"] == "RESTful API")
  }

  @Test func searchesMatchNicknamesInsideJoinedGroups() async throws {
    _ = try await backend.result("setUserInfo", #""userID":"mary","nickName":"Queen""#)
    try await backend.create("g", "Public", by: "olga", memberList("mary"))
    try await backend.create("h", "Public", by: "ivan", #""isSearchable":true,\#(memberList("mary"))"#)
    let search = #""keywordList":["queen"],"matchFields":["memberNickName"]"#
    func found(_ user: String?, _ more: String = "") async throws -> [JSON] {
      try await backend.result("searchGroups", as: user, search + more)["groupList"].column("groupID")
    }
    #expect(try await found("olga") == ["g"])
    #expect(try await found("mary") == ["g", "h"])
    #expect(try await found("nobody") == [])
    #expect(try await found(nil) == ["g", "h"])
    #expect(try await found("olga", #","ignoreCase":false"#) == [])
    #expect(try await backend.result("searchGroups", as: "olga", #""keywordList":["queen"]"#)["groupList"] == [])
  }
}

/// Profiles on real sessions: who is told, and that nothing sent later shows an old one.
@Suite struct ProfileSessionTests {
  @Test(arguments: [1, 2]) func theUsersOtherSessionsAreToldAndNobodyElse(loops: Int) async throws {
    try await LiveGateway.with(loops: loops) { live in
      try await live.backend.create("g", "Public", memberList("mary"))
      let mary = try await live.signIn("mary")
      let other = try await live.signIn("mary")
      let olga = try await live.signIn("olga")
      #expect(try await mary.call("setSelfInfo", #"{"nickName":"M","customInfo":{"k":"v"}}"#)["result"] == [:])
      #expect(try await mary.call("setSelfInfo", #"{"nickName":"M","customInfo":{"k":"v"}}"#)["result"] == [:])
      #expect(try await mary.call("setSelfInfo", #"{"faceURL":"f","customInfo":{"l":"w"}}"#)["result"] == [:])
      _ = try await live.backend.result("importUsers", #""userList":[{"userID":"mary","faceURL":"g"}]"#)
      _ = try await live.backend.result("setUserInfo", #""userID":"mary","nickName":"""#)
      _ = try await live.backend.result("setSelfInfo", as: "mary", #""nickName":"N""#)
      try await live.heard(of: "g", by: mary, other, olga)
      let time: JSON = 1_700_000_000_000
      let byOthers: [JSON] = [["opTime": time, "nickName": ""], ["opTime": time, "nickName": "N"]]
      #expect(
        await other.heard("onSelfInfoUpdated") == [
          ["opTime": time, "nickName": "M", "customInfo": ["k": "v"]],
          ["opTime": time, "faceURL": "f", "customInfo": ["k": "v", "l": "w"]],
        ] + byOthers, "what is the same is no change, and importing tells nobody")
      #expect(await mary.heard("onSelfInfoUpdated") == byOthers)
      for client in [mary, other, olga] { #expect(await client.events == [], "groups get no event") }
    }
  }

  @Test(arguments: ["Public", "AVChatRoom", "BChatRoom"]) func messagesShowTheSendersOfThatMoment(type: String) async throws {
    try await LiveGateway.with(loops: 2) { live in
      try await live.backend.found(type, with: "mary", "nick")
      if type == "BChatRoom" {
        _ = try await live.backend.result("setGroupMemberRole", as: "olga", #""groupID":"g","userID":"mary","role":"Admin""#)
      }
      _ = try await live.backend.result("setUserInfo", #""userID":"mary","nickName":"M""#)
      let nick = try await live.signIn("nick")
      let mary = try await live.signIn("mary")
      let other = try await live.signIn("mary")
      func say() async throws -> JSON {
        _ = try await mary.call("sendGroupTextMessage", #"{"groupID":"g","text":"x"}"#)
        return try await nick.event("onRecvNewMessage")["message"]
      }
      let first = try await say()
      #expect(first["nickName"] == "M" && first["faceURL"] == .null, "stored before the sign-in")
      _ = try await other.call("setSelfInfo", #"{"nickName":"","faceURL":"f"}"#)
      let second = try await say()
      #expect(second["nickName"] == .null && second["faceURL"] == "f", "by the other session")
      _ = try await live.backend.result("importUsers", #""userList":[{"userID":"mary","nickName":"I"}]"#)
      #expect(try await say()["nickName"] == "I")
      _ = try await live.backend.result("setSelfInfo", as: "mary", #""nickName":"S""#)
      #expect(try await say()["nickName"] == "S")
      _ = try await live.backend.result("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"x""#)
      #expect(try await nick.event("onRecvNewMessage")["message"]["nickName"] == "S", "through asUser")
      _ = try await nick.call("setSelfInfo", #"{"nickName":"K"}"#)
      #expect(try await say()["nickName"] == "S", "somebody else's change")
    }
  }

  @Test func eventsShowTheMembersOfThatMoment() async throws {
    try await LiveGateway.with(loops: 2) { live in
      try await live.backend.create("g", "Public", #""joinMode":"Any""#)
      let olga = try await live.signIn("olga")
      _ = try await olga.call("setSelfInfo", #"{"nickName":"O"}"#)
      _ = try await live.backend.result("importUsers", #""userList":[{"userID":"mary","nickName":"M"}]"#)
      let mary = try await live.signIn("mary", "platform=Web")
      _ = try await mary.call("joinGroup", #"{"groupID":"g"}"#)
      let entered = try await olga.event("onMemberEnter")
      #expect(entered["memberList"][0]["nickName"] == "M" && entered["platform"] == "Web")
      _ = try await mary.call("setSelfInfo", #"{"nickName":"Later"}"#)
      _ = try await olga.call("setGroupMemberRole", #"{"groupID":"g","userID":"mary","role":"Admin"}"#)
      let granted = try await mary.event("onGrantAdministrator")
      #expect(granted["memberList"][0]["nickName"] == "Later" && granted["opUser"]["nickName"] == "O")
      _ = try await mary.call("quitGroup", #"{"groupID":"g"}"#)
      let left = try await olga.event("onMemberLeave")
      #expect(left["memberList"][0]["nickName"] == "Later" && left["platform"] == "Web")
      #expect(try await mary.event("onQuitFromGroup")["platform"] == "Web")
    }
  }

  /// The store was asked before the change.
  @Test func aChangeDuringASignInIsNotLost() async throws {
    try await LiveGateway.with { live in
      try await live.backend.create("g", "Public", memberList("mary"))
      let olga = try await live.signIn("olga")
      live.store.hold()
      let mary = try await Client.open(port: live.port, query: "token=mary")
      try await live.store.arrival()
      _ = try await live.backend.result("setUserInfo", #""userID":"mary","nickName":"New""#)
      live.store.release()
      #expect(try await mary.next()["method"] == "onConnectSuccess")
      _ = try await mary.call("sendGroupTextMessage", #"{"groupID":"g","text":"x"}"#)
      #expect(try await olga.event("onRecvNewMessage")["message"]["nickName"] == "New")
    }
  }
}
