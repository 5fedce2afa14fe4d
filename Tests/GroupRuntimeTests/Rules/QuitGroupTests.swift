import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// quitGroup.
@Suite struct QuitGroupTests {
  @Test(arguments: [GroupType.work, .public, .meeting])
  func theRemainingMembersAndTheQuitterGetTheirEvents(type: GroupType) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = true }
    scene.signIn("mary", as: "mary/2")
    let quit = try scene.ask("quitGroup", by: "mary")
    #expect(quit.result == [:] as JSON)
    #expect(quit.receivers(of: "onMemberLeave") == ["adam", "carl", "olga"])
    #expect(quit.receivers(of: "onQuitFromGroup") == ["mary", "mary/2"])
    #expect(quit.events.count == 5)
    let event = try quit.params("onMemberLeave", to: "olga")
    #expect(event["memberList"] == [["userID": "mary", "nameCard": "", "role": "Member"]])
    #expect(event["memberCount"] == 3 && event["seq"] == 1)
    #expect(try quit.params("onQuitFromGroup", to: "mary").names == ["groupID", "opTime", "platform"])
    #expect(scene.state?.roster["mary"] == nil)
  }

  @Test(arguments: [GroupType.public, .avChatRoom])
  func withNotificationOffOnlyTheQuitterGetsAnEvent(type: GroupType) throws {
    let scene = try Scene(type) { $0.memberChangeNotification = false }
    let quit = try scene.ask("quitGroup", by: "mary")
    #expect(quit.events.keys.sorted() == ["mary"])
    #expect(quit.names("mary") == ["onQuitFromGroup"])
    #expect(scene.messages.isEmpty)
  }

  @Test func aFormerMemberGetsNoMoreEvents() throws {
    let scene = try Scene(.public)
    try scene.ask("quitGroup", by: "mary")
    #expect(
      try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").receivers(of: "onRecvNewMessage") == ["adam", "carl"])
    scene.signIn("mary", as: "mary/2")
    #expect(
      try scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").receivers(of: "onRecvNewMessage") == ["adam", "carl"])
    #expect(try scene.ask("quitGroup", by: "mary").code == 10007)
  }

  @Test func theEarliestMemberBecomesOwnerWithAnyRole() throws {
    let scene = try Scene(.public, members: ["mary": .member, "carl": .admin]) { $0.ownerQuitMode = .transfer }
    let quit = try scene.ask("quitGroup", by: "olga")
    #expect(quit.code == 0)
    #expect(scene.state?.record.owner == "mary")
    #expect(scene.roles == ["mary": .owner, "carl": .admin])
    let change = try quit.params("onGroupInfoChanged", to: "carl")
    #expect(change["changeInfoList"] == [["type": "Owner", "value": "mary"]])
    #expect(change["opUser"]["userID"] == "olga" && change["platform"] == "Web")
    #expect(quit.receivers(of: "onMemberLeave") == ["carl", "mary"])
    #expect(quit.receivers(of: "onQuitFromGroup") == ["olga"])
    #expect(quit.names("carl") == ["onGroupInfoChanged", "onMemberLeave"], "no grant and no revoke")
    #expect(try quit.params("onMemberLeave", to: "carl")["memberCount"] == 2)
    #expect(scene.messages.map(\.seq) == [1, 2])
  }

  @Test func amongMembersOfOneInstantTheOrderOfTheListDecides() throws {
    for names in [["zoe", "adam", "mary"], ["mary", "zoe", "adam"], ["adam", "mary", "zoe"]] {
      let scene = Scene(users: ["olga"] + names)
      let list = names.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",")
      try scene.ask("createGroup", #"{"groupType":"Work","groupName":"n","memberList":[\#(list)]}"#, by: "olga")
      for (owner, successor) in zip(["olga"] + names, names) {
        try scene.ask("quitGroup", by: owner)
        #expect(scene.state?.record.owner.rawValue == successor)
      }
    }
  }

  @Test func aFormerOwnerRejoinsAsTheNewestMember() throws {
    let scene = try Scene(.public) {
      $0.ownerQuitMode = .transfer; $0.joinMode = .any
    }
    try scene.ask("quitGroup", by: "olga")
    try scene.ask("joinGroup", by: "olga")
    #expect(scene.state?.roster["olga"]?.role == .member)
    try scene.ask("quitGroup", by: "adam")
    #expect(scene.state?.record.owner == "mary")
  }

  @Test func whenTheLastMemberQuitsTheGroupIsDisbanded() throws {
    let scene = try Scene(.work, members: [:])
    let quit = try scene.ask("quitGroup", by: "olga")
    #expect(quit.code == 0)
    #expect(quit.names("olga") == ["onQuitFromGroup", "onGroupDismissed"])
    #expect(quit.events.count == 1)
    #expect(try quit.params("onGroupDismissed", to: "olga")["opUser"]["userID"] == "olga")
    #expect(try scene.ask("info", by: "olga").code == 10010)
  }

  @Test(arguments: [
    (GroupType.work, 0), (.public, 10009), (.meeting, 10009), (.avChatRoom, 10009), (.bChatRoom, 10007),
  ])
  func byDefaultTheTypeDecidesAboutTheOwner(type: GroupType, code: Int) throws {
    #expect(try Scene(type).ask("quitGroup", by: "olga").code == code)
  }

  @Test func ownerQuitModeForbidAppliesToTheLastMemberToo() throws {
    for members in [[:], ["mary": Role.member]] {
      #expect(
        try Scene(.work, members: members, policy: { $0.ownerQuitMode = .forbid }).ask("quitGroup", by: "olga").code == 10009)
    }
    // A fixed mode is the type's, whatever a record says.
    #expect(try Scene(.avChatRoom, policy: { $0.ownerQuitMode = .transfer }).ask("quitGroup", by: "olga").code == 10009)
  }

  @Test(arguments: GroupType.allCases)
  func outsidersCannotQuit(type: GroupType) throws {
    #expect(try Scene(type).ask("quitGroup", by: "oscar").code == 10007)
  }
}
