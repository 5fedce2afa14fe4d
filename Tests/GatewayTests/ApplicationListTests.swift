import Testing
import ThrongTestKit

@testable import Gateway

/// getGroupApplicationList and setGroupApplicationRead (Protocol.md, "Application
/// lists").
@Suite struct ApplicationListTests {
  private let backend = Backend()

  private func list(_ user: String? = "olga", _ members: String = "") async throws -> JSON {
    try await backend.result("getGroupApplicationList", as: user, members)
  }

  private func applicants(_ user: String? = "olga") async throws -> [JSON] {
    try await list(user)["applicationList"].column("fromUser")
  }

  // MARK: Rows

  @Test func anApplicationAsItsDecidersReadIt() async throws {
    try await backend.create("g", "Public", #""memberList":[{"userID":"nick","role":"Admin"},{"userID":"otto"}]"#)
    try await backend.apply("mary", to: "g")
    let open = try await list()["applicationList"][0]
    #expect(
      open.names == ["addTime", "applicationID", "fromUser", "groupID", "handleStatus", "isRead", "requestMsg", "toUser", "type"])
    #expect(open["groupID"] == "g" && open["type"] == "Join" && open["fromUser"] == "mary" && open["toUser"] == "")
    #expect(open["addTime"] == 1_700_000_000_000 && open["requestMsg"] == "please")
    #expect(open["handleStatus"] == "Unhandled" && open["isRead"] == false)

    backend.clocks.advance(by: 5)
    let id = try #require(open["applicationID"].string)
    _ = try await backend.result("refuseGroupApplication", as: "nick", #""applicationID":"\#(id)","reason":"no""#)
    let handled = try await list()["applicationList"][0]
    #expect(handled["applicationID"].string == id && handled["handleStatus"] == "HandledByOther")
    #expect(handled["handleResult"] == "Refuse" && handled["handledMsg"] == "no" && handled["handledBy"] == "nick")
    #expect(handled["handledTime"] == 1_700_000_000_005 && handled["addTime"] == 1_700_000_000_000)
    #expect(try await list("nick")["applicationList"][0]["handleStatus"] == "HandledBySelf")
  }

  @Test func anInvitationIsTheInvitedUsersAlone() async throws {
    try await backend.create("w", "Work", #""beInviteMode":"Auth""#)
    try await backend.bring("ivan", into: "w")
    let rows = try await backend.result(
      "inviteUserToGroup", as: "ivan", #""groupID":"w","userIDList":["mary"],"message":"come","attach":"x=1""#)
    #expect(rows["memberList"][0]["result"] == "Pending")
    let asked = try await list("mary")["applicationList"]
    #expect(asked.column("type") == ["Invite"] && asked.column("fromUser") == ["ivan"] && asked.column("toUser") == ["mary"])
    #expect(asked[0]["requestMsg"] == "come" && asked[0]["attach"] == "x=1")
    for other in ["ivan", "olga", nil] {
      let list = try await list(other)
      #expect(list["applicationList"] == [] && list["unreadCount"] == 0, "\(other ?? "administrator")")
    }
  }

  // MARK: Whose

  @Test func managersSeeTheirGroupsApplications() async throws {
    try await backend.create("g", "Public", #""memberList":[{"userID":"nick","role":"Admin"},{"userID":"otto"}]"#)
    try await backend.create("h", "Meeting", by: "hans", #""joinMode":"Auth","memberList":[{"userID":"nick","role":"Admin"}]"#)
    try await backend.apply("a", to: "g")
    try await backend.apply("b", to: "h")
    #expect(try await applicants("olga") == ["a"])
    #expect(try await applicants("hans") == ["b"])
    #expect(try await applicants("nick") == ["b", "a"])
    #expect(try await applicants("otto") == [])
    #expect(try await applicants("a") == [], "nobody decides on oneself")
    _ = try await backend.result("setGroupMemberRole", as: "olga", #""groupID":"g","userID":"nick","role":"Member""#)
    #expect(try await applicants("nick") == ["b"])
    _ = try await backend.result("dismissGroup", as: "hans", #""groupID":"h""#)
    for user in ["nick", "hans"] { #expect(try await applicants(user) == []) }
    #expect(try await list("hans")["unreadCount"] == 0)
  }

  @Test func theApplicationSeesAllRequestsToJoin() async throws {
    try await backend.create("g", "Public")
    try await backend.create("h", "Public", by: "hans")
    try await backend.create("w", "Work", #""beInviteMode":"Auth""#)
    _ = try await backend.result("inviteUserToGroup", as: "olga", #""groupID":"w","userIDList":["mary"]"#)
    for (user, group) in [("a", "g"), ("b", "h"), ("c", "g")] { try await backend.apply(user, to: group) }
    _ = try await backend.result("setGroupApplicationRead", as: "olga")
    let first = try await list(nil)["applicationList"]
    #expect(first.column("fromUser") == ["c", "b", "a"])
    _ = try await backend.result("acceptGroupApplication", #""applicationID":"\#(first[1]["applicationID"].string ?? "")""#)
    let all = try await list(nil)
    #expect(all["applicationList"].column("handleStatus") == ["Unhandled", "HandledBySelf", "Unhandled"])
    #expect(all["applicationList"][1]["handledBy"] == "administrator")
    #expect(all["applicationList"].column("isRead") == [false, false, false] && all["unreadCount"] == 3)
    #expect(try await list("hans")["applicationList"][0]["handleStatus"] == "HandledByOther")
    let mark = try await backend.rpc("setGroupApplicationRead")["error"]
    #expect(mark["code"] == -32602 && mark["data"]["field"] == "asUser")
  }

  // MARK: Sent

  private func sent(_ user: String?, _ members: String = "") async throws -> JSON {
    try await list(user, #""box":"Sent""# + (members.isEmpty ? "" : ",") + members)
  }

  @Test func whatAUserHasSent() async throws {
    try await backend.create("g", "Public", #""memberList":[{"userID":"nick","role":"Admin"}]"#)
    try await backend.create("w", "Work", #""beInviteMode":"Auth""#)
    try await backend.bring("mary", into: "w")
    try await backend.apply("mary", to: "g")
    _ = try await backend.result("inviteUserToGroup", as: "mary", #""groupID":"w","userIDList":["ivan"],"attach":"x""#)
    let both = try await sent("mary")
    #expect(both["applicationList"].column("type") == ["Invite", "Join"] && both["unreadCount"] == 0 && both["nextSeq"] == 0)
    #expect(
      both["applicationList"].column("toUser") == ["ivan", ""] && both["applicationList"].column("isRead") == [true, true])
    #expect(both["applicationList"].column("handleStatus") == ["Unhandled", "Unhandled"])
    for user in ["olga", "nick", "ivan", nil] {
      #expect(try await sent(user) == ["applicationList": [], "unreadCount": 0, "nextSeq": 0], "\(user ?? "administrator")")
    }
    #expect(try await list("mary")["applicationList"] == [], "nothing received")

    let id = try #require(both["applicationList"][1]["applicationID"].string)
    _ = try await backend.result("refuseGroupApplication", as: "nick", #""applicationID":"\#(id)","reason":"no""#)
    let refused = try await sent("mary")["applicationList"][1]
    #expect(refused["handleStatus"] == "HandledByOther" && refused["handleResult"] == "Refuse" && refused["handledMsg"] == "no")
    _ = try await backend.result("dismissGroup", as: "olga", #""groupID":"g""#)
    #expect(try await sent("mary")["applicationList"].column("type") == ["Invite"], "it leaves both boxes")
    #expect(try await list("nick")["applicationList"] == [])
  }

  @Test func pagesOfTheSentOnes() async throws {
    for group in ["g0", "g1", "g2"] {
      try await backend.create(group, "Public")
      try await backend.apply("mary", to: group)
    }
    let first = try await sent("mary", #""count":2"#)
    #expect(first["applicationList"].column("groupID") == ["g2", "g1"])
    let next = try #require(first["nextSeq"].integer)
    let last = try await sent("mary", #""count":2,"nextSeq":\#(next)"#)
    #expect(last["applicationList"].column("groupID") == ["g0"] && last["nextSeq"] == 0)
  }

  @Test func theBoxIsReceivedOrSent() async throws {
    try await backend.create("g", "Public")
    try await backend.apply("mary", to: "g")
    let received = try await list("olga")
    #expect(try await list("olga", #""box":"Received""#) == received)
    for box in ["sent", "All", ""] {
      let error = try await backend.rpc("getGroupApplicationList", as: "olga", #""box":"\#(box)""#)["error"]
      #expect(error["code"] == 10004 && error["data"]["field"] == "box")
    }
  }

  // MARK: Order and pages

  @Test func oneThatIsMadeAgainIsTheNewest() async throws {
    try await backend.create("g", "Public")
    for user in ["a", "b", "c"] { try await backend.apply(user, to: "g") }
    let before = try await list()["applicationList"]
    #expect(before.column("fromUser") == ["c", "b", "a"])
    backend.clocks.advance(by: 7)
    try await backend.apply("a", to: "g", "again")
    let after = try await list()["applicationList"]
    #expect(after.column("fromUser") == ["a", "c", "b"])
    #expect(after[0]["applicationID"] == before[2]["applicationID"])
    #expect(after[0]["requestMsg"] == "again" && after[0]["addTime"] == 1_700_000_000_007)
  }

  @Test func pagesGoOnBehindTheLastWhateverComes() async throws {
    try await backend.create("g", "Public")
    for number in 0..<5 { try await backend.apply("u\(number)", to: "g") }
    var pages: [[JSON]] = []
    var next: Int64 = 0
    repeat {
      let page = try await list("olga", #""count":2,"nextSeq":\#(next)"#)
      pages.append(page["applicationList"].column("fromUser"))
      next = try #require(page["nextSeq"].integer)
      try await backend.apply("late\(pages.count)", to: "g")
    } while next != 0 && pages.count < 10
    #expect(pages == [["u4", "u3"], ["u2", "u1"], ["u0"]])
  }

  @Test func aListEndsWhereTheApplicationsDo() async throws {
    try await backend.create("g", "Public")
    for user in ["a", "b"] { try await backend.apply(user, to: "g") }
    #expect(try await list("olga", #""count":2"#)["nextSeq"] == 0)
    #expect(try await list("olga", #""count":1"#)["nextSeq"] != 0)
    #expect(try await list("nobody") == ["applicationList": [], "unreadCount": 0, "nextSeq": 0])
  }

  // MARK: Marks

  /// Applications at 0, 10 and 20 ms.
  private func three() async throws {
    try await backend.create("g", "Public", #""memberList":[{"userID":"nick","role":"Admin"}]"#)
    for user in ["a", "b", "c"] {
      try await backend.apply(user, to: "g")
      backend.clocks.advance(by: 10)
    }
  }

  private func marks(_ user: String = "olga") async throws -> [JSON] {
    let list = try await list(user)
    let marks = list["applicationList"].column("isRead")
    #expect(list["unreadCount"].integer == Int64(marks.count { $0 == false }))
    return marks
  }

  @Test func marksAreEachReadersOwn() async throws {
    try await three()
    #expect(try await marks() == [false, false, false])
    _ = try await backend.result("setGroupApplicationRead", as: "olga")
    #expect(try await marks() == [true, true, true])
    #expect(try await marks("nick") == [false, false, false])
  }

  @Test func anInstantMarksUpToItself() async throws {
    try await three()
    for (instant, expected) in [(1_700_000_000_009, 1), (1_700_000_000_010, 2), (1_700_000_000_003, 2)] {
      _ = try await backend.result("setGroupApplicationRead", as: "olga", #""timestamp":\#(instant)"#)
      #expect(try await marks().count { $0 == true } == expected, "\(instant)")
    }
    #expect(try await marks() == [false, true, true], "the newest first")
  }

  @Test func laterApplicationsAreUnreadWhateverInstantWasGiven() async throws {
    try await three()
    _ = try await backend.result("setGroupApplicationRead", as: "olga", #""timestamp":4000000000000"#)
    #expect(try await marks() == [true, true, true])
    backend.clocks.advance(by: 1)
    try await backend.apply("d", to: "g")
    try await backend.apply("a", to: "g", "again")
    #expect(try await marks() == [false, false, true, true], "one made again too")
  }
}
