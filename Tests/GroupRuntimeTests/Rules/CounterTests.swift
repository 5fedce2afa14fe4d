import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// setGroupCounters, increaseGroupCounter, decreaseGroupCounter, getGroupCounters.
@Suite struct CounterTests {
  private func set(_ entries: KeyValuePairs<String, Int64?>) -> String {
    #"{"counters":{\#(entries.map { "\"\($0)\":\($1.map { String($0) } ?? "null")" }.joined(separator: ","))}}"#
  }

  private func step(_ key: String, _ value: Int64 = 1) -> String { #"{"key":"\#(key)","value":\#(value)}"# }

  private func read(_ scene: Scene, _ params: String = "{}", by name: String = "administrator") throws -> JSON {
    try scene.ask("getGroupCounters", params, by: name).result["counters"]
  }

  /// The counters in the last event, merged or not.
  private func told(_ outcome: Scene.Outcome, _ scene: Scene) throws -> JSON {
    scene.clocks.advance(by: 1000)
    let later = try scene.wake()
    return try (later.events.isEmpty ? outcome : later).params("onGroupCounterChanged", to: "mary")["counters"]
  }

  @Test(arguments: [
    (GroupType.work, ["olga"]), (.public, ["olga", "adam"]), (.meeting, ["olga", "adam"]), (.avChatRoom, ["olga"]),
    (.bChatRoom, ["olga", "adam"]),
  ])
  func theTableTellsWhoSetsCounters(type: GroupType, setters: [String]) throws {
    let scene = try Scene(type)
    for name in ["olga", "adam", "mary", "carl", "oscar"] {
      if setters.contains(name) {
        #expect(try scene.ask("setGroupCounters", set(["a": 1]), by: name).code == 0, "\(name)")
      } else {
        try scene.expectRefused(10007, "setGroupCounters", set(["a": 2]), by: name)
      }
    }
    #expect(try scene.ask("setGroupCounters", set(["a": 3]), by: "administrator").code == 0)
    #expect(try read(scene) == ["a": 3])
  }

  @Test(arguments: GroupType.allCases) func everyMemberCountsAndReads(type: GroupType) throws {
    let scene = try Scene(type)
    let members = type.everyoneIsMember ? ["olga", "adam", "mary", "carl", "oscar"] : ["olga", "adam", "mary", "carl"]
    for (index, name) in members.enumerated() {
      #expect(
        try scene.ask("increaseGroupCounter", step("likes", 2), by: name).result == ["value": .number(Double(index * 2 + 2))])
      #expect(try read(scene, by: name) == ["likes": .number(Double(index * 2 + 2))])
    }
    #expect(
      try scene.ask("decreaseGroupCounter", step("likes", 100), by: "mary").result["value"].integer == Int64(members.count) * 2
        - 100)
    #expect(try scene.ask("increaseGroupCounter", step("likes"), by: "administrator").code == 0)
    guard !type.everyoneIsMember else { return }
    for (method, params) in [
      ("increaseGroupCounter", step("likes")), ("decreaseGroupCounter", step("likes")), ("getGroupCounters", "{}"),
    ] { try scene.expectRefused(10007, method, params, by: "oscar") }
  }

  @Test(arguments: GroupType.allCases) func theChangesAreToldToAllMembersAndNobodyElse(type: GroupType) throws {
    let scene = try Scene(type)
    scene.signIn("mary", as: "mary/2")
    let everybody = ["adam", "carl", "mary", "mary/2", "olga"] + (type.everyoneIsMember ? ["oscar"] : [])
    let first = try scene.ask("increaseGroupCounter", step("likes"), by: "mary")
    #expect(first.heard == ["onGroupCounterChanged": everybody])
    #expect(
      try first.params("onGroupCounterChanged", to: "olga") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "counters": ["likes": 1],
      ])
    #expect(scene.messages.isEmpty && first.notifications.isEmpty)
    let second = try scene.ask("setGroupCounters", set(["likes": nil, "votes": 7, "none": nil]), by: "olga")
    #expect(second.events.isEmpty, "merged with what comes within 220 ms")
    try scene.ask("increaseGroupCounter", step("votes"), by: "carl")
    #expect(try told(second, scene) == ["likes": nil, "votes": 8], "removed counters are null; what was not there is not named")
  }

  @Test func receiveOptionsHoldNothingBack() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupReceiveMessageOpt", #"{"opt":"NotReceive"}"#, by: "mary")
    let outcome = try scene.ask("increaseGroupCounter", step("likes"), by: "olga")
    #expect(outcome.receivers(of: "onGroupCounterChanged").contains("mary"))
  }

  @Test func setKeepsTheOthersAndNullRemoves() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupCounters", set(["a": 1, "b": -2, "c": 0]), by: "adam")
    #expect(try scene.ask("setGroupCounters", set(["b": 5, "c": nil]), by: "olga").result == [:] as JSON)
    #expect(try read(scene) == ["a": 1, "b": 5])
    #expect(try scene.ask("increaseGroupCounter", step("c"), by: "mary").result["value"] == 1, "it starts at 0 again")
  }

  @Test func readsTheNamedKeysOrAll() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupCounters", set(["a": 1, "b": 2, "A": 3]), by: "adam")
    #expect(try read(scene) == ["A": 3, "a": 1, "b": 2])
    #expect(try read(scene, #"{"keys":["b","x","A","b"]}"#) == ["A": 3, "b": 2])
    #expect(try read(scene, #"{"keys":[]}"#) == [:] as JSON)
    #expect(try read(scene, #"{"keys":null}"#) == ["A": 3, "a": 1, "b": 2])
  }

  @Test func withoutAChangeNothingIsPublishedOrStored() throws {
    let scene = try Scene(.public)
    try scene.ask("setGroupCounters", set(["a": 1]), by: "olga")
    scene.clocks.advance(by: 1000)
    for params in [set(["a": 1]), set(["x": nil]), set(["a": 1, "x": nil])] {
      let outcome = try scene.ask("setGroupCounters", params, by: "olga")
      #expect(outcome.code == 0 && outcome.events.isEmpty, "\(params)")
      #expect(scene.state?.counters.hasUnwritten == false)
    }
    #expect(scene.state?.nextWake == nil)
  }

  // MARK: Limits

  @Test func twentyCountersAreTheMaximum() throws {
    let scene = try Scene(.public)
    let keys = { (range: Range<Int>) in #"{"counters":{\#(range.map { "\"k\($0)\":1" }.joined(separator: ","))}}"# }
    #expect(try scene.ask("setGroupCounters", keys(0..<19), by: "olga").code == 0)
    try scene.expectRefused(10057, "setGroupCounters", keys(18..<21), by: "olga")
    #expect(try scene.ask("setGroupCounters", keys(19..<20), by: "olga").code == 0)
    try scene.expectRefused(10057, "setGroupCounters", keys(20..<21), by: "administrator")
    for method in ["increaseGroupCounter", "decreaseGroupCounter"] {
      try scene.expectRefused(10057, method, step("k20"), by: "mary")
      #expect(try scene.ask(method, step("k19"), by: "mary").code == 0, "one that is there")
    }
    #expect(try scene.ask("setGroupCounters", set(["k0": nil, "k20": 1]), by: "olga").code == 0, "the result counts")
    try scene.expectRefused(10007, "setGroupCounters", keys(20..<23), by: "mary")
  }

  @Test func valuesStayWithinTheirBounds() throws {
    let scene = try Scene(.public)
    let most = GroupCounters.values.upperBound
    try scene.ask("setGroupCounters", set(["high": most - 1, "low": -most + 1]), by: "olga")
    #expect(try scene.ask("increaseGroupCounter", step("high"), by: "mary").result["value"].integer == most)
    #expect(try scene.ask("decreaseGroupCounter", step("low"), by: "mary").result["value"].integer == -most)
    for (method, key) in [("increaseGroupCounter", "high"), ("decreaseGroupCounter", "low")] {
      try scene.expectRefused(10004, method, step(key), by: "mary")
      try scene.expectRefused(10004, method, step(key, 2_147_483_647), by: "administrator")
      #expect(try scene.ask(method, step(key), by: "mary").field == "value")
    }
    #expect(try scene.ask("decreaseGroupCounter", step("high"), by: "mary").result["value"].integer == most - 1)
  }

  @Test func aUserWritesTwentyTimesInFiveSecondsWithAllMethods() throws {
    let scene = try Scene(.public)
    func write(_ times: Int, by name: String) throws -> [Int] {
      try (0..<times).map { number in
        let method = ["setGroupCounters", "increaseGroupCounter", "decreaseGroupCounter"][number % 3]
        return try scene.ask(method, number % 3 == 0 ? set(["a": 1]) : step("a"), by: name).code
      }
    }
    #expect(try write(20, by: "adam") == Array(repeating: 0, count: 20))
    for (method, params) in [
      ("setGroupCounters", set(["a": 9])), ("increaseGroupCounter", step("a")), ("decreaseGroupCounter", step("a")),
    ] { try scene.expectRefused(8511, method, params, by: "adam") }
    scene.clocks.advance(by: 1200)
    #expect(try scene.ask("increaseGroupCounter", step("a"), by: "adam").retryAfterMs == 3800)
    #expect(try write(20, by: "olga") == Array(repeating: 0, count: 20), "each user for oneself")
    #expect(try write(40, by: "administrator") == Array(repeating: 0, count: 40), "administrators are not limited")
    for _ in 0..<30 { #expect(try scene.ask("getGroupCounters", by: "adam").code == 0) }
    scene.clocks.advance(by: 3799)
    try scene.expectRefused(8511, "increaseGroupCounter", step("a"), by: "adam")
    scene.clocks.advance(by: 1)
    #expect(try write(21, by: "adam") == Array(repeating: 0, count: 20) + [8511])
  }

  @Test func onlyWhatSucceedsCounts() throws {
    let scene = try Scene(.public)
    let full = (0..<20).map { "\"k\($0)\":9007199254740992" }.joined(separator: ",")
    try scene.ask("setGroupCounters", #"{"counters":{\#(full)}}"#, by: "administrator")
    for _ in 0..<25 {
      try scene.expectRefused(10057, "increaseGroupCounter", step("more"), by: "mary")
      try scene.expectRefused(10004, "increaseGroupCounter", step("k1"), by: "mary")
      try scene.expectRefused(10007, "setGroupCounters", set(["k1": 1]), by: "mary")
    }
    for _ in 0..<20 { #expect(try scene.ask("decreaseGroupCounter", step("k1"), by: "mary").code == 0) }
    try scene.expectRefused(10057, "increaseGroupCounter", step("more"), by: "mary")
    try scene.expectRefused(8511, "decreaseGroupCounter", step("k1"), by: "mary")
  }

  // MARK: Webhooks

  private func scene(hooked type: GroupType) throws -> Scene {
    try Scene(type, rules: GroupRules(webhooks: WebhookTypes([.countersChanged])))
  }

  private func entries(_ write: GroupState.CounterWrite?) -> [WebhookEntry] {
    write?.changes.compactMap { if case .appendWebhook(let entry) = $0 { entry } else { nil } } ?? []
  }

  @Test(arguments: GroupType.allCases) func eachWriteHasItsEntryInItsTransaction(type: GroupType) throws {
    let scene = try scene(hooked: type)
    try scene.ask("setGroupCounters", set(["a": 1, "b": 2]), by: "olga")
    let write = try #require(scene.counterWrite)
    let made = entries(write)
    #expect(made.count == 1 && write.effects == [.post(made[0])] && made[0].type == .countersChanged)
    #expect(try JSON(made[0].data) == ["groupID": "g", "opTime": .instant(scene.clocks.wall), "counters": ["a": 1, "b": 2]])
    #expect(scene.counterEntries == made && made[0].lane == .group("g") && scene.counterEntries[0].storedNumber > 0)
  }

  @Test func writesOfATenthOfASecondShareOne() throws {
    let scene = try scene(hooked: .avChatRoom)
    for _ in 0..<5 { try scene.ask("increaseGroupCounter", step("a"), by: "mary") }
    #expect(try entries(scene.counterWrite).map { try JSON($0.data)["counters"] } == [["a": 1]])
    #expect(scene.state?.nextWake == scene.clocks.monotonic + 100)
    scene.clocks.advance(by: 100)
    try scene.wake()
    #expect(try entries(scene.counterWrite).map { try JSON($0.data)["counters"] } == [["a": 5]])
  }

  @Test func withoutTheTypeThereIsNone() throws {
    let scene = try Scene(.public)
    try scene.ask("increaseGroupCounter", step("a"), by: "mary")
    #expect(scene.counterWrite?.effects == [] && entries(scene.counterWrite).isEmpty)
  }
}
