import Testing

@testable import ThrongClient

/// Statuses of users who are watched; signals.
@Suite struct PresenceTests {
  private func online() -> Scene {
    var scene = Scene()
    scene.connect(in: "g")
    return scene
  }

  private func row(_ userID: String, _ customStatus: String = "") -> String {
    """
    {"userID":"\(userID)","isOnline":true,"platformList":["Web"],"customStatus":"\(customStatus)","lastOnlineTime":0}
    """
  }

  private func rows(_ rows: String...) -> String { "{\"userList\":[\(rows.joined(separator: ","))]}" }

  private func news(_ effects: [ClientEffect]) -> [StatusNews] {
    effects.events.compactMap { if case .status(let news) = $0 { news } else { nil } }
  }

  private func failures(_ effects: [ClientEffect]) -> [[String]] {
    effects.events.compactMap { if case .watchFailed(let failure) = $0 { failure.userIDs } else { nil } }
  }

  private func asked(_ scene: Scene, _ method: String = "subscribeUsersStatus") -> [JSONValue] { scene.asked(method) }

  @Test func anAnswerTellsOfRowsAndOfUsersWithoutOne() {
    var scene = online()
    scene.feed(.watch(["bob", "carol"]))
    #expect(asked(scene) == [["userIDList": ["bob", "carol"]]])
    scene.answer("subscribeUsersStatus", rows(row("bob", "here")))
    let told = news(scene.takeEffects())
    #expect(told.map { $0.userList.map(\.userID) } == [["bob"]] && told.map(\.unknownUserIDs) == [["carol"]])
    #expect(scene.state.statuses.row(of: "bob")?.customStatus == "here")
    #expect(scene.state.statuses.row(of: "carol") == nil)
  }

  @Test func anEventTellsOfUsersWhoAreWatchedAlone() {
    var scene = online()
    scene.feed(.watch(["bob"]))
    scene.answer("subscribeUsersStatus", rows(row("bob")))
    _ = scene.takeEffects()
    scene.event("onUsersStatusChanged", "{\"opTime\":1,\"userList\":[\(row("bob", "away")),\(row("dave"))]}")
    #expect(news(scene.takeEffects()).map { $0.userList.map(\.userID) } == [["bob"]])
    #expect(scene.state.statuses.row(of: "bob")?.customStatus == "away")
    #expect(scene.state.statuses.row(of: "dave") == nil)
  }

  @Test func aRowThatIsOlderThanItsEventIsNone() {
    var scene = online()
    scene.feed(.watch(["bob", "carol"]))
    scene.event("onUsersStatusChanged", "{\"opTime\":1,\"userList\":[\(row("bob", "newer"))]}")
    scene.answer("subscribeUsersStatus", rows(row("bob", "older"), row("carol")))
    #expect(news(scene.takeEffects()).map { $0.userList.map(\.userID) } == [["bob"], ["carol"]])
    #expect(scene.state.statuses.row(of: "bob")?.customStatus == "newer")
  }

  @Test func aHundredUsersAreAskedForAtOnceAndARequestAtATime() {
    var scene = online()
    let users = (0..<101).map { "user-\($0)" }
    scene.feed(.watch(users))
    #expect(asked(scene).count == 1)
    scene.answer("subscribeUsersStatus", rows())
    #expect(asked(scene) == [["userIDList": ["user-100"]]])
  }

  @Test func aNewSessionAsksForAllOfThem() {
    var scene = online()
    scene.feed(.watch(["bob", "carol"]))
    scene.answer("subscribeUsersStatus", rows(row("bob")))
    scene.feed(.unwatch(["carol"]))
    scene.reconnect()
    #expect(asked(scene) == [["userIDList": ["bob"]]])
    #expect(scene.state.statuses.row(of: "bob") != nil, "the last row stays until there is news")
    _ = scene.takeEffects()
    scene.answer("subscribeUsersStatus", rows())
    #expect(news(scene.takeEffects()).map(\.unknownUserIDs) == [["bob"]])
    #expect(scene.state.statuses.row(of: "bob") == nil)
  }

  @Test func aUserWhoIsWatchedNoLongerIsUnsubscribed() {
    var scene = online()
    scene.feed(.watch(["bob"]))
    scene.feed(.unwatch(nil))
    #expect(asked(scene, "unsubscribeUsersStatus").isEmpty, "one request at a time")
    scene.answer("subscribeUsersStatus", rows(row("bob")))
    #expect(news(scene.takeEffects()).isEmpty)
    #expect(asked(scene, "unsubscribeUsersStatus") == [["userIDList": ["bob"]]])
    // Watched again before the answer: asked for behind it.
    scene.feed(.watch(["bob"]))
    #expect(asked(scene).isEmpty)
    scene.answer("unsubscribeUsersStatus", "{}")
    #expect(asked(scene) == [["userIDList": ["bob"]]])
  }

  @Test func aUserWhoWasNotAskedForYetIsNotUnsubscribed() {
    var scene = Scene()
    scene.feed(.watch(["bob", "carol"]))
    scene.feed(.unwatch(["bob"]))
    scene.connect()
    #expect(asked(scene) == [["userIDList": ["carol"]]] && asked(scene, "unsubscribeUsersStatus").isEmpty)
  }

  @Test func aRefusalForNowIsAskedAgain() {
    var scene = online()
    scene.feed(.watch(["bob"]))
    scene.refuse("subscribeUsersStatus", code: 7008, temporary: true, retryAfterMs: 30_000)
    let effects = scene.takeEffects()
    #expect(effects.delay(of: .watch) == .seconds(30) && failures(effects).isEmpty)
    scene.feed(.watch(["carol"]))
    #expect(asked(scene).isEmpty, "nothing is asked in the pause")
    scene.feed(.fired(.watch))
    #expect(asked(scene) == [["userIDList": ["bob", "carol"]]])
  }

  @Test func aRefusalForGoodIsTold() {
    var scene = online()
    scene.feed(.watch(["bob"]))
    scene.refuse("subscribeUsersStatus", code: 10_060)
    #expect(failures(scene.takeEffects()) == [["bob"]])
    scene.reconnect()
    #expect(asked(scene).isEmpty)
  }

  @Test func theMostUsers() {
    var watch = StatusWatch()
    watch.add((0..<ClientLimits.watchedUsers - 1).map { "user-\($0)" })
    #expect(watch.hasRoom(for: ["user-1", "one", "one"]) && !watch.hasRoom(for: ["one", "two"]))
  }

  @Test func aSignalWaitsForNoSync() {
    var scene = Scene()
    scene.connect(in: "g")
    scene.reconnect()
    scene.answer("getJoinedGroupList", Scene.noGroups)
    _ = scene.takeEffects()
    scene.event("onGroupSignal", "{\"groupID\":\"g\",\"opTime\":1,\"name\":\"typing\",\"sender\":\"bob\"}")
    scene.newMessage("g", seq: 11)
    let effects = scene.takeEffects()
    #expect(effects.events.contains { if case .server(.onGroupSignal) = $0 { true } else { false } })
    #expect(effects.newMessages.isEmpty, "the group is not in step yet")
  }
}
