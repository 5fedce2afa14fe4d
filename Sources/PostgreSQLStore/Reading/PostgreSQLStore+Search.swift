import GroupModel
import GroupRuntime
import StoreTables
import WireProtocol

extension PostgreSQLStore {
  /// Groups that match a search, by `groupNumber` ascending after `after`. A page reads a bounded
  /// number of groups and members, so it may be empty and still have a next one.
  public func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page {
    if limit <= 0 { return GroupSearch.Page(groups: [], next: after) }
    let options = options
    return try await readForSearch(of: query.reader) { db in
      var scan = GroupScan(query: query, limit: limit, maxGroups: options.searchedGroups, maxMembers: options.searchedMembers)
      return try scan.page(after: after, in: db)
    }
  }
}

/// One pass over the groups for one page of a search.
private struct GroupScan {
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

  private static let (groupsPerRead, membersPerRead) = (500, 2_000)
  private static let columns = "g.groupID, g.type, g.number, g.name, g.isSearchable, g.isMemberVisible, m.role"
  private static let everyGroup = """
    SELECT \(columns) FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = $1
    WHERE g.number > $2 ORDER BY g.number LIMIT \(groupsPerRead)
    """
  private static let joinedGroups = """
    SELECT \(columns) FROM member AS m JOIN groupRecord AS g ON g.number = m.number
    WHERE m.userID = $1 AND m.number > $2 ORDER BY m.number LIMIT \(groupsPerRead)
    """
  // Every user has joined the groups of everybody, with a row or without one.
  private static let joinedGroupsAndThoseOfEverybody = """
    SELECT \(columns) FROM (
      SELECT number FROM member WHERE userID = $1 AND number > $2
      UNION SELECT number FROM groupRecord WHERE type IN (\(GroupType.everybodysSQL)) AND number > $2) AS joined
    JOIN groupRecord AS g ON g.number = joined.number LEFT JOIN member AS m ON m.number = g.number AND m.userID = $1
    ORDER BY g.number LIMIT \(groupsPerRead)
    """

  /// A search by member names alone finds only groups that the reader has joined.
  private var sql: String {
    guard query.reader != nil else { return Self.everyGroup }
    if query.fields.allSatisfy(\.isOfMembers) { return Self.joinedGroups }
    return query.joinedOnly ? Self.joinedGroupsAndThoseOfEverybody : Self.everyGroup
  }

  mutating func page(after: Int64, in db: PostgreSQLConnection) throws -> GroupSearch.Page {
    var last = after
    while true {
      let candidates = try db.rows(sql, [query.reader?.rawValue, last]) { try Candidate(row: &$0) }
      for candidate in candidates {
        if found.count == limit || groupsSeen >= maxGroups || membersSeen >= maxMembers {
          return GroupSearch.Page(groups: found, next: last)
        }
        groupsSeen += 1
        last = candidate.group.groupNumber
        if try matches(candidate, db) { found.append(candidate.group) }
      }
      if candidates.count < Self.groupsPerRead { return GroupSearch.Page(groups: found, next: 0) }
    }
  }

  private mutating func matches(_ candidate: Candidate, _ db: PostgreSQLConnection) throws -> Bool {
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
  private mutating func matchesMember(of number: Int64, only user: UserID?, in db: PostgreSQLConnection) throws -> Bool {
    var after = ""
    while true {
      let members = try db.rows(
        """
        SELECT m.userID, m.nameCard, i.nickName FROM member AS m LEFT JOIN userInfo AS i ON i.userID = m.userID
        WHERE m.number = $1 AND m.userID > $2 \(user == nil ? "" : "AND m.userID = $3")
        ORDER BY m.userID LIMIT \(Self.membersPerRead)
        """, [number, after] + (user.map { [$0.rawValue] } ?? [])
      ) { (userID: try $0.text(), nameCard: try $0.text(), nickName: try $0.optionalText()) }
      membersSeen += members.count
      for member in members {
        if query.fields.contains(.memberUserID), query.matches(member.userID) { return true }
        if query.fields.contains(.memberNameCard), query.matches(member.nameCard) { return true }
        if query.fields.contains(.memberNickName), let nickName = member.nickName, query.matches(nickName) { return true }
      }
      guard members.count == Self.membersPerRead, let last = members.last?.userID else { return false }
      after = last
    }
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
