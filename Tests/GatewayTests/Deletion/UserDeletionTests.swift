import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

@testable import Gateway

/// deleteUser, getUserDeletion and exportUser, over a store in memory.
@Suite struct UserDeletionTests {
  private let backend = Backend(world: World(slowness: 1))

  private func state(_ user: String = "mary") async throws -> JSON {
    try await backend.result("getUserDeletion", #""userID":"\#(user)""#)["state"]
  }

  /// Lets the job work until the user is deleted.
  private func finish(_ user: String = "mary") async throws {
    backend.services.deletions.start()
    try await waitUntil("\(user) is deleted") { try await state(user) == "Done" }
  }

  private func delete(_ more: String = "", _ user: String = "mary") async throws {
    #expect(try await backend.result("deleteUser", #""userID":"\#(user)"\#(more)"#) == [:] as JSON)
  }

  private func export(_ user: String = "mary") async throws -> [JSON] {
    var (rows, next): ([JSON], Int64) = ([], 0)
    repeat {
      let page = try await backend.result("exportUser", #""userID":"\#(user)","nextSeq":\#(next)"#)
      rows += page["rows"].elements
      next = try #require(page["nextSeq"].integer)
    } while next != 0
    return rows
  }

  // MARK: The job

  @Test func itIsDurableWhenItIsAnsweredAndGoesOnInTheBackground() async throws {
    #expect(try await state() == "None")
    try await delete()
    #expect(try await state() == "Running", "nobody works yet")
    try await delete()
    try await finish()
    await backend.services.deletions.stop()
  }

  @Test func theStoreMustTakeIt() async throws {
    backend.store.inner.fail(with: StoreError(.unavailable, "full"))
    #expect(try await backend.code("deleteUser", #""userID":"mary""#) == 10002)
    backend.store.inner.fail(with: nil)
    #expect(try await state() == "None")
  }

  @Test func anUnknownUserEndsDoneAndStaysUnknown() async throws {
    try await delete("", "nobody")
    try await finish("nobody")
    #expect(try await backend.result("getUsersInfo", #""userIDList":["nobody"]"#)["userList"] == [])
    #expect(try await export("nobody") == [])
    await backend.services.deletions.stop()
  }

  @Test(arguments: ["@x", "administrator", "a b", ""]) func aNameThatNoTokenMayCarry(user: String) async throws {
    for method in ["deleteUser", "getUserDeletion", "exportUser"] {
      #expect(try await backend.code(method, #""userID":"\#(user)""#) == 10004, "\(method)")
    }
  }

  @Test func otherFatesAndPlacesAreRefused() async throws {
    let error = try await backend.rpc("deleteUser", #"{"userID":"mary","messages":"Burn"}"#)["error"]
    #expect(error["code"] == 10004 && error["data"]["field"] == "messages")
    let place = try await backend.rpc("exportUser", #"{"userID":"mary","nextSeq":-1}"#)["error"]
    #expect(place["code"] == 10004 && place["data"]["field"] == "nextSeq")
  }

  @Test func theUserLeavesEverythingAndIsUnknown() async throws {
    _ = try await backend.result("setUserInfo", #""userID":"mary","nickName":"secret""#)
    try await backend.create("own", "Public", by: "mary", memberList("adam"))
    try await backend.create("alone", "Work", by: "mary")
    try await backend.create("other", "Public", by: "olga", memberList("mary"))
    _ = try await backend.result("sendGroupTextMessage", as: "mary", #""groupID":"other","text":"mine""#)
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"other","text":"hers""#)
    _ = try await backend.result("addMessageReaction", as: "mary", #""groupID":"other","seq":2,"reaction":"+""#)
    try await delete()
    try await finish()
    #expect(try await backend.result("getUsersInfo", #""userIDList":["mary"]"#)["userList"] == [])
    let infos = try await backend.result("getGroupsInfo", #""groupIDList":["own","alone","other"]"#)["resultList"].elements
    #expect(infos[0]["info"]["owner"] == "adam" && infos[1]["code"] == 10010)
    let list = try await backend.result("getGroupMemberList", #""groupID":"other""#)["memberList"].column("userID")
    #expect(list == ["olga"])
    let messages = try await backend.result("getGroupHistoryMessageList", #""groupID":"other""#)["messageList"].elements
    let own = try #require(messages.first { $0["sender"] == "mary" })
    #expect(own["text"] == "mine" && own["nickName"] == .null)
    #expect(messages.allSatisfy { $0["reactions"] == .null })
    #expect(try await export() == [])
    await backend.services.deletions.stop()
  }

  @Test func withRevokeMessagesAreRecalled() async throws {
    try await backend.create("g", "Public", by: "olga", memberList("mary"))
    for text in ["a", "b", "c"] {
      _ = try await backend.result("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"\#(text)""#)
    }
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"hers""#)
    try await delete()
    try await delete(#","messages":"Revoke""#)
    try await delete(#","messages":"Keep""#)
    try await finish()
    let messages = try await backend.result("getGroupHistoryMessageList", #""groupID":"g""#)["messageList"].elements
    let own = messages.filter { $0["sender"] == "mary" }
    #expect(own.count == 3 && own.allSatisfy { $0["isRevoked"] == true && $0["text"] != "a" })
    #expect(messages.contains { $0["text"] == "hers" })
    await backend.services.deletions.stop()
  }

  /// The application goes on acting for the user while the job runs.
  @Test func whatIsDoneMeanwhileGoesToo() async throws {
    try await backend.create("g", "Public", by: "olga")
    try await delete()
    _ = try await backend.result("setUserInfo", #""userID":"mary","nickName":"again""#)
    try await backend.bring("mary", into: "g")
    _ = try await backend.result("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"hello""#)
    try await finish()
    #expect(try await backend.result("getUsersInfo", #""userIDList":["mary"]"#)["userList"] == [])
    #expect(try await backend.result("getGroupMemberList", #""groupID":"g""#)["memberList"].column("userID") == ["olga"])
    await backend.services.deletions.stop()
  }

  @Test func aStoreThatFailsIsWaitedFor() async throws {
    try await delete()
    backend.store.inner.fail(with: StoreError(.unavailable, "full"))
    backend.services.deletions.start()
    try await waitUntil("it works on one") { backend.services.deletions.runningCount == 1 }
    #expect(try await state() == "Running")
    backend.store.inner.fail(with: nil)
    backend.services.deletions.wake()
    try await waitUntil("mary is deleted") { try await state() == "Done" }
    await backend.services.deletions.stop()
  }

  @Test func afterDoneItBeginsAnew() async throws {
    try await delete()
    try await finish()
    _ = try await backend.result("setUserInfo", #""userID":"mary","nickName":"new""#)
    try await delete()
    try await waitUntil("the new one is gone") {
      try await backend.result("getUsersInfo", #""userIDList":["mary"]"#)["userList"] == []
    }
    await backend.services.deletions.stop()
  }

  // MARK: Export

  @Test func anExportHasEachKindInItsOrder() async throws {
    _ = try await backend.result("setUserInfo", #""userID":"mary","nickName":"M","customInfo":{"a":"b"}"#)
    _ = try await backend.result("blockUser", #""userID":"mary","reason":"rude""#)
    try await backend.create("g", "Public", by: "olga", memberList("mary"))
    _ = try await backend.result("setGroupMemberInfo", as: "mary", #""groupID":"g","userID":"mary","nameCard":"card""#)
    _ = try await backend.result("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"mine","extension":"e""#)
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"hers""#)
    let rows = try await export()
    let order: [JSON] = ["profile", "block", "membership", "settings", "application", "notification", "message"]
    let kinds = rows.map { $0["kind"] }
    #expect(kinds.compactMap { order.firstIndex(of: $0) } == kinds.compactMap { order.firstIndex(of: $0) }.sorted())
    #expect(rows[0]["nickName"] == "M" && rows[0]["customInfo"] == ["a": "b"] && rows[0]["userID"] == "mary")
    #expect(rows[1]["reason"] == "rude" && rows[1]["blockedUntil"] == 0)
    #expect(rows[2]["groupID"] == "g" && rows[2]["groupType"] == "Public" && rows[2]["role"] == "Member")
    #expect(rows[2]["nameCard"] == "card" && rows[2]["inviter"] == "olga")
    #expect(rows[3]["receiveMessageOpt"] == "Receive" && rows[3]["isPinned"] == false && rows[3]["marks"] == [])
    let messages = rows.filter { $0["kind"] == "message" }
    #expect(messages.count == 1 && messages[0]["text"] == "mine" && messages[0]["extension"] == "e")
    #expect(try await export("olga").allSatisfy { $0["nameCard"] != "card" && $0["text"] != "mine" }, "another's texts")
  }

  @Test(arguments: [199, 200, 201]) func aPageHasAtMostTwoHundredRows(count: Int) async throws {
    try await backend.create("g", "Meeting", by: "mary")
    let known = try await export().count
    for number in known..<count {
      _ = try await backend.result("sendGroupTextMessage", as: "mary", #""groupID":"g","text":"\#(number)""#)
    }
    let page = try await backend.result("exportUser", #""userID":"mary""#)
    #expect(page["rows"].elements.count == min(count, 200))
    let rows = try await export()
    #expect(rows.count == count && Set(rows).count == count, "each once")
  }
}
