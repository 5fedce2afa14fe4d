import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Mutes of a live room at work: "several merge into one, at most 5 a second and group, and the last
/// state always arrives".
@Suite struct MemberNoticeActorTests {
  private let scene = ActorScene()

  init() async throws {
    try await scene.makeGroup("AVChatRoom")
    for name in ["mary", "adam", "oscar"] { try await scene.ask("joinGroup", by: name) }
    scene.waitForNotices()
    for name in ["olga", "mary", "adam", "oscar"] { _ = scene.events(name) }
  }

  private func mute(_ user: String, _ seconds: Int = 3600) async throws -> Int {
    try await scene.ask("muteGroupMember", #"{"userID":"\#(user)","muteTime":\#(seconds)}"#, by: "olga").code
  }

  /// Whether each user whom the events to mary name is muted, by the last of them.
  private func told() throws -> [String: Bool] {
    try scene.params("onGroupMemberInfoChanged", to: "mary").reduce(into: [:]) { told, params in
      for entry in params["changeInfoList"].elements {
        told[entry["userID"].string ?? "?"] = (entry["muteTime"].integer ?? 0) > 0
      }
    }
  }

  @Test func laterChangesAreToldByAnAlarm() async throws {
    #expect(try await mute("mary") == 0)
    #expect(try told() == ["mary": true])
    for (user, seconds) in [("adam", 60), ("oscar", 60), ("adam", 0)] { #expect(try await mute(user, seconds) == 0) }
    #expect(scene.alarms.instants == [scene.clocks.monotonic + 220])
    scene.advance(by: 219)
    #expect(try told().isEmpty)
    scene.advance(by: 1)
    #expect(try told() == ["adam": false, "oscar": true])
    scene.advance(by: 1000)
    #expect(try told().isEmpty)
  }

  @Test func whatWaitsOutlivesAFailedCommit() async throws {
    #expect(try await mute("mary") == 0)
    #expect(try await mute("adam") == 0)
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await mute("oscar") == 10002)
    #expect(try await scene.ask("info", by: "olga").code == 0)
    #expect(try told() == ["mary": true])
    scene.store.fail(with: nil)
    scene.advance(by: 1000)
    #expect(try told() == ["adam": true, "oscar": false], "each as it is now")
  }

  /// The event was made, and waited for a commit that fails.
  @Test func anEventThatIsLostWithItsDecisionIsMadeAgain() async throws {
    #expect(try await mute("mary") == 0)
    #expect(try await mute("adam") == 0)
    _ = try told()
    scene.store.hold()
    let lost = try scene.begin("setGroupInfo", #"{"groupName":"lost"}"#, by: "olga")
    scene.settle()
    scene.advance(by: 220)
    #expect(try told().isEmpty, "it follows what was decided before it")
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    scene.store.release()
    #expect(try await lost.answer().code == 10002)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "olga").result["groupName"] == "n")
    scene.advance(by: 1000)
    #expect(try told() == ["adam": true])
  }

  @Test func anEventFollowsTheCommitsBeforeIt() async throws {
    #expect(try await mute("mary") == 0)
    #expect(try await mute("adam") == 0)
    _ = try told()
    scene.store.hold()
    let named = try scene.begin("setGroupInfo", #"{"groupName":"m"}"#, by: "olga")
    scene.settle()
    scene.advance(by: 220)
    #expect(scene.events("oscar") == ["onGroupMemberInfoChanged"], "that of mary")
    scene.store.release()
    #expect(try await named.answer().code == 0)
    scene.settle()
    #expect(scene.events("oscar") == ["onGroupInfoChanged", "onGroupMemberInfoChanged"])
  }

  /// What waited for the store leaves as one event, and the next one a while later.
  @Test func aSlowStoreMakesNoMoreEventsASecond() async throws {
    #expect(try await mute("mary") == 0)
    _ = try told()
    func begin(_ user: String, _ seconds: Int) throws -> Pending {
      try scene.begin("muteGroupMember", #"{"userID":"\#(user)","muteTime":\#(seconds)}"#, by: "olga")
    }
    scene.store.hold()
    var pending = try ["adam", "oscar"].map { try begin($0, 3600) }
    scene.settle()
    scene.advance(by: 220)
    for seconds in [0, 60, 0] {
      pending.append(try begin("mary", seconds))
      scene.settle()
      scene.advance(by: 500)
    }
    #expect(try told().isEmpty)
    scene.store.release()
    for muting in pending { #expect(try await muting.answer().code == 0) }
    scene.settle()
    #expect(try told() == ["adam": true, "oscar": true])
    scene.advance(by: 219)
    #expect(try told().isEmpty)
    scene.advance(by: 1)
    #expect(try told() == ["mary": false])
  }

  @Test func aRoomStaysInMemoryWhileSomethingWaits() async throws {
    #expect(try await mute("mary") == 0)
    #expect(try await mute("adam") == 0)
    _ = try told()
    scene.registry.retireGroups(unusedFor: .zero)
    scene.settle()
    scene.advance(by: 220)
    #expect(try told() == ["adam": true])
  }

  /// A member who has left meanwhile is not told of any more.
  @Test func afterAFailedCommitOnlyMembersAreToldOf() async throws {
    #expect(try await mute("mary") == 0)
    #expect(try await mute("adam") == 0)
    #expect(try await scene.ask("quitGroup", by: "adam").code == 0)
    _ = try told()
    scene.store.fail(with: StoreError(.unavailable, "disk full"))
    #expect(try await mute("oscar") == 10002)
    scene.store.fail(with: nil)
    #expect(try await scene.ask("info", by: "olga").code == 0)
    scene.advance(by: 1000)
    #expect(try told() == ["oscar": false])
  }
}
