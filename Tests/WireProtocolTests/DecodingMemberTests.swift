import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

/// The parameters of the methods about members and applications, as the server reads them.
@Suite struct DecodingMemberTests {
  @Test func setGroupMemberInfoTakesWhatIsGiven() throws {
    let params = #"""
      {"groupID":"g","userID":"u","nameCard":"né","customInfo":{"a":"1","b":null},"role":"200","muteUntil":5}
      """#
    guard case .group(let id, .setGroupMemberInfo(let set)) = try decoded("setGroupMemberInfo", params),
      case .group(_, .setGroupMemberInfo(let nothing)) = try decoded("setGroupMemberInfo", #"{"groupID":"g","userID":"u"}"#)
    else { return fail("setGroupMemberInfo") }
    #expect(id == GroupID("g") && set.userID == UserID("u"))
    #expect(set.nameCard == "né" && set.customInfo == ["a": "1", "b": ""] && set.role == .custom(200) && set.muteUntil == 5)
    #expect(nothing.nameCard == nil && nothing.customInfo == nil && nothing.role == nil && nothing.muteUntil == nil)
  }

  @Test(arguments: [("Admin", Role.admin), ("Member", .member), ("100", .custom(100)), ("2147483647", .custom(.max))])
  func aRoleIsGivenByItsName(name: String, role: Role) throws {
    guard
      case .group(_, .setGroupMemberRole(let set)) = try decoded(
        "setGroupMemberRole", #"{"groupID":"g","userID":"u","role":"\#(name)"}"#)
    else { return fail("setGroupMemberRole") }
    #expect(set.role == role && set.targets.users.map(\.rawValue) == ["u"])
  }

  private static let byList = [("setGroupMemberRole", #""role":"Admin""#), ("muteGroupMember", #""muteTime":5"#)]

  @Test(arguments: byList)
  func aListStandsForOneUser(method: String, more: String) throws {
    let user = try #require(UserID("u"))
    func targets(_ members: String) throws -> TargetUsers? {
      switch try decoded(method, #"{"groupID":"g",\#(members),\#(more)}"#) {
      case .group(_, .setGroupMemberRole(let set)): set.targets
      case .group(_, .muteGroupMember(let mute)): mute.targets
      default: nil
      }
    }
    #expect(try targets(#""userID":"u""#) == .one(user))
    #expect(try targets(#""userIDList":["u"]"#) == .list([user]))
    #expect(try targets(#""userID":null,"userIDList":["u","v","u"]"#)?.users.map(\.rawValue) == ["u", "v"])
    #expect(try targets(#""userID":"u","userIDList":null"#) == .one(user))
    let fifty = (0..<50).map { #""u\#($0)""# }.joined(separator: ",")
    #expect(try targets(#""userIDList":[\#(fifty)]"#)?.users.count == 50)
    for (members, code) in [
      ("", -32602), (#""userID":null"#, -32602), (#""userID":"u","userIDList":["u"]"#, -32602),
      (#""userID":"u","userIDList":["v"]"#, -32602), (#""userIDList":[]"#, 8510), (#""userIDList":[\#(fifty),"v"]"#, 10004),
      (#""userID":"@u""#, 10004), (#""userIDList":"u""#, -32602), (#""userIDList":[5]"#, -32602),
    ] {
      let params = #"{"groupID":"g",\#(members.isEmpty ? "" : members + ",")\#(more)}"#
      #expect(fault(method, params)?.code.rawValue == code, "\(members.prefix(60))")
    }
    let other = #"{"groupID":"g","userIDList":["@u"],\#(more)}"#
    #expect(fault(method, other)?.code.rawValue == (method == "muteGroupMember" ? 10004 : nil))
  }

  /// Whether a name that is no userID is a fault of the call depends on the group.
  @Test func namesThatAreNoUserIDsAreKeptBesideTheOthers() throws {
    func names(_ list: String) throws -> [[String]]? {
      guard
        case .group(_, .setGroupMemberRole(let set)) = try decoded(
          "setGroupMemberRole", #"{"groupID":"g","userIDList":[\#(list)],"role":"Admin"}"#)
      else { return nil }
      return [set.targets.users.map(\.rawValue), set.refusedNames]
    }
    #expect(try names(#""u","@u","v","","@u","administrator","a b","u""#) == [["u", "v"], ["@u", "", "administrator", "a b"]])
    #expect(try names(#""é","e\u0301""#) == [[], ["é", "e\u{301}"]], "two texts")
    let long = String(repeating: "u", count: 33)
    #expect(try names("\"\(long)\"") == [[], [long]])
    #expect(try names(#""u","v""#) == [["u", "v"], []])
  }

  @Test func aRowOfSuchANameShowsItAsItWasGiven() {
    let text = String(decoding: Encoded(MemberResult(refusedName: #"a"b"#)).text, as: UTF8.self)
    #expect(text == #"{"userID":"a\"b","result":"Fail"}"#)
  }

  @Test func aListOfChangesBeginsWithAnInstant() throws {
    guard case .group(_, .getGroupMemberList(let all)) = try decoded("getGroupMemberList", #"{"groupID":"g"}"#),
      case .group(_, .getGroupMemberList(let changes)) = try decoded(
        "getGroupMemberList", #"{"groupID":"g","updatedSince":7,"count":200}"#)
    else { return fail("members") }
    #expect(all.updatedSince == nil && all.count == 50)
    #expect(changes.updatedSince == WallInstant(milliseconds: 7) && changes.count == 200)
  }

  @Test func bansAreListedAndEnded() throws {
    guard case .group(_, .getGroupBannedMembers(let plain)) = try decoded("getGroupBannedMembers", #"{"groupID":"g"}"#),
      case .group(_, .getGroupBannedMembers(let page)) = try decoded(
        "getGroupBannedMembers", #"{"groupID":"g","count":7,"nextSeq":9}"#),
      case .group(_, .unbanGroupMember(let unban)) = try decoded(
        "unbanGroupMember", #"{"groupID":"g","userIDList":["b","a","b"]}"#)
    else { return fail("bans") }
    #expect(plain.count == 50 && plain.nextSeq == 0 && page.count == 7 && page.nextSeq == 9)
    #expect(unban.userIDList.map(\.rawValue) == ["b", "a"])
  }

  @Test func mutesAndRemovalsAreInSeconds() throws {
    guard
      case .group(_, .muteGroupMember(let mute)) = try decoded("muteGroupMember", #"{"groupID":"g","userID":"u","muteTime":60}"#),
      case .group(_, .kickGroupMember(let kick)) = try decoded(
        "kickGroupMember", #"{"groupID":"g","userIDList":["b","a","b"],"reason":"r","banTime":4294967295}"#),
      case .group(_, .kickGroupMember(let plain)) = try decoded("kickGroupMember", #"{"groupID":"g","userIDList":["a"]}"#)
    else { return fail("mute and kick") }
    #expect(mute.muteTime == 60)
    #expect(kick.userIDList.map(\.rawValue) == ["b", "a"] && kick.reason == "r" && kick.banTime == 4_294_967_295)
    #expect(plain.reason == nil && plain.banTime == 0)
  }

  @Test func anInvitationTakesItsWords() throws {
    guard
      case .group(_, .inviteUserToGroup(let invite)) = try decoded(
        "inviteUserToGroup", #"{"groupID":"g","userIDList":["a","b"],"message":"m","attach":"\u0000"}"#),
      case .group(_, .inviteUserToGroup(let plain)) = try decoded("inviteUserToGroup", #"{"groupID":"g","userIDList":["a"]}"#)
    else { return fail("inviteUserToGroup") }
    #expect(invite.userIDList.map(\.rawValue) == ["a", "b"] && invite.message == "m" && invite.attach == "\0")
    #expect(plain.message == nil && plain.attach == nil)
  }

  @Test func listsOfMembersComeFiftyAtATime() throws {
    guard case .group(_, .getGroupMutedMembers(let muted)) = try decoded("getGroupMutedMembers", #"{"groupID":"g"}"#),
      case .group(_, .getGroupMutedMembers(let page)) = try decoded(
        "getGroupMutedMembers", #"{"groupID":"g","count":1,"nextSeq":8}"#),
      case .group(_, .getGroupMemberInviters(let inviters)) = try decoded(
        "getGroupMemberInviters", #"{"groupID":"g","userIDList":["a","a"]}"#),
      case .group(_, .getGroupMemberRoles(let roles)) = try decoded(
        "getGroupMemberRoles", #"{"groupID":"g","userIDList":["a","b"]}"#)
    else { return fail("lists") }
    #expect(muted.count == 50 && muted.nextSeq == 0 && page.count == 1 && page.nextSeq == 8)
    #expect(inviters.userIDList.map(\.rawValue) == ["a"] && roles.userIDList.map(\.rawValue) == ["a", "b"])
  }

  @Test func decisionsTakeAnyApplicationID() throws {
    guard
      case .acceptGroupApplication(let accept) = try decoded("acceptGroupApplication", #"{"applicationID":"","reason":"r"}"#),
      case .refuseGroupApplication(let refuse) = try decoded("refuseGroupApplication", #"{"applicationID":"é"}"#)
    else { return fail("decisions") }
    #expect(accept.decision.applicationID == "" && accept.decision.reason == "r")
    #expect(refuse.decision.applicationID == "é" && refuse.decision.reason == nil)
  }

  @Test func applicationsComeFiftyAtATimeAndAreReadUpToNow() throws {
    guard case .getGroupApplicationList(let list) = try decoded("getGroupApplicationList", "{}"),
      case .setGroupApplicationRead(let now) = try decoded("setGroupApplicationRead", "{}"),
      case .setGroupApplicationRead(let then) = try decoded("setGroupApplicationRead", #"{"timestamp":12}"#)
    else { return fail("applications") }
    #expect(list.count == 50 && list.nextSeq == 0 && list.box == .received)
    guard case .getGroupApplicationList(let sent) = try decoded("getGroupApplicationList", #"{"box":"Sent"}"#) else {
      return fail("the box")
    }
    #expect(sent.box == .sent)
    #expect(now.timestamp == nil && then.timestamp == 12)
  }
}
