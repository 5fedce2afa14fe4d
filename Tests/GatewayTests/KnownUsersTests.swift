import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// `users.requireKnown`: 10019, and Fail in bulk methods (Protocol.md, "Known users").
@Suite struct KnownUsersTests {
  /// Mary and olga are known.
  private let strict = Backend { $0.requiresKnownUsers = true }

  init() { strict.store.inner.remember(["mary", "olga"]) }

  private func known(_ users: UserID...) async throws -> Set<UserID> { try await strict.store.inner.known(among: users) }

  @Test func strangersAreNoInitialMembers() async throws {
    let made = try await strict.result(
      "createGroup", as: "olga", #""groupType":"Public","groupName":"g",\#(memberList("mary", "nobody"))"#)
    #expect(made["memberList"].column("result") == ["Success", "Fail"])
    #expect(try await known("nobody") == [], "being listed does not make known")
  }

  @Test func asUserMakesKnown() async throws {
    try await strict.create("g", "Work", by: "new")
    #expect(try await known("new") == ["new"])
  }

  @Test func anOwnerWhomTheApplicationNamesMustBeKnown() async throws {
    for method in ["createGroup", "importGroup"] {
      let stranger = try await strict.rpc(method, #"{"groupType":"Public","groupName":"g","ownerUserID":"ghost"}"#)["error"]
      #expect(stranger["code"] == 10019 && stranger["data"]["field"] == "ownerUserID", "\(method)")
      #expect(try await strict.code(method, #""groupType":"Public","groupName":"g","ownerUserID":"mary""#) == 0, "\(method)")
    }
    #expect(try await known("ghost") == [])
  }

  @Test func strangersAreNotInvited() async throws {
    try await strict.create("g", "Work")
    let rows = try await strict.result(
      "inviteUserToGroup", as: "olga", #""groupID":"g","userIDList":["nobody","mary","olga"]"#)
    #expect(rows["memberList"].column("result") == ["Fail", "Success", "Invalid"])
    #expect(try await known("nobody") == [])
  }

  @Test func strangersAreNotImported() async throws {
    try await strict.create("g", "Public")
    let rows = try await strict.result("importGroupMembers", #""groupID":"g",\#(memberList("nobody", "mary"))"#)
    #expect(rows["memberList"].column("result") == ["Fail", "Success"])
    #expect(try await known("nobody") == [])
    _ = try await strict.result("importUsers", #""userIDList":["nobody"]"#)
    let again = try await strict.result("importGroupMembers", #""groupID":"g",\#(memberList("nobody"))"#)
    #expect(again["memberList"].column("result") == ["Success"])
  }

  /// Elsewhere the target is a member, and so known; in a BChatRoom anybody may be named.
  @Test(arguments: [("setGroupMemberRole", #""role":"Admin""#), ("setGroupMemberInfo", #""nameCard":"N""#)])
  func strangersAreNothingInABChatRoom(method: String, change: String) async throws {
    _ = try await strict.result(
      "createGroup", #""groupType":"BChatRoom","groupName":"b","groupID":"b","ownerUserID":"olga""#)
    let error = try await strict.rpc(method, as: "olga", #""groupID":"b","userID":"ghost",\#(change)"#)["error"]
    #expect(error["code"] == 10019 && error["data"]["field"] == "userID")
    #expect(try await strict.code(method, as: "mary", #""groupID":"b","userID":"ghost",\#(change)"#) == 10007, "rights first")
    #expect(try await strict.code(method, as: "olga", #""groupID":"none","userID":"ghost",\#(change)"#) == 10010)
    #expect(try await strict.code(method, as: "olga", #""groupID":"b","userID":"mary",\#(change)"#) == 0)
    #expect(try await known("ghost") == [])
  }

  /// In a live room with moderators anybody may be given a role.
  @Test func strangersAreGivenNoRoleInALiveRoom() async throws {
    var configuration = RightsConfiguration()
    configuration.moderatesLiveRooms = true
    let strict = Backend(rules: GroupRules(permissions: GroupPermissions(configuration))) { $0.requiresKnownUsers = true }
    strict.store.inner.remember(["mary", "olga"])
    _ = try await strict.result("createGroup", as: "olga", #""groupType":"AVChatRoom","groupName":"r","groupID":"r""#)
    func role(_ users: String) -> String { #""groupID":"r",\#(users),"role":"Admin""# }
    let error = try await strict.rpc("setGroupMemberRole", as: "olga", role(#""userID":"ghost""#))["error"]
    #expect(error["code"] == 10019 && error["data"]["field"] == "userID")
    #expect(try await strict.code("setGroupMemberRole", as: "mary", role(#""userID":"ghost""#)) == 10007, "rights first")
    let rows = try await strict.result("setGroupMemberRole", as: "olga", role(#""userIDList":["ghost","mary","@x"]"#))
    #expect(rows["memberList"].column("result") == ["Fail", "Success", "Fail"])
    #expect(rows["memberList"].column("userID") == ["ghost", "mary", "@x"])
    #expect(try await strict.store.inner.known(among: ["ghost"]) == [])
  }

  @Test func elsewhereBeingImportedMakesKnownAndBeingNamedDoesNot() async throws {
    let open = Backend()
    try await open.create("g", "Work", memberList("mary"))
    _ = try await open.result("createGroup", #""groupType":"Work","groupName":"o","ownerUserID":"otto""#)
    _ = try await open.result("inviteUserToGroup", as: "olga", #""groupID":"g","userIDList":["ivan"]"#)
    _ = try await open.result("importGroupMembers", #""groupID":"g",\#(memberList("nick"))"#)
    _ = try await open.result("importGroup", #""groupType":"Work","groupName":"h","ownerUserID":"hans""#)
    let all = ["olga", "nick", "hans"] as Set<UserID>
    #expect(try await open.store.inner.known(among: Array(all) + ["ghost", "mary", "ivan", "otto"]) == all)
    #expect(try await open.result("getStats")["users"] == 3)
  }

  // MARK: Nobody is known for a call that was refused

  @Test func aRefusedCallMakesNobodyKnown() async throws {
    let open = Backend()
    try await open.create("g", "Work")
    let ghosts = (0..<100).map { #""ghost\#($0)""# }.joined(separator: ",")
    #expect(try await open.code("inviteUserToGroup", as: "olga", #""groupID":"none","userIDList":[\#(ghosts)]"#) == 10010)
    #expect(try await open.code("inviteUserToGroup", as: "ivan", #""groupID":"g","userIDList":[\#(ghosts)]"#) == 10007)
    #expect(try await open.code("importGroupMembers", #""groupID":"none",\#(memberList("ghost"))"#) == 10010)
    let taken = #""groupType":"Work","groupName":"g","groupID":"g""#
    #expect(try await open.code("createGroup", as: "ivan", #"\#(taken),\#(memberList("ghost"))"#) != 0)
    for method in ["createGroup", "importGroup"] {
      #expect(try await open.code(method, #"\#(taken),"ownerUserID":"ghost""#) != 0, "\(method)")
    }
    #expect(try await open.result("getStats")["users"] == 2, "olga and ivan")
  }

  @Test func aRowThatFailsMakesNobodyKnown() async throws {
    let open = Backend()
    try await open.create("g", "Work", #""beInviteMode":"Auth""#)
    let asked = try await open.result("inviteUserToGroup", as: "olga", #""groupID":"g","userIDList":["ivan"]"#)
    #expect(asked["memberList"].column("result") == ["Pending"])
    #expect(try await open.result("getStats")["users"] == 1)
    try await open.create("h", "Work", #""maxMemberNum":2"#)
    let rows = try await open.result("importGroupMembers", #""groupID":"h",\#(memberList("mary", "nick"))"#)
    #expect(rows["memberList"].column("result") == ["Success", "OverLimit"])
    let all = ["olga", "mary"] as Set<UserID>
    #expect(try await open.store.inner.known(among: Array(all) + ["nick", "ivan"]) == all)
  }
}
