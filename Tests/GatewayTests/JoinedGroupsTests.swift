import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// getJoinedGroupList (Protocol.md, "Joined groups").
@Suite struct JoinedGroupsTests {
  private let backend = Backend()

  private func list(_ members: String = "", _ backend: Backend? = nil) async throws -> JSON {
    try await (backend ?? self.backend).result("getJoinedGroupList", as: "olga", members)
  }

  @Test func groupsArePagedByTheirNumber() async throws {
    for name in ["a", "b", "c", "d", "e"] { try await backend.create(name) }
    try await backend.create("room", "AVChatRoom")
    var pages: [[JSON]] = []
    var next: Int64 = 0
    repeat {
      let page = try await list(#""count":2,"nextSeq":\#(next)"#)
      pages.append(page["groupList"].column("groupID"))
      next = try #require(page["nextSeq"].integer)
    } while next != 0 && pages.count < 10
    #expect(pages == [["a", "b"], ["c", "d"], ["e"]])
  }

  @Test func aListEndsWhereTheGroupsDo() async throws {
    for name in ["a", "b"] { try await backend.create(name) }
    let page = try await list(#""count":2"#)
    #expect(page["nextSeq"] == 0 && page["groupList"].elements.count == 2)
  }

  @Test func aPageEndsBeforeItIsTooLarge() async throws {
    let small = Backend(rules: .pages(of: 10))
    for name in ["a", "b"] { try await small.create(name, "Work") }
    let page = try await list("", small)
    #expect(page["groupList"].column("groupID") == ["a"])
    let rest = try await list(#""nextSeq":\#(try #require(page["nextSeq"].integer))"#, small)
    #expect(rest["groupList"].column("groupID") == ["b"] && rest["nextSeq"] == 0)
  }

  @Test func aTypeChoosesWhatIsListedAndWhatWasLeft() async throws {
    for (name, type) in [("w", "Work"), ("p", "Public"), ("m", "Meeting")] {
      try await backend.create(name, type)
      try await backend.create(name + "gone", type)
      _ = try await backend.result("recycleGroup", #""groupID":"\#(name)gone""#)
    }
    try await backend.create("room", "AVChatRoom")
    _ = try await backend.result("dismissGroup", as: "olga", #""groupID":"room""#)
    for (type, name) in [("Work", "w"), ("Public", "p"), ("Meeting", "m"), ("Private", "w"), ("ChatRoom", "m")] {
      let page = try await list(#""groupType":"\#(type)","updatedSince":1"#)
      #expect(page["groupList"].column("groupID") == [.string(name)], "\(type)")
      #expect(page["leftGroupIDList"] == [.string(name + "gone")], "\(type)")
    }
    let all = try await list(#""updatedSince":1"#)["leftGroupIDList"].elements
    #expect(Set(all) == ["wgone", "pgone", "mgone"], "live rooms leave nothing behind")
    #expect(try await list(#""groupType":"AVChatRoom","updatedSince":1"#)["leftGroupIDList"] == [])
  }

  @Test func leftGroupsAreToldSinceAnInstantInclusively() async throws {
    for name in ["a", "b", "c"] { try await backend.create(name, "Public", memberList("mary")) }
    _ = try await backend.result("dismissGroup", as: "olga", #""groupID":"a""#)
    backend.clocks.advance(by: 10)
    _ = try await backend.result("transferGroupOwner", as: "olga", #""groupID":"b","userID":"mary","quit":true"#)
    #expect(try await list(#""updatedSince":1"#)["leftGroupIDList"] == ["a", "b"])
    #expect(try await list(#""updatedSince":1700000000010"#)["leftGroupIDList"] == ["b"])
    #expect(try await list(#""updatedSince":1700000000011"#)["leftGroupIDList"] == [])
    #expect(try await list(#""count":5"#)["leftGroupIDList"] == [], "without an instant")
    try await backend.bring("olga", into: "b")
    #expect(try await list(#""updatedSince":1"#)["leftGroupIDList"] == ["a"], "joined again")
  }

  @Test func groupsThatChangedSinceAnInstantAreListed() async throws {
    for name in ["info", "chat", "own", "still"] { try await backend.create(name) }
    backend.clocks.advance(by: 10)
    _ = try await backend.result("setGroupInfo", as: "olga", #""groupID":"info","groupName":"new""#)
    _ = try await backend.result("sendGroupTextMessage", as: "olga", #""groupID":"chat","text":"x""#)
    _ = try await backend.result("setGroupReceiveMessageOpt", as: "olga", #""groupID":"own","opt":"NotReceive""#)
    let since = try await list(#""updatedSince":1700000000010"#)
    #expect(since["groupList"].column("groupID") == ["info", "chat", "own"])
    #expect(try await list(#""updatedSince":1700000000000"#)["groupList"].elements.count == 4)
    #expect(try await list(#""updatedSince":1700000000011"#)["groupList"] == [])
  }
}

extension GroupRules {
  /// Rules whose replies hold so many bytes of groups or messages.
  static func pages(of bytes: Int) -> GroupRules {
    GroupRules(limits: GroupLimits(maxMemberNum: GroupLimits.standard.maxMemberNum, pageBytes: bytes))
  }
}
