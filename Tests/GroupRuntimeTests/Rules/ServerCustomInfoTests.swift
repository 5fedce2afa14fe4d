import GroupModel
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// serverCustomInfo, the application's own text of a group.
@Suite struct ServerCustomInfoTests {
  private let set = #"{"serverCustomInfo":"s"}"#

  private func read(_ scene: Scene, by name: String = "mary") throws -> JSON {
    try scene.ask("info", by: name).result["serverCustomInfo"]
  }

  @Test(arguments: GroupType.allCases)
  func theApplicationSetsItAndMembersReadIt(type: GroupType) async throws {
    let scene = try Scene(type)
    for name in ["mary", "olga", "administrator"] { #expect(try read(scene, by: name) == "", "\(name)") }
    let changed = try scene.ask("setGroupInfo", set, by: "administrator")
    let everybody = ["adam", "carl", "mary", "olga"] + (type == .bChatRoom ? ["oscar"] : [])
    #expect(changed.heard == ["onGroupInfoChanged": everybody])
    let event = try changed.params("onGroupInfoChanged", to: "mary")
    #expect(event["changeInfoList"] == [["type": "ServerCustomInfo", "value": "s"]] && event["opUser"] == Person.administrator)
    #expect(try scene.tips.map { $0["changeInfoList"] } == (type.storesMessages ? [event["changeInfoList"]] : []))
    for name in ["mary", "olga", "administrator"] { #expect(try read(scene, by: name) == "s", "\(name)") }
    try await scene.reload()
    #expect(try read(scene) == "s")
    if type != .work, type != .bChatRoom { #expect(try read(scene, by: "oscar") == .null, "no member") }
  }

  @Test func theSameTextChangesNothing() throws {
    let scene = try Scene(.public)
    try scene.expectNothing("setGroupInfo", #"{"serverCustomInfo":""}"#, by: "administrator")
    try scene.ask("setGroupInfo", set, by: "administrator")
    try scene.expectNothing("setGroupInfo", set, by: "administrator")
    let both = try scene.ask("setGroupInfo", #"{"serverCustomInfo":"","groupName":"m"}"#, by: "administrator")
    #expect(
      try both.params("onGroupInfoChanged", to: "mary")["changeInfoList"] == [
        ["type": "GroupName", "value": "m"], ["type": "ServerCustomInfo", "value": ""],
      ])
  }

  @Test(arguments: GroupType.allCases)
  func everybodyElseIsRefused(type: GroupType) throws {
    for name in ["olga", "adam", "mary", "oscar"] {
      try Scene(type).expectRefused(10007, "setGroupInfo", set, by: name)
      try Scene(type).expectRefused(10007, "setGroupInfo", #"{"serverCustomInfo":""}"#, by: name)
      try Scene(type).expectRefused(10007, "setGroupInfo", #"{"groupName":"m","serverCustomInfo":"s"}"#, by: name)
    }
  }

  @Test(arguments: GroupType.allCases)
  func itIsSetAtTheCreationByTheApplicationAlone(type: GroupType) throws {
    let params = #"{"groupType":"\#(type.rawValue)","groupName":"n","ownerUserID":"olga","serverCustomInfo":"s"}"#
    let scene = Scene()
    let refused = try scene.ask("createGroup", params, by: "olga")
    #expect(refused.code == 10007 && scene.state == nil)
    if type != .bChatRoom { #expect(refused.field == "serverCustomInfo") }
    #expect(try scene.ask("createGroup", params, by: "administrator").code == 0)
    #expect(try read(scene, by: "olga") == "s")
    let imported = Scene()
    #expect(try imported.ask("importGroup", params, by: "administrator").code == (type.storesMessages ? 0 : 10007))
    if type.storesMessages { #expect(try read(imported, by: "olga") == "s") }
  }
}
