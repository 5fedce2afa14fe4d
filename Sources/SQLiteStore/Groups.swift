import GRDB
import GroupModel
import GroupRuntime

extension SQLiteStore: GroupStore {
  /// Takes the commit in; everything pending shares one transaction, and completions come after it, in order.
  public func commit(_ commit: Commit) { writer.commit(commit) }

  /// The group in one snapshot, members by `userID`; nil where nobody uses the groupID.
  /// - Parameter sentSince: how far back `recentlySent` reaches. It begins at the first message that is not older, so the times of a
  ///   group must not run backwards.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func group(_ id: GroupID, sentSince: Instant) async throws(StoreError) -> StoredGroup? {
    let waiting = writer.inbox.waitingUsers
    return try await read { db in
      guard let number = try db.number(of: id), let record = try GroupRows.record(number: number, in: db) else { return nil }
      let tail = try MessageRows.tail(of: id, number: number, sentSince: sentSince, in: db)
      let members = try MemberRows.members(number: number, in: db)
      return StoredGroup(
        record: record, members: members, former: try FormerMemberRows.all(number: number, in: db), lastMessage: tail.newest,
        recentlySent: tail.recentlySent, attributes: try AttributeRows.attributes(number: number, in: db),
        openApplications: try ApplicationRows.open(number: number, in: db),
        offlineSince: record.type == .avChatRoom ? try UserRows.absent(of: members, number: number, waiting, in: db) : [:])
    }
  }

  /// The groups a user is a member of, by `groupNumber` ascending.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func memberships(of user: UserID) async throws(StoreError) -> [Membership] {
    try await read { db in
      try db.rows(
        "SELECT groupID, type, number FROM member JOIN groupRecord USING (number) WHERE userID = ? ORDER BY number",
        [user.rawValue], Membership.init(row:))
    }
  }

  /// In how many groups of a listed type each of the users is; counting stops at `limit`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int] {
    try await read { db in
      var counts: [UserID: Int] = [:]
      for user in users {
        counts[user] = try db.count(
          """
          SELECT count(*) FROM (
            SELECT 1 FROM member JOIN groupRecord USING (number)
            WHERE userID = ? AND type IN (\(GroupType.listedSQL)) LIMIT ?)
          """,
          [user.rawValue, limit])
      }
      return counts
    }
  }

  /// How many groups of a type a user owns; counting stops at `limit`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int {
    try await read { db in
      try db.count(
        "SELECT count(*) FROM (SELECT 1 FROM groupRecord WHERE owner = ? AND type = ? LIMIT ?)",
        [user.rawValue, type.rawValue, limit])
    }
  }

  /// The groups of a listed type that a user has left or that were disbanded, by time, then groupID; those being cleared away included.
  /// - Parameter type: nil = of any.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func departures(of user: UserID, from type: GroupType?, since: Instant) async throws(StoreError) -> [GroupID] {
    if let type, !type.isListed { return [] }
    let types = type.map { "'\($0.rawValue)'" } ?? GroupType.listedSQL
    return try await read { db in
      try db.rows(
        """
        SELECT groupID, time FROM departure WHERE userID = ? AND time >= ? AND type IN (\(types))
        UNION ALL
        SELECT groupID, time FROM member JOIN dismissedGroup USING (number) WHERE userID = ? AND time >= ? AND type IN (\(types))
        ORDER BY time, groupID
        """, [user.rawValue, since, user.rawValue, since]
      ) { try $0.value(GroupID.init) }
    }
  }

  /// Groups of a type (nil = of any), by `groupNumber` ascending, at most `limit` with a number above `after`.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    let condition = type == nil ? "" : "type = ? AND "
    let arguments: [(any DatabaseValueConvertible & Sendable)?] = (type.map { [$0.rawValue] } ?? []) + [after, limit]
    return try await read { db in
      try db.rows(
        "SELECT groupID, type, number FROM groupRecord WHERE \(condition)number > ? ORDER BY number LIMIT ?",
        arguments, Membership.init(row:))
    }
  }

  /// How many groups of each type there are; a type without groups is absent.
  /// - Throws: `.unavailable`, or `.inconsistent` where a page is damaged.
  public func groupCounts() async throws(StoreError) -> [GroupType: Int] {
    try await read { db in
      let counts = try db.rows("SELECT type, count(*) FROM groupRecord GROUP BY type", []) {
        (try $0.value(GroupType.init(rawValue:)), Int(try $0.integer()))
      }
      return Dictionary(uniqueKeysWithValues: counts)
    }
  }
}

extension Membership {
  /// From the columns groupID, type, number.
  init(row: inout Columns) throws {
    let groupID = try row.value(GroupID.init)
    let type = try row.value(GroupType.init(rawValue:))
    self.init(groupID: groupID, type: type, groupNumber: try row.integer())
  }
}
