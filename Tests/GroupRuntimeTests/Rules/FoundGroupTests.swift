import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// The row of searchGroups: "joined groups, and other groups that are searchable (their public
/// fields only)".
@Suite struct FoundGroupTests {
  private func row(_ scene: Scene, by name: String, joinedOnly: Bool = false) throws -> JSON {
    try scene.ask(.foundInfo(joinedOnly: joinedOnly), by: scene.caller(name)).result
  }

  @Test(arguments: GroupType.allCases, [true, false])
  func membersAndTheApplicationAlwaysFindIt(type: GroupType, isSearchable: Bool) throws {
    let scene = try Scene(type) { $0.isSearchable = isSearchable }
    for name in ["olga", "mary", "administrator"] {
      #expect(try row(scene, by: name) == scene.ask("info", by: name).result, "\(name)")
    }
  }

  @Test(arguments: [
    (GroupType.work, true, false), (.work, false, false), (.public, true, true), (.public, false, false), (.meeting, true, true),
    (.meeting, false, false), (.avChatRoom, false, false),
  ])
  func othersFindSearchableGroups(type: GroupType, isSearchable: Bool, isFound: Bool) throws {
    let scene = try Scene(type) { $0.isSearchable = isSearchable }
    let row = try row(scene, by: "oscar")
    #expect(row.names == (isFound ? GroupInfoTests.publicNames : []))
    #expect((row == .null) != isFound)
  }

  @Test func everyUserIsAMemberOfABChatRoom() throws {
    #expect(try row(try Scene(.bChatRoom), by: "oscar")["selfInfo"]["role"] == "Member")
  }

  @Test(arguments: GroupType.allCases)
  func joinedGroupsAloneLeaveOutTheSearchableOnes(type: GroupType) throws {
    let scene = try Scene(type) { $0.isSearchable = true }
    for name in ["olga", "mary", "administrator"] {
      #expect(try row(scene, by: name, joinedOnly: true) == row(scene, by: name), "\(name)")
    }
    #expect((try row(scene, by: "oscar", joinedOnly: true) == .null) == (type != .bChatRoom))
  }

  @Test func findingChangesNothing() throws {
    let scene = try Scene(.public)
    let before = scene.fingerprint
    for name in ["olga", "oscar", "administrator"] {
      scene.expectNothingDone(try scene.ask(.foundInfo(joinedOnly: false), by: scene.caller(name)), code: 0, before: before, name)
    }
  }
}
