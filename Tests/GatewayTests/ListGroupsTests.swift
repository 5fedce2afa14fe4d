import GroupModel
import Testing
import ThrongTestKit

@testable import Gateway

/// listGroups and getStats (Protocol.md, "Application methods").
@Suite struct ListGroupsTests {
  private let backend = Backend()

  /// Two Works, three Publics, a Meeting, an AVChatRoom.
  private func some() async throws {
    for (name, type) in [
      ("w1", "Work"), ("p1", "Public"), ("p2", "Public"), ("m", "Meeting"), ("w2", "Work"), ("r", "AVChatRoom"), ("p3", "Public"),
    ] { try await backend.create(name, type) }
  }

  private func pages(_ members: String, _ backend: Backend? = nil) async throws -> (ids: [[JSON]], totals: Set<JSON>) {
    var ids: [[JSON]] = []
    var totals: Set<JSON> = []
    var next: Int64 = 0
    repeat {
      let page = try await (backend ?? self.backend).result("listGroups", #"\#(members),"nextSeq":\#(next)"#)
      ids.append(page["groupList"].column("groupID"))
      totals.insert(page["totalCount"])
      next = try #require(page["nextSeq"].integer)
    } while next != 0 && ids.count < 20
    return (ids, totals)
  }

  @Test func allGroupsArePagedByTheirNumber() async throws {
    try await some()
    let (ids, totals) = try await pages(#""count":3"#)
    #expect(ids == [["w1", "p1", "p2"], ["m", "w2", "r"], ["p3"]])
    #expect(totals == [7], "the total is that of all pages")
    #expect(try await pages(#""count":7"#).ids.count == 1, "a list ends where the groups do")
  }

  @Test(arguments: [("Work", ["w1", "w2"]), ("Private", ["w1", "w2"]), ("Public", ["p1", "p2", "p3"]), ("BChatRoom", [])])
  func aTypeIsListedAlone(type: String, expected: [String]) async throws {
    try await some()
    let (ids, totals) = try await pages(#""groupType":"\#(type)","count":2"#)
    #expect(ids.flatMap { $0 } == expected.map { .string($0) })
    #expect(totals == [.number(Double(expected.count))])
  }

  @Test func aDisbandedGroupIsNotListed() async throws {
    try await some()
    _ = try await backend.result("recycleGroup", #""groupID":"p2""#)
    let (ids, totals) = try await pages(#""groupType":"Public""#)
    #expect(ids == [["p1", "p3"]] && totals == [2])
  }

  @Test func aPageEndsBeforeItIsTooLarge() async throws {
    let small = Backend(rules: .pages(of: 10))
    for name in ["a", "b", "c"] { try await small.create(name) }
    #expect(try await pages(#""count":3"#, small).ids == [["a"], ["b"], ["c"]])
  }

  @Test func rowsAreTheApplicationsView() async throws {
    try await backend.create("g", "Work")
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"x""#)
    let row = try await backend.result("listGroups")["groupList"][0]
    #expect(row["lastMessage"]["text"] == "x" && row["lastSeq"] == 1 && row["beInviteMode"] == "None")
    #expect(row["selfInfo"] == nil)
  }

  // MARK: getStats

  @Test func statsCountEverything() async throws {
    let none = try await backend.result("getStats")
    let zero: JSON = ["Work": 0, "Public": 0, "Meeting": 0, "AVChatRoom": 0, "BChatRoom": 0]
    #expect(
      none == ["sessions": 0, "users": 0, "groups": 0, "groupsByType": zero, "uptime": 0, "version": "0"])
    try await some()
    _ = try await backend.result("importUsers", #""userIDList":["a","b","a"]"#)
    backend.clocks.advance(by: 61_999)
    backend.clocks.moveWall(by: -7_200_000)
    let stats = try await backend.result("getStats")
    #expect(stats["users"] == 3 && stats["groups"] == 7)
    #expect(stats["uptime"] == 61, "seconds, whatever happens to the clock on the wall")
    #expect(stats["groupsByType"] == ["Work": 2, "Public": 3, "Meeting": 1, "AVChatRoom": 1, "BChatRoom": 0])
  }
}
