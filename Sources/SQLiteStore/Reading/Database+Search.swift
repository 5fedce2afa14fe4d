import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of searches for groups.
enum SearchedGroups {
  static func sql(of scope: GroupScan.Scope) -> String {
    switch scope {
    case .all:
      """
      SELECT \(SearchedGroup.columns) FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = ?
      WHERE g.number > ? ORDER BY g.number
      """
    case .joined:
      """
      SELECT \(SearchedGroup.columns) FROM member AS m INDEXED BY memberByUser
      CROSS JOIN groupRecord AS g ON g.number = m.number WHERE m.userID = ? AND m.number > ? ORDER BY m.number
      """
    // Every user has joined the groups of everybody, with a row or without one.
    case .joinedAndEverybodys:
      """
      SELECT g.groupID, g.type, m.number, g.name, g.isSearchable, g.isMemberVisible, m.role FROM member AS m INDEXED BY memberByUser
      CROSS JOIN groupRecord AS g ON g.number = m.number WHERE m.userID = ?1 AND m.number > ?2
      UNION ALL
      SELECT g.groupID, g.type, g.number, g.name, g.isSearchable, g.isMemberVisible, NULL
      FROM groupRecord AS g INDEXED BY groupRecordByType WHERE g.type IN (\(GroupType.everybodysSQL)) AND g.number > ?2
        AND NOT EXISTS (SELECT 1 FROM member AS m WHERE m.number = g.number AND m.userID = ?1)
      ORDER BY 3
      """
    }
  }

  fileprivate static let members = "SELECT userID, nameCard, NULL FROM member WHERE number = ?"
  fileprivate static let membersWithNickNames = """
    SELECT member.userID, nameCard, nickName FROM member LEFT JOIN userInfo ON userInfo.userID = member.userID
    WHERE number = ?
    """
}

extension Database: StoreQueries {
  package func visitGroups(
    _ scope: GroupScan.Scope, of reader: UserID?, after number: Int64, _ body: (SearchedGroup) throws -> Bool
  ) throws {
    try visit(SearchedGroups.sql(of: scope), [reader?.rawValue, number]) { try body(SearchedGroup(&$0)) }
  }

  package func visitMembers(
    number: Int64, only user: UserID?, withNickNames: Bool, _ body: (SearchedMember) throws -> Bool
  ) throws -> Int {
    let all = withNickNames ? SearchedGroups.membersWithNickNames : SearchedGroups.members
    var seen = 0
    try visit(user == nil ? all : all + " AND member.userID = ?", [number] + (user.map { [$0.rawValue] } ?? [])) { row in
      // A nickname costs as much as a member: it is in another table.
      seen += withNickNames ? 2 : 1
      return try body(SearchedMember(&row))
    }
    return seen
  }

  package func groupNumbers(joinedBy user: UserID?, from number: Int64, limit: Int) throws -> [Int64] {
    guard let user else {
      return try rows("SELECT number FROM groupRecord WHERE number >= ? ORDER BY number LIMIT ?", [number, limit]) {
        try $0.integer()
      }
    }
    return try rows(
      "SELECT number FROM member INDEXED BY memberByUser WHERE userID = ? AND number >= ? ORDER BY number LIMIT ?",
      [user.rawValue, number, limit]
    ) { try $0.integer() }
  }

  package func groupNumbers(of groups: [GroupID], from number: Int64) throws -> [Int64] {
    try groups.compactMap { try self.number(of: $0) }.filter { $0 >= number }.sorted()
  }

  package func searchedGroup(number: Int64, reader: UserID?) throws -> SearchedHistory? {
    try rows(
      """
      SELECT \(SearchedHistory.columns)
      FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = ? WHERE g.number = ?
      """, [reader?.rawValue, number], SearchedHistory.init
    ).first
  }
}
