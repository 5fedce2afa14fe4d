import GroupModel
import GroupPermissions

/// The tables of Permissions.md, made from those that decide.
enum PermissionTables {
  /// The rights table, the policy table and the rows of live rooms in Markdown, empty lines between
  /// them (Permissions.md, "Tables").
  static func markdown(by permissions: GroupPermissions = GroupPermissions()) -> String {
    rights(by: permissions) + "\n" + policies(by: permissions) + "\n" + liveRooms()
  }

  private static func rights(by permissions: GroupPermissions) -> String {
    table(
      head: ["action"] + GroupType.allCases.map(\.rawValue),
      rows: GroupAction.allCases.map { action in
        [action.title] + GroupType.allCases.map { permissions.requirement(for: action, in: $0).word }
      })
  }

  private static func policies(by permissions: GroupPermissions) -> String {
    let types = GroupType.allCases.filter { !PolicyTable.fields(of: $0).isEmpty }
    return table(
      head: ["field", "values"] + types.map(\.rawValue),
      rows: PolicyField.allCases.map { field in
        let values = PolicyTable.values(of: field).map(\.text).joined(separator: ", ")
        let range = field.range.map { "\($0.lowerBound)–\($0.upperBound)" }
        return [field.rawValue, range ?? values] + types.map { setting(of: field, in: $0, by: permissions) }
      })
  }

  /// The rows in which the keys of live rooms change the column of AVChatRoom, by the keys that are set.
  private static func liveRooms() -> String {
    let servers = [(false, false), (true, false), (false, true), (true, true)].map { moderates, remembers in
      var configuration = RightsConfiguration()
      configuration.moderatesLiveRooms = moderates
      configuration.remembersLiveMessages = remembers
      return GroupPermissions(configuration)
    }
    let rows = GroupAction.allCases.map { action in
      [action.title] + servers.map { $0.requirement(for: action, in: .avChatRoom).word }
    }
    return table(
      head: [
        "action in an AVChatRoom", "with neither key", "`avChatRoom.moderation`", "`avChatRoom.recentMessages` above 0", "both",
      ],
      rows: rows.filter { Set($0.dropFirst()).count > 1 })
  }

  private static func setting(of field: PolicyField, in type: GroupType, by permissions: GroupPermissions) -> String {
    GroupPolicy.defaults(for: type)[field].text + (permissions.isSettable(field, in: type) ? " (s)" : "")
  }

  private static func table(head: [String], rows: [[String]]) -> String {
    let rule = "|" + String(repeating: "---|", count: head.count)
    let lines = [line(head), rule] + rows.map(line)
    return lines.map { $0 + "\n" }.joined()
  }

  private static func line(_ cells: [String]) -> String { "| " + cells.joined(separator: " | ") + " |" }
}

extension PolicyValue {
  fileprivate var text: String {
    switch self {
    case .word(let word): word
    case .flag(let flag): String(flag)
    case .number(let number): String(number)
    }
  }
}
