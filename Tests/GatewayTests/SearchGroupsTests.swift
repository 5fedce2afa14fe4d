import Testing
import ThrongTestKit

@testable import Gateway

/// searchGroups finds joined groups, and public fields of searchable ones (Protocol.md, "Search").
@Suite struct SearchGroupsTests {
  private let backend = Backend()

  /// Groups of olga; mary is a member of some.
  init() async throws {
    try await backend.create("alpha-work", "Work")
    try await backend.create("alpha-pub")
    try await backend.create("Alpha-mine", "Work", memberList("mary"))
    try await backend.create("alpha-hidden", "Public", #""isSearchable":false"#)
    try await backend.create("alpha-hidden-mine", "Public", #""isSearchable":false,\#(memberList("mary"))"#)
    try await backend.create("alpha-room", "AVChatRoom")
    try await backend.create("beta")
  }

  private func search(_ user: String? = "mary", _ members: String) async throws -> JSON {
    try await backend.result("searchGroups", as: user, members)
  }

  private func names(_ user: String? = "mary", _ members: String) async throws -> [JSON] {
    try await search(user, members)["groupList"].column("groupName")
  }

  @Test func joinedGroupsAndSearchableOnesAreFound() async throws {
    #expect(
      try await names("mary", #""keywordList":["ALPHA","beta"]"#) == ["alpha-pub", "Alpha-mine", "alpha-hidden-mine", "beta"])
    #expect(try await names("mary", #""keywordList":["alpha-mine"],"ignoreCase":false"#) == [])
    #expect(try await names("mary", #""keywordList":["pha-mine"],"ignoreCase":false"#) == ["Alpha-mine"])
    #expect(try await names("stranger", #""keywordList":["alpha"]"#) == ["alpha-pub"])
    #expect(try await search("mary", #""keywordList":["none"]"#) == ["groupList": [], "nextSeq": 0])
  }

  @Test func joinedGroupsAloneOnDemand() async throws {
    let joined = #""keywordList":["alpha","beta"],"joinedOnly":true"#
    #expect(try await names("mary", joined) == ["Alpha-mine", "alpha-hidden-mine"])
    #expect(try await names("stranger", joined) == [])
    #expect(try await names(nil, joined).count == 7)
    #expect(try await names("mary", #""keywordList":["beta"],"joinedOnly":false"#) == ["beta"])
  }

  @Test func theApplicationFindsAll() async throws {
    let found = try await search(nil, #""keywordList":["alpha"]"#)["groupList"]
    #expect(
      found.column("groupID") == ["alpha-work", "alpha-pub", "Alpha-mine", "alpha-hidden", "alpha-hidden-mine", "alpha-room"])
    #expect(found[0]["epoch"].string != nil && found[0]["selfInfo"] == nil)
  }

  /// The fields that a non-member may read (Protocol.md, "Group info").
  @Test func theRowsShowWhatTheReaderMayKnow() async throws {
    let rows = try await search("mary", #""keywordList":["alpha"]"#)["groupList"]
    #expect(
      rows[0].names == [
        "createTime", "customInfo", "faceURL", "groupID", "groupName", "groupType", "introduction", "joinMode", "maxMemberNum",
        "memberCount", "onlineCount", "owner",
      ])
    #expect(rows[1]["selfInfo"]["role"] == "Member" && rows[1]["isSearchable"] == false)
  }

  @Test func membersAreFoundInsideJoinedGroupsOnly() async throws {
    let byUser = #""keywordList":["olga"],"matchFields":["memberUserID"]"#
    #expect(try await names("mary", byUser) == ["Alpha-mine", "alpha-hidden-mine"])
    #expect(try await names("stranger", byUser) == [])
    _ = try await backend.result("setGroupMemberInfo", as: "mary", #""groupID":"Alpha-mine","userID":"mary","nameCard":"Queen""#)
    let byCard = #""keywordList":["queen"],"matchFields":["memberNameCard"]"#
    #expect(try await names("mary", byCard) == ["Alpha-mine"])
    #expect(try await names("mary", #""keywordList":["queen"]"#) == [], "not by default")
    let byID = #""keywordList":["beta"],"matchFields":["groupID"]"#
    #expect(try await names("mary", byID) == ["beta"])
  }

  @Test func pagesGoOnBehindTheLast() async throws {
    for (count, expected) in [(1, [1, 1, 1, 1]), (3, [3, 1]), (4, [4])] {
      var pages: [Int] = []
      var found: [JSON] = []
      var next: Int64 = 0
      repeat {
        let page = try await search("mary", #""keywordList":["alpha","beta"],"count":\#(count),"nextSeq":\#(next)"#)
        let names = page["groupList"].column("groupName")
        if !names.isEmpty { pages.append(names.count) }
        found += names
        next = try #require(page["nextSeq"].integer)
      } while next != 0 && pages.count < 10
      #expect(pages == expected)
      #expect(found == ["alpha-pub", "Alpha-mine", "alpha-hidden-mine", "beta"])
    }
  }

  @Test func aPageEndsBeforeItIsTooLarge() async throws {
    let small = Backend(rules: .pages(of: 10))
    for name in ["x1", "x2", "x3"] { try await small.create(name) }
    var found: [JSON] = []
    var next: Int64 = 0
    repeat {
      let page = try await small.result("searchGroups", as: "mary", #""keywordList":["x"],"nextSeq":\#(next)"#)
      #expect(page["groupList"].elements.count == 1)
      found += page["groupList"].column("groupID")
      next = try #require(page["nextSeq"].integer)
    } while next != 0 && found.count < 10
    #expect(found == ["x1", "x2", "x3"])
  }
}
