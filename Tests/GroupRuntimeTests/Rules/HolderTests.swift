import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// Keys that somebody holds, in a group: who hears of them, and when they go (Protocol.md, "Holders of
/// attributes").
@Suite struct HolderTests {
  private func set(
    _ scene: Scene, _ attributes: String, _ more: String = "", by name: String
  ) throws -> Scene.Outcome {
    scene.clocks.advance(by: 1000)
    return try scene.ask("setGroupAttributes", #"{"attributes":{\#(attributes)}\#(more)}"#, by: name)
  }

  private func read(_ scene: Scene, _ params: String = #"{"withHolders":true}"#) throws -> JSON {
    try scene.ask("getGroupAttributes", params, by: "administrator").result
  }

  /// Rules under which managers remove members of live rooms.
  private func moderated(_ webhooks: [WebhookType] = []) -> GroupRules {
    var configuration = RightsConfiguration()
    configuration.moderatesLiveRooms = true
    return GroupRules(permissions: GroupPermissions(configuration), webhooks: WebhookTypes(webhooks))
  }

  private func posted(_ outcome: Scene.Outcome) throws -> [JSON] {
    try outcome.decision.effects.compactMap { effect in
      if case .post(let entry) = effect, entry.type == .attributesChanged { try JSON(entry.data) } else { nil }
    }
  }

  // MARK: Holders

  /// "Each key has a holder: the user who created it (an application administrator: nobody)."
  @Test func aKeyIsItsMakers() throws {
    let scene = try Scene(.avChatRoom)
    _ = try set(scene, #""a":"1""#, by: "mary")
    _ = try set(scene, #""a":"2","b":"1""#, by: "carl")
    _ = try set(scene, #""c":"1""#, by: "administrator")
    #expect(try read(scene) == ["attributes": ["a": "2", "b": "1", "c": "1"], "holders": ["a": "mary", "b": "carl"]])
    #expect(try read(scene, #"{"withHolders":true,"keys":["b","c"]}"#)["holders"] == ["b": "carl"], "among those asked for")
    #expect(try read(scene, #"{"withHolders":true,"keys":["c"]}"#)["holders"] == [:] as JSON)
    #expect(try read(scene, "{}").names == ["attributes"] && read(scene, #"{"withHolders":false}"#).names == ["attributes"])
    try scene.ask("deleteGroupAttributes", #"{"keys":["a"]}"#, by: "adam")
    _ = try set(scene, #""a":"3""#, by: "olga")
    #expect(try read(scene)["holders"] == ["a": "olga", "b": "carl"], "made again, it is the new maker's")
  }

  @Test func eventsCarryHoldersWhereThereAreAny() throws {
    let scene = try Scene(.avChatRoom, rules: moderated([.attributesChanged]))
    let unheld = try set(scene, #""c":"1""#, by: "administrator")
    #expect(try unheld.params("onGroupAttributeChanged", to: "mary").names == ["groupAttributeMap", "groupID", "opTime"])
    #expect(try posted(unheld).map(\.names) == [["groupAttributeMap", "groupID", "opTime"]])
    let held = try set(scene, #""a":"1""#, by: "mary")
    #expect(held.receivers(of: "onGroupAttributeChanged") == ["adam", "carl", "mary", "olga"], "not to oscar, who is no member")
    #expect(try held.params("onGroupAttributeChanged", to: "carl")["holders"] == ["a": "mary"])
    #expect(try posted(held).map { $0["holders"] } == [["a": "mary"]])
  }

  /// "isTakeOver: where the caller may change a key, the caller becomes its holder", also where the value
  /// stays; "by an application administrator leaves the key to nobody".
  @Test func aKeyIsTakenOver() throws {
    let scene = try Scene(.avChatRoom)
    _ = try set(scene, #""a":"1","b":"1""#, #","isDeleteAfterHolderLeft":true"#, by: "mary")
    let taken = try set(scene, #""a":"1""#, #","isTakeOver":true"#, by: "carl")
    #expect(try taken.params("onGroupAttributeChanged", to: "olga")["holders"] == ["a": "carl", "b": "mary"])
    #expect(scene.state?.attributes.values.entry(of: "a")?.isDeletedAfterHolderLeft == false, "as the taking call says")
    let nobodys = try set(scene, #""a":"1","b":"1""#, #","isTakeOver":true,"isDeleteAfterHolderLeft":true"#, by: "administrator")
    #expect(try !nobodys.params("onGroupAttributeChanged", to: "olga").names.contains("holders"))
    #expect(scene.state?.attributes.values.entries.contains(where: \.isDeletedAfterHolderLeft) == false)
  }

  // MARK: attributeMode

  /// "With Holder a key that somebody holds is changed or deleted (init too) by its holder, by managers
  /// and by application administrators alone."
  @Test(arguments: ["mary", "carl", "adam", "olga", "administrator"])
  func aHeldKeyIsItsHoldersAndTheManagers(name: String) throws {
    let mayChange = name != "carl"
    let writes = [
      ("setGroupAttributes", #"{"attributes":{"a":"2"}}"#, "attributes"),
      ("setGroupAttributes", #"{"attributes":{"a":"1"},"isTakeOver":true}"#, "attributes"),
      ("initGroupAttributes", #"{"attributes":{"free":"1"}}"#, "attributes"),
      ("initGroupAttributes", #"{"attributes":{"a":"2","free":"1"}}"#, "attributes"),
      ("deleteGroupAttributes", #"{"keys":["a"]}"#, "keys"), ("deleteGroupAttributes", "{}", "keys"),
    ]
    for (method, params, field) in writes {
      let scene = try Scene(.avChatRoom, rules: moderated()) { $0.attributeMode = .holder }
      _ = try set(scene, #""a":"1""#, by: "mary")
      _ = try set(scene, #""free":"1""#, by: "administrator")
      scene.clocks.advance(by: 1000)
      if mayChange {
        #expect(try scene.ask(method, params, by: name).code == 0, "\(method) \(params)")
      } else {
        try scene.expectRefused(10059, method, params, by: name)
        #expect(try scene.ask(method, params, by: name).field == field)
      }
    }
  }

  @Test func whatStaysOrIsNobodysOffendsNobody() throws {
    let scene = try Scene(.avChatRoom) { $0.attributeMode = .holder }
    _ = try set(scene, #""a":"1""#, by: "mary")
    _ = try set(scene, #""free":"1""#, by: "administrator")
    #expect(try set(scene, #""a":"1","free":"2","new":"1""#, by: "carl").code == 0)
    #expect(try read(scene)["holders"] == ["a": "mary", "new": "carl"])
    let kept = try scene.ask("initGroupAttributes", #"{"attributes":{"a":"1"}}"#, by: "carl")
    #expect(kept.code == 0, "a stays, free is nobody's, and new is carl's")
    #expect(try read(scene) == ["attributes": ["a": "1"], "holders": ["a": "mary"]])
  }

  @Test func withAnyEverybodyChangesAndTakesOver() throws {
    let scene = try Scene(.avChatRoom)
    _ = try set(scene, #""a":"1""#, by: "mary")
    #expect(try set(scene, #""a":"2""#, by: "carl").code == 0 && read(scene)["holders"] == ["a": "mary"])
    #expect(try set(scene, #""a":"2""#, #","isTakeOver":true"#, by: "carl").code == 0 && read(scene)["holders"] == ["a": "carl"])
    #expect(try scene.ask("deleteGroupAttributes", #"{"keys":["a"]}"#, by: "mary").code == 0)
  }

  // MARK: expect

  /// "expect: (null: the key is not there): otherwise 10058 and nothing changes."
  @Test func whoComesSecondIsTold() throws {
    let scene = try Scene(.avChatRoom)
    let sit = { (name: String) in #"{"attributes":{"seat":"\#(name)"},"expect":{"seat":null}}"# }
    #expect(try scene.ask("setGroupAttributes", sit("mary"), by: "mary").code == 0)
    try scene.expectRefused(10058, "setGroupAttributes", sit("carl"), by: "carl")
    #expect(try scene.ask("setGroupAttributes", sit("carl"), by: "carl").field == "expect")
    #expect(try scene.ask("setGroupAttributes", #"{"attributes":{},"expect":{"seat":"mary"}}"#, by: "carl").code == 0)
    #expect(try scene.ask("setGroupAttributes", #"{"attributes":{},"expect":{}}"#, by: "carl").code == 0, "nothing is expected")
  }

  /// "10058 and 10059 come after 8511 and the sizes; refused calls do not count; 10058 before 10059."
  @Test func theOrderOfErrors() throws {
    let scene = try Scene(.avChatRoom) { $0.attributeMode = .holder }
    _ = try set(scene, #""a":"1""#, by: "mary")
    scene.clocks.advance(by: 5000)
    let both = #"{"attributes":{"a":"2"},"expect":{"a":"x"}}"#
    let held = #"{"attributes":{"a":"2"}}"#
    let keys = (0..<17).map { "\"k\($0)\":\"v\"" }.joined(separator: ",")
    for _ in 0..<20 {
      try scene.expectRefused(10058, "setGroupAttributes", both, by: "carl")
      try scene.expectRefused(10059, "setGroupAttributes", held, by: "carl")
    }
    try scene.expectRefused(10047, "setGroupAttributes", #"{"attributes":{\#(keys)},"expect":{"a":"x"}}"#, by: "carl")
    for _ in 0..<10 { #expect(try scene.ask("setGroupAttributes", #"{"attributes":{}}"#, by: "carl").code == 0) }
    try scene.expectRefused(8511, "setGroupAttributes", both, by: "carl")
    try scene.expectRefused(8511, "setGroupAttributes", held, by: "carl")
    for _ in 0..<5 { #expect(try scene.ask("setGroupAttributes", #"{"attributes":{}}"#, by: "administrator").code == 0) }
    try scene.expectRefused(10049, "setGroupAttributes", both, by: "administrator")
  }

  // MARK: Leaving

  /// The ways to leave an AVChatRoom.
  private static let ways = ["quitGroup", "kickGroupMember", "grace", "return after the grace"]

  @Test(arguments: ways)
  func theKeysGoWithTheirHolder(way: String) throws {
    let scene = try Scene(.avChatRoom, rules: moderated())
    _ = try set(scene, #""seat":"mary","mic":"on""#, #","isDeleteAfterHolderLeft":true"#, by: "mary")
    _ = try set(scene, #""mic":"on""#, by: "mary")
    _ = try set(scene, #""other":"1""#, #","isDeleteAfterHolderLeft":true"#, by: "carl")
    scene.clocks.advance(by: 1000)
    let outcome: Scene.Outcome
    switch way {
    case "quitGroup": outcome = try scene.ask("quitGroup", by: "mary")
    case "kickGroupMember": outcome = try scene.ask("kickGroupMember", #"{"userIDList":["mary"]}"#, by: "olga")
    case "grace":
      scene.signOut("mary")
      scene.clocks.advance(by: 300_000)
      outcome = try scene.wake()
    default:
      scene.clocks.advance(by: 400_000)
      let changes = scene.state?.removeAfterGrace("mary", at: scene.clocks.now).changes ?? []
      #expect(changes.count { if case .putAttributes = $0 { true } else { false } } == 1)
      #expect(scene.state?.attributes.values.entries.map(\.key) == ["mic", "other"])
      return
    }
    #expect(outcome.receivers(of: "onGroupAttributeChanged") == ["adam", "carl", "olga"], "one event, and not to who has left")
    #expect(try outcome.params("onGroupAttributeChanged", to: "olga")["groupAttributeMap"] == ["mic": "on", "other": "1"])
    #expect(try read(scene)["holders"] == ["mic": "mary", "other": "carl"], "keys without the flag keep the holder who left")
    #expect(outcome.decision.changes.count { if case .putAttributes = $0 { true } else { false } } == 1)
  }

  @Test func severalWhoAreRemovedTakeTheirKeysWithOneEvent() throws {
    let scene = try Scene(.avChatRoom, rules: moderated([.attributesChanged]))
    for name in ["mary", "carl"] { _ = try set(scene, #""\#(name)":"1""#, #","isDeleteAfterHolderLeft":true"#, by: name) }
    scene.clocks.advance(by: 1000)
    let outcome = try scene.ask("kickGroupMember", #"{"userIDList":["mary","carl"]}"#, by: "olga")
    #expect(try outcome.params("onGroupAttributeChanged", to: "adam")["groupAttributeMap"] == [:] as JSON)
    #expect(try posted(outcome).map { $0["groupAttributeMap"] } == [[:] as JSON])
    #expect(outcome.decision.changes.count { if case .putAttributes = $0 { true } else { false } } == 1)
  }

  @Test func leavingWithoutSuchKeysTellsNothing() throws {
    let scene = try Scene(.avChatRoom)
    _ = try set(scene, #""a":"1""#, by: "mary")
    scene.clocks.advance(by: 1000)
    let outcome = try scene.ask("quitGroup", by: "mary")
    #expect(outcome.receivers(of: "onGroupAttributeChanged").isEmpty)
    #expect(!outcome.decision.changes.contains { if case .putAttributes = $0 { true } else { false } })
    #expect(try read(scene)["holders"] == ["a": "mary"])
    try scene.ask("joinGroup", by: "mary")
    #expect(try set(scene, #""a":"1""#, #","isDeleteAfterHolderLeft":true"#, by: "mary").code == 0)
    // Back, mary holds what stayed.
    #expect(scene.state?.attributes.values.entry(of: "a")?.isDeletedAfterHolderLeft == true)
  }

  /// An event may be waiting already: the keys of who leaves are merged into it.
  @Test func whatGoesWaitsForTheNextEventOfTheGroup() throws {
    let scene = try Scene(.avChatRoom)
    _ = try set(scene, #""seat":"mary""#, #","isDeleteAfterHolderLeft":true"#, by: "mary")
    let quit = try scene.ask("quitGroup", by: "mary")
    #expect(quit.receivers(of: "onGroupAttributeChanged").isEmpty, "at most 20 a second")
    scene.clocks.advance(by: 50)
    #expect(try scene.wake().params("onGroupAttributeChanged", to: "olga")["groupAttributeMap"] == [:] as JSON)
  }

  /// "The flag belongs to key and holder: others' changes leave it."
  @Test func aChangeOfTheFlagIsStoredAndToldToNobody() throws {
    let scene = try Scene(.avChatRoom)
    _ = try set(scene, #""seat":"1""#, by: "mary")
    let flagged = try set(scene, #""seat":"1""#, #","isDeleteAfterHolderLeft":true"#, by: "mary")
    #expect(flagged.events.isEmpty && flagged.decision.changes.count == 1)
    _ = try set(scene, #""seat":"2""#, by: "carl")
    _ = try set(scene, #""seat":"3""#, #","isDeleteAfterHolderLeft":true"#, by: "olga")
    #expect(
      scene.state?.attributes.values.entry(of: "seat")
        == .init(key: "seat", value: "3", holder: "mary", isDeletedAfterHolderLeft: true))
    let initialized = try scene.ask("initGroupAttributes", #"{"attributes":{"seat":"4","new":"1"}}"#, by: "carl")
    #expect(initialized.code == 0)
    #expect(scene.state?.attributes.values.entry(of: "seat")?.isDeletedAfterHolderLeft == true, "init leaves it too")
    #expect(scene.state?.attributes.values.entry(of: "new") == .init(key: "new", value: "1", holder: "carl"))
  }

  @Test func theEndOfAGroupTellsNothingOfItsKeys() throws {
    let scene = try Scene(.avChatRoom, members: [:])
    _ = try set(scene, #""seat":"1""#, #","isDeleteAfterHolderLeft":true"#, by: "olga")
    scene.clocks.advance(by: 1000)
    let outcome = try scene.ask("dismissGroup", by: "olga")
    #expect(outcome.receivers(of: "onGroupAttributeChanged").isEmpty && outcome.decision.disbands)
  }

  /// The owner who transfers and quits leaves as anybody does, and a crowd shares one event.
  @Test func transferWithQuitAndCrowdsAreLeavings() throws {
    let rules = GroupRules(permissions: GroupPermissions(attributeTypes: [.public]))
    let scene = try Scene(.public, rules: rules)
    for name in ["olga", "mary", "carl"] {
      _ = try set(scene, #""\#(name)":"1""#, #","isDeleteAfterHolderLeft":true"#, by: name)
    }
    scene.clocks.advance(by: 1000)
    let crowd = try scene.askTogether([("mary", "quitGroup", "{}"), ("carl", "quitGroup", "{}")])
    #expect(crowd.codes == [0, 0])
    #expect(try crowd.outcome.params("onGroupAttributeChanged", to: "adam")["groupAttributeMap"] == ["olga": "1"])
    scene.clocks.advance(by: 1000)
    let transfer = try scene.ask("transferGroupOwner", #"{"userID":"adam","quit":true}"#, by: "olga")
    #expect(transfer.receivers(of: "onGroupAttributeChanged") == ["adam"])
    #expect(try read(scene) == ["attributes": [:], "holders": [:]] as JSON)
  }
}
