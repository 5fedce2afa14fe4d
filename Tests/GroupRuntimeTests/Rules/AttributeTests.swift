import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// initGroupAttributes, setGroupAttributes, deleteGroupAttributes, getGroupAttributes.
@Suite struct AttributeTests {
  private let everybody = ["adam", "carl", "mary", "olga"]

  private func attributes(_ entries: KeyValuePairs<String, String>) -> String {
    #"{"attributes":{\#(entries.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ","))}}"#
  }

  private func read(_ scene: Scene, _ params: String = "{}") throws -> JSON {
    try scene.ask("getGroupAttributes", params, by: "administrator").result["attributes"]
  }

  /// The attributes in the last event, merged or not.
  private func told(_ outcome: Scene.Outcome, _ scene: Scene) throws -> JSON {
    scene.clocks.advance(by: 50)
    let later = try scene.wake()
    let event = try (later.events.isEmpty ? outcome : later).params("onGroupAttributeChanged", to: "mary")
    return event["groupAttributeMap"]
  }

  @Test(arguments: GroupType.allCases, ["olga", "adam", "mary", "carl", "oscar", "administrator"])
  func useFollowsTheTable(type: GroupType, name: String) throws {
    let requests = [
      ("initGroupAttributes", attributes(["a": "1"])), ("setGroupAttributes", attributes(["a": "1"])),
      ("deleteGroupAttributes", "{}"), ("getGroupAttributes", "{}"),
    ]
    for (method, params) in requests {
      let scene = try Scene(type)
      if type == .avChatRoom && name != "oscar" {
        #expect(try scene.ask(method, params, by: name).code == 0, "\(method)")
      } else {
        try scene.expectRefused(10007, method, params, by: name)
      }
    }
  }

  @Test func theConfigurationNamesTheTypesThatHaveThem() throws {
    let rules = GroupRules(permissions: GroupPermissions(attributeTypes: [.work]))
    let scene = try Scene(.work, rules: rules)
    #expect(try scene.ask("setGroupAttributes", attributes(["a": "1"]), by: "mary").code == 0)
    try Scene(.avChatRoom, rules: rules).expectRefused(10007, "setGroupAttributes", attributes(["a": "1"]), by: "mary")
  }

