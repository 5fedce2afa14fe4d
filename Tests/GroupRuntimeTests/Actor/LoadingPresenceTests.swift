import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit

/// Users who sign in and out while a group is being loaded, right after it has looked who is signed
/// in.
@Suite struct LoadingPresenceTests {
  private static let grace: Int64 = 300_000

  private func retire(_ scene: ActorScene) throws {
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    try #require(scene.registry.residentCount == 0)
  }

  /// Loads the group by a question. Sessions come and go meanwhile and the registry is told, as by
  /// another loop.
  private func load(_ scene: ActorScene, while change: @escaping @Sendable () -> [Group.Presence]) async throws {
    let queue = QueueTaskExecutor()
    let told = Mutex<Task<Void, any Error>?>(nil)
    scene.broker.afterNextLookUp {
      let presences = change()
      let task = Task(executorPreference: queue) {
        for presence in presences {
          await scene.registry.presenceChanged(presence, in: try await scene.store.memberships(of: presence.user))
        }
      }
      told.withLock { $0 = task }
      // The registry has found the groups to tell when this returns; the group takes note later.
      queue.drain()
    }
    #expect(try await scene.ask("info", by: "olga").code == 0)
    try await #require(told.withLock { $0 }).value
  }

  private func say(_ scene: ActorScene) async throws {
    for name in ["olga", "adam", "mary", "oscar"] { _ = scene.events(name) }
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").code == 0)
  }

  /// A BChatRoom that is not in memory, with olga and mary signed in.
  private func roomOfEverybody() async throws -> ActorScene {
    let scene = ActorScene(users: ["olga", "mary"])
    let made = try await scene.ask(
      "createGroup", #"{"groupType":"BChatRoom","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
    try #require(made.code == 0)
    try retire(scene)
    return scene
  }

  @Test func aSignInDuringLoadingIsAttachedToAGroupOfEverybody() async throws {
    let scene = try await roomOfEverybody()
    try await load(scene) {
      scene.signIn("oscar")
      return [Group.Presence(of: "oscar")]
    }
    try await say(scene)
    #expect(scene.events("oscar") == ["onRecvNewMessage"] && scene.events("mary") == ["onRecvNewMessage"])
  }

  @Test func aSignOutDuringLoadingIsDetachedFromAGroupOfEverybody() async throws {
    let scene = try await roomOfEverybody()
    try await load(scene) {
      scene.signOut("mary")
      return [Group.Presence(of: "mary")]
    }
    #expect(scene.broker.topics(of: "g").last?.attachedUsers == ["olga"])
    #expect(try await scene.ask("getGroupOnlineMemberCount", by: "olga").result["count"] == 1)
  }

  @Test(arguments: ["AVChatRoom", "Public"])
  func membersWhoSignInAndOutDuringLoadingAreNoted(type: String) async throws {
    let scene = ActorScene(users: ["olga", "mary"])
    try await scene.makeGroup(type)
    if type == "AVChatRoom" {
      for name in ["mary", "adam"] { try await scene.ask("joinGroup", by: name) }
      scene.waitForNotices()
      // The room is busy while adam's grace lasts, so he is back until it is not in memory.
      scene.signIn("adam")
      await scene.refresh("adam")
    }
    try retire(scene)
    scene.signOut("adam")
    let now = scene.clocks.wall
    try await load(scene) {
      scene.signIn("adam")
      scene.signOut("mary")
      return [Group.Presence(of: "adam", awaySince: now), Group.Presence(of: "mary")]
    }
    #expect(try await scene.ask("getGroupOnlineMemberCount", by: "olga").result["count"] == 2)
    try await say(scene)
    #expect(scene.events("adam") == ["onRecvNewMessage"])
    #expect(scene.broker.topics(of: "g").last?.attachedUsers == ["adam", "olga"])
    scene.advance(by: Self.grace)
    let info = try await scene.ask("info", by: "olga")
    #expect(info.result["memberCount"] == (type == "AVChatRoom" ? 2 : 3), "the grace of who has gone ends")
  }
}
