import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Retention removes messages while requests are under way.
@Suite(.timeLimit(.minutes(10))) struct RetentionActorTests {
  private let scene = ActorScene()

  init() async throws {
    try await scene.makeGroup()
    for _ in 0..<4 { try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary") }
  }

  /// Removes messages in the store; the group is told with `note`.
  private func remove(before seq: Int64) throws -> HistoryRemoval {
    try #require(scene.store.removeMessages(of: "g", before: seq))
  }

  private func firstSeq() async throws -> JSON { try await scene.ask("info", by: "mary").result["firstSeq"] }

  @Test func aGroupInMemoryHearsOfIt() async throws {
    #expect(try await firstSeq() == 1)
    scene.registry.note(try remove(before: 3))
    scene.settle()
    #expect(try await firstSeq() == 3)
  }

  @Test func aGroupThatIsLoadedLaterFindsItDone() async throws {
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0)
    scene.registry.note(try remove(before: 5))
    #expect(scene.registry.residentCount == 0, "nobody asked for it")
    let info = try await scene.ask("info", by: "mary").result
    #expect(info["firstSeq"] == 5 && info["lastSeq"] == 4 && info["lastMessage"] == .null)
    #expect(info["lastMessageTime"].integer ?? 0 > 0)
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 5)
  }

  /// A row that was decided before, and read after.
  @Test func whatGoesBetweenTheDecisionAndTheReadingIsNotRecovered() async throws {
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    let row = try scene.begin("sync", #"{"epoch":"\#(try await epoch())","seq":0}"#, by: "mary")
    let page = try scene.begin("getGroupHistoryMessageList", by: "mary")
    _ = try remove(before: 3)
    scene.store.release()
    #expect(try await sent.answer().result["seq"] == 5)
    let synced = try await row.answer().result
    #expect(synced["recovered"] == false && synced["messageList"] == [] && synced["more"] == false)
    let history = try await page.answer().result
    #expect(history["messageList"].elements.map { $0["seq"] } == [5, 4, 3] && history["isFinished"] == true)
  }

  private func epoch() async throws -> String {
    try #require(scene.store.allMessages(of: "g").first?.msgID.split(separator: "-").first.map(String.init))
  }

  @Test func aRecallThatComesTooLateIsNoContradiction() async throws {
    scene.store.hold()
    let recall = try scene.begin("revokeGroupMessage", #"{"seq":2}"#, by: "mary")
    try await scene.wait { scene.store.pendingCount > 0 }
    scene.registry.note(try remove(before: 4))
    scene.store.release()
    #expect(try await recall.answer().code == 0)
    #expect(try await scene.ask("revokeGroupMessage", #"{"seq":2}"#, by: "mary").code == 10030)
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary").result["seq"] == 5)
  }
}
