import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// getGroupMemberList: "owner, admins, others, each by joinTime then userID; nobody twice while
/// others join" (Protocol.md, "Member lists").
@Suite struct MemberListTests {
  private func page(_ scene: Scene, _ params: String = "{}", by user: String = "mary") throws -> (names: [String], next: Int64) {
    let result = try scene.ask("getGroupMemberList", params, by: user).result
    return (result["memberList"].elements.compactMap { $0["userID"].string }, try #require(result["nextSeq"].integer))
  }

  /// A Public group with 2 admins and `count` members, each joining one after the other; of every
  /// three two in one instant.
  private func crowd(_ count: Int, _ type: GroupType = .public) throws -> Scene {
    let scene = try Scene(type) { $0.joinMode = .any }
    for number in 0..<count {
      if number % 3 != 0 { scene.clocks.advance(by: 10) }
      try scene.ask("joinGroup", by: "u\((number * 7) % count)")
    }
    return scene
  }

  /// The specified order, stated plainly.
  private func expected(_ scene: Scene) throws -> [String] {
    let members = try #require(scene.state).roster.all
    return members.sorted { ($1.role.rank, $0.joinTime, $0.userID) < ($0.role.rank, $1.joinTime, $1.userID) }.map(
      \.userID.rawValue)
  }

  private func pages(_ scene: Scene, count: Int, by user: String = "mary", between: () throws -> Void = {}) throws -> [String] {
    var all: [String] = []
    var next: Int64 = 0
    repeat {
      let page = try page(scene, #"{"count":\#(count),"nextSeq":\#(next)}"#, by: user)
      #expect(page.names.count == count || page.next == 0)
      all += page.names
      next = page.next
      if next != 0 { try between() }
    } while next != 0
    return all
  }

  @Test func anOwnerWhoRejoinedIsListedOnce() throws {
    let scene = try Scene(.work) { $0.inviteMode = .any }
    func listed() throws -> [String] {
      try scene.ask("getGroupMemberList", by: "mary").result["memberList"].elements.compactMap { $0["userID"].string }
    }
    #expect(try listed().first == "olga")
    #expect(try scene.ask("quitGroup", by: "olga").code == 0)
    #expect(try listed().count == 3)
    #expect(try scene.ask("inviteUserToGroup", Scene.users(["olga"]), by: "administrator").code == 0)
    #expect(try listed().sorted() == ["adam", "carl", "mary", "olga"])
  }

  @Test func aMemberIsListedWithEverythingAndTheInviterOnlyToItself() throws {
    let scene = try Scene(.public)
    scene.state?.roster.update("mary") { $0.inviter = "adam" }
    scene.signOut("carl")
    let list = try scene.ask("getGroupMemberList", by: "mary").result["memberList"]
    #expect(list.elements.map { $0["userID"] } == ["olga", "adam", "mary", "carl"])
    #expect(list.elements.map { $0["role"] } == ["Owner", "Admin", "Member", "200"])
    #expect(list.elements.map { $0["isOnline"] } == [true, true, true, false])
    #expect(list[0].names == ["customInfo", "isOnline", "joinTime", "muteUntil", "nameCard", "role", "userID"])
    #expect(list[2]["inviter"] == "adam" && list[2]["joinTime"] == .instant(scene.clocks.wall - 8000))
    #expect(try scene.ask("getGroupMemberList", by: "olga").result["memberList"][2]["inviter"] == .null)
  }

  @Test(arguments: [
    ("All", ["olga", "adam", "mary", "carl"]), ("Owner", ["olga"]), ("Admin", ["adam"]), ("Common", ["mary", "carl"]),
  ])
  func aFilterTakesItsRoles(filter: String, names: [String]) throws {
    let found = try page(try Scene(.public), #"{"filter":"\#(filter)"}"#)
    #expect(found.names == names && found.next == 0)
  }

  @Test(arguments: [1, 2, 3, 7, 50])
  func pagesNameEachMemberOnceInOrder(count: Int) throws {
    let scene = try crowd(40)
    #expect(try pages(scene, count: count) == (try expected(scene)))
  }

  @Test func aPageHoldsUpTo200Members() throws {
    let scene = try crowd(205)
    #expect(try page(scene, #"{"count":200}"#).names.count == 200)
    #expect(try page(scene).names.count == 50)
    #expect(try pages(scene, count: 200) == (try expected(scene)))
  }

  /// "A page ends where it would be over half of limits.sendQueueBytes", with one member at least.
  @Test(arguments: [1, 1000, 3000], [GroupType.public, .avChatRoom])
  func aPageEndsWhereItsBytesWouldNotFit(bytes: Int, type: GroupType) throws {
    let rules = GroupRules(limits: GroupLimits(maxMemberNum: [.public: 6000], pageBytes: bytes))
    let scene = try Scene(type, members: [:], rules: rules) { $0.joinMode = .any }
    for number in 0..<20 { try scene.ask("joinGroup", by: "u\(number)") }
    var all: [String] = []
    var pages = 0
    var next: Int64 = 0
    repeat {
      let found = try page(scene, #"{"count":200,"nextSeq":\#(next)}"#, by: "olga")
      #expect(!found.names.isEmpty && found.names.count * 256 <= max(bytes, 256))
      all += found.names
      pages += 1
      next = found.next
    } while next != 0
    #expect(all.count == 21 && Set(all).count == 21 && pages > 1)
  }

  @Test func aPageThatIsExactlyFullIsTheLast() throws {
    let found = try page(try Scene(.public), #"{"count":4}"#)
    #expect(found.names.count == 4 && found.next == 0)
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func pagesNameEachMemberOnceWhileOthersJoinAndLeave(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let scene = try crowd(30)
    let present = try expected(scene)
    var gone: Set<String> = []
    var fresh = 0
    let listed = try pages(scene, count: Int.random(in: 1...6, using: &random)) {
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        scene.clocks.advance(by: Int64.random(in: 0...1, using: &random))
        if Bool.random(using: &random) {
          fresh += 1
          try scene.ask("joinGroup", by: "\(fresh % 2 == 0 ? "a" : "z")new\(fresh)")
        } else if let leaver = present.filter({ !gone.contains($0) && !["olga", "mary"].contains($0) }).randomElement(
          using: &random)
        {
          gone.insert(leaver)
          try scene.ask("quitGroup", by: leaver)
        }
      }
    }
    #expect(Set(listed).count == listed.count, "seed \(seed): \(listed)")
    #expect(Set(present).subtracting(gone).isSubset(of: listed), "seed \(seed)")
  }

  @Test func aListContinuesWhenItsLastMemberBecomesOwner() throws {
    let scene = try Scene(.public, members: ["mary": .member, "carl": .admin]) {
      $0.ownerQuitMode = .transfer; $0.joinMode = .any
    }
    try scene.ask("joinGroup", by: "oscar")
    let first = try page(scene, #"{"count":3}"#)
    #expect(first.names == ["olga", "carl", "mary"])
    try scene.ask("quitGroup", by: "olga")
    #expect(scene.state?.record.owner == "mary")
    #expect(try page(scene, #"{"count":3,"nextSeq":\#(first.next)}"#).names == ["oscar"], "carl was listed already")
  }

  @Test func aLiveRoomListsTheOwnerAndThe300NewestNewestFirst() throws {
    let scene = try Scene(.avChatRoom, members: [:])
    for number in 1...320 { try scene.ask("joinGroup", by: "u\(number)") }
    let expected = ["olga"] + (21...320).reversed().map { "u\($0)" }
    #expect(try pages(scene, count: 50, by: "olga") == expected)
    #expect(try page(scene, #"{"filter":"Owner"}"#, by: "u1").names == ["olga"])
    var joined = 320
    let listed = try pages(scene, count: 37, by: "olga") {
      joined += 1
      try scene.ask("joinGroup", by: "u\(joined)")
      try scene.ask("quitGroup", by: "u\(joined - 200)")
    }
    #expect(Set(listed).count == listed.count)
  }

  @Test func onlyMembersReadTheListAndABChatRoomHasNone() throws {
    for type in GroupType.allCases {
      for user in ["olga", "mary", "oscar", "administrator"] {
        let may = type != .bChatRoom && user != "oscar"
        #expect(try Scene(type).ask("getGroupMemberList", by: user).code == (may ? 0 : 10007), "\(type) \(user)")
        #expect(
          try Scene(type).ask("getGroupMembersInfo", #"{"userIDList":["adam"]}"#, by: user).code == (may ? 0 : 10007),
          "\(type) \(user)")
      }
    }
  }

  @Test func withIsMemberVisibleFalseOnlyManagersSeeOthers() throws {
    let scene = try Scene(.public) { $0.isMemberVisible = false }
    for (user, code) in [("olga", 0), ("adam", 0), ("mary", 10007), ("carl", 10007), ("administrator", 0), ("oscar", 10007)] {
      #expect(try scene.ask("getGroupMemberList", by: user).code == code, "\(user)")
      #expect(try scene.ask("getGroupMembersInfo", #"{"userIDList":["olga"]}"#, by: user).code == code, "\(user)")
    }
    #expect(
      try scene.ask("getGroupMembersInfo", #"{"userIDList":["mary"]}"#, by: "mary").result["memberList"][0]["userID"] == "mary")
    #expect(try scene.ask("getGroupMembersInfo", #"{"userIDList":["mary","olga"]}"#, by: "mary").code == 10007)
  }

  @Test func membersInfoLeavesOutNonMembers() throws {
    let list = try Scene(.public).ask("getGroupMembersInfo", #"{"userIDList":["mary","oscar","olga","mary"]}"#, by: "carl")
      .result["memberList"]
    #expect(list.elements.map { $0["userID"] } == ["mary", "olga"])
  }

  @Test func onlineMeansAtLeastOneSession() throws {
    let scene = try Scene(.public)
    scene.signIn("mary", as: "mary/2")
    let count = { try scene.ask("getGroupOnlineMemberCount", by: "olga").result["count"] }
    #expect(try count() == 4)
    scene.signOut("mary")
    #expect(try count() == 4)
    scene.signOut("mary/2")
    #expect(try count() == 3)
    try scene.ask("quitGroup", by: "carl")
    #expect(try count() == 2)
    scene.signOut("oscar")
    #expect(try count() == 2)
    #expect(try scene.ask("getGroupOnlineMemberCount", by: "oscar").code == 10007)
    #expect(try Scene(.bChatRoom).ask("getGroupOnlineMemberCount", by: "oscar").result["count"] == 5)
  }
}