  @Test(arguments: [true, false])
  func everyMemberGetsTheWholeSet(notification: Bool) throws {
    let scene = try Scene(.avChatRoom) { $0.memberChangeNotification = notification }
    scene.signIn("mary", as: "mary/2")
    let written = try scene.ask("setGroupAttributes", attributes(["b": "2", "a": "1"]), by: "mary")
    #expect(written.result == [:] as JSON)
    #expect(written.heard == ["onGroupAttributeChanged": ["adam", "carl", "mary", "mary/2", "olga"]])
    #expect(
      try written.params("onGroupAttributeChanged", to: "olga") == [
        "groupID": "g", "opTime": .instant(scene.clocks.wall), "groupAttributeMap": ["a": "1", "b": "2"],
        "holders": ["a": "mary", "b": "mary"],
      ])
    #expect(scene.messages.isEmpty && written.notifications.isEmpty)
    let next = try scene.ask("setGroupAttributes", attributes(["c": "3"]), by: "carl")
    #expect(next.events.isEmpty, "merged with what comes within 50 ms")
    #expect(try told(next, scene) == ["a": "1", "b": "2", "c": "3"])
  }

  @Test func initReplacesAllAndSetKeepsTheOthers() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("initGroupAttributes", attributes(["a": "1", "b": "2"]), by: "mary")
    try scene.ask("setGroupAttributes", attributes(["b": "3", "c": ""]), by: "carl")
    #expect(try read(scene) == ["a": "1", "b": "3", "c": ""], "an empty value is a value")
    let replaced = try scene.ask("initGroupAttributes", attributes(["d": "4"]), by: "olga")
    #expect(try read(scene) == ["d": "4"] && told(replaced, scene) == ["d": "4"])
    let emptied = try scene.ask("initGroupAttributes", #"{"attributes":{}}"#, by: "olga")
    #expect(try read(scene) == [:] as JSON && told(emptied, scene) == [:] as JSON)
  }

  @Test func deletesTheNamedKeysOrAll() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("initGroupAttributes", attributes(["a": "1", "b": "2", "c": "3"]), by: "mary")
    let deleted = try scene.ask("deleteGroupAttributes", #"{"keys":["a","c","a"]}"#, by: "carl")
    #expect(try read(scene) == ["b": "2"] && told(deleted, scene) == ["b": "2"])
    #expect(try scene.ask("deleteGroupAttributes", #"{"keys":[]}"#, by: "carl").code == 0)
    #expect(try read(scene) == ["b": "2"])
    let rest = try scene.ask("deleteGroupAttributes", by: "carl")
    #expect(try read(scene) == [:] as JSON && told(rest, scene) == [:] as JSON)
  }

  @Test func anUnknownKeyDeletesNothing() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("initGroupAttributes", attributes(["a": "1"]), by: "mary")
    try scene.expectRefused(10050, "deleteGroupAttributes", #"{"keys":["a","b"]}"#, by: "mary")
    #expect(try scene.ask("deleteGroupAttributes", #"{"keys":["A"]}"#, by: "mary").field == "keys")
    #expect(try read(scene) == ["a": "1"])
  }

  @Test func readsTheNamedKeysOrAll() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("initGroupAttributes", attributes(["a": "1", "b": "2", "é": "3"]), by: "mary")
    #expect(try read(scene) == ["a": "1", "b": "2", "é": "3"])
    #expect(try read(scene, #"{"keys":["a","x","é"]}"#) == ["a": "1", "é": "3"])
    #expect(try read(scene, #"{"keys":[]}"#) == [:] as JSON)
    #expect(try scene.ask("getGroupAttributes", by: "carl").decision.changes.isEmpty)
  }

  @Test func keysAreComparedByteForByte() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("initGroupAttributes", attributes(["é": "one", "e\u{301}": "two"]), by: "mary")
    #expect(scene.state?.attributes.values.count == 2)
    try scene.expectRefused(10050, "deleteGroupAttributes", #"{"keys":["E\#u{301}"]}"#, by: "mary")
    try scene.ask("deleteGroupAttributes", #"{"keys":["é"]}"#, by: "mary")
    #expect(scene.state?.attributes.values["e\u{301}"] == "two" && scene.state?.attributes.values.count == 1)
  }

  @Test func withoutAChangeNothingIsPublishedOrStored() throws {
    let scene = try Scene(.avChatRoom)
    try scene.ask("initGroupAttributes", attributes(["a": "1"]), by: "mary")
    scene.clocks.advance(by: 1000)
    for (method, params) in [
      ("setGroupAttributes", attributes(["a": "1"])), ("initGroupAttributes", attributes(["a": "1"])),
      ("deleteGroupAttributes", #"{"keys":[]}"#), ("setGroupAttributes", #"{"attributes":{}}"#),
    ] {
      let outcome = try scene.ask(method, params, by: "mary")
      #expect(outcome.code == 0 && outcome.events.isEmpty && outcome.decision.changes.isEmpty, "\(method) \(params)")
    }
    #expect(scene.state?.nextWake == nil)
  }

  @Test func sixteenKeysAreTheMaximum() throws {
    let scene = try Scene(.avChatRoom)
    let keys = { (range: Range<Int>) in #"{"attributes":{\#(range.map { "\"k\($0)\":\"v\"" }.joined(separator: ","))}}"# }
    try scene.expectRefused(10047, "initGroupAttributes", keys(0..<17), by: "mary")
    #expect(try scene.ask("initGroupAttributes", keys(0..<16), by: "mary").code == 0)
    try scene.expectRefused(10047, "setGroupAttributes", keys(16..<17), by: "mary")
    #expect(try scene.ask("setGroupAttributes", keys(0..<16), by: "mary").code == 0, "the limit holds for the result")
    #expect(try scene.ask("initGroupAttributes", keys(16..<32), by: "carl").code == 0)
  }

  @Test func keysAndValuesHaveAtMostSixteenKiB() throws {
    let scene = try Scene(.avChatRoom)
    // 4 keys of 1 byte, values of 2-byte letters: 3 × 4096 + 4 + 4092 = 16,384.
    let (full, last) = (String(repeating: "é", count: 2048), String(repeating: "é", count: 2046))
    #expect(try scene.ask("initGroupAttributes", attributes(["a": full, "b": full, "c": full]), by: "mary").code == 0)
    try scene.expectRefused(10048, "setGroupAttributes", attributes(["d": last + "x"]), by: "mary")
    try scene.expectRefused(10048, "setGroupAttributes", attributes(["dd": last]), by: "mary")
    #expect(try scene.ask("setGroupAttributes", attributes(["d": last]), by: "mary").code == 0)
    #expect(scene.state?.attributes.values.byteCount == 16_384)
    try scene.expectRefused(10048, "setGroupAttributes", attributes(["e": ""]), by: "mary")
    #expect(try scene.ask("setGroupAttributes", attributes(["a": "", "e": ""]), by: "mary").code == 0)
  }
}
