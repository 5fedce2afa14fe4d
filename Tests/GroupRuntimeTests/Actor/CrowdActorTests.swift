import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Joins, quits and edits of a crowd: beyond 20 a second they wait for one another.
@Suite struct CrowdActorTests {
  private static let crowd = (0..<300).map { "u\($0)" }

  /// A group of olga's with 99 further members, of whom mary is online.
  private func scene(others: Int = 99) async throws -> ActorScene {
    let scene = ActorScene(users: ["olga", "mary"] + CrowdActorTests.crowd)
    let members = ["mary"] + (1..<max(others, 1)).map { "m\($0)" }
    let list = members.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",")
    let made = try await scene.ask(
      "createGroup", #"{"groupType":"Public","groupName":"n","joinMode":"Any","memberList":[\#(list)]}"#, by: "olga")
    try #require(made.code == 0)
    for name in ["olga", "mary"] { _ = scene.events(name) }
    return scene
  }

  private func begin(_ method: String, _ names: some Sequence<String>, in scene: ActorScene) throws -> [Pending] {
    defer { scene.settle() }
    return try names.map { try scene.begin(method, by: $0) }
  }

  private func named(_ events: [JSON]) -> [[String]] {
    events.map { $0["memberList"].elements.compactMap { $0["userID"].string } }
  }

  @Test func joinsBeyondTwentyASecondShareEvents() async throws {
    let scene = try await scene()
    let users = CrowdActorTests.crowd.prefix(250)
    let pending = try begin("joinGroup", users, in: scene)
    for _ in 0..<3 { scene.advance(by: 50) }
    for reply in pending { #expect(try await reply.answer().result == ["status": "Joined"]) }
    let told = named(try scene.params("onMemberEnter", to: "mary"))
    #expect(told.map(\.count) == Array(repeating: 1, count: 21) + [100, 100, 29])
    #expect(told.flatMap { $0 } == Array(users), "each once, in the order of their requests")
    #expect(scene.store.allMessages(of: "g").count == 24, "as many tips")
    for user in users {
      let own = named(try scene.params("onMemberEnter", to: user)).filter { $0.contains(user) }
      #expect(own.count == 1, "\(user) hears of itself once")
    }
    for user in CrowdActorTests.crowd.suffix(50) { #expect(scene.events(user).isEmpty, "\(user) is not concerned") }
    #expect(try await scene.ask("info", by: "mary").result["memberCount"] == 350)
  }

  @Test func repliesWaitForTheirCommit() async throws {
    let scene = try await scene()
    let first = try begin("joinGroup", CrowdActorTests.crowd.prefix(21), in: scene)
    for reply in first { _ = try await reply.answer() }
    scene.store.hold()
    let later = try begin("joinGroup", CrowdActorTests.crowd[21..<40], in: scene)
    _ = scene.events("mary")
    scene.advance(by: 50)
    #expect(scene.store.pendingCount == 1 && later.allSatisfy { !$0.isAnswered } && scene.events("mary").isEmpty)
    scene.store.release()
    for reply in later { #expect(try await reply.answer().code == 0) }
    scene.settle()
    #expect(scene.events("mary") == ["onMemberEnter"] && later.allSatisfy { $0.count == 1 })
  }

  @Test func nobodyHasJoinedWhereTheCommitFails() async throws {
    let scene = try await scene()
    for reply in try begin("joinGroup", CrowdActorTests.crowd.prefix(21), in: scene) { _ = try await reply.answer() }
    let later = try begin("joinGroup", CrowdActorTests.crowd[21..<40], in: scene)
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.advance(by: 50)
    for reply in later { #expect(try await reply.answer().code == 10002) }
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "mary").result["memberCount"] == 121)
    #expect(try await scene.ask("quitGroup", by: "u30").code == 10007)
  }

  @Test func aSessionsRequestsKeepTheirOrder() async throws {
    let scene = try await scene()
    for reply in try begin("joinGroup", CrowdActorTests.crowd.prefix(21), in: scene) { _ = try await reply.answer() }
    let joined = try scene.begin("joinGroup", by: "u50")
    let said = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "u50")
    let left = try scene.begin("quitGroup", by: "u50")
    let other = try scene.begin("sendGroupTextMessage", #"{"text":"y"}"#, by: "mary")
    #expect(try await other.answer().code == 0, "others do not wait")
    #expect(!joined.isAnswered && !said.isAnswered && !left.isAnswered)
    for _ in 0..<2 { scene.advance(by: 50) }
    #expect(try await joined.answer().code == 0)
    #expect(try await said.answer().code == 0)
    #expect(try await left.answer().code == 0)
    #expect(try await scene.ask("info", by: "mary").result["memberCount"] == 121)
  }

  @Test func quitsAndEditsOfACrowdShareEvents() async throws {
    let scene = try await scene()
    let users = CrowdActorTests.crowd.prefix(60)
    let joined = try begin("joinGroup", users, in: scene)
    scene.advance(by: 50)
    for reply in joined { _ = try await reply.answer() }
    scene.advance(by: 1000)
    _ = scene.events("mary")
    let edits = try users.map { try scene.begin("setGroupMemberInfo", #"{"userID":"\#($0)","nameCard":"x"}"#, by: $0) }
    scene.settle()
    scene.advance(by: 50)
    for reply in edits { #expect(try await reply.answer().code == 0) }
    let changes = try scene.params("onGroupMemberInfoChanged", to: "mary").map { $0["changeInfoList"].elements.count }
    #expect(changes == Array(repeating: 1, count: 21) + [39] || changes == Array(repeating: 1, count: 20) + [40])
    scene.advance(by: 1000)
    let quits = try begin("quitGroup", users, in: scene)
    scene.advance(by: 50)
    for reply in quits { #expect(try await reply.answer().code == 0) }
    let left = named(try scene.params("onMemberLeave", to: "mary"))
    #expect(left.count <= 22 && left.flatMap { $0 } == Array(users))
    #expect(try await scene.ask("info", by: "mary").result["memberCount"] == 100)
  }

  @Test func aWaitingChangeOfADisbandedGroupIsAnswered() async throws {
    let scene = try await scene()
    for reply in try begin("joinGroup", CrowdActorTests.crowd.prefix(21), in: scene) { _ = try await reply.answer() }
    let waiting = try scene.begin("joinGroup", by: "u50")
    scene.settle()
    #expect(try await scene.ask("dismissGroup", by: "olga").code == 0)
    scene.advance(by: 50)
    #expect(try await waiting.answer().code == 10010)
  }

  @Test func inASmallGroupEveryChangeStandsAlone() async throws {
    let scene = try await scene(others: 20)
    let pending = try begin("joinGroup", CrowdActorTests.crowd.prefix(60), in: scene)
    for reply in pending { #expect(try await reply.answer().code == 0) }
    #expect(named(try scene.params("onMemberEnter", to: "mary")).map(\.count) == Array(repeating: 1, count: 60))
  }
}
