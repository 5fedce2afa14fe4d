import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// onGroupAttributeChanged of a group at work: "at most 20 a second per group; the last state
/// always arrives".
@Suite struct AttributeActorTests {
  private static let writers = (1...12).map { "w\($0)" }
  private let scene = ActorScene(users: ["olga", "mary"] + writers)

  init() async throws {
    try await scene.makeGroup("AVChatRoom")
    for name in ["mary"] + AttributeActorTests.writers { try await scene.ask("joinGroup", by: name) }
    scene.waitForNotices()
    for name in ["olga", "mary"] { _ = scene.events(name) }
  }

  private func write(_ value: String, by name: String) async throws -> Int {
    try await scene.ask("setGroupAttributes", #"{"attributes":{"k":"\#(value)"}}"#, by: name).code
  }

  private func told() throws -> [JSON] { try scene.params("onGroupAttributeChanged", to: "mary") }

  @Test func writesInQuickSuccessionAreMergedAndTheLastIsTold() async throws {
    for value in ["a", "b", "c"] { #expect(try await write(value, by: "w1") == 0) }
    #expect(try told().map { $0["groupAttributeMap"] } == [["k": "a"]])
    #expect(scene.alarms.instants == [scene.clocks.monotonic + 50])
    scene.advance(by: 49)
    #expect(try told().isEmpty)
    scene.advance(by: 1)
    #expect(try told().map { $0["groupAttributeMap"] } == [["k": "c"]])
    scene.advance(by: 1000)
    #expect(try told().isEmpty)
  }

  @Test func atMostTwentyEventsASecondArePublished() async throws {
    for round in 0..<10 {
      for name in AttributeActorTests.writers {
        #expect(try await write("\(name)-\(round)", by: name) == 0)
        scene.advance(by: 11)
      }
    }
    scene.advance(by: 50)
    let events = try told()
    let times = events.compactMap { $0["opTime"].integer }
    for (index, time) in times.enumerated() { #expect(times[index...].prefix { $0 < time + 1000 }.count <= 20) }
    #expect(events.count > 20 && events.last?["groupAttributeMap"] == ["k": "w12-9"])
  }

  @Test func aWriteWhoseCommitFailsIsNotVisible() async throws {
    #expect(try await write("kept", by: "w1") == 0)
    _ = try told()
    scene.advance(by: 1000)
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await write("lost", by: "w1") == 10002)
    #expect(try await scene.ask("getGroupAttributes", by: "olga").result["attributes"] == ["k": "kept"])
    #expect(try told().isEmpty)
    scene.store.fail(with: nil)
    #expect(try await write("found", by: "w1") == 0)
    #expect(try told().map { $0["groupAttributeMap"] } == [["k": "found"]])
  }

  @Test func aMergedEventWaitsForItsWritesAndGoesWithThem() async throws {
    scene.store.hold()
    let pending = try ["a", "b"].map {
      try scene.begin("setGroupAttributes", #"{"attributes":{"k":"\#($0)"}}"#, by: "w1")
    }
    scene.settle()
    scene.advance(by: 50)
    #expect(try told().isEmpty)
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    for write in pending { #expect(try await write.answer().code == 10002) }
    #expect(try await scene.ask("getGroupAttributes", by: "olga").result["attributes"] == [:] as JSON)
    #expect(try told().isEmpty)
  }

  @Test func attributesSurviveARestart() async throws {
    #expect(try await write("kept", by: "w1") == 0)
    let later = ActorScene(users: ["olga"], store: scene.store)
    #expect(try await later.ask("getGroupAttributes", by: "olga").result["attributes"] == ["k": "kept"])
  }
}
