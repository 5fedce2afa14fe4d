import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreTables
import WireProtocol

extension SQLiteStore {
  /// Groups that match a search, by `groupNumber` ascending after `after`. A page reads a bounded
  /// number of groups (about a tenth of a second), so it may be empty and still have a next one.
  /// - Throws: `.unavailable`, also where too many searches wait, or `.inconsistent` where a page
  ///   is damaged.
  public func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page {
    if limit <= 0 { return GroupSearch.Page(groups: [], next: after) }
    let options = options
    guard searches.enter(query.reader) else { throw StoreError(.unavailable, "too many searches wait") }
    defer { searches.leave(query.reader) }
    do throws(StoreError) {
      return try await read(on: searches.connection) { db in
        var scan = GroupScan(query: query, limit: limit, maxGroups: options.searchedGroups, maxMembers: options.searchedMembers)
        return try scan.page(after: after, in: db)
      }
    } catch {
      if error.kind == .unavailable { logger.error("cannot search", metadata: ["error": "\(error)"]) }
      throw error
    }
  }
}

/// One pass over the groups for one page of a search.
struct GroupScan {
  let query: GroupSearch
  let limit: Int
  let maxGroups: Int
  let maxMembers: Int
  private var found: [Membership] = []
  private var groupsSeen = 0
  private var membersSeen = 0

  init(query: GroupSearch, limit: Int, maxGroups: Int, maxMembers: Int) {
    self.query = query
    self.limit = limit
    self.maxGroups = maxGroups
    self.maxMembers = maxMembers
  }

  private static let columns = "g.groupID, g.type, g.number, g.name, g.isSearchable, g.isMemberVisible, m.role"
  private static let everyGroup = """
    SELECT \(columns) FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = ?
    WHERE g.number > ? ORDER BY g.number
    """
  private static let joinedGroups = """
    SELECT \(columns) FROM member AS m INDEXED BY memberByUser CROSS JOIN groupRecord AS g ON g.number = m.number
    WHERE m.userID = ? AND m.number > ? ORDER BY m.number
    """

  // Every user has joined the groups of everybody, with a row or without one.
  static let joinedGroupsAndThoseOfEverybody = """
    SELECT g.groupID, g.type, m.number, g.name, g.isSearchable, g.isMemberVisible, m.role FROM member AS m INDEXED BY memberByUser
    CROSS JOIN groupRecord AS g ON g.number = m.number WHERE m.userID = ?1 AND m.number > ?2
    UNION ALL
    SELECT g.groupID, g.type, g.number, g.name, g.isSearchable, g.isMemberVisible, NULL
    FROM groupRecord AS g INDEXED BY groupRecordByType WHERE g.type IN (\(GroupType.everybodysSQL)) AND g.number > ?2
      AND NOT EXISTS (SELECT 1 FROM member AS m WHERE m.number = g.number AND m.userID = ?1)
    ORDER BY 3
    """

  private static let members = "SELECT userID, nameCard FROM member WHERE number = ?"
  private static let membersWithNickNames = """
    SELECT member.userID, nameCard, nickName FROM member LEFT JOIN userInfo ON userInfo.userID = member.userID
    WHERE number = ?
    """

  /// A search by member names alone finds only groups that the reader has joined.
  private var sql: String {
    guard query.reader != nil else { return Self.everyGroup }
    if query.fields.allSatisfy(\.isOfMembers) { return Self.joinedGroups }
    return query.joinedOnly ? Self.joinedGroupsAndThoseOfEverybody : Self.everyGroup
  }

  mutating func page(after: Int64, in db: Database) throws -> GroupSearch.Page {
    let statement = try db.cachedStatement(sql: sql)
    let cursor = try Row.fetchCursor(statement, arguments: [query.reader?.rawValue, after])
    var last = after
    while let row = try cursor.next() {
      if found.count == limit || groupsSeen >= maxGroups || membersSeen >= maxMembers {
        return GroupSearch.Page(groups: found, next: last)
      }
      var columns = RowReader(row)
      let candidate = try Candidate(row: &columns)
      groupsSeen += 1
      last = candidate.group.groupNumber
      if try matches(candidate, db) { found.append(candidate.group) }
    }
    return GroupSearch.Page(groups: found, next: 0)
  }

  private mutating func matches(_ candidate: Candidate, _ db: Database) throws -> Bool {
    guard candidate.isFound(by: query.reader, joinedOnly: query.joinedOnly) else { return false }
    if query.fields.contains(.groupID), query.matches(candidate.group.groupID.rawValue) { return true }
    if query.fields.contains(.groupName), query.matches(candidate.name) { return true }
    guard query.fields.contains(where: \.isOfMembers) else { return false }
    switch candidate.visibleMembers(to: query.reader) {
    case .none: return false
    case .onlyReader: return try matchesMember(of: candidate.group.groupNumber, only: query.reader, in: db)
    case .all: return try matchesMember(of: candidate.group.groupNumber, only: nil, in: db)
    }
  }

  /// - Parameter user: nil = any member.
  private mutating func matchesMember(of number: Int64, only user: UserID?, in db: Database) throws -> Bool {
    let matchesNickNames = query.fields.contains(.memberNickName)
    let all = matchesNickNames ? Self.membersWithNickNames : Self.members
    let statement = try db.cachedStatement(sql: user == nil ? all : all + " AND member.userID = ?")
    let arguments: StatementArguments = user.map { [number, $0.rawValue] } ?? [number]
    let cursor = try Row.fetchCursor(statement, arguments: arguments)
    while let row = try cursor.next() {
      var columns = RowReader(row)
      let (userID, nameCard) = (try columns.text(), try columns.text())
      // A nickname costs as much as a member: it is in another table.
      membersSeen += matchesNickNames ? 2 : 1
      if query.fields.contains(.memberUserID), query.matches(userID) { return true }
      if query.fields.contains(.memberNameCard), query.matches(nameCard) { return true }
      if matchesNickNames, let nickName = try columns.optionalText(), query.matches(nickName) { return true }
    }
    return false
  }
}

/// A group that a search reads, and the reader's role in it.
private struct Candidate {
  let group: Membership
  let name: String
  private let isSearchable: Bool
  private let isMemberVisible: Bool
  private let role: Role?

  init(row: inout RowReader) throws {
    group = try Membership.read(&row)
    name = try row.text()
    isSearchable = try row.flag()
    isMemberVisible = try row.flag()
    role = try row.value(Role?.self)
  }

  /// Members find their groups; others find the searchable ones, if the type lets them
  /// (Protocol.md, "Search").
  func isFound(by reader: UserID?, joinedOnly: Bool) -> Bool {
    if reader == nil || role != nil || group.type.everyoneIsMember { return true }
    return !joinedOnly && isSearchable && group.type.isVisibleToNonMembers
  }

  enum VisibleMembers { case none, onlyReader, all }

  /// The members whose names find the group for a reader.
  func visibleMembers(to reader: UserID?) -> VisibleMembers {
    if reader == nil { return .all }
    guard let role, !group.type.everyoneIsMember else { return .none }
    return isMemberVisible || role.isManager ? .all : .onlyReader
  }
}
