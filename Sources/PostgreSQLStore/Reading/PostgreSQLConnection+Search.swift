import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Statements of searches for groups.
private enum SearchedGroups {
  static let (groupsPerRead, membersPerRead) = (500, 2_000)
  static func sql(of scope: GroupScan.Scope) -> String {
    switch scope {
    case .all:
      """
      SELECT \(SearchedGroup.columns) FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = $1
      WHERE g.number > $2 ORDER BY g.number LIMIT \(groupsPerRead)
      """
    case .joined:
      """
      SELECT \(SearchedGroup.columns) FROM member AS m JOIN groupRecord AS g ON g.number = m.number
      WHERE m.userID = $1 AND m.number > $2 ORDER BY m.number LIMIT \(groupsPerRead)
      """
    // Every user has joined the groups of everybody, with a row or without one.
    case .joinedAndEverybodys:
      """
      SELECT \(SearchedGroup.columns) FROM (
        SELECT number FROM member WHERE userID = $1 AND number > $2
        UNION SELECT number FROM groupRecord WHERE type IN (\(GroupType.everybodysSQL)) AND number > $2) AS joined
      JOIN groupRecord AS g ON g.number = joined.number LEFT JOIN member AS m ON m.number = g.number AND m.userID = $1
      ORDER BY g.number LIMIT \(groupsPerRead)
      """
    }
  }
}

extension PostgreSQLConnection: StoreQueries {
  package func visitGroups(
    _ scope: GroupScan.Scope, of reader: UserID?, after number: Int64, _ body: (SearchedGroup) throws -> Bool
  ) throws {
    var last = number
    while true {
      let page = try rows(SearchedGroups.sql(of: scope), [reader?.rawValue, last]) { try SearchedGroup(&$0) }
      for candidate in page { guard try body(candidate) else { return } }
      guard page.count == SearchedGroups.groupsPerRead, let next = page.last?.group.groupNumber else { return }
      last = next
    }
  }

  package func visitMembers(
    number: Int64, only user: UserID?, withNickNames: Bool, _ body: (SearchedMember) throws -> Bool
  ) throws -> Int {
    var (last, seen) = ("", 0)
    while true {
      let page = try rows(
        """
        SELECT m.userID, m.nameCard, i.nickName FROM member AS m LEFT JOIN userInfo AS i ON i.userID = m.userID
        WHERE m.number = $1 AND m.userID > $2 \(user == nil ? "" : "AND m.userID = $3")
        ORDER BY m.userID LIMIT \(SearchedGroups.membersPerRead)
        """, [number, last] + (user.map { [$0.rawValue] } ?? []), SearchedMember.init)
      seen += page.count
      for names in page { guard try body(names) else { return seen } }
      guard page.count == SearchedGroups.membersPerRead, let next = page.last?.userID else { return seen }
      last = next
    }
  }

  package func groupNumbers(joinedBy user: UserID?, from number: Int64, limit: Int) throws -> [Int64] {
    guard let user else {
      return try rows("SELECT number FROM groupRecord WHERE number >= $1 ORDER BY number LIMIT $2", [number, limit]) {
        try $0.integer()
      }
    }
    return try rows(
      "SELECT number FROM member WHERE userID = $1 AND number >= $2 ORDER BY number LIMIT $3", [user.rawValue, number, limit]
    ) { try $0.integer() }
  }

  package func groupNumbers(of groups: [GroupID], from number: Int64) throws -> [Int64] {
    try rows(
      "SELECT number FROM groupRecord WHERE groupID = ANY ($1) AND number >= $2 ORDER BY number",
      [groups.map(\.rawValue), number]
    ) { try $0.integer() }
  }

  package func searchedGroup(number: Int64, reader: UserID?) throws -> SearchedHistory? {
    try rows(
      """
      SELECT \(SearchedHistory.columns)
      FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = $1 WHERE g.number = $2
      """, [reader?.rawValue, number], SearchedHistory.init
    ).first
  }
}
