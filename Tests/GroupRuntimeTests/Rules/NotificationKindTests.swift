import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Which system notification each happening leaves, and for whom.
@Suite struct NotificationKindTests {
  private struct Row: Sendable, CustomTestStringConvertible {
    let method: String
    let params: String
    let by: String
    let kept: [SystemNotification.Kind: Set<UserID>]

    init(_ method: String, _ params: String = "{}", by: String, _ kept: [SystemNotification.Kind: Set<UserID>]) {
      self.method = method
      self.params = params
      self.by = by
      self.kept = kept
    }

    var testDescription: String { "\(method) \(params) by \(by)" }
  }

  private static let everybody: Set<UserID> = ["adam", "carl", "mary", "olga"]

  /// Each change in a Public group that every user may join and invite into.
  private static let rows: [Row] = [
    Row("joinGroup", by: "oscar", [:]),
    Row("inviteUserToGroup", Scene.users(["oscar", "petra"]), by: "mary", [.invitedToGroup: ["oscar", "petra"]]),
    Row("inviteUserToGroup", Scene.users(["oscar"]), by: "administrator", [.invitedToGroup: ["oscar"]]),
    Row("kickGroupMember", Scene.users(["mary", "carl"]), by: "adam", [.kickedOff: ["mary", "carl"]]),
    Row("quitGroup", by: "mary", [.quitGroup: ["mary"]]),
    Row("dismissGroup", by: "olga", [.groupDismissed: everybody]),
    Row("recycleGroup", by: "administrator", [.groupRecycled: everybody]),
    Row("setGroupMemberRole", #"{"userID":"mary","role":"Admin"}"#, by: "olga", [.grantAdmin: ["mary"]]),
    Row("setGroupMemberRole", #"{"userID":"adam","role":"Member"}"#, by: "olga", [.cancelAdmin: ["adam"]]),
    Row("setGroupMemberRole", #"{"userID":"adam","role":"300"}"#, by: "administrator", [.cancelAdmin: ["adam"]]),
    Row("setGroupMemberRole", #"{"userID":"mary","role":"300"}"#, by: "olga", [:]),
    Row("setGroupMemberInfo", #"{"userID":"mary","role":"Admin"}"#, by: "olga", [.grantAdmin: ["mary"]]),
    Row("setGroupMemberInfo", #"{"userID":"mary","nameCard":"M"}"#, by: "mary", [:]),
    Row("transferGroupOwner", #"{"userID":"mary"}"#, by: "olga", [:]),
    Row("transferGroupOwner", #"{"userID":"mary","quit":true}"#, by: "olga", [.quitGroup: ["olga"]]),
    Row("muteGroupMember", #"{"userID":"mary","muteTime":5}"#, by: "olga", [:]),
    Row("muteGroup", #"{"mode":"All"}"#, by: "olga", [:]),
    Row("setGroupInfo", #"{"groupName":"m"}"#, by: "olga", [:]),
    Row("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary", [:]),
    Row("setConversation", #"{"isPinned":true}"#, by: "mary", [:]),
    Row("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary", [:]),
    Row("sendGroupSystemNotification", #"{"content":"x"}"#, by: "administrator", [.custom: everybody]),
    Row(
      "sendGroupSystemNotification", #"{"content":"x","userIDList":["mary","oscar"]}"#, by: "administrator",
      [.custom: ["mary"]]),
  ]

  @Test(arguments: 0..<rows.count, [true, false])
  func eachChangeHasItsNotification(row: Int, notification: Bool) throws {
    let row = NotificationKindTests.rows[row]
    let scene = try Scene(.public) { policy in
      policy.joinMode = .any
      policy.inviteMode = .any
      policy.memberChangeNotification = notification
    }
    let outcome = try scene.ask(row.method, row.params, by: row.by)
    #expect(outcome.code == 0 && outcome.notifications == row.kept, "\(row.testDescription)")
    for (kept, _) in outcome.notified {
      #expect(kept.groupID == "g" && kept.groupName == "n" && kept.timestamp == scene.clocks.wall)
      #expect(try JSON(kept.opUser)["userID"].string == row.by, "\(row.testDescription)")
    }
  }

  @Test(arguments: [GroupType.work, .public, .meeting])
  func aCreationNotifiesTheOwnerOnly(type: GroupType) throws {
    let params = #"{"groupType":"\#(type.rawValue)","groupName":"n","memberList":[{"userID":"mary"}]}"#
    #expect(try Scene().ask("createGroup", params, by: "olga").notifications == [.groupCreated: ["olga"]])
  }

  @Test func aCreationNotifiesTheOwnerNamedByTheApplication() throws {
    let params = #"{"groupType":"Public","groupName":"n","ownerUserID":"olga"}"#
    #expect(try Scene().ask("createGroup", params, by: "administrator").notifications == [.groupCreated: ["olga"]])
  }

  @Test func theLastMemberToQuitGetsBothNotifications() throws {
    let quit = try Scene(.work, members: [:]).ask("quitGroup", by: "olga")
    #expect(quit.notifications == [.groupDismissed: ["olga"], .quitGroup: ["olga"]])
  }

  @Test func applicationsNotifyTheOtherSide() throws {
    for (agrees, kind) in [(true, SystemNotification.Kind.addGroupAccept), (false, .addGroupRefuse)] {
      let scene = try Scene(.public)
      let asked = try scene.ask("joinGroup", #"{"message":"please"}"#, by: "oscar")
      #expect(asked.notifications == [.addGroupRequest: ["adam", "olga"]])
      #expect(try asked.notification(.addGroupRequest).reason == "please")
      let id = try asked.application().id
      #expect(try asked.notification(.addGroupRequest).applicationID == id)
      let decided = try scene.decide(try asked.application(), agrees, reason: "so", by: "adam")
      #expect(decided.notifications == [kind: ["oscar"]])
      #expect(try decided.notification(kind).reason == "so")
      #expect(try decided.notification(kind).applicationID == id)
    }
  }

  @Test func invitationsNotifyTheOtherSide() throws {
    for (agrees, kind) in [(true, SystemNotification.Kind.inviteAccept), (false, .inviteRefuse)] {
      let scene = try Scene(.work) { $0.beInviteMode = .auth }
      let asked = try scene.ask("inviteUserToGroup", Scene.users(["oscar"], #""message":"hi""#), by: "mary")
      #expect(asked.notifications == [.inviteRequest: ["oscar"]])
      let id = try asked.application().id
      #expect(try asked.notification(.inviteRequest).applicationID == id)
      let decided = try scene.decide(try asked.application(), agrees, reason: "so", by: "oscar")
      #expect(decided.notifications == (agrees ? [kind: ["mary"], .invitedToGroup: ["oscar"]] : [kind: ["mary"]]))
      #expect(try decided.notification(kind).reason == "so")
      #expect(decided.notified.allSatisfy { $0.notification.applicationID == id }, "the acceptance and the joining")
    }
  }

  @Test func theNameOfTheGroupIsThatOfTheMoment() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupInfo", #"{"groupName":"before"}"#, by: "olga")
    let kept = try scene.ask("kickGroupMember", Scene.users(["mary"]), by: "olga").notification(.kickedOff)
    try scene.ask("setGroupInfo", #"{"groupName":"after"}"#, by: "olga")
    #expect(kept.groupName == "before" && kept.applicationID == nil)
    #expect(try scene.ask("dismissGroup", by: "olga").notification(.groupDismissed).groupName == "after")
  }

  /// "Not for AVChatRoom and BChatRoom": all that can happen there.
  @Test(arguments: [GroupType.avChatRoom, .bChatRoom])
  func liveRoomsHaveNoNotifications(type: GroupType) throws {
    var done = 0
    for row in NotificationKindTests.rows {
      let scene = try Scene(type)
      let outcome = try scene.ask(row.method, row.params, by: row.by == "adam" ? "olga" : row.by)
      done += outcome.code == 0 ? 1 : 0
      #expect(outcome.notifications.isEmpty, "\(row.testDescription)")
    }
    #expect(done >= 6)
    let params = #"{"groupType":"\#(type.rawValue)","groupName":"n","ownerUserID":"olga"}"#
    #expect(try Scene().ask("createGroup", params, by: "administrator").notifications.isEmpty)
    let auth = try Scene(.avChatRoom, members: ["mary": .member]) { $0.joinMode = .auth }
    let asked = try auth.ask("joinGroup", by: "oscar")
    #expect(asked.notifications.isEmpty && asked.heardBesidesLists == ["onReceiveJoinApplication": ["olga"]])
    #expect(try auth.decide(try asked.application(), true, by: "olga").notifications.isEmpty)
  }
}
