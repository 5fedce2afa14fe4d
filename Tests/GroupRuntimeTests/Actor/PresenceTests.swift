import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The sessions that receive a group's events, and the members who are online ("at least one
/// signed-in session").
@Suite struct PresenceTests {
  private func online(_ scene: ActorScene) async throws -> JSON {
    try await scene.ask("getGroupOnlineMemberCount", by: "olga").result["count"]
  }

  private func say(_ scene: ActorScene) async throws {
    #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga").code == 0)
  }

  @Test func aNewSessionHearsTheGroupOnceTheGroupWasTold() async throws {
    let scene = ActorScene(users: ["olga"])
    try await scene.makeGroup()
    #expect(try await online(scene) == 1)
    scene.signIn("mary")
    await scene.refresh("mary")
    scene.signIn("mary", as: "mary/2")
    await scene.refresh("mary")
    await scene.refresh("mary")
    #expect(try await online(scene) == 2)
    try await say(scene)
    #expect(scene.events("mary") == ["onRecvNewMessage"] && scene.events("mary/2") == ["onRecvNewMessage"])
    scene.signOut("mary")
    await scene.refresh("mary")
    #expect(try await online(scene) == 2)
    scene.signOut("mary/2")
    await scene.refresh("mary")
    #expect(try await online(scene) == 1)
  }

  /// Frames are compressed together: what was said before a join must not show in the lengths of those
  /// behind it. Another session of a member changes nothing, and an open group has nothing to hide.
  @Test(arguments: [("Any", false), ("Auth", true)])
  func aJoinResetsTheCompressionUnlessTheGroupIsOpen(joinMode: String, resets: Bool) async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    try await scene.ask("setGroupInfo", #"{"joinMode":"\#(joinMode)"}"#, by: "olga")
    let topic = try #require(scene.broker.topics(of: "g").last)
    let admission = RecordingTopic.Call.attach("oscar", receiving: .receive)
    func calls() -> [RecordingTopic.Call] { topic.calls.filter { $0 == .resetCompression || $0 == admission } }
    scene.signIn("mary", as: "mary/2")
    await scene.refresh("mary")
    try await scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary")
    #expect(calls() == [])
    try await scene.ask("inviteUserToGroup", #"{"userIDList":["oscar"]}"#, by: "administrator")
    #expect(calls() == (resets ? [.resetCompression] : []) + [admission])
  }

  @Test func sessionsOfOthersAreNotAttached() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    await scene.refresh("oscar")
    try await say(scene)
    #expect(scene.events("oscar").isEmpty)
    #expect(try await online(scene) == 3)
    #expect(scene.broker.topics(of: "g").last?.attachedUsers == ["adam", "mary", "olga"])
  }

  @Test func aGroupThatIsNotLoadedLooksForItselfWhenItIs() async throws {
    let scene = ActorScene(users: ["olga"])
    try await scene.makeGroup()
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    scene.signIn("mary")
    await scene.refresh("mary")
    #expect(scene.broker.topics(of: "g").count == 1, "presence alone loads nothing")
    try await say(scene)
    #expect(scene.events("mary") == ["onRecvNewMessage"])
    #expect(try await online(scene) == 2)
  }

  @Test func aMemberReceivesNothingBeforeTheJoiningIsDurable() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"before"}"#, by: "mary")
    let joined = try scene.begin("joinGroup", by: "oscar")
    scene.signIn("oscar", as: "oscar/2")
    await scene.refresh("oscar")
    scene.store.release()
    #expect(try await sent.answer().code == 0)
    #expect(try await joined.answer().code == 0)
    #expect(scene.events("oscar") == ["onMemberEnter"], "nothing from before joining")
    #expect(scene.events("oscar/2") == ["onMemberEnter"])
  }

  @Test func signedInUsersReceiveABChatRoom() async throws {
    let scene = ActorScene(users: ["olga", "mary"])
    let made = try await scene.ask(
      "createGroup", #"{"groupType":"BChatRoom","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
    try #require(made.code == 0)
    scene.signIn("oscar")
    await scene.refresh("oscar")
    try await say(scene)
    #expect(scene.events("mary") == ["onRecvNewMessage"] && scene.events("oscar") == ["onRecvNewMessage"])
    #expect(try await online(scene) == 3)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    try await say(scene)
    #expect(scene.events("mary") == ["onRecvNewMessage"] && scene.events("oscar") == ["onRecvNewMessage"])
  }

  @Test func manyThreadsAtOnceLoseNothing() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for number in 0..<8 {
        tasks.addTask {
          for round in 0..<25 {
            let sent = try await scene.ask("sendGroupTextMessage", #"{"text":"\#(number)-\#(round)"}"#, by: "mary")
            #expect(sent.code == 0)
            await scene.refresh(["olga", "adam", "mary", "oscar"][round % 4])
            if round % 5 == 0 { scene.registry.retireGroups(unusedFor: .zero) }
          }
        }
      }
      try await tasks.waitForAll()
    }
    #expect(scene.store.allMessages(of: "g").compactMap(\.seq) == Array(1...200))
    #expect(scene.events("olga").count == 200)
  }
}
