import GroupModel
import Synchronization
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The members of a large group are attached in slices, between which the loop does other work.
@Suite(.timeLimit(.minutes(10))) struct AttachingTests {
  /// With olga, adam and mary two whole slices, and one member more.
  private static let names = (0..<2 * Group.attachedAtOnce - 2).map { "user\($0)" }
  private static let everybody = ["olga", "adam", "mary"] + names

  /// A Public group that has attached the first slice of its members, and a message of mary's that waits.
  private func attachingGroup(keepsStamps: Bool = false) async throws -> (ActorScene, RecordingTopic, Pending) {
    let scene = ActorScene(users: Self.everybody, keepsStamps: keepsStamps)
    try await scene.makeGroup()
    let list = Self.names.map { #"{"userID":"\#($0)"}"# }.joined(separator: ",")
    #expect(try await scene.ask("importGroupMembers", #"{"memberList":[\#(list)]}"#, by: "administrator").code == 0)
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    try #require(scene.registry.residentCount == 0)
    scene.executor.holdBackground()
    let asked = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try await scene.wait { scene.broker.topics(of: "g").count == 2 }
    let topic = try #require(scene.broker.topics(of: "g").last)
    #expect(topic.attachedUsers.count == Group.attachedAtOnce && !asked.isAnswered)
    return (scene, topic, asked)
  }

  /// A Public group of few members that waits until their sessions are attached, and a message of mary's
  /// that waits.
  private func groupThatWaits() async throws -> (ActorScene, RecordingTopic, Pending) {
    let scene = ActorScene(keepsStamps: true)
    try await scene.makeGroup()
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    try #require(scene.registry.residentCount == 0)
    scene.broker.holdAttaching()
    let asked = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary")
    try await scene.wait { scene.broker.topics(of: "g").count == 2 }
    let topic = try #require(scene.broker.topics(of: "g").last)
    #expect(topic.stamps.count == 1 && !asked.isAnswered)
    return (scene, topic, asked)
  }

  private final class Count: Sendable {
    private let state = Mutex(0)

    var value: Int { state.withLock { $0 } }

    func increase() { state.withLock { $0 += 1 } }
  }

  /// A commit has failed.
  private func discard(in scene: ActorScene) {
    let group = scene.registry.group("g")
    scene.executor.enqueue { group.assumeIsolated { $0.discard(after: StoreError(.unavailable, "disk full")) } }
    scene.settle()
  }

  @Test func eachTurnAttachesSoManyMembers() async throws {
    let (scene, topic, asked) = try await attachingGroup()
    #expect(scene.executor.runBackground())
    #expect(topic.attachedUsers.count == 2 * Group.attachedAtOnce && !asked.isAnswered)
    // What is due by itself waits, too.
    scene.advance(by: 1000)
    #expect(topic.calls.count == 2 * Group.attachedAtOnce)
    #expect(scene.executor.runBackground())
    #expect(topic.attachedUsers.count == 2 * Group.attachedAtOnce + 1)
    #expect(try await asked.answer().code == 0)
    #expect(!scene.executor.runBackground(), "nothing is left")
    for name in Self.everybody where name != "mary" { #expect(scene.events(name) == ["onRecvNewMessage"]) }
  }

  @Test func allWhoAreAttachedAreToldTogether() async throws {
    let (scene, topic, asked) = try await attachingGroup(keepsStamps: true)
    #expect(scene.executor.runBackground())
    #expect(topic.stamps.isEmpty)
    #expect(scene.executor.runBackground())
    #expect(try await asked.answer().code == 0)
    let tellings = topic.tellings
    let attached = tellings.dropFirst().prefix { call in
      if case .attach = call { true } else { false }
    }
    #expect(tellings.first == .beginTelling && attached.count == Self.everybody.count)
    guard case .didTell(.some(_))? = tellings.dropFirst(1 + attached.count).first else {
      Issue.record("the stamp does not follow: \(tellings.dropFirst(1 + attached.count).prefix(3))")
      return
    }
  }

  @Test func aGroupThatGoesAttachesNobodyMore() async throws {
    let (scene, topic, asked) = try await attachingGroup(keepsStamps: true)
    scene.registry.abandonGroups()
    scene.settle()
    #expect(try await asked.answer().code == 10002)
    #expect(scene.executor.runBackground())
    #expect(topic.attachedUsers.isEmpty && topic.stamps == [nil] && topic.calls.last == .close)
    #expect(!scene.executor.runBackground())
  }

  @Test func aGroupThatGoesIsNotLoadedAgain() async throws {
    let (scene, _, asked) = try await attachingGroup(keepsStamps: true)
    discard(in: scene)
    scene.registry.abandonGroups()
    scene.settle()
    #expect(try await asked.answer().code == 10002)
    #expect(scene.executor.runBackground())
    #expect(scene.registry.residentCount == 0 && scene.broker.topics(of: "g").count == 2)
    #expect(!scene.executor.runBackground())
  }

  @Test func sessionsThatComeAndGoMeanwhileAreNoted() async throws {
    let (scene, topic, asked) = try await attachingGroup()
    // By userID, adam and mary are attached already, and user99 is not.
    for name in ["adam", "user99"] { scene.signOut(name) }
    scene.signIn("mary", as: "mary/2")
    let noted = Count()
    for user: UserID in ["adam", "mary"] {
      scene.registry.group("g").enqueue(.presence(Group.Presence(of: user)) { noted.increase() })
    }
    scene.settle()
    #expect(noted.value == 0)
    for _ in 0..<2 { #expect(scene.executor.runBackground()) }
    #expect(try await asked.answer().code == 0)
    #expect(noted.value == 2)
    #expect(Set(topic.attachedUsers) == Set(Self.everybody.map { UserID(stringLiteral: $0) }).subtracting(["adam", "user99"]))
    for name in ["mary/2", "olga", "user98"] { #expect(scene.events(name) == ["onRecvNewMessage"], "\(name)") }
    #expect(
      try await scene.ask("getGroupOnlineMemberCount", by: "olga").result["count"].integer == Int64(Self.everybody.count - 2))
  }

  // MARK: Failures meanwhile

  /// Those who are still to be attached are attached in their slices, and then the group is loaded again.
  @Test func aGroupWhoseCommitFailsMeanwhileAttachesAllAnew() async throws {
    let (scene, first, asked) = try await attachingGroup(keepsStamps: true)
    // The second fails because the first has.
    for _ in 0..<2 { discard(in: scene) }
    #expect(first.attachedUsers.count == Group.attachedAtOnce)
    #expect(scene.executor.runBackground())
    #expect(first.attachedUsers.count == 2 * Group.attachedAtOnce && !asked.isAnswered)
    #expect(scene.executor.runBackground())
    try await scene.wait { scene.broker.topics(of: "g").count == 3 }
    let topic = try #require(scene.broker.topics(of: "g").last)
    #expect(first.calls.last == .close && first.attachedUsers.isEmpty)
    #expect(topic.attachedUsers.count == Group.attachedAtOnce && topic.stamps.isEmpty)
    #expect(scene.observer.failures.count == 1)
    for _ in 0..<2 { #expect(scene.executor.runBackground()) }
    #expect(topic.attachedUsers.count == Self.everybody.count)
    #expect(try await asked.answer().code == 0)
    #expect(!scene.executor.runBackground())
    for name in Self.everybody where name != "mary" { #expect(scene.events(name) == ["onRecvNewMessage"]) }
  }

  @Test func whatIsDurableIsToldBeforeTheStateGoes() async throws {
    let scene = ActorScene(users: Self.everybody)
    scene.executor.holdBackground()
    scene.store.hold()
    let made = try scene.begin(
      "createGroup", #"{"groupType":"BChatRoom","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
    let asked = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    try await scene.wait { scene.store.pendingCount == 1 }
    scene.store.release()
    #expect(try await made.answer().code == 0)
    discard(in: scene)
    #expect(!asked.isAnswered)
    for _ in 0..<2 { #expect(scene.executor.runBackground()) }
    #expect(try await asked.answer().code == 0)
    for name in Self.everybody where name != "olga" {
      #expect(scene.events(name).filter { $0 == "onRecvNewMessage" }.count == 1, "\(name)")
    }
  }

  // MARK: Sessions that are attached later

  @Test func nothingIsDecidedBeforeTheSessionsAreAttached() async throws {
    let (scene, topic, asked) = try await groupThatWaits()
    let released = Count()
    let (group, start) = (scene.registry.group("g"), scene.clocks.monotonic)
    scene.executor.enqueue { group.assumeIsolated { $0.release(since: start) { released.increase() } } }
    // Later than the group waits for what is due by itself.
    scene.settle()
    for _ in 0..<2 { scene.advance(by: 3000) }
    #expect(!asked.isAnswered && released.value == 0 && scene.store.pendingCount == 0)
    topic.finishAttaching()
    #expect(try await asked.answer().code == 0)
    #expect(scene.events("olga") == ["onRecvNewMessage"])
    scene.settle()
    scene.advance(by: 10)
    #expect(released.value == 1 && scene.registry.residentCount == 0)
  }

  @Test func aGroupThatGoesWaitsForNoSessions() async throws {
    let (scene, topic, asked) = try await groupThatWaits()
    scene.registry.abandonGroups()
    #expect(try await asked.answer().code == 10002)
    topic.finishAttaching()
    scene.settle()
    #expect(topic.calls.last == .close && asked.count == 1)
  }

  @Test func aLateWordOfAnEarlierTopicEndsNothing() async throws {
    let (scene, first, asked) = try await groupThatWaits()
    discard(in: scene)
    try await scene.wait { scene.broker.topics(of: "g").count == 3 }
    first.finishAttaching()
    scene.settle()
    #expect(!asked.isAnswered)
    let topic = try #require(scene.broker.topics(of: "g").last)
    topic.finishAttaching()
    #expect(try await asked.answer().code == 0)
    #expect(scene.events("olga") == ["onRecvNewMessage"])
  }

  // MARK: Freeing

  @Test func aLargeStateIsFreedBehindTheTurn() async throws {
    let scene = ActorScene()
    try await scene.makeGroup()
    func retire() throws {
      scene.registry.retireGroups(unusedFor: .zero)
      scene.settle()
      try #require(scene.registry.residentCount == 0)
    }
    scene.executor.holdBackground()
    try retire()
    #expect(!scene.executor.runBackground(), "it has few members")
    for start in stride(from: 0, to: Group.freedAtOnce, by: 200) {
      let list = (start..<start + 200).map { #"{"userID":"user\#($0)"}"# }.joined(separator: ",")
      #expect(try await scene.ask("importGroupMembers", #"{"memberList":[\#(list)]}"#, by: "administrator").code == 0)
    }
    try retire()
    #expect(scene.executor.runBackground())
    #expect(!scene.executor.runBackground())
  }

  // MARK: Groups of everybody

  @Test func aRoomOfEverybodyTellsNothingBeforeAllAreAttached() async throws {
    let scene = ActorScene(users: Self.everybody)
    scene.executor.holdBackground()
    let made = try await scene.ask(
      "createGroup", #"{"groupType":"BChatRoom","groupName":"n","ownerUserID":"olga"}"#, by: "administrator")
    try #require(made.code == 0)
    let topic = try #require(scene.broker.topics(of: "g").last)
    #expect(topic.attachedUsers.count == Group.attachedAtOnce)
    let asked = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "olga")
    scene.settle()
    for name in Self.everybody { _ = scene.events(name) }
    #expect(scene.executor.runBackground())
    #expect(topic.attachedUsers.count == 2 * Group.attachedAtOnce && !asked.isAnswered)
    #expect(scene.executor.runBackground())
    #expect(topic.attachedUsers.count == Self.everybody.count)
    #expect(try await asked.answer().code == 0)
    for name in Self.everybody where name != "olga" { #expect(scene.events(name) == ["onRecvNewMessage"]) }
  }
}
