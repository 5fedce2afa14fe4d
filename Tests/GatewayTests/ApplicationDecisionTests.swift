import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// acceptGroupApplication and refuseGroupApplication, and the order of their errors (Protocol.md,
/// "Decisions" and "Order of errors").
@Suite struct ApplicationDecisionTests {
  private static let methods = ["acceptGroupApplication", "refuseGroupApplication"]
  private let backend = Backend()

  /// A group of olga with the admin nick and the member otto, to which mary has applied.
  /// - Returns: the application, as the decisions want it.
  private func applied(_ more: String = "") async throws -> String {
    let members = #""memberList":[{"userID":"nick","role":"Admin"},{"userID":"otto"}]"#
    try await backend.create("g", "Public", members + more)
    try await backend.apply("mary", to: "g")
    return try await newest("olga")
  }

  private func newest(_ user: String) async throws -> String {
    let list = try await backend.result("getGroupApplicationList", as: user)["applicationList"]
    return #""applicationID":"\#(try #require(list[0]["applicationID"].string))""#
  }

  private func members() async throws -> [JSON] {
    try await backend.result("getGroupMemberList", #""groupID":"g""#)["memberList"].column("userID")
  }

  private func kinds(_ user: String) async throws -> [JSON] {
    try await backend.result("getSystemNotificationList", as: user)["notificationList"].column("type")
  }

  // MARK: Codes

  @Test(arguments: methods) func oneThatIsNoneIsABadValue(method: String) async throws {
    _ = try await applied()
    for id in ["none", "", String(repeating: "x", count: 5000)] {
      let error = try await backend.rpc(method, as: "olga", #""applicationID":"\#(id)""#)["error"]
      #expect(error["code"] == 10004 && error["data"]["field"] == "applicationID")
    }
  }

  @Test(arguments: methods) func onlyWhoMayDecideDoes(method: String) async throws {
    let id = try await applied()
    for user in ["mary", "otto", "stranger"] { #expect(try await backend.code(method, as: user, id) == 10007, "\(user)") }
    #expect(try await backend.code(method, as: "nick", id) == 0)
    for user in ["otto", "stranger"] { #expect(try await backend.code(method, as: user, id) == 10007, "rights before state") }
    for user in ["olga", "nick", nil] { #expect(try await backend.code(method, as: user, id) == 10024, "\(user ?? "")") }
    #expect(try await members().contains("mary") == (method == "acceptGroupApplication"))
  }

  @Test(arguments: methods) func anInvitationIsTheInvitedUsersToDecide(method: String) async throws {
    try await backend.create("g", "Work", #""beInviteMode":"Auth""#)
    try await backend.bring("ivan", into: "g")
    _ = try await backend.result("inviteUserToGroup", as: "ivan", #""groupID":"g","userIDList":["mary"]"#)
    let id = try await newest("mary")
    for user in ["ivan", "olga", "stranger", nil] {
      #expect(try await backend.code(method, as: user, id) == 10007, "\(user ?? "")")
    }
    #expect(try await backend.code(method, as: "mary", id) == 0)
    #expect(try await backend.code(method, as: "mary", id) == 10024)
    #expect(try await members().contains("mary") == (method == "acceptGroupApplication"))
  }

  @Test(arguments: methods) func aGroupThatIsGoneComesBeforeEverythingElse(method: String) async throws {
    let id = try await applied()
    try await backend.apply("pavel", to: "g")
    let handled = try await newest("olga")
    _ = try await backend.result("refuseGroupApplication", as: "olga", handled)
    _ = try await backend.result("dismissGroup", as: "olga", #""groupID":"g""#)
    for user in ["olga", "stranger", nil] {
      for id in [id, handled] { #expect(try await backend.code(method, as: user, id) == 10010, "\(user ?? "")") }
    }
    try await backend.create("g", "Public", memberList("otto"))
    for id in [id, handled] { #expect(try await backend.code(method, as: "olga", id) == 10010, "though the ID is used again") }
  }

  // MARK: What comes of it

  @Test func acceptingBringsTheApplicantIn() async throws {
    let id = try await applied()
    backend.clocks.advance(by: 1)
    _ = try await backend.result("acceptGroupApplication", as: "nick", id + #","reason":"welcome""#)
    #expect(try await members() == ["olga", "nick", "otto", "mary"])
    let history = try await backend.result("getGroupHistoryMessageList", as: "mary", #""groupID":"g""#)["messageList"]
    #expect(history[0]["tips"]["type"] == "Join" && history[0]["tips"]["opUser"]["userID"] == "mary")
    #expect(try await kinds("mary") == ["AddGroupAccept"])
  }

  @Test func refusingLeavesTheApplicantOutAndFreeToAskAgain() async throws {
    let id = try await applied()
    _ = try await backend.result("refuseGroupApplication", as: "nick", id)
    #expect(try await members() == ["olga", "nick", "otto"])
    #expect(try await kinds("mary") == ["AddGroupRefuse"])
    try await backend.apply("mary", to: "g")
    #expect(try await newest("olga") != id, "a new application")
  }

  @Test func aFullGroupLeavesTheApplicationOpen() async throws {
    let id = try await applied(#","maxMemberNum":4"#)
    try await backend.bring("pavel", into: "g")
    #expect(try await backend.code("acceptGroupApplication", as: "otto", id) == 10007, "rights before state")
    #expect(try await backend.code("acceptGroupApplication", as: "olga", id) == 10014)
    #expect(try await backend.code("acceptGroupApplication", as: "olga", id) == 10014, "not handled")
    _ = try await backend.result("quitGroup", as: "pavel", #""groupID":"g""#)
    #expect(try await backend.code("acceptGroupApplication", as: "olga", id) == 0)
    #expect(try await members().contains("mary"))
  }

  @Test func aFullGroupRefusesWell() async throws {
    let id = try await applied(#","maxMemberNum":4"#)
    try await backend.bring("pavel", into: "g")
    #expect(try await backend.code("refuseGroupApplication", as: "olga", id) == 0)
  }

  /// "For somebody who is a member by now it closes as Agree without an event."
  @Test func aMemberIsNotAddedTwice() async throws {
    let id = try await applied()
    try await backend.bring("mary", into: "g")
    func lastSeq() async throws -> JSON {
      try await backend.result("getGroupsInfo", as: "olga", #""groupIDList":["g"]"#)["resultList"][0]["info"]["lastSeq"]
    }
    let before = try await lastSeq()
    #expect(try await backend.code("acceptGroupApplication", as: "olga", id) == 0)
    #expect(try await lastSeq() == before)
    let row = try await backend.result("getGroupApplicationList", as: "olga")["applicationList"][0]
    #expect(row["handleStatus"] == "HandledBySelf" && row["handleResult"] == "Agree")
    #expect(try await kinds("mary") == ["InvitedToGroup"])
  }

  @Test func oneOfManyDecisionsAtOnceCounts() async throws {
    let id = try await applied()
    let codes = try await withThrowingTaskGroup { tasks in
      for number in 0..<8 {
        tasks.addTask { try await backend.code(Self.methods[number % 2], as: number < 4 ? "olga" : "nick", id) }
      }
      return try await tasks.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.sorted() == [0] + Array(repeating: 10024, count: 7))
  }

  @Test func aGroupThatIsNotInMemoryIsFound() async throws {
    let id = try await applied()
    backend.clocks.advance(by: 1)
    backend.services.registry.retireGroups(unusedFor: .zero)
    try await backend.waitUntilUnloaded()
    #expect(try await backend.code("acceptGroupApplication", as: "olga", id) == 0)
    #expect(try await members().contains("mary"))
  }
}
