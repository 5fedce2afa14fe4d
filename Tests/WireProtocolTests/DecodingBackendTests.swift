import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

/// The parameters of the methods of the application's backend, as the server reads them.
@Suite struct DecodingBackendTests {
  @Test func importGroupIsCreateGroupWithAnOwnerAndWithoutMembers() throws {
    let params = #"""
      {"groupType":"ChatRoom","groupName":"n","groupID":"g","ownerUserID":"o","createTime":5,"introduction":"i","joinMode":"Auth",
       "memberList":[{"userID":"u"}]}
      """#
    guard case .importGroup(let imported) = try decoded("importGroup", params),
      case .importGroup(let plain) = try decoded("importGroup", #"{"groupType":"Work","groupName":"n","ownerUserID":"o"}"#)
    else { return fail("importGroup") }
    #expect(imported.group.groupType == .meeting && imported.group.groupID == GroupID("g") && imported.createTime == 5)
    #expect(imported.group.ownerUserID == UserID("o") && imported.group.memberList.isEmpty)
    #expect(imported.group.fields.introduction == "i" && imported.group.fields.policy.map(\.field) == [.joinMode])
    #expect(plain.group.groupID == nil && plain.createTime == nil)
  }

  @Test func importGroupMembersTakesWhatIsGiven() throws {
    let params = #"""
      {"groupID":"g","memberList":[{"userID":"a","role":"Admin","joinTime":3,"unreadCount":4},{"userID":"b"},{"userID":"a"}]}
      """#
    guard case .group(_, .importGroupMembers(let imported)) = try decoded("importGroupMembers", params) else {
      return fail("importGroupMembers")
    }
    let a = try #require(UserID("a"))
    let b = try #require(UserID("b"))
    #expect(
      imported.memberList == [
        ImportGroupMembers.ImportedMember(userID: a, role: .admin, joinTime: 3, unreadCount: 4),
        ImportGroupMembers.ImportedMember(userID: b), ImportGroupMembers.ImportedMember(userID: a),
      ])
  }

  @Test func anImportedMemberHasNameCardCustomInfoAndMute() throws {
    let params = #"""
      {"groupID":"g","memberList":[
        {"userID":"a","nameCard":"A","customInfo":{"k":"v","gone":"","none":null},"muteUntil":5},
        {"userID":"b","nameCard":"","muteUntil":0},
        {"userID":"c","nameCard":"\#(exactly(51))"},{"userID":"d","nameCard":"a\n"},
        {"userID":"e","customInfo":{"a":"1","b":"1","c":"1","d":"1","e":"1","f":"1"}},{"userID":"f","muteUntil":-1}]}
      """#
    guard case .group(_, .importGroupMembers(let imported)) = try decoded("importGroupMembers", params) else {
      return fail("importGroupMembers")
    }
    let users = imported.memberList.map(\.userID)
    #expect(
      Array(imported.memberList.prefix(2)) == [
        ImportGroupMembers.ImportedMember(userID: users[0], nameCard: "A", customInfo: ["k": "v"], muteUntil: 5),
        ImportGroupMembers.ImportedMember(userID: users[1], muteUntil: .unset),
      ])
    #expect(imported.memberList.map(\.hasBadValue) == [false, false, true, true, true, true])
  }

  /// Seconds are a number of our days up to the year 5138; milliseconds like that are before March 1973.
  @Test(arguments: [
    ("importGroup", #""groupType":"Work","groupName":"n","ownerUserID":"o","createTime":%"#, "createTime"),
    ("importGroupMembers", #""groupID":"g","memberList":[{"userID":"a"},{"userID":"b","joinTime":%}]"#, "joinTime"),
    ("importGroupMembers", #""groupID":"g","memberList":[{"userID":"a","muteUntil":%}]"#, "muteUntil"),
    ("importGroupMessages", #""groupID":"g","messageList":[{"sender":"a","timestamp":%,"text":"t"}]"#, "timestamp"),
  ])
  func anInstantInSecondsIsFound(method: String, params: String, field: String) throws {
    for (number, isFound) in [
      ("1", true), ("1700000000", true), ("99999999999", true), ("0", false), ("100000000000", false), ("1700000000000", false),
    ] {
      let request = try decoded(method, "{\(params.replacing("%", with: number))}")
      #expect(request.importedFieldInSeconds == (isFound ? field : nil), "\(number)")
    }
    #expect(try decoded("createGroup", #"{"groupType":"Work","groupName":"n"}"#).importedFieldInSeconds == nil)
  }

  @Test func importUsersTakesOneOfTwoLists() throws {
    let params =
      #"{"userList":[{"userID":"a","nickName":"N","customInfo":{"k":null}},{"userID":"b"},{"userID":"a","faceURL":""}]}"#
    guard case .importUsers(let imported) = try decoded("importUsers", params) else { return fail("importUsers") }
    let (a, b) = (try #require(UserID("a")), try #require(UserID("b")))
    #expect(
      imported.users == [
        ImportUsers.ImportedUser(userID: a, fields: UserInfoFields(nickName: "N", customInfo: ["k": ""])),
        ImportUsers.ImportedUser(userID: b), ImportUsers.ImportedUser(userID: a, fields: UserInfoFields(faceURL: "")),
      ])
    func code(_ params: String) -> [String?] {
      let found = fault("importUsers", params)
      return [found.map { String($0.code.rawValue) }, found?.field]
    }
    let one = #"{"userID":"a"}"#
    let both = [
      #"{"userIDList":["a"],"userList":[\#(one)]}"#, #"{"userIDList":["a"],"userList":[]}"#, #"{"userIDList":[],"userList":[]}"#,
    ]
    for params in ["{}", #"{"userIDList":null,"userList":null}"#] + both {
      #expect(code(params) == ["-32602", "userIDList"], "\(params)")
    }
    #expect(code(#"{"userIDList":null,"userList":[\#(one)]}"#) == [nil, nil])
    #expect(code(#"{"userList":[]}"#) == ["8510", "userList"])
    #expect(code(#"{"userList":\#(array(one, 101))}"#) == ["10004", "userList"])
    #expect(code(#"{"userList":\#(array(one, 100))}"#) == [nil, nil])
    #expect(code(#"{"userList":["a"]}"#) == ["-32602", "userList"])
    #expect(code(#"{"userList":[{"nickName":"N"}]}"#) == ["-32602", "userID"])
    #expect(code(#"{"userList":[{"userID":"@a"}]}"#) == ["10004", "userID"])
    #expect(code(#"{"userList":[{"userID":"administrator"}]}"#) == ["10004", "userID"])
    #expect(code(#"{"userList":[{"userID":"a","nickName":"\u0007"}]}"#) == ["10004", "nickName"])
    #expect(code(#"{"userList":[{"userID":"a","nickName":\#(quoted(exactly(101)))}]}"#) == ["10004", "nickName"])
    #expect(code(#"{"userList":[{"userID":"a","faceURL":\#(quoted(exactly(501)))}]}"#) == ["10004", "faceURL"])
    #expect(code(#"{"userList":[{"userID":"a","customInfo":{"-":"v"}}]}"#) == ["10004", "customInfo"])
  }

  private func message(_ members: String) -> String {
    #"{"groupID":"g","messageList":[{"sender":"u","timestamp":1\#(members)}]}"#
  }

  @Test func anImportedMessageHasTextOrData() throws {
    let all = #"{"sender":"u","timestamp":1,"text":"t","clientMsgID":"c"},{"sender":"u","timestamp":1,"data":"d","text":null}"#
    guard
      case .group(_, .importGroupMessages(let imported)) = try decoded(
        "importGroupMessages", #"{"groupID":"g","messageList":[\#(all)]}"#)
    else { return fail("importGroupMessages") }
    #expect(imported.messageList.map(\.content) == [.text("t"), .custom("d")])
    #expect(imported.messageList.map(\.clientMsgID) == ["c", nil])
    #expect(fault("importGroupMessages", message("")) == WireError(.invalidParams, "text is missing", field: "text"))
    #expect(fault("importGroupMessages", message(#","text":null,"data":null"#))?.code == .invalidParams)
    let both = fault("importGroupMessages", message(#","text":"t","data":"d""#))
    #expect(both?.code == .badValue && both?.field == "data")
  }

  @Test func importedDataIsBoundAsTextIs() {
    let longest = quoted(exactly(12_288))
    let longer = quoted(exactly(12_289))
    for (value, code) in [(longest, 0), (longer, 80002), (#""""#, 10004), ("5", -32602), ("{}", -32602)] {
      let found = fault("importGroupMessages", message(#","data":\#(value)"#))
      #expect(found?.code.rawValue ?? 0 == code && (found?.field ?? "data") == "data", "\(value.prefix(20))")
    }
  }

  @Test(arguments: [
    ([1, 2, 3], true), ([2, 2, 2], true), ([0], true), ([2, 1], false), ([1, 3, 2], false), ([1, 2, 0, 3], false),
  ])
  func importedMessagesAreInTheOrderOfTheirTimestamps(times: [Int], isTaken: Bool) {
    let list = times.map { #"{"sender":"u","timestamp":\#($0),"text":"t"}"# }.joined(separator: ",")
    let error = fault("importGroupMessages", #"{"groupID":"g","messageList":[\#(list)]}"#)
    #expect(error?.code == (isTaken ? nil : .badValue) && error?.field == (isTaken ? nil : "messageList"))
  }

  @Test func aNotificationGoesToThoseNamedOrToAll() throws {
    let cases: [(String, [String]?)] = [
      ("", nil), (#","userIDList":[]"#, nil), (#","userIDList":null"#, nil), (#","userIDList":["b","b","a"]"#, ["b", "a"]),
    ]
    for (rest, users) in cases {
      let params = #"{"groupID":"g","content":"c"\#(rest)}"#
      guard case .group(_, .sendGroupSystemNotification(let send)) = try decoded("sendGroupSystemNotification", params) else {
        return fail("sendGroupSystemNotification")
      }
      #expect(send.userIDList?.map(\.rawValue) == users && send.content == "c")
    }
  }

  @Test func aBlockHasAnEndAndAReasonWhereTheyAreGiven() throws {
    let cases: [(String, Int64?, String?)] = [
      ("", nil, nil), (#","blockTime":0,"reason":"""#, nil, nil), (#","blockTime":null,"reason":null"#, nil, nil),
      (#","blockTime":1,"reason":"r""#, 1, "r"), (#","blockTime":4294967295"#, 4_294_967_295, nil),
    ]
    for (rest, time, reason) in cases {
      guard case .blockUser(let block) = try decoded("blockUser", #"{"userID":"u"\#(rest)}"#) else { return fail("blockUser") }
      #expect(block.userID == UserID("u") && block.blockTime == time && block.reason == reason, "\(rest)")
      #expect(Request.blockUser(block).subject == .user(block.userID), "decisions about a user are made one after the other")
    }
  }

  @Test func theMethodsOfBlocksTakeWhatIsGiven() throws {
    guard case .unblockUser(let unblock) = try decoded("unblockUser", #"{"userID":"u"}"#),
      case .getBlockedUsers(let first) = try decoded("getBlockedUsers", "{}"),
      case .getBlockedUsers(let next) = try decoded("getBlockedUsers", #"{"count":100,"nextSeq":4}"#),
      case .revokeTokens(let now) = try decoded("revokeTokens", #"{"userID":"u"}"#),
      case .revokeTokens(let earlier) = try decoded("revokeTokens", #"{"userID":"u","before":0}"#)
    else { return fail("methods of blocks") }
    #expect(unblock.userID == UserID("u") && now.before == nil && earlier.before == WallInstant.unset)
    #expect(first.count == 50 && first.nextSeq == 0 && next.count == 100 && next.nextSeq == 4)
    let user = try #require(UserID("u"))
    for request in [Request.unblockUser(unblock), .revokeTokens(now)] { #expect(request.subject == .user(user)) }
    #expect(Request.getBlockedUsers(first).subject == nil)
  }

  @Test func theOthersTakeWhatIsGiven() throws {
    guard case .listGroups(let all) = try decoded("listGroups", "{}"),
      case .listGroups(let some) = try decoded("listGroups", #"{"groupType":"Private","count":200,"nextSeq":4}"#),
      case .kickUser(let kick) = try decoded("kickUser", #"{"userID":"u","reason":"r"}"#),
      case .listSessions(let sessions) = try decoded("listSessions", #"{"userID":"u"}"#),
      case .importUsers(let users) = try decoded("importUsers", #"{"userIDList":["a","b","a"]}"#),
      case .group(_, .setUnreadCount(let unread)) = try decoded(
        "setUnreadCount", #"{"groupID":"g","userID":"u","unreadCount":7}"#)
    else { return fail("methods of the application") }
    #expect(all.groupType == nil && all.count == 50 && all.nextSeq == 0)
    #expect(some.groupType == .work && some.count == 200 && some.nextSeq == 4)
    #expect(kick.userID == UserID("u") && kick.reason == "r" && sessions.userID == UserID("u"))
    #expect(
      users.users.map(\.userID.rawValue) == ["a", "b"] && users.users.allSatisfy(\.fields.isEmpty) && unread.unreadCount == 7)
  }
}
