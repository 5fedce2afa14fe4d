import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// leftGroupIDList comes in pages with the others of getJoinedGroupList, each groupID once
/// (Protocol.md, "Joined groups"), over sessions.
@Suite struct JoinedPagesTests {
  /// All pages of a list.
  private func pages(_ client: Client, _ members: String) async throws -> [JSON] {
    var pages: [JSON] = []
    var next: Int64 = 0
    repeat {
      let page = try await client.call("getJoinedGroupList", "{\(members),\"nextSeq\":\(next)}")["result"]
      pages.append(page)
      next = try #require(page["nextSeq"].integer)
    } while next != 0 && pages.count < 100
    return pages
  }

  private func names(_ pages: [JSON], _ list: String) -> [String] {
    pages.flatMap { page in
      list == "leftGroupIDList"
        ? page[list].elements.compactMap(\.string) : page[list].column("groupID").compactMap(\.string)
    }
  }

  @Test func everyGroupComesOnceOverAllPages() async throws {
    try await LiveGateway.with { live in
      let names = (0..<24).map { "g\($0)" }
      for name in names { try await live.backend.create(name, "Public", memberList("mary")) }
      let mary = try await live.signIn("mary")
      for (index, name) in names.enumerated() where index % 4 == 1 {
        _ = try await mary.call("quitGroup", "{\"groupID\":\"\(name)\"}")
      }
      for (index, name) in names.enumerated() where index % 4 == 3 {
        _ = try await live.backend.result("dismissGroup", as: "olga", "\"groupID\":\"\(name)\"")
      }
      let joined = names.indices.filter { $0 % 2 == 0 }.map { names[$0] }
      let left = names.indices.filter { $0 % 2 == 1 }.map { names[$0] }
      for count in [1, 2, 3, 5, 11, 12, 13, 200] {
        let pages = try await pages(mary, #""updatedSince":1,"count":\#(count)"#)
        #expect(self.names(pages, "groupList") == joined, "count \(count)")
        #expect(self.names(pages, "leftGroupIDList") == left, "count \(count)")
        for list in ["groupList", "leftGroupIDList"] { #expect(pages.allSatisfy { $0[list].elements.count <= count }, "\(list)") }
        if count < 12 { #expect(pages[0]["leftGroupIDList"].elements.count < left.count, "not all on the first page") }
        let without = try await self.pages(mary, #""count":\#(count)"#)
        #expect(self.names(without, "groupList") == joined && self.names(without, "leftGroupIDList") == [])
      }
    }
  }

  /// Few of many are still joined, so each page is full of those that were left.
  @Test func moreLeftGroupsThanAPageNamesComeWithTheNext() async throws {
    let backend = Backend()
    let total = Dispatcher.groupsPerPage + 7
    for number in 0..<total {
      try await backend.create("g\(number)", "Public")
      if number % 500 != 3 { _ = try await backend.result("dismissGroup", as: "olga", "\"groupID\":\"g\(number)\"") }
    }
    var (joined, left): ([String], [String]) = ([], [])
    var (next, count): (Int64, Int) = (0, 0)
    repeat {
      let page = try await backend.result("getJoinedGroupList", as: "olga", #""updatedSince":1,"count":200,"nextSeq":\#(next)"#)
      joined += page["groupList"].column("groupID").compactMap(\.string)
      left += page["leftGroupIDList"].elements.compactMap(\.string)
      #expect(page["leftGroupIDList"].elements.count <= 200)
      next = try #require(page["nextSeq"].integer)
      count += 1
    } while next != 0 && count < 10
    #expect(joined == (0..<total).filter { $0 % 500 == 3 }.map { "g\($0)" })
    #expect(left == (0..<total).filter { $0 % 500 != 3 }.map { "g\($0)" })
    #expect(count == 6)
  }

  @Test func groupsInfoHasARowForEachIDOnce() async throws {
    let backend = Backend()
    for name in ["a", "b"] { try await backend.create(name, "Public") }
    let ids = Array(repeating: #""a","b","none","a""#, count: 12).joined(separator: ",")
    let rows = try await backend.result("getGroupsInfo", as: "mary", #""groupIDList":[\#(ids)]"#)["resultList"]
    #expect(rows.column("groupID") == ["a", "b", "none"] && rows.column("code") == [0, 0, 10010])
  }
}

/// `limits.unreadCount`: counts are exact up to it (Protocol.md, "Unread counts").
@Suite struct UnreadLimitTests {
  private let backend: Backend

  init() async throws {
    var limits = GroupLimits.standard
    limits.unreadCount = 5
    backend = Backend(rules: GroupRules(limits: limits))
    try await backend.create("g", "Public", memberList("mary"))
  }

  private func say(_ count: Int = 1) async throws {
    for _ in 0..<count { _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"g","text":"x""#) }
  }

  /// The count of each method; all must be equal.
  private func unread() async throws -> Int64? {
    let count = try await backend.result("getGroupUnreadCount", as: "mary")["groups"][0]["unreadCount"].integer
    let info = try await backend.result("getGroupsInfo", as: "mary", #""groupIDList":["g"]"#)["resultList"][0]["info"]
    let listed = try await backend.result("getJoinedGroupList", as: "mary")["groupList"][0]
    #expect(info["selfInfo"]["unreadCount"].integer == count && listed["selfInfo"]["unreadCount"].integer == count)
    return count
  }

  @Test func itIsExactUpToTheLimitAndThatBeyond() async throws {
    for expected in [1, 2, 3, 4, 5, 5, 5] as [Int64] {
      try await say()
      #expect(try await unread() == expected)
    }
    _ = try await backend.result("markGroupMessageAsRead", as: "mary", #""groupID":"g","seq":3"#)
    #expect(try await unread() == 4)
    _ = try await backend.result("revokeGroupMessage", as: "olga", #""groupID":"g","seq":5"#)
    #expect(try await unread() == 3, "counted again")
    try await say(9)
    #expect(try await unread() == 5)
    _ = try await backend.result("revokeGroupMessage", as: "olga", #""groupID":"g","seq":6"#)
    #expect(try await unread() == 5)
    _ = try await backend.result("markGroupMessageAsRead", as: "mary", #""groupID":"g""#)
    #expect(try await unread() == 0)
  }

  @Test func theApplicationsNumberCountsToo() async throws {
    for (base, more, expected) in [(3, 0, 3), (3, 1, 4), (3, 2, 5), (3, 3, 5), (40, 0, 5), (0, 2, 2)] as [(Int, Int, Int64)] {
      _ = try await backend.result("setUnreadCount", #""groupID":"g","userID":"mary","unreadCount":\#(base)"#)
      try await say(more)
      #expect(try await unread() == expected, "\(base) and \(more)")
    }
  }

  @Test func theSumIsThatOfTheGroups() async throws {
    try await backend.create("h", "Public", memberList("mary"))
    try await say(8)
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"h","text":"x""#)
    #expect(try await backend.result("getGroupUnreadCount", as: "mary")["totalCount"] == 6)
  }
}
