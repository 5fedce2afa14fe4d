import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// setGroupReceiveMessageOpt.
@Suite struct ReceiveOptionTests {
  /// The users who get a message of olga's.
  private func receivers(_ scene: Scene) throws -> [String] {
    try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").receivers(of: "onRecvNewMessage")
  }

  private func choose(_ option: String, by name: String, _ scene: Scene) throws -> Scene.Outcome {
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"\#(option)"}"#, by: name)
  }

  @Test(arguments: GroupType.allCases, [true, false])
  func theOtherSessionsOfTheUserGetTheEvent(type: GroupType, notification: Bool) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = notification }
    scene.signIn("mary", as: "mary/2")
    let chosen = try choose("NotReceive", by: "mary", scene)
    #expect(chosen.result == [:] as JSON)
    #expect(chosen.heard == ["onReceiveMessageOptChanged": ["mary/2"]])
    #expect(
      try chosen.params("onReceiveMessageOptChanged", to: "mary/2") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "opt": "NotReceive",
      ])
    #expect(chosen.decision.effects.contains(.setReceiveOption("mary", .notReceive)))
    #expect(scene.messages.isEmpty && chosen.notifications.isEmpty)
    #expect(try scene.ask("info", by: "mary").result["selfInfo"]["receiveMessageOpt"] == "NotReceive")
  }

  /// The messages that mary gets under each option, by sender: olga (Owner), adam (Admin), carl
  /// (custom), the application.
  @Test(arguments: [
    ("Receive", ["olga", "adam", "carl", "administrator"]), ("ReceiveNotNotify", ["olga", "adam", "carl", "administrator"]),
    ("ReceiveFromManagers", ["olga", "adam", "administrator"]), ("NotReceive", []),
    ("NotifyFromManagers", ["olga", "adam", "carl", "administrator"]),
  ])
  func theOptionSelectsMessages(option: String, senders: [String]) throws {
    for type in [GroupType.work, .public, .meeting, .avChatRoom] {
      let scene = try Scene(type)
      _ = try choose(option, by: "mary", scene)
      for sender in ["olga", "adam", "carl", "administrator"] {
        let sent = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: sender)
        let others = Set(["olga", "adam", "carl"]).subtracting([sender])
        #expect(Set(sent.receivers(of: "onRecvNewMessage")) == (senders.contains(sender) ? others.union(["mary"]) : others))
      }
      let own = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
      #expect(own.receivers(of: "onRecvNewMessage") == ["adam", "carl", "olga"])
    }
  }

  /// A node of the release before knows no such word, and need not: all messages are sent.
  @Test func whoIsNotifiedOfManagersIsAttachedAsWhoReceivesAll() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    scene.signIn("mary", as: "mary/2")
    let chosen = try choose("NotifyFromManagers", by: "mary", scene)
    #expect(chosen.decision.effects.contains(.setReceiveOption("mary", .receive)))
    #expect(try chosen.params("onReceiveMessageOptChanged", to: "mary/2")["opt"] == "NotifyFromManagers")
    #expect(try scene.ask("info", by: "mary").result["selfInfo"]["receiveMessageOpt"] == "NotifyFromManagers")
    #expect(scene.state?.receiveOption(of: "mary") == .receive)
    try scene.expectNothing("setGroupReceiveMessageOpt", #"{"opt":"NotifyFromManagers"}"#, by: "mary")
    scene.signIn("mary", as: "mary/3")
    #expect(try receivers(scene) == ["adam", "carl", "mary", "mary/2", "mary/3"])
  }

  @Test func theOwnMessagesOnAnotherDeviceFollowTheOptionToo() throws {
    let scene = try Scene(.public)
    scene.signIn("mary", as: "mary/2")
    _ = try choose("NotReceive", by: "mary", scene)
    let own = try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    #expect(own.receivers(of: "onRecvNewMessage") == ["adam", "carl", "olga"])
  }

  @Test func theOptionDoesNotSelectOtherEvents() throws {
    let scene = try Scene(.public)
    _ = try choose("NotReceive", by: "mary", scene)
    #expect(try scene.ask("setGroupInfo", #"{"groupName":"m"}"#, by: "olga").receivers(of: "onGroupInfoChanged").contains("mary"))
    #expect(try scene.ask("quitGroup", by: "carl").receivers(of: "onMemberLeave").contains("mary"))
  }

  @Test func aSessionThatBeginsLaterHasTheOption() throws {
    let scene = try Scene(.public)
    _ = try choose("NotReceive", by: "mary", scene)
    scene.signIn("mary", as: "mary/2")
    #expect(try receivers(scene) == ["adam", "carl"])
    _ = try choose("Receive", by: "mary/2", scene)
    #expect(try receivers(scene) == ["adam", "carl", "mary", "mary/2"])
  }

  @Test func settingThePresentOptionChangesNothing() throws {
    let defaults: [(GroupType, String)] = [
      (.work, "Receive"), (.public, "Receive"), (.meeting, "ReceiveNotNotify"), (.avChatRoom, "ReceiveNotNotify"),
      (.bChatRoom, "ReceiveNotNotify"),
    ]
    for (type, option) in defaults {
      try Scene(type).expectNothing("setGroupReceiveMessageOpt", #"{"opt":"\#(option)"}"#, by: "mary")
    }
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom])
  func outsidersAreRefused(type: GroupType) throws {
    try Scene(type).expectRefused(10007, "setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "oscar")
  }

  @Test func rejoiningResetsTheOption() throws {
    let scene = try Scene(.public) { $0.joinMode = .any }
    _ = try choose("NotReceive", by: "mary", scene)
    try scene.ask("quitGroup", by: "mary")
    try scene.ask("joinGroup", by: "mary")
    #expect(try scene.ask("info", by: "mary").result["selfInfo"]["receiveMessageOpt"] == "Receive")
    #expect(try receivers(scene).contains("mary"))
  }
}
