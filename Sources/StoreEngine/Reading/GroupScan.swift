import GroupModel
import GroupRuntime
import StoreTables
import WireProtocol

/// One pass over the groups for one page of a search.
package struct GroupScan {
  /// The groups that a search looks at.
  package enum Scope {
    case all
    /// Those that the reader has joined.
    case joined
    /// These, and those that every user has joined, with a row or without one.
    case joinedAndEverybodys
  }

  let query: GroupSearch
  let limit: Int
  let maxGroups: Int
  let maxMembers: Int
  private var found: [Membership] = []
  private var groupsSeen = 0
  private var membersSeen = 0

  init(_ query: GroupSearch, limit: Int, _ options: EngineOptions) {
    self.query = query
    self.limit = limit
    maxGroups = options.searchedGroups
    maxMembers = options.searchedMembers
  }

  /// A search by member names alone finds only groups that the reader has joined.
  private var scope: Scope {
    if query.reader == nil { return .all }
    if query.fields.allSatisfy(\.isOfMembers) { return .joined }
    return query.joinedOnly ? .joinedAndEverybodys : .all
  }

  mutating func page(after: Int64, in db: some StoreQueries) throws -> GroupSearch.Page {
    var (last, isCut) = (after, false)
    try db.visitGroups(scope, of: query.reader, after: after) { candidate in
      isCut = found.count == limit || groupsSeen >= maxGroups || membersSeen >= maxMembers
      if isCut { return false }
      groupsSeen += 1
      last = candidate.group.groupNumber
      if try matches(candidate, db) { found.append(candidate.group) }
      return true
    }
    return GroupSearch.Page(groups: found, next: isCut ? last : 0)
  }

  private mutating func matches(_ candidate: SearchedGroup, _ db: some StoreQueries) throws -> Bool {
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
  private mutating func matchesMember(of number: Int64, only user: UserID?, in db: some StoreQueries) throws -> Bool {
    let (query, withNickNames) = (query, query.fields.contains(.memberNickName))
    var isFound = false
    membersSeen += try db.visitMembers(number: number, only: user, withNickNames: withNickNames) { names in
      isFound =
        query.fields.contains(.memberUserID) && query.matches(names.userID)
        || query.fields.contains(.memberNameCard) && query.matches(names.nameCard)
        || withNickNames && names.nickName.map(query.matches) ?? false
      return !isFound
    }
    return isFound
  }
}

extension SearchedGroup {
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

extension DatabaseStore {
  /// Groups that match a search. A page takes about a tenth of a second.
  /// - Throws: `.unavailable` also where too many searches wait.
  package func search(_ query: GroupSearch, after: Int64, limit: Int) async throws(StoreError) -> GroupSearch.Page {
    if limit <= 0 { return GroupSearch.Page(groups: [], next: after) }
    let options = engineOptions
    return try await readForSearch(of: query.reader) { db in
      var scan = GroupScan(query, limit: limit, options)
      return try scan.page(after: after, in: db)
    }
  }
}
