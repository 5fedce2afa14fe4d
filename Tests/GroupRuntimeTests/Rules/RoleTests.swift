import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// setGroupMemberRole.
@Suite struct RoleTests {
  private func role(_ name: String, of user: String = "mary") -> String { #"{"userID":"\#(user)","role":"\#(name)"}"# }

  /// A change, the event that tells of it, and the tip and notification that keep it.
  struct Change: Sendable, CustomTestStringConvertible {
    let before: String
    let after: String
    let event: String
    let tip: String
    let kind: SystemNotification.Kind?

    var testDescription: String { "\(before) → \(after)" }
  }

  private static let changes: [Change] = {
    let roles = ["Admin", "Member", "100", "2147483647"]
    return roles.flatMap { before in
      roles.filter { $0 != before }.map { after in
        if after == "Admin" {
          return Change(before: before, after: after, event: "onGrantAdministrator", tip: "SetAdmin", kind: .grantAdmin)
        }
        if before == "Admin" {
          return Change(before: before, after: after, event: "onRevokeAdministrator", tip: "CancelAdmin", kind: .cancelAdmin)
        }
        return Change(before: before, after: after, event: "onGroupMemberInfoChanged", tip: "MemberInfoChange", kind: nil)
      }
    }
  }()

  private func scene(_ type: GroupType, _ change: Change, notification: Bool) throws -> Scene {
    let role = try #require(Role(wireName: change.before))
    return try Scene(type, members: ["adam": .admin, "mary": role, "carl": .custom(200)]) {
      $0.memberChangeNotification = notification
    }
  }

  @Test(arguments: changes, [true, false])
  func eachDirectionHasItsEventAndItsTip(change: Change, notification: Bool) throws {
    for type in [GroupType.public, .meeting] {
      let scene = try scene(type, change, notification: notification)
      let given = try scene.ask("setGroupMemberRole", role(change.after), by: "olga")
      #expect(given.result == [:] as JSON)
      #expect(given.heard == [change.event: notification ? ["adam", "carl", "mary", "olga"] : ["mary", "olga"]])
      let event = try given.params(change.event, to: "mary")
      #expect(event["opUser"] == Person.olga && event["platform"] == "Web")
      let mary: JSON = ["userID": "mary", "nameCard": "", "role": .string(change.after)]
      let entry: JSON = ["userID": "mary", "role": .string(change.after)]
      let list = change.kind == nil ? "changeInfoList" : "memberList"
      let content: JSON = change.kind == nil ? [entry] : [mary]
      #expect(event[list] == content)
      let tip: JSON = .object([
        "type": .string(change.tip), "opUser": Person.olga, list: content, "memberCount": 4,
      ])
      #expect(try scene.tips == (notification ? [tip] : []))
      #expect((event["seq"], event["msgID"].string) == (notification ? 1 : .null, scene.messages.first?.msgID))
      #expect(given.notifications == (change.kind.map { [$0: ["mary"]] } ?? [:]))
      let roles = try scene.ask("getGroupMemberRoles", Scene.users(["mary", "olga", "oscar"]), by: "carl").result["roleList"]
      #expect(roles.elements.map { $0["role"] } == [.string(change.after), "Owner", "NotMember"])
    }
  }

  @Test(arguments: ["Admin", "Member", "100"])
  func settingThePresentRoleChangesNothing(name: String) throws {
    let role = try #require(Role(wireName: name))
    try Scene(.public, members: ["mary": role]).expectNothing("setGroupMemberRole", self.role(name), by: "olga")
  }

  @Test func theListShowsTheNewRole() throws {
    let scene = try Scene(.public)
    _ = try scene.ask("getGroupMemberList", by: "carl")
    try scene.ask("setGroupMemberRole", role("Admin", of: "carl"), by: "olga")
    let list = try scene.ask("getGroupMemberList", #"{"filter":"Admin"}"#, by: "carl").result["memberList"]
    #expect(list.elements.map { $0["userID"] } == ["adam", "carl"])
  }

  @Test(arguments: GroupType.allCases)
  func rolesFollowTheTable(type: GroupType) throws {
    let givers = [.public, .meeting, .bChatRoom].contains(type) ? ["olga", "administrator"] : []
    for name in ["olga", "adam", "mary", "oscar", "administrator"] {
      let scene = try Scene(type)
      if givers.contains(name) {
        #expect(try scene.ask("setGroupMemberRole", role("Admin", of: "carl"), by: name).code == 0, "\(type) \(name)")
        #expect(scene.state?.roster["carl"]?.role == .admin)
      } else {
        try scene.expectRefused(10007, "setGroupMemberRole", role("Admin", of: "carl"), by: name)
      }
    }
  }

  @Test func theOwnerTheCallerAndOutsidersGetNoRole() throws {
    let scene = try Scene(.public)
    for target in ["olga", "oscar"] {
      for name in ["olga", "administrator"] {
        try scene.expectRefused(10007, "setGroupMemberRole", role("Member", of: target), by: name)
      }
    }
  }

  @Test func anApplicationAdministratorIsNamedAndGetsNoEvent() throws {
    let scene = try Scene(.public) { $0.memberChangeNotification = false }
    let given = try scene.ask("setGroupMemberRole", role("Admin"), by: "administrator")
    #expect(given.heard == ["onGrantAdministrator": ["mary"]])
    #expect(try given.params("onGrantAdministrator", to: "mary")["opUser"] == Person.administrator)
    #expect(try JSON(given.notification(.grantAdmin).opUser) == Person.administrator)
  }

  @Test func rightsBeginAndEndWithTheRole() throws {
    let scene = try Scene(.public)
    try scene.expectRefused(10007, "kickGroupMember", Scene.users(["carl"]), by: "mary")
    try scene.ask("setGroupMemberRole", role("Admin"), by: "olga")
    #expect(try scene.ask("kickGroupMember", Scene.users(["carl"]), by: "mary").rows == ["carl Success"])
    try scene.ask("setGroupMemberRole", role("100"), by: "olga")
    try scene.expectRefused(10007, "kickGroupMember", Scene.users(["adam"]), by: "mary")
  }
}
