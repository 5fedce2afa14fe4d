import ThrongTestKit

/// The tables of Permissions.md, "Tables", as printed there.
enum RightsPage {
  private static let types = ["Work", "Public", "Meeting", "AVChatRoom", "BChatRoom"]

  private static let rights = table(
    """
    create                         | anyone           | anyone           | anyone           | anyone           | admin
    join by application            | joinMode         | joinMode         | joinMode         | joinMode         | ×
    invite others                  | inviteMode       | inviteMode       | inviteMode       | ×                | ×
    send a message                 | Member           | Member           | Member           | Member           | Admin
    edit info                      | updateInfoMode   | updateInfoMode   | updateInfoMode   | updateInfoMode   | Admin
    edit customInfo                | updateCustomMode | updateCustomMode | updateCustomMode | updateCustomMode | Admin
    edit serverCustomInfo          | admin            | admin            | admin            | admin            | admin
    edit policy                    | Owner            | Admin            | Admin            | Owner            | Owner
    decide applications            | ×                | Admin            | Admin            | Owner            | ×
    remove members                 | Owner            | Admin            | Admin            | ×                | ×
    mute a member                  | admin            | Admin            | Admin            | Owner            | ×
    mute the group                 | Owner            | Admin            | Admin            | Owner            | ×
    change a role                  | ×                | Owner            | Owner            | ×                | Owner
    transfer ownership             | Owner            | Owner            | Owner            | ×                | ×
    quit as owner                  | ownerQuitMode    | ownerQuitMode    | ownerQuitMode    | ×                | ×
    disband                        | admin            | Owner            | Owner            | Owner            | Owner
    attributes                     | ×                | ×                | ×                | ×                | ×
    recall somebody else's message | Owner            | Admin            | Admin            | ×                | ×
    pin a message                  | Owner            | Admin            | Admin            | ×                | ×
    set counters                   | Owner            | Admin            | Admin            | Owner            | Admin
    """)

  /// (s) = those who may edit policy may change it.
  private static let policies = table(
    """
    joinMode                 | Forbid       | Auth (s)   | Any (s)    | Any (s)
    inviteMode               | Any (s)      | Nobody (s) | Nobody (s) | Nobody
    beInviteMode             | None (s)     | None (s)   | None (s)   | None
    updateInfoMode           | Any (s)      | Admin (s)  | Admin (s)  | Owner (s)
    updateCustomMode         | Any (s)      | Admin (s)  | Admin (s)  | Owner (s)
    ownerQuitMode            | Transfer (s) | Forbid (s) | Forbid (s) | Forbid
    memberChangeNotification | true (s)     | true (s)   | false (s)  | true (s)
    isSearchable             | false        | true (s)   | true (s)   | false
    isMemberVisible          | true (s)     | true (s)   | true (s)   | true (s)
    historyVisibility        | Joined (s)   | Joined (s) | All (s)    | All
    slowMode                 | 0 (s)        | 0 (s)      | 0 (s)      | 0 (s)
    attributeMode            | Any          | Any        | Any        | Any (s)
    """)

  /// The fields of a policy in the page's order.
  static let fields = [
    "joinMode", "inviteMode", "beInviteMode", "updateInfoMode", "updateCustomMode", "ownerQuitMode", "memberChangeNotification",
    "isSearchable", "isMemberVisible", "historyVisibility", "slowMode", "attributeMode",
  ]

  private static func table(_ page: String) -> [String: [String]] {
    let rows = page.split(separator: "\n").map { $0.split(separator: "|").map { trimmed($0) } }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Array($0.dropFirst())) })
  }

  private static func trimmed(_ cell: Substring) -> String {
    String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// The cell of an action in the column of a type.
  static func cell(_ action: RightsRow, _ type: String) -> String { rights[action.rawValue]![types.firstIndex(of: type)!] }

  /// The policy of a new group; a BChatRoom has no policy fields.
  static func policy(of type: String) -> [String: JSON] {
    guard type != "BChatRoom" else { return [:] }
    return Dictionary(uniqueKeysWithValues: fields.map { ($0, value(entry($0, type))) })
  }

  /// Whether those who may edit policy may change the field.
  static func isSettable(_ field: String, _ type: String) -> Bool {
    type != "BChatRoom" && entry(field, type).hasSuffix("(s)")
  }

  private static func entry(_ field: String, _ type: String) -> String { policies[field]![types.firstIndex(of: type)!] }

  private static func value(_ entry: String) -> JSON {
    switch String(entry.prefix { $0 != " " }) {
    case "true": true
    case "false": false
    case "0": 0
    case let word: .string(word)
    }
  }

  /// The values that a field takes.
  static func values(of field: String) -> [JSON] {
    switch field {
    case "joinMode": ["Any", "Auth", "Forbid"]
    case "inviteMode": ["Any", "Admin", "Nobody"]
    case "beInviteMode": ["None", "Auth"]
    case "updateInfoMode", "updateCustomMode": ["Any", "Admin", "Owner"]
    case "ownerQuitMode": ["Transfer", "Forbid"]
    case "historyVisibility": ["Joined", "All"]
    // SlowModeTests tries the others.
    case "slowMode": [0, 0, 1, 5]
    case "attributeMode": ["Any", "Holder", "Holder"]
    default: [true, false]
    }
  }

  /// The lowest rank that a cell demands: 4 = the application administrator, 5 = none has the
  /// right.
  static func rank(demandedBy cell: String, policy: [String: JSON]) -> Int {
    switch (cell, policy[cell]?.string) {
    case ("anyone", _): 0
    case ("Member", _), ("inviteMode", "Any"), ("updateInfoMode", "Any"), ("updateCustomMode", "Any"): 1
    case ("Admin", _), ("inviteMode", "Admin"), ("updateInfoMode", "Admin"), ("updateCustomMode", "Admin"): 2
    case ("Owner", _), ("updateInfoMode", _), ("updateCustomMode", _), ("ownerQuitMode", "Transfer"): 3
    case ("joinMode", "Any"), ("joinMode", "Auth"): 0
    // Rule 3: a mode does not bind an application administrator.
    case ("admin", _), ("joinMode", _), ("inviteMode", _), ("ownerQuitMode", _): 4
    default: 5
    }
  }
}

/// A row of the first table.
enum RightsRow: String {
  case create = "create"
  case join = "join by application"
  case invite = "invite others"
  case send = "send a message"
  case editInfo = "edit info"
  case editCustomInfo = "edit customInfo"
  case editServerCustomInfo = "edit serverCustomInfo"
  case editPolicy = "edit policy"
  case decide = "decide applications"
  case remove = "remove members"
  case muteMember = "mute a member"
  case muteGroup = "mute the group"
  case changeRole = "change a role"
  case transfer = "transfer ownership"
  case quitAsOwner = "quit as owner"
  case disband = "disband"
  case attributes = "attributes"
  case recallOthers = "recall somebody else's message"
  case pin = "pin a message"
  case setCounters = "set counters"
}
