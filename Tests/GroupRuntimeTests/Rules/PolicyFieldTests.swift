import GroupModel
import GroupPermissions
import GroupRuntime
import Testing
import ThrongTestKit
import WireProtocol

/// "A fixed field may be set to the value it has; another is 10007." The page's second table of
/// section 3, written down again.
@Suite struct PolicyFieldTests {
  /// field: values, then the defaults of Work, Public, Meeting, AVChatRoom; * = settable.
  private static let page: [(field: String, values: [String], defaults: [String])] = [
    ("joinMode", [#""Any""#, #""Auth""#, #""Forbid""#], [#""Forbid""#, #""Auth"*"#, #""Any"*"#, #""Any"*"#]),
    ("inviteMode", [#""Any""#, #""Admin""#, #""Nobody""#], [#""Any"*"#, #""Nobody"*"#, #""Nobody"*"#, #""Nobody""#]),
    ("beInviteMode", [#""None""#, #""Auth""#], [#""None"*"#, #""None"*"#, #""None"*"#, #""None""#]),
    ("updateInfoMode", [#""Any""#, #""Admin""#, #""Owner""#], [#""Any"*"#, #""Admin"*"#, #""Admin"*"#, #""Owner"*"#]),
    ("updateCustomMode", [#""Any""#, #""Admin""#, #""Owner""#], [#""Any"*"#, #""Admin"*"#, #""Admin"*"#, #""Owner"*"#]),
    ("ownerQuitMode", [#""Transfer""#, #""Forbid""#], [#""Transfer"*"#, #""Forbid"*"#, #""Forbid"*"#, #""Forbid""#]),
    ("memberChangeNotification", ["true", "false"], ["true*", "true*", "false*", "true*"]),
    ("isSearchable", ["true", "false"], ["false", "true*", "true*", "false"]),
    ("isMemberVisible", ["true", "false"], ["true*", "true*", "true*", "true*"]),
    ("historyVisibility", [#""Joined""#, #""All""#], [#""Joined"*"#, #""Joined"*"#, #""All"*"#, #""All""#]),
    ("slowMode", ["0", "1", "86400"], ["0*", "0*", "0*", "0*"]),
    ("attributeMode", [#""Any""#, #""Holder""#], [#""Any""#, #""Any""#, #""Any""#, #""Any"*"#]),
  ]
  private static let types: [GroupType] = [.work, .public, .meeting, .avChatRoom]

  @Test(arguments: types)
  func aNewGroupHasTheDefaultsOfItsType(type: GroupType) throws {
    let scene = Scene()
    try scene.ask("createGroup", #"{"groupType":"\#(type.rawValue)","groupName":"n"}"#, by: "olga")
    let info = try scene.ask("info", by: "olga").result
    let column = try #require(PolicyFieldTests.types.firstIndex(of: type))
    for row in PolicyFieldTests.page { #expect(info[row.field] == (try JSON(row.defaults[column].trimmed)), "\(row.field)") }
  }

  @Test(arguments: types)
  func aFieldAcceptsAtCreationAndLaterTheValuesOfThePage(type: GroupType) throws {
    let column = try #require(PolicyFieldTests.types.firstIndex(of: type))
    for row in PolicyFieldTests.page {
      let isSettable = row.defaults[column].hasSuffix("*")
      for value in row.values {
        let code = isSettable || value == row.defaults[column] ? 0 : 10007
        let created = try Scene().ask(
          "createGroup", #"{"groupType":"\#(type.rawValue)","groupName":"n","\#(row.field)":\#(value)}"#, by: "olga")
        #expect(created.code == code, "create with \(row.field) \(value)")
        let scene = try Scene(type)
        let before = scene.fingerprint
        let set = try scene.ask("setGroupInfo", #"{"\#(row.field)":\#(value)}"#, by: "olga")
        #expect(set.code == code, "set \(row.field) \(value)")
        let isNew = value != row.defaults[column].trimmed
        let info = try scene.ask("info", by: "olga").result
        #expect(info[row.field] == (try JSON(code == 0 ? value : row.defaults[column].trimmed)))
        #expect(set.receivers(of: "onGroupInfoChanged").isEmpty == (code != 0 || !isNew), "\(row.field) \(value)")
        if code != 0 || !isNew { #expect(scene.fingerprint == before) }
      }
    }
  }

  /// "(s) wherever attributes are": the configuration decides.
  @Test(arguments: types)
  func attributeModeIsAChoiceWhereTheTypeHasAttributes(type: GroupType) throws {
    for attributes in [Set<GroupType>(), [.work, .public, .meeting, .avChatRoom]] {
      let scene = try Scene(type, rules: GroupRules(permissions: GroupPermissions(attributeTypes: attributes)))
      let code = attributes.isEmpty ? 10007 : 0
      #expect(try scene.ask("setGroupInfo", #"{"attributeMode":"Holder"}"#, by: "olga").code == code)
      #expect(try scene.ask("info", by: "olga").result["attributeMode"] == (code == 0 ? "Holder" : "Any"))
    }
  }

  /// "slowMode (seconds, 0–86400)": a number outside is 10004, before rights.
  @Test func slowModeIsANumberOfSecondsUpToADay() throws {
    let scene = try Scene(.public)
    for (value, code) in [("-1", 10004), ("86401", 10004), (#""5""#, -32602), ("true", -32602), ("1.5", -32602)] {
      for caller in ["olga", "mary"] {
        let error = #expect(throws: WireError.self) {
          try scene.ask("setGroupInfo", #"{"slowMode":\#(value)}"#, by: caller)
        }
        #expect(error?.code.rawValue == code && error?.field == "slowMode", "\(value)")
      }
    }
    let changed = try scene.ask("setGroupInfo", #"{"slowMode":30}"#, by: "adam")
    let entries = try changed.params("onGroupInfoChanged", to: "mary")["changeInfoList"]
    #expect(entries == [["type": "slowMode", "value": 30]])
    #expect(!changed.receivers(of: "onGroupInfoChanged").contains("oscar"), "no member")
    #expect(try scene.ask("setGroupInfo", #"{"slowMode":30}"#, by: "adam").receivers(of: "onGroupInfoChanged").isEmpty)
  }

  @Test func aBChatRoomHasNoPolicyFields() throws {
    for row in PolicyFieldTests.page {
      for value in row.values {
        let params = #"{"groupType":"BChatRoom","groupName":"n","ownerUserID":"olga","\#(row.field)":\#(value)}"#
        #expect(try Scene().ask("createGroup", params, by: "administrator").code == 10007, "\(row.field)")
        #expect(
          try Scene(.bChatRoom).ask("setGroupInfo", #"{"\#(row.field)":\#(value)}"#, by: "olga").code == 10007, "\(row.field)")
      }
    }
    let info = try Scene(.bChatRoom).ask("info", by: "olga").result
    for row in PolicyFieldTests.page { #expect(!info.names.contains(row.field)) }
  }
}

extension String {
  fileprivate var trimmed: String { hasSuffix("*") ? String(dropLast()) : self }
}
