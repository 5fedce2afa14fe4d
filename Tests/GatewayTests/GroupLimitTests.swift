import Testing
import ThrongTestKit

@testable import Gateway

/// `limits.groupsPerUser` in every method that makes a user a member: 10037, and OverLimit in bulk
/// (Protocol.md, "Limits").
@Suite struct GroupLimitTests {
  /// Everybody may be in one group; "full" is in "own".
  private let backend = Backend { $0.groupsPerUser = 1 }

  init() async throws { try await backend.create("own", "Public", by: "full", memberList("guest")) }

  @Test(arguments: ["Any", "Auth"]) func joining(mode: String) async throws {
    try await backend.create("g", "Public", #""joinMode":"\#(mode)""#)
    #expect(try await backend.code("joinGroup", as: "full", #""groupID":"g""#) == 10037)
    #expect(try await backend.result("getGroupApplicationList", as: "olga")["applicationList"] == [])
    _ = try await backend.result("quitGroup", as: "guest", #""groupID":"own""#)
    #expect(try await backend.code("joinGroup", as: "guest", #""groupID":"g""#) == 0, "there is room again")
  }

  /// Group, membership, rights, state (Protocol.md, "Order of errors").
  @Test func otherErrorsOfJoiningComeFirst() async throws {
    try await backend.create("work", "Work", by: "a")
    try await backend.create("closed", "Public", by: "b", #""joinMode":"Forbid""#)
    #expect(try await backend.code("joinGroup", as: "full", #""groupID":"none""#) == 10010)
    #expect(try await backend.code("joinGroup", as: "full", #""groupID":"own""#) == 10013)
    #expect(try await backend.code("joinGroup", as: "full", #""groupID":"work""#) == 8508)
    #expect(try await backend.code("joinGroup", as: "full", #""groupID":"closed""#) == 10007)
  }

  @Test func beingInvited() async throws {
    try await backend.create("g", "Work")
    let rows = try await backend.result(
      "inviteUserToGroup", as: "olga", #""groupID":"g","userIDList":["new","full","olga"]"#)["memberList"]
    #expect(rows.column("result") == ["Success", "OverLimit", "Invalid"])
    #expect(rows.column("userID") == ["new", "full", "olga"])
  }

  @Test func beingInvitedWhereOneIsAsked() async throws {
    try await backend.create("g", "Work", #""beInviteMode":"Auth""#)
    let rows = try await backend.result(
      "inviteUserToGroup", as: "olga", #""groupID":"g","userIDList":["new","full"]"#)["memberList"]
    #expect(rows.column("result") == ["Pending", "OverLimit"])
    let asked = try await backend.result("getGroupApplicationList", as: "new")["applicationList"]
    try await backend.create("other", "Work", by: "new")
    let accept = #""applicationID":"\#(asked[0]["applicationID"].string ?? "")""#
    #expect(try await backend.code("acceptGroupApplication", as: "new", accept) == 10037, "filled up meanwhile")
    #expect(try await backend.code("refuseGroupApplication", as: "new", accept) == 0)
  }

  @Test func beingAccepted() async throws {
    try await backend.create("g", "Public")
    try await backend.apply("ivan", to: "g")
    try await backend.create("ivans", "Work", by: "ivan")
    func open() async throws -> JSON { try await backend.result("getGroupApplicationList", as: "olga")["applicationList"][0] }
    let accept = #""applicationID":"\#(try await open()["applicationID"].string ?? "")""#
    #expect(try await backend.code("acceptGroupApplication", as: "full", accept) == 10007, "rights first")
    #expect(try await backend.code("acceptGroupApplication", as: "olga", accept) == 10037)
    #expect(try await open()["handleStatus"] == "Unhandled")
    _ = try await backend.result("recycleGroup", #""groupID":"ivans""#)
    #expect(try await backend.code("acceptGroupApplication", as: "olga", accept) == 0)
    #expect(try await backend.result("getJoinedGroupList", as: "ivan")["groupList"].column("groupID") == ["g"])
  }

  @Test func beingAnInitialMemberOrTheOwner() async throws {
    let made = try await backend.result(
      "createGroup", as: "olga", #""groupType":"Meeting","groupName":"g",\#(memberList("new", "full", "olga"))"#)
    #expect(made["memberList"].column("result") == ["Success", "OverLimit", "Invalid"])
    #expect(try await backend.code("createGroup", as: "full", #""groupType":"Work","groupName":"g""#) == 10037)
    let named = #""groupType":"Work","groupName":"g","ownerUserID":"full""#
    #expect(try await backend.code("createGroup", named) == 0, "the application is not bound")
    #expect(try await backend.code("createGroup", as: "full", #""groupType":"Work","groupName":"g","groupID":"own""#) == 10025)
  }

  @Test func importsAreNotBound() async throws {
    #expect(try await backend.code("importGroup", #""groupType":"Work","groupName":"g","ownerUserID":"full""#) == 0)
    _ = try await backend.result("importGroup", #""groupType":"Work","groupName":"g","groupID":"g","ownerUserID":"olga""#)
    let rows = try await backend.result("importGroupMembers", #""groupID":"g",\#(memberList("full", "new", "olga"))"#)
    #expect(rows["memberList"].column("result") == ["Success", "Success", "Invalid"])
  }

  @Test func roomsDoNotCount() async throws {
    try await backend.create("r", "AVChatRoom", by: "full")
    try await backend.create("s", "AVChatRoom", by: "olga")
    #expect(try await backend.result("joinGroup", as: "full", #""groupID":"s""#)["status"] == "Joined")
    _ = try await backend.result(
      "createGroup", #""groupType":"BChatRoom","groupName":"b","groupID":"b","ownerUserID":"full""#)
    _ = try await backend.result("setGroupMemberRole", as: "full", #""groupID":"b","userID":"guest","role":"Admin""#)
    try await backend.create("g", "Work", by: "olga")
  }
}
