import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// sendGroupSystemNotification: "onReceiveRESTCustomData, to the members named by the
/// administrator, or all" (Protocol.md, "Application methods").
@Suite struct CustomDataTests {
  private let toAll = #"{"content":"d\u0000é"}"#

  @Test(arguments: GroupType.allCases, [true, false])
  func withoutNamesEveryMemberGetsIt(type: GroupType, notification: Bool) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = notification }
    scene.signIn("mary", as: "mary/2")
    let sent = try scene.ask("sendGroupSystemNotification", toAll, by: "administrator")
    let everybody = ["adam", "carl", "mary", "mary/2", "olga"] + (type == .bChatRoom ? ["oscar"] : [])
    #expect(sent.heard == ["onReceiveRESTCustomData": everybody])
    #expect(
      try sent.params("onReceiveRESTCustomData", to: "mary") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "customData": "d\0é", "platform": "RESTful API",
      ])
    #expect(scene.messages.isEmpty, "it is no message")
    #expect(sent.notifications == (type.storesMessages ? [.custom: ["adam", "carl", "mary", "olga"]] : [:]))
  }

  @Test(arguments: GroupType.allCases)
  func namedUsersGetItIfTheyAreMembers(type: GroupType) throws {
    let scene = try Scene(type)
    let params = #"{"content":"d","userIDList":["mary","oscar","olga","mary"]}"#
    let sent = try scene.ask("sendGroupSystemNotification", params, by: "administrator")
    #expect(sent.receivers(of: "onReceiveRESTCustomData") == ["mary", "olga"] + (type == .bChatRoom ? ["oscar"] : []))
    #expect(sent.events.values.allSatisfy { $0.count == 1 })
    #expect(sent.notifications == (type.storesMessages ? [.custom: ["mary", "olga"]] : [:]))
  }

  @Test func namingNoMemberDoesNothing() throws {
    let scene = try Scene(.public)
    try scene.expectNothing(
      "sendGroupSystemNotification", #"{"content":"d","userIDList":["oscar","petra"]}"#, by: "administrator")
  }

  @Test func itIsAControlEventForEveryReceiveOption() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary")
    let sent = try scene.ask("sendGroupSystemNotification", toAll, by: "administrator")
    #expect(sent.receivers(of: "onReceiveRESTCustomData").contains("mary"))
    guard case .publish(_, .control, except: nil)? = sent.decision.effects.first else {
      Issue.record("\(sent.decision.effects)")
      return
    }
  }

  @Test func theNotificationHoldsTheDataAndNamesTheApplication() throws {
    let sent = try Scene(.work).ask("sendGroupSystemNotification", toAll, by: "administrator")
    let notification = try sent.notification(.custom)
    #expect(notification.data == "d\0é" && notification.reason == nil && notification.groupID == "g")
    #expect(try JSON(notification.opUser) == Person.administrator)
  }
}
