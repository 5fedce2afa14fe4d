import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// Groups that are only looked at share a bounded part of the memory.
@Suite struct ResidentGroupsTests {
  private static let most = ResidentGroups.maxBytesOnlyRead
  private static let names = ["a", "b", "c", "d"]

  /// Groups that are not in memory.
  private func scene() async throws -> ActorScene {
    let scene = ActorScene()
    for name in Self.names {
      let made = try await scene.ask(
        "createGroup", #"{"groupType":"Public","groupName":"n","groupID":"\#(name)","memberList":[{"userID":"mary"}]}"#,
        by: "olga",
        of: GroupID(stringLiteral: name))
      try #require(made.code == 0)
    }
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    try #require(scene.registry.residentCount == 0)
    return scene
  }

  private func resident(_ scene: ActorScene) -> [String] {
    Self.names.filter { scene.registry.resident(GroupID(stringLiteral: $0)) != nil }
  }

  /// As if the group took half of what there is, and a little more.
  private func load(_ name: String, _ scene: ActorScene, use: Bool = false) async throws {
    let id = GroupID(stringLiteral: name)
    _ = try await scene.ask("info", by: "oscar", of: id)
    if use { #expect(try await scene.ask("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary", of: id).code == 0) }
    scene.registry.noteLoaded(scene.registry.group(id), bytes: Self.most / 2 + 1)
    scene.settle()
  }

  @Test func thoseLookedAtFirstGo() async throws {
    let scene = try await scene()
    try await load("a", scene)
    #expect(resident(scene) == ["a"])
    try await load("b", scene)
    #expect(resident(scene) == ["b"])
    try await load("c", scene)
    #expect(resident(scene) == ["c"])
    #expect(try await scene.ask("info", by: "mary", of: "a").code == 0)
  }

  @Test func thoseInUseStay() async throws {
    let scene = try await scene()
    try await load("a", scene, use: true)
    for name in ["b", "c", "d"] { try await load(name, scene) }
    #expect(resident(scene) == ["a", "d"])
  }

  @Test func onlyWhatIsMoreThanThereIsGoesAndNeverTheLast() async throws {
    let scene = try await scene()
    let resident = ResidentGroups()
    let groups = Self.names.map { scene.registry.group(GroupID(stringLiteral: $0)) }
    #expect(resident.didLoad(groups[0], bytes: 3 * Self.most).isEmpty)
    #expect(resident.didLoad(groups[1], bytes: Self.most / 2).map(\.id) == ["a"])
    #expect(resident.didLoad(groups[2], bytes: Self.most / 2).isEmpty)
    #expect(resident.didLoad(groups[3], bytes: 1).map(\.id) == ["b"])
  }

  @Test func memoryIsSummedForEachOwner() async throws {
    let scene = try await scene()
    let groups = Self.names.map { scene.registry.group(GroupID(stringLiteral: $0)) }
    let most = ResidentGroups.maxBytesOfOwner
    for (group, owner) in zip(groups, ["olga", "mary", "olga", "adam"] as [UserID]) {
      group.footprint.note(most / 2, owner: owner)
    }
    #expect(ResidentGroups.excessive(among: groups).isEmpty)
    groups[2].footprint.note(most / 2 + 1, owner: "olga")
    #expect(ResidentGroups.excessive(among: groups).map(\.id) == ["a", "c"])
    groups[2].footprint.note(0, owner: nil)
    #expect(ResidentGroups.excessive(among: groups).isEmpty)
  }

  // MARK: The memory of one owner's groups

  /// As if each of olga's groups took more than all may.
  private func retireExcess(_ scene: ActorScene) {
    for name in resident(scene) {
      scene.registry.group(GroupID(stringLiteral: name)).footprint.note(ResidentGroups.maxBytesOfOwner + 1, owner: "olga")
    }
    scene.registry.retireExcess()
    scene.settle()
  }

  private func use(_ names: [String], _ scene: ActorScene) async throws {
    for name in names { #expect(try await scene.ask("info", by: "oscar", of: GroupID(stringLiteral: name)).code == 0) }
  }

  @Test func whileAllAreInUseAllStay() async throws {
    let scene = try await scene()
    try await use(Self.names, scene)
    scene.clocks.advance(for: ResidentGroups.shortIdleTime - .milliseconds(1))
    retireExcess(scene)
    #expect(resident(scene) == Self.names)
    let groups = Self.names.map { scene.registry.group(GroupID(stringLiteral: $0)) }
    #expect(ResidentGroups.excessive(among: groups).isEmpty, "those that stay are estimated anew")
    scene.clocks.advance(by: 1)
    retireExcess(scene)
    #expect(resident(scene).isEmpty)
  }

  @Test func idleGroupsRetireAndBusyOnesAfterTheirWork() async throws {
    let scene = try await scene()
    try await use(Self.names, scene)
    scene.store.hold()
    let sent = try scene.begin("sendGroupTextMessage", #"{"text":"x"}"#, by: "mary", of: scene.registry.group("c"))
    scene.settle()
    scene.clocks.advance(for: ResidentGroups.shortIdleTime)
    try await use(["b"], scene)
    retireExcess(scene)
    #expect(resident(scene) == ["b", "c"], "one was used lately, one has something on its way to the disk")
    #expect(!sent.isAnswered)
    scene.store.release()
    #expect(try await sent.answer().code == 0)
    retireExcess(scene)
    #expect(resident(scene) == ["b"])
    scene.clocks.advance(for: ResidentGroups.shortIdleTime)
    retireExcess(scene)
    #expect(resident(scene).isEmpty)
    try await use(["c"], scene)
    #expect(scene.store.allMessages(of: "c").count == 1)
  }

  @Test func groupsOfOtherOwnersStay() async throws {
    let scene = try await scene()
    try await use(Self.names, scene)
    scene.clocks.advance(for: ResidentGroups.shortIdleTime)
    for (name, owner) in zip(Self.names, ["olga", "adam", "olga", "mary"] as [UserID]) {
      scene.registry.group(GroupID(stringLiteral: name)).footprint.note(ResidentGroups.maxBytesOfOwner / 2 + 1, owner: owner)
    }
    scene.registry.retireExcess()
    scene.settle()
    #expect(resident(scene) == ["b", "d"])
  }
}
