import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// "With isMemberVisible false only managers may list or read other members (roles and inviters
/// included)".
@Suite struct MemberVisibilityTests {
  /// A method that reads members, whether it names any, and what it takes to ask about some.
  private static let reads: [(method: String, namesUsers: Bool)] = [
    ("getGroupMemberList", false), ("getGroupMutedMembers", false), ("getGroupMembersInfo", true),
    ("getGroupMemberInviters", true), ("getGroupMemberRoles", true),
  ]

  private static let readers: [(name: String, isManager: Bool)] = [
    ("olga", true), ("adam", true), ("administrator", true), ("mary", false), ("carl", false),
  ]

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom], 0..<reads.count)
  func onlyManagersReadOthers(type: GroupType, read: Int) throws {
    let (method, namesUsers) = MemberVisibilityTests.reads[read]
    let scene = try Scene(type) { $0.isMemberVisible = false }
    let open = try Scene(type)
    for (name, isManager) in MemberVisibilityTests.readers {
      for others in [["olga"], ["mary", "carl", "adam"], ["oscar"]] {
        let params = namesUsers ? Scene.users(others) : "{}"
        #expect(try open.ask(method, params, by: name).code == 0, "\(name) where members are visible")
        if isManager {
          #expect(try scene.ask(method, params, by: name).code == 0, "\(name) about \(others)")
        } else {
          try scene.expectRefused(10007, method, params, by: name)
        }
      }
    }
    try scene.expectRefused(10007, method, namesUsers ? Scene.users(["oscar"]) : "{}", by: "oscar")
    try open.expectRefused(10007, method, namesUsers ? Scene.users(["oscar"]) : "{}", by: "oscar")
  }

  @Test(arguments: reads.filter(\.namesUsers).map(\.method))
  func everyMemberReadsTheOwnRow(method: String) throws {
    let scene = try Scene(.public) { $0.isMemberVisible = false }
    for name in ["mary", "carl"] {
      #expect(try scene.ask(method, Scene.users([name]), by: name).code == 0)
      try scene.expectRefused(10007, method, Scene.users([name, "olga"]), by: name)
    }
  }

  @Test func everyMemberReadsTheOnlineCount() throws {
    let scene = try Scene(.public) { $0.isMemberVisible = false }
    #expect(try scene.ask("getGroupOnlineMemberCount", by: "mary").result["count"] == 4)
  }

  @Test(arguments: readers.map(\.name) + ["oscar"])
  func aBChatRoomHasNoList(name: String) throws {
    let scene = try Scene(.bChatRoom)
    for (method, namesUsers) in MemberVisibilityTests.reads where method != "getGroupMemberRoles" {
      try scene.expectRefused(10007, method, namesUsers ? Scene.users([name == "administrator" ? "olga" : name]) : "{}", by: name)
    }
  }
}

/// getGroupMemberInviters and getGroupMemberRoles.
@Suite struct InvitersAndRolesTests {
  @Test func aRowForEachUserAskedAbout() throws {
    let scene = try Scene(.work)
    try scene.ask("inviteUserToGroup", Scene.users(["oscar"]), by: "mary")
    try scene.ask("inviteUserToGroup", Scene.users(["petra"]), by: "administrator")
    let inviters = try scene.ask("getGroupMemberInviters", Scene.users(["oscar", "petra", "mary", "quinn"]), by: "carl").result
    #expect(
      inviters == [
        "inviterList": [
          ["userID": "oscar", "inviter": "mary"], ["userID": "petra", "inviter": "administrator"], ["userID": "mary"],
          ["userID": "quinn"],
        ]
      ])
    let roles = try scene.ask("getGroupMemberRoles", Scene.users(["olga", "adam", "carl", "oscar", "quinn"]), by: "mary").result
    #expect(
      roles == [
        "roleList": [
          ["userID": "olga", "role": "Owner"], ["userID": "adam", "role": "Admin"], ["userID": "carl", "role": "200"],
          ["userID": "oscar", "role": "Member"], ["userID": "quinn", "role": "NotMember"],
        ]
      ])
  }

  @Test func aJoinerHasNoInviterAndAnInitialMemberTheOwner() throws {
    let scene = Scene()
    try scene.ask(
      "createGroup", #"{"groupType":"Public","groupName":"n","joinMode":"Any","memberList":[{"userID":"mary"}]}"#, by: "olga")
    try scene.ask("joinGroup", by: "oscar")
    let inviters = try scene.ask("getGroupMemberInviters", Scene.users(["olga", "mary", "oscar"]), by: "olga").result
    #expect(inviters["inviterList"].elements.map { $0["inviter"] } == [.null, "olga", .null])
  }

  @Test func everyUserIsAMemberOfABChatRoom() throws {
    let scene = try Scene(.bChatRoom)
    let roles = try scene.ask("getGroupMemberRoles", Scene.users(["olga", "adam", "oscar", "quinn"]), by: "oscar").result
    #expect(roles["roleList"].elements.map { $0["role"] } == ["Owner", "Admin", "Member", "Member"])
  }
}
