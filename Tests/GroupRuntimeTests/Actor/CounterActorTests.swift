import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Counters of a group at work: commits that many changes share, and what waits for them.
@Suite struct CounterActorTests {
  private static let writers = (1...12).map { "w\($0)" }
  private let scene = ActorScene(users: ["olga", "mary"] + writers)

  init() async throws {
    try await scene.makeGroup("AVChatRoom")
    for name in ["mary"] + CounterActorTests.writers { try await scene.ask("joinGroup", by: name) }
    scene.waitForNotices()
    for name in ["olga", "mary"] { _ = scene.events(name) }
  }

  private func increase(_ name: String, by value: Int = 1) throws -> Pending {
    try scene.begin("increaseGroupCounter", #"{"key":"likes","value":\#(value)}"#, by: name)
  }

  private func values(_ pending: [Pending]) async throws -> [Int64?] {
    var values: [Int64?] = []
    for reply in pending { values.append(try await reply.answer().result["value"].integer) }
    return values
  }

  private func told() throws -> [JSON] { try scene.params("onGroupCounterChanged", to: "mary").map { $0["counters"] } }

  private func counters() async throws -> JSON { try await scene.ask("getGroupCounters", by: "olga").result["counters"] }

  @Test func changesDuringACommitShareTheNextOne() async throws {
    scene.store.hold()
    let pending = try CounterActorTests.writers.map { try increase($0) }
    scene.settle()
    #expect(scene.store.pendingCount == 1 && pending.allSatisfy { !$0.isAnswered })
    #expect(try told().isEmpty, "nothing is told that is not durable")
    scene.store.release()
    #expect(try await values(pending) == (1...12).map { $0 })
    scene.settle()
    #expect(pending.allSatisfy { $0.count == 1 })
    #expect(try told() == [["likes": 1]])
    scene.advance(by: 220)
    #expect(try told() == [["likes": 12]])
    scene.advance(by: 1000)
    #expect(try told().isEmpty)
  }

  @Test func noMessageWaitsForCounters() async throws {
    scene.store.hold()
    let pending = try increase("w1")
    scene.settle()
    #expect(try await scene.say() == "Delivered")
    #expect(scene.events("olga") == ["onRecvNewMessage"] && !pending.isAnswered)
    scene.store.release()
    #expect(try await pending.answer().code == 0)
  }

  @Test func countersDoNotWaitForOtherCommits() async throws {
    scene.store.hold()
    let info = try scene.begin("setGroupInfo", #"{"introduction":"i"}"#, by: "olga")
    scene.settle()
    let pending = try increase("w1")
    scene.settle()
    #expect(scene.store.pendingCount == 2, "it is on its way to the store")
    scene.store.release()
    #expect(try await pending.answer().code == 0)
    #expect(try await info.answer().code == 0)
  }

  @Test func whatIsReadIsDurable() async throws {
    scene.store.hold()
    let first = try increase("w1")
    scene.settle()
    let (second, read) = (try increase("w2"), try scene.begin("getGroupCounters", by: "mary"))
    scene.settle()
    #expect(!read.isAnswered)
    scene.store.release()
    #expect(try await read.answer().result["counters"] == ["likes": 2])
    #expect(try await values([first, second]) == [1, 2])
    scene.settle()
    #expect(try await counters() == ["likes": 2], "and nothing waits without a change")
  }

  @Test func aReadBehindTheLastCommitWaitsForIt() async throws {
    scene.store.hold()
    let first = try increase("w1")
    scene.settle()
    let read = try scene.begin("getGroupCounters", by: "mary")
    scene.settle()
    #expect(!read.isAnswered && scene.store.pendingCount == 1)
    scene.store.release()
    #expect(try await read.answer().result["counters"] == ["likes": 1])
    #expect(try await first.answer().code == 0)
  }

  @Test func atMostFiveEventsInAnySecond() async throws {
    for round in 0..<15 {
      for name in CounterActorTests.writers {
        #expect(try await scene.ask("increaseGroupCounter", #"{"key":"likes","value":1}"#, by: name).code == 0, "\(round)")
        scene.advance(by: 23)
      }
    }
    scene.advance(by: 220)
    let events = try scene.params("onGroupCounterChanged", to: "mary")
    let times = events.compactMap { $0["opTime"].integer }
    for (index, time) in times.enumerated() { #expect(times[index...].prefix { $0 <= time + 1000 }.count <= 5) }
    #expect(times.count > 15 && events.last?["counters"] == ["likes": 180])
  }

  // MARK: Failures

  @Test func aFailedCommitUndoesAllThatWaitsForIt() async throws {
    #expect(try await increase("w1", by: 5).answer().code == 0)
    _ = try told()
    scene.store.hold()
    let pending = try [increase("w2"), increase("w3"), increase("w4")]
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    for reply in pending { #expect(try await reply.answer().code == 10002) }
    scene.settle()
    #expect(pending.allSatisfy { $0.count == 1 })
    #expect(try await counters() == ["likes": 5])
    scene.store.fail(with: nil)
    scene.advance(by: 2000)
    #expect(try told().isEmpty)
    #expect(try await increase("w2").answer().result["value"] == 6)
    #expect(try told() == [["likes": 6]])
  }

  @Test func aFailedCommitOfSomethingElseUndoesThemToo() async throws {
    scene.store.hold()
    let info = try scene.begin("setGroupInfo", #"{"introduction":"i"}"#, by: "olga")
    scene.settle()
    let pending = try [increase("w1"), increase("w2")]
    scene.settle()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    for reply in [info] + pending { #expect(try await reply.answer().code == 10002) }
    #expect(try await counters() == [:] as JSON)
    scene.store.fail(with: nil)
    #expect(try await increase("w1").answer().result["value"] == 1)
  }

  @Test func whereAnotherNodeDecidesOnlyWhatACommitHoldsMayHaveBeenPerformed() async throws {
    scene.store.hold()
    let held = try increase("w1")
    scene.settle()
    let waiting = try [increase("w2"), increase("w3")]
    scene.settle()
    #expect(scene.store.pendingCount == 1)
    scene.registry.abandonGroups()
    scene.settle()
    #expect(try await held.answer().code == -32603, "10002 would say that nothing was changed")
    for reply in waiting { #expect(try await reply.answer().code == 10002) }
    scene.store.release()
    scene.settle()
    #expect(([held] + waiting).allSatisfy { $0.count == 1 })
  }

  @Test func theLastStateArrivesThoughACommitHasFailed() async throws {
    #expect(try await increase("w1").answer().code == 0)
    #expect(try await increase("w2").answer().code == 0)
    #expect(try told() == [["likes": 1]], "the second one waits for its turn")
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await increase("w3").answer().code == 10002)
    scene.store.fail(with: nil)
    #expect(try await counters() == ["likes": 2])
    scene.advance(by: 1000)
    #expect(try told() == [["likes": 2]])
  }

  // MARK: The end of the group

  @Test func changesBeforeTheEndOfTheGroupAreDurableBeforeIt() async throws {
    scene.store.hold()
    let pending = try [increase("w1"), increase("w2")]
    scene.settle()
    let read = try scene.begin("getGroupCounters", by: "mary")
    let end = try scene.begin("dismissGroup", by: "olga")
    scene.settle()
    let late = try increase("w3")
    scene.store.release()
    #expect(try await values(pending) == [1, 2])
    #expect(try await read.answer().result["counters"] == ["likes": 2])
    #expect(try await end.answer().code == 0)
    #expect(try await late.answer().code == 10010)
    scene.settle()
    #expect(scene.events("mary").last == "onGroupDismissed")
    #expect(try await scene.ask("getGroupCounters", by: "mary").code == 10010)
  }

  @Test func aNewGroupOfTheSameNameHasNone() async throws {
    let fields = #"{"groupType":"AVChatRoom","groupName":"n"}"#
    #expect(try await increase("w1").answer().code == 0)
    try await scene.ask("dismissGroup", by: "olga")
    #expect(try await scene.ask("createGroup", fields, by: "olga").code == 0)
    #expect(try await counters() == [:] as JSON)
  }

  @Test func countersSurviveARestart() async throws {
    #expect(try await increase("w1", by: 7).answer().code == 0)
    let later = ActorScene(users: ["olga"], store: scene.store)
    #expect(try await later.ask("getGroupCounters", by: "olga").result["counters"] == ["likes": 7])
  }
}
