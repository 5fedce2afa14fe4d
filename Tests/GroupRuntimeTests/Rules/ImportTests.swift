import GroupModel
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// importGroup, importGroupMembers and importGroupMessages: "no events and no tips; 10007 for
/// AVChatRoom and BChatRoom" (Protocol.md, "Imports").
@Suite struct ImportTests {
  private static let created: WallInstant = 1_600_000_000_000

  /// A group of olga's, made long ago.
  private func imported(_ type: GroupType = .public, _ more: String = "") throws -> Scene {
    let scene = Scene()
    let params =
      #"{"groupType":"\#(type.rawValue)","groupName":"n","ownerUserID":"olga","createTime":\#(ImportTests.created)\#(more)}"#
    let made = try scene.ask("importGroup", params, by: "administrator")
    try #require(made.code == 0)
    return scene
  }

  /// Members with the first message since each joined, as the store would find it.
  private func members(_ scene: Scene, _ list: String) throws -> Scene.Outcome {
    let caller = scene.caller("administrator")
    let asked = try groupRequest("importGroupMembers", #"{"memberList":[\#(list)]}"#, by: caller)
    guard case .request(.importGroupMembers(let request), _) = asked else { throw WireError(.invalidRequest) }
    let firstSeqs = request.memberList.reduce(into: [UserID: Int64]()) { found, member in
      guard let joinTime = member.joinTime else { return }
      found[member.userID] = scene.messages.first { $0.timestamp >= joinTime }?.seq
    }
    return try scene.ask(.request(.importGroupMembers(request), UserFacts(firstSeqs: firstSeqs)), by: caller)
  }

  /// Messages of olga's, that many milliseconds after the creation.
  private func messages(_ scene: Scene, at offsets: Int64...) throws -> Scene.Outcome {
    let list = offsets.map { #"{"sender":"olga","timestamp":\#(ImportTests.created + $0),"text":"\#($0)"}"# }
    return try scene.ask("importGroupMessages", #"{"messageList":[\#(list.joined(separator: ","))]}"#, by: "administrator")
  }

  private func seqs(_ scene: Scene, by name: String) throws -> [Int64] {
    let page = try scene.ask("getGroupHistoryMessageList", #"{"direction":"Newer"}"#, by: name).result
    return page["messageList"].elements.compactMap { $0["seq"].integer }
  }

  private func expectSilence(_ outcome: Scene.Outcome, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(outcome.code == 0 && outcome.events.isEmpty && outcome.notifications.isEmpty, sourceLocation: sourceLocation)
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func aGroupIsImportedWithoutEvents(type: GroupType) throws {
    let scene = Scene()
    let fields = #""createTime":5,"introduction":"i","customInfo":{"k":"v"},"maxMemberNum":9"#
    let made = try scene.ask(
      "importGroup", #"{"groupType":"\#(type.rawValue)","groupName":"n","ownerUserID":"olga",\#(fields)}"#, by: "administrator")
    expectSilence(made)
    #expect(made.result == ["groupID": "g"])
    let info = try scene.ask("info", by: "olga").result
    #expect(info["createTime"] == 5 && info["introduction"] == "i" && info["customInfo"] == ["k": "v"])
    #expect(info["maxMemberNum"] == 9 && info["lastSeq"] == 0 && info["owner"] == "olga" && info["memberCount"] == 1)
    #expect(info["selfInfo"]["joinTime"] == 5 && info["selfInfo"]["role"] == "Owner")
    #expect(scene.messages.isEmpty)
  }

  @Test func aSizeOfZeroAndAnEmptyGroupIDCountAsAbsent() throws {
    let scene = Scene()
    let params = #"{"groupType":"Work","groupName":"n","ownerUserID":"olga","groupID":"","maxMemberNum":0}"#
    expectSilence(try scene.ask("importGroup", params, by: "administrator"))
    #expect(try scene.ask("info", by: "olga").result["maxMemberNum"] == 6000)
  }

  @Test func withoutACreateTimeItIsCreatedNow() throws {
    let scene = Scene()
    try scene.ask("importGroup", #"{"groupType":"Work","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
    #expect(scene.state?.record.createTime == scene.clocks.wall)
  }

  @Test func theErrorForAGroupIDInUseTellsItsOwner() throws {
    let scene = try Scene(.public)
    for (owner, code) in [("olga", 10025), ("mary", 10021)] {
      let params = #"{"groupType":"Work","groupName":"n","ownerUserID":"\#(owner)"}"#
      try scene.expectRefused(code, "importGroup", params, by: "administrator")
    }
  }

  @Test(arguments: [GroupType.avChatRoom, .bChatRoom])
  func typesWithoutHistoryCannotBeImported(type: GroupType) throws {
    let fresh = Scene()
    let params = #"{"groupType":"\#(type.rawValue)","groupName":"n","ownerUserID":"olga"}"#
    #expect(try fresh.ask("importGroup", params, by: "administrator").code == 10007)
    #expect(fresh.state == nil)
    let scene = try Scene(type)
    try scene.expectRefused(10007, "importGroupMembers", #"{"memberList":[{"userID":"oscar"}]}"#, by: "administrator")
    try scene.expectRefused(
      10007, "importGroupMessages", #"{"messageList":[{"sender":"mary","timestamp":1,"text":"x"}]}"#, by: "administrator")
  }

  @Test func membersAreImportedWithoutEvents() throws {
    let scene = try imported()
    let list = [
      #"{"userID":"adam","role":"Admin","joinTime":\#(ImportTests.created + 7)}"#, #"{"userID":"mary"}"#,
      #"{"userID":"carl","role":"200"}"#, #"{"userID":"olga"}"#, #"{"userID":"mary","role":"Admin"}"#,
    ]
    let outcome = try members(scene, list.joined(separator: ","))
    expectSilence(outcome)
    #expect(outcome.rows == ["adam Success", "mary Success", "carl Success", "olga Invalid"])
    let found = try #require(scene.state).roster
    #expect(scene.roles == ["olga": .owner, "adam": .admin, "mary": .member, "carl": .custom(200)])
    #expect(found["adam"]?.joinTime == ImportTests.created + 7 && found["mary"]?.joinTime == ImportTests.created)
    #expect(scene.messages.isEmpty)
    let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    #expect(sent.receivers(of: "onRecvNewMessage") == ["adam", "carl", "mary"], "their sessions are attached")
  }

  @Test func eachMemberHasAResult() throws {
    let scene = try imported(.public, #","maxMemberNum":3"#)
    try scene.ask("importGroupMembers", #"{"memberList":[{"userID":"petra"}]}"#, by: "administrator")
    try scene.ask("kickGroupMember", Scene.users(["petra"], #""banTime":60"#), by: "olga")
    let outcome = try scene.ask(
      "importGroupMembers", "{\(Scene.memberList(["petra", "quinn", "mary", "adam", "carl"]))}", by: "administrator",
      UserFacts(unknown: ["quinn"]))
    #expect(outcome.rows == ["petra Fail", "quinn Fail", "mary Success", "adam Success", "carl OverLimit"])
  }

  @Test func aMemberComesWithNameCardCustomInfoAndMuteAndWithoutATip() throws {
    let scene = try imported()
    let end = scene.clocks.wall + .seconds(60)
    let outcome = try members(
      scene,
      #"{"userID":"mary","nameCard":"Mary","customInfo":{"k":"v","none":""},"muteUntil":\#(end)},{"userID":"adam","muteUntil":5}"#
    )
    expectSilence(outcome)
    #expect(outcome.rows == ["mary Success", "adam Success"])
    let mary = try #require(scene.state?.roster["mary"])
    #expect(mary.nameCard == "Mary" && mary.customInfo == ["k": "v"] && mary.muteUntil == end)
    #expect(scene.state?.roster["adam"]?.muteUntil.isSet == false, "a mute that is over is none")
    #expect(scene.messages.isEmpty)
    #expect(try messages(scene, at: 10).code == 0, "no tip ends the imports")
    try scene.expectRefused(10017, "sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "adam").code == 0)
    let muted = try scene.ask("getGroupMutedMembers", by: "olga").result["memberList"].elements
    #expect(muted.map { $0["userID"] } == ["mary"])
  }

  @Test func aRowWithABadValueFailsAndChangesNothing() throws {
    let scene = try imported()
    let bad = [
      #""nameCard":"\#(String(repeating: "a", count: 51))""#, #""nameCard":"a\n""#, #""customInfo":{"a b":"x"}"#,
      #""customInfo":{"a":"1","b":"1","c":"1","d":"1","e":"1","f":"1"}"#, #""muteUntil":-1"#,
    ]
    for value in bad {
      let before = scene.fingerprint
      let outcome = try members(scene, #"{"userID":"mary",\#(value)}"#)
      #expect(outcome.rows == ["mary Fail"] && outcome.events.isEmpty && scene.fingerprint == before, "\(value)")
    }
    let list = #"{"userID":"mary",\#(bad[0])},{"userID":"mary"},{"userID":"adam","nameCard":"A"}"#
    #expect(try members(scene, list).rows == ["mary Fail", "adam Success"], "the first row of a user counts")
    #expect(scene.state?.roster["mary"] == nil && scene.state?.roster["adam"]?.nameCard == "A")
  }

  @Test func aWorkGroupHasNoAdmins() throws {
    let scene = try imported(.work)
    let list = #"{"memberList":[{"userID":"mary"},{"userID":"adam","role":"Admin"}]}"#
    try scene.expectRefused(10007, "importGroupMembers", list, by: "administrator")
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func membersSeeNothingOlderThanTheirJoining(type: GroupType) throws {
    let list =
      #"{"userID":"adam","joinTime":\#(ImportTests.created + 20)},{"userID":"mary"},{"userID":"carl","joinTime":\#(ImportTests.created + 99)}"#
    let (before, after) = (try imported(type), try imported(type))
    _ = try members(before, list)
    expectSilence(try messages(before, at: 10, 20, 20, 30))
    _ = try messages(after, at: 10, 20, 20, 30)
    _ = try members(after, list)
    for scene in [before, after] {
      #expect(try seqs(scene, by: "olga") == [1, 2, 3, 4] && seqs(scene, by: "mary") == [1, 2, 3, 4])
      #expect(try seqs(scene, by: "adam") == (type == .meeting ? [1, 2, 3, 4] : [2, 3, 4]))
      #expect(try seqs(scene, by: "carl") == (type == .meeting ? [1, 2, 3, 4] : []))
      try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
      #expect(try seqs(scene, by: "carl") == (type == .meeting ? [1, 2, 3, 4, 5] : [5]))
    }
  }

  @Test func aSecondImportContinuesTheFirst() throws {
    let scene = try imported()
    let first = try messages(scene, at: 10, 20)
    #expect(first.result == ["resultList": [["seq": 1, "code": 0], ["seq": 2, "code": 0]]])
    #expect(try messages(scene, at: 20, 30).result["resultList"].elements.map { $0["seq"] } == [3, 4])
    let before = scene.fingerprint
    scene.expectNothingDone(try messages(scene, at: 29, 40), code: 10004, before: before, "older than the newest")
    let message = try #require(scene.messages.first)
    #expect(message.sender == "olga" && message.timestamp == ImportTests.created + 10 && message.content == .text("10"))
    #expect(message.platform == .restAPI)
    #expect(try scene.ask("info", by: "olga").result["lastMessageTime"] == .instant(ImportTests.created + 30))
  }

  @Test func aGroupWithOwnMessagesAcceptsNoImport() throws {
    let own: [(Scene) throws -> Void] = [
      { try $0.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga") },
      { try $0.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga") },
    ]
    for happens in own {
      let scene = try imported()
      _ = try messages(scene, at: 10)
      try happens(scene)
      let before = scene.fingerprint
      scene.expectNothingDone(try messages(scene, at: 20), code: 10007, before: before, "a message of its own")
    }
    let scene = try imported()
    try scene.ask("sendGroupTextMessage", #"{"text":"x","onlineUserOnly":true}"#, by: "olga")
    #expect(try messages(scene, at: 10).code == 0, "what is not stored is no message of the group")
  }

  @Test func aRepeatedBatchHasTheSameAnswer() throws {
    let scene = try imported()
    let messages = [
      #"{"sender":"olga","timestamp":5,"text":"a","clientMsgID":"1"}"#,
      #"{"sender":"mary","timestamp":6,"data":"b","clientMsgID":"1"}"#,
    ]
    let batch = #"{"messageList":[\#(messages.joined(separator: ","))]}"#
    let first = try scene.ask("importGroupMessages", batch, by: "administrator")
    #expect(first.result["resultList"].elements.map { $0["seq"] } == [1, 2])
    #expect(try scene.expectNothing("importGroupMessages", batch, by: "administrator") == first.result)
    #expect(scene.messages.map(\.content) == [.text("a"), .custom("b")])
  }

  @Test func importedMessagesDoNotCountAsUnread() throws {
    for type in [GroupType.public, .meeting] {
      let scene = try imported(type)
      _ = try members(scene, #"{"userID":"mary","unreadCount":7},{"userID":"adam"}"#)
      _ = try messages(scene, at: 10, 20)
      let counts = type == .public
      #expect(try scene.ask("unreadCount", by: "mary").result == (counts ? 7 : 0))
      #expect(try scene.ask("unreadCount", by: "adam").result == 0)
      try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
      #expect(try scene.ask("unreadCount", by: "mary").result == (counts ? 8 : 0))
      #expect(try scene.ask("unreadCount", by: "adam").result == (counts ? 1 : 0))
    }
  }

  @Test func membersAndMessagesSurviveARestart() async throws {
    let scene = try imported()
    _ = try messages(scene, at: 10, 20)
    _ = try members(scene, #"{"userID":"mary","joinTime":\#(ImportTests.created + 20),"unreadCount":3}"#)
    try await scene.reload()
    #expect(try seqs(scene, by: "mary") == [2] && scene.ask("unreadCount", by: "mary").result == 3)
    #expect(try messages(scene, at: 30).code == 0)
  }
}
