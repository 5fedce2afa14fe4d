import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// "All or nothing, each under its own row": the rows of Permissions.md, "Tables" that apply to
/// setGroupInfo, with the default policies.
@Suite struct SetGroupInfoRightsTests {
  /// How high a caller stands: outside 0, Member and custom 1, Admin 2, Owner 3, application
  /// administrator 4.
  private static let callers = [("oscar", 0), ("mary", 1), ("carl", 1), ("adam", 2), ("olga", 3), ("administrator", 4)]

  /// params, then the lowest rank in Work, Public, Meeting, AVChatRoom, BChatRoom; 5 = none.
  private static let rows: [(params: String, lowest: [Int])] = [
    (#"{"groupName":"other"}"#, [1, 2, 2, 3, 2]), (#"{"introduction":"other"}"#, [1, 2, 2, 3, 2]),
    (#"{"notification":"other"}"#, [1, 2, 2, 3, 2]), (#"{"faceURL":"other"}"#, [1, 2, 2, 3, 2]),
    (#"{"customInfo":{"a":"1"}}"#, [1, 2, 2, 3, 2]), (#"{"maxMemberNum":10}"#, [3, 2, 2, 5, 5]),
    (#"{"isMemberVisible":false}"#, [3, 2, 2, 3, 5]), (#"{"updateInfoMode":"Any"}"#, [3, 2, 2, 3, 5]),
    (#"{"historyVisibility":"All"}"#, [3, 2, 2, 3, 5]), (#"{"slowMode":5}"#, [3, 2, 2, 3, 5]),
    (#"{"isSearchable":false}"#, [3, 2, 2, 3, 5]), (#"{"allMuted":true}"#, [3, 2, 2, 3, 5]),
    (#"{"groupName":"other","isMemberVisible":false}"#, [3, 2, 2, 3, 5]),
    (#"{"customInfo":{"a":"1"},"allMuted":true}"#, [3, 2, 2, 3, 5]),
  ]

  @Test(arguments: GroupType.allCases)
  func changesFollowTheTable(type: GroupType) throws {
    let column = try #require(GroupType.allCases.firstIndex(of: type))
    for row in SetGroupInfoRightsTests.rows {
      for (name, standing) in SetGroupInfoRightsTests.callers {
        // A BChatRoom has no outsiders.
        let standing = type == .bChatRoom ? max(1, standing) : standing
        let scene = try Scene(type)
        let before = scene.fingerprint
        let set = try scene.ask("setGroupInfo", row.params, by: name)
        #expect(set.code == (standing >= row.lowest[column] ? 0 : 10007), "\(row.params) by \(name)")
        if set.code != 0 { #expect(set.events.isEmpty && scene.fingerprint == before, "\(row.params) by \(name)") }
      }
    }
  }

  @Test(arguments: [GroupType.work, .public, .meeting, .avChatRoom])
  func thePolicyModesDecideTheirRows(type: GroupType) throws {
    for (mode, lowest) in [(EditMode.any, 1), (.admin, 2), (.owner, 3)] {
      for (name, standing) in SetGroupInfoRightsTests.callers {
        let info = try Scene(type) { $0.updateInfoMode = mode }.ask("setGroupInfo", #"{"groupName":"other"}"#, by: name)
        #expect(info.code == (standing >= lowest ? 0 : 10007), "\(mode) by \(name)")
        let custom = try Scene(type) { $0.updateCustomMode = mode }.ask("setGroupInfo", #"{"customInfo":{"a":"1"}}"#, by: name)
        #expect(custom.code == (standing >= lowest ? 0 : 10007), "\(mode) by \(name)")
      }
    }
  }
}
