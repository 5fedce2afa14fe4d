import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Slow mode of a group at work: "a restart may forget the time of the last one", and nothing else does.
@Suite struct SlowModeActorTests {
  private let hello = #"{"text":"x"}"#

  /// A Public group with slow mode, where mary and oscar are members.
  private func slowGroup(_ seconds: Int = 60) async throws -> ActorScene {
    let scene = ActorScene()
    try await scene.makeGroup()
    try await scene.ask("joinGroup", by: "oscar")
    let set = try await scene.ask("setGroupInfo", #"{"slowMode":\#(seconds)}"#, by: "olga")
    try #require(set.code == 0)
    return scene
  }

  private func say(_ name: String, in scene: ActorScene) async throws -> Int {
    try await scene.ask("sendGroupTextMessage", hello, by: name).code
  }

  @Test func itOutlivesTheGroupsMemory() async throws {
    let scene = try await slowGroup()
    #expect(try await say("mary", in: scene) == 0)
    scene.advance(by: 20_000)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(scene.registry.residentCount == 0)
    #expect(try await say("mary", in: scene) == 10023)
    #expect(try await say("oscar", in: scene) == 0, "who has not written")
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    scene.advance(by: 39_999)
    #expect(try await say("mary", in: scene) == 10023, "and once more")
    scene.advance(by: 1)
    #expect(try await say("mary", in: scene) == 0)
    #expect(try await say("oscar", in: scene) == 10023)
  }

  @Test func aMessageThatTheStoreDidNotTakeDoesNotCount() async throws {
    let scene = try await slowGroup()
    #expect(try await say("oscar", in: scene) == 0)
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await say("mary", in: scene) == 10002)
    scene.store.fail(with: nil)
    #expect(try await say("mary", in: scene) == 0, "it was not sent")
    #expect(try await say("oscar", in: scene) == 10023, "and takes nobody else's away")
    #expect(try await say("mary", in: scene) == 10023)
  }

  @Test func messagesThatWaitForTheStoreCount() async throws {
    let scene = try await slowGroup()
    scene.store.hold()
    let first = try scene.begin("sendGroupTextMessage", hello, by: "mary")
    let second = try scene.begin("sendGroupTextMessage", hello, by: "mary")
    scene.settle()
    scene.store.release()
    #expect(try await first.answer().code == 0)
    #expect(try await second.answer().code == 10023)
  }

  @Test func aNewGroupOfTheSameIDKnowsNothing() async throws {
    let scene = try await slowGroup()
    #expect(try await say("mary", in: scene) == 0)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    #expect(try await scene.ask("dismissGroup", by: "olga").code == 0)
    scene.settle()
    try await scene.makeGroup()
    #expect(try await scene.ask("setGroupInfo", #"{"slowMode":60}"#, by: "olga").code == 0)
    #expect(try await say("mary", in: scene) == 0)
  }

  @Test(arguments: [true, false]) func anotherNodeBeginsAnew(isLost: Bool) async throws {
    let scene = try await slowGroup()
    #expect(try await say("mary", in: scene) == 0)
    if isLost {
      scene.registry.abandonGroups()
      scene.settle()
    } else {
      await scene.registry.release { $0 == "g" }
    }
    #expect(try await say("mary", in: scene) == 0)
  }

  @Test func groupsThatAreNotInMemoryAreReleasedToo() async throws {
    let scene = try await slowGroup()
    #expect(try await say("mary", in: scene) == 0)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    await scene.registry.release { $0 == "g" }
    #expect(try await say("mary", in: scene) == 0)
  }
}
