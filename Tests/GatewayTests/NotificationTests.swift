import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// getSystemNotificationList and setSystemNotificationRead (Protocol.md,
/// "System notifications").
@Suite struct NotificationTests {
  private let backend = Backend()

  init() async throws { try await backend.create("g", "Public", memberList("mary", "nick")) }

  /// The application tells mary something.
  private func tell(_ data: String, _ user: String = "mary") async throws {
    _ = try await backend.result("sendGroupSystemNotification", #""groupID":"g","userIDList":["\#(user)"],"content":"\#(data)""#)
  }

  private func list(_ members: String = "", of user: String = "mary") async throws -> JSON {
    try await backend.result("getSystemNotificationList", as: user, members)
  }

  private func ids(of user: String = "mary") async throws -> [String] {
    try await list(of: user)["notificationList"].column("notificationID").compactMap(\.string)
  }

  private func mark(_ id: String? = nil) async throws -> JSON {
    try await backend.rpc("setSystemNotificationRead", as: "mary", id.map { #""notificationID":"\#($0)""# } ?? "")
  }

  // MARK: The list

  @Test func aNotificationAsItsUserReadsIt() async throws {
    try await tell("x")
    let row = try await list()["notificationList"][0]
    #expect(
      row.names == ["data", "groupID", "groupName", "isRead", "notificationID", "opUser", "platform", "timestamp", "type"])
    #expect(row["groupName"] == "g")
    #expect(row["type"] == "Custom" && row["groupID"] == "g" && row["data"] == "x" && row["isRead"] == false)
    #expect(row["opUser"]["userID"] == "administrator" && row["timestamp"] == 1_700_000_000_000)
    _ = try await backend.result("kickGroupMember", as: "olga", #""groupID":"g","userIDList":["mary"],"reason":"why""#)
    let kicked = try await list()["notificationList"][0]
    #expect(kicked["type"] == "KickedOff" && kicked["reason"] == "why" && kicked["opUser"]["role"] == "Owner")
  }

  @Test func oneAboutAnApplicationNamesIt() async throws {
    try await backend.apply("pavel", to: "g")
    let request = try await list(of: "olga")["notificationList"][0]
    let id = try #require(request["applicationID"].string)
    #expect(request["type"] == "AddGroupRequest" && !id.isEmpty)
    _ = try await backend.result("setGroupInfo", as: "olga", #""groupID":"g","groupName":"later""#)
    _ = try await backend.result("refuseGroupApplication", as: "olga", #""applicationID":"\#(id)""#)
    let refusal = try await list(of: "pavel")["notificationList"][0]
    #expect(refusal["applicationID"].string == id && refusal["groupName"] == "later")
    #expect(try await list(of: "olga")["notificationList"][0]["groupName"] == "g", "the name of its moment")
  }

  @Test func eachHasTheirOwn() async throws {
    try await tell("x")
    #expect(try await list(of: "nick")["notificationList"] == [])
    #expect(try await list(of: "nobody") == ["notificationList": [], "unreadCount": 0, "nextSeq": 0])
    #expect(try await list(of: "olga")["notificationList"].column("type") == ["GroupCreated"])
  }

  @Test func pagesGoOnBehindTheLastWhateverComes() async throws {
    for number in 0..<5 { try await tell("\(number)") }
    var pages: [[JSON]] = []
    var next: Int64 = 0
    repeat {
      let page = try await list(#""count":2,"nextSeq":\#(next)"#)
      pages.append(page["notificationList"].column("data"))
      next = try #require(page["nextSeq"].integer)
      try await tell("late")
    } while next != 0 && pages.count < 10
    #expect(pages == [["4", "3"], ["2", "1"], ["0"]])
  }

  @Test func aListEndsWhereTheNotificationsDo() async throws {
    for number in 0..<2 { try await tell("\(number)") }
    #expect(try await list(#""count":2"#)["nextSeq"] == 0)
    #expect(try await list(#""count":1"#)["nextSeq"] != 0)
  }

  // MARK: Marks

  private func marks() async throws -> [JSON] {
    let list = try await list()
    let marks = list["notificationList"].column("isRead")
    #expect(list["unreadCount"].integer == Int64(marks.count { $0 == false }))
    return marks
  }

  @Test func aMarkReachesThatOneAndOlderOnes() async throws {
    for number in 0..<4 { try await tell("\(number)") }
    let ids = try await ids()
    #expect(try await mark(ids[2])["result"] == [:])
    #expect(try await marks() == [false, false, true, true])
    #expect(try await mark(ids[3])["result"] == [:])
    #expect(try await marks() == [false, false, true, true], "it does not go back")
    #expect(try await mark()["result"] == [:])
    #expect(try await marks() == [true, true, true, true])
    try await tell("new")
    #expect(try await marks() == [false, true, true, true, true])
  }

  @Test func whereThereIsNothingThereIsNothingToMark() async throws {
    #expect(try await mark()["result"] == [:])
    try await tell("x")
    #expect(try await marks() == [false])
  }

  @Test(
    arguments: [
      "", "0", "-1", "+1", "01", "1.0", "x", " 1", "9007199254740993", "9223372036854775806", "9223372036854775807",
      "9223372036854775808", "-9223372036854775808",
    ])
  func oneThatTheUserHasNotIsABadValue(id: String) async throws {
    for _ in 0..<2 {
      let error = try await mark(id)["error"]
      #expect(error["code"] == 10004 && error["data"]["field"] == "notificationID")
      try await tell("x")
    }
    #expect(try await marks().allSatisfy { $0 == false })
  }

  @Test func anotherUsersIsABadValue() async throws {
    try await tell("before")
    try await tell("x", "nick")
    try await tell("behind")
    let other = try #require(try await ids(of: "nick").first)
    #expect(try await mark(other)["error"]["code"] == 10004)
    #expect(try await marks() == [false, false])
  }

  // MARK: "The last 100, 7 days"

  @Test func theLastHundredAreKept() async throws {
    for number in 0..<SystemNotification.kept { try await tell("\(number)") }
    let oldest = try #require(try await list(#""count":100"#)["notificationList"].elements.last)
    #expect(oldest["data"] == "0")
    try await tell("one more")
    let list = try await list(#""count":100"#)
    #expect(list["notificationList"].elements.count == 100 && list["unreadCount"] == 100 && list["nextSeq"] == 0)
    #expect(list["notificationList"].elements.last?["data"] == "1")
    #expect(try await mark(oldest["notificationID"].string)["error"]["code"] == 10004)
  }

  @Test func afterSevenDaysTheyAreGone() async throws {
    try await tell("old")
    backend.clocks.advance(by: 1)
    try await tell("new")
    let old = try await ids()[1]
    backend.clocks.advance(by: 7 * 86_400_000 - 1)
    #expect(try await list()["notificationList"].column("data") == ["new", "old"])
    backend.clocks.advance(by: 1)
    #expect(try await list()["notificationList"].column("data") == ["new"])
    #expect(try await marks() == [false], "nor does it count")
    #expect(try await mark(old)["error"]["code"] == 10004)
    backend.clocks.advance(by: 1)
    #expect(try await list() == ["notificationList": [], "unreadCount": 0, "nextSeq": 0])
  }
}
