import GroupModel
import Testing

/// The tables of Permissions.md and of Protocol.md, "Group types", written down a second time, and
/// how they are read. Nothing here comes from the code under test.
enum ExpectedTables {
  static let rights = """
    | action | Work | Public | Meeting | AVChatRoom | BChatRoom |
    |---|---|---|---|---|---|
    | create | anyone | anyone | anyone | anyone | admin |
    | join by application | joinMode | joinMode | joinMode | joinMode | × |
    | invite others | inviteMode | inviteMode | inviteMode | × | × |
    | send a message | Member | Member | Member | Member | Admin |
    | edit name, introduction, notification, faceURL | updateInfoMode | updateInfoMode | updateInfoMode | updateInfoMode | Admin |
    | edit customInfo | updateCustomMode | updateCustomMode | updateCustomMode | updateCustomMode | Admin |
    | edit serverCustomInfo | admin | admin | admin | admin | admin |
    | edit policy fields, maxMemberNum, isSearchable, isMemberVisible | Owner | Admin | Admin | Owner | Owner |
    | decide applications to join | × | Admin | Admin | Owner | × |
    | remove members | Owner | Admin | Admin | × | × |
    | mute a member | admin | Admin | Admin | Owner | × |
    | mute the group | Owner | Admin | Admin | Owner | × |
    | edit another member's nameCard and customInfo | Owner | Admin | Admin | Admin | Admin |
    | change a role | × | Owner | Owner | × | Owner |
    | transfer ownership | Owner | Owner | Owner | × | × |
    | quit as owner | ownerQuitMode | ownerQuitMode | ownerQuitMode | × | × |
    | disband | admin | Owner | Owner | Owner | Owner |
    | read and write attributes (× becomes Member where `attributes.groupTypes` names the type; default AVChatRoom alone) | × | × | × | Member | × |
    | recall somebody else's message | Owner | Admin | Admin | × | × |
    | pin a message | Owner | Admin | Admin | × | × |
    | set counters | Owner | Admin | Admin | Owner | Admin |
    """

  static let policies = """
    | field | values | Work | Public | Meeting | AVChatRoom |
    |---|---|---|---|---|---|
    | joinMode | Any, Auth, Forbid | Forbid | Auth (s) | Any (s) | Any (s) |
    | inviteMode | Any, Admin, Nobody | Any (s) | Nobody (s) | Nobody (s) | Nobody |
    | beInviteMode | None, Auth | None (s) | None (s) | None (s) | None |
    | updateInfoMode | Any, Admin, Owner | Any (s) | Admin (s) | Admin (s) | Owner (s) |
    | updateCustomMode | Any, Admin, Owner | Any (s) | Admin (s) | Admin (s) | Owner (s) |
    | ownerQuitMode | Transfer, Forbid | Transfer (s) | Forbid (s) | Forbid (s) | Forbid |
    | memberChangeNotification | true, false | true (s) | true (s) | false (s) | true (s) |
    | isSearchable | true, false | false | true (s) | true (s) | false |
    | isMemberVisible | true, false | true (s) | true (s) | true (s) | true (s) |
    | historyVisibility | Joined, All | Joined (s) | Joined (s) | All (s) | All |
    | slowMode | 0–86400 | 0 (s) | 0 (s) | 0 (s) | 0 (s) |
    | attributeMode | Any, Holder | Any | Any | Any | Any (s) |
    """

  static let liveRooms = """
    | action in an AVChatRoom | with neither key | `avChatRoom.moderation` | `avChatRoom.recentMessages` above 0 | both |
    |---|---|---|---|---|
    | decide applications to join | Owner | Admin | Owner | Admin |
    | remove members | × | Admin | × | Admin |
    | mute a member | Owner | Admin | Owner | Admin |
    | mute the group | Owner | Admin | Owner | Admin |
    | change a role | × | Owner | × | Owner |
    | recall somebody else's message | × | × | admin | Admin |
    """

  static let facts = """
    | | Work | Public | Meeting | AVChatRoom | BChatRoom |
    |---|---|---|---|---|---|
    | initial members at creation (role Admin: not in Work, 10007) | yes | yes | yes | 10007 | 10007 |
    | members | ≤ maxMemberNum | same | same | unlimited | everyone signed in |
    | messages stored, `seq` | yes | yes | yes | no | no |
    | history from before joining | no | no | yes | – | – |
    | unread count | yes | yes | no (always 0) | no | no |
    | listed by getJoinedGroupList | yes | yes | yes | no | no |
    | default receive option | Receive | Receive | ReceiveNotNotify | ReceiveNotNotify | ReceiveNotNotify |
    | member list | whole | whole | whole | owner, then the 300 newest, newest first | 10007 |
    | recall | yes | yes | yes | 10033 | 10033 |
    """

  /// The cells by the row's first cell and the column's head.
  static func cells(of table: String) throws -> [String: [String: String]] {
    var rows = table.split(separator: "\n").map(split)
    let head = rows.removeFirst()
    rows.removeFirst()
    return try Dictionary(
      uniqueKeysWithValues: rows.map { row in
        try #require(row.count == head.count)
        return (row[0], Dictionary(uniqueKeysWithValues: zip(head, row).dropFirst()))
      })
  }

  private static func split(_ line: Substring) -> [String] {
    let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
    return cells.map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
  }

  /// The row of an action is found by the start of its title.
  static let openings: [(start: String, action: String)] = [
    ("create", "create"), ("join by application", "join"), ("invite others", "invite"), ("send a message", "send"),
    ("edit name", "editInfo"), ("edit customInfo", "editCustomInfo"),
    ("edit serverCustomInfo", "editServerCustomInfo"), ("edit policy fields", "editPolicy"),
    ("decide applications", "decideApplications"), ("remove members", "remove"), ("mute a member", "muteMember"),
    ("mute the group", "muteGroup"), ("edit another member", "editMember"), ("change a role", "changeRole"),
    ("transfer ownership", "transfer"),
    ("quit as owner", "quitAsOwner"), ("disband", "disband"), ("read and write attributes", "useAttributes"),
    ("recall somebody", "recallOthers"), ("pin a message", "pinMessage"), ("set counters", "setCounters"),
  ]

  /// The rights table by action and type.
  static func rightsByAction() throws -> [String: [String: String]] {
    let rows = try cells(of: rights)
    try #require(rows.count == openings.count)
    return try Dictionary(
      uniqueKeysWithValues: openings.map { opening in
        let matches = rows.filter { $0.key.hasPrefix(opening.start) }
        try #require(matches.count == 1, "\(opening.start)")
        return (opening.action, matches.values.first ?? [:])
      })
  }
}
