import GroupModel
import GroupRuntime
import StoreTables

extension PostgreSQLStore: GroupStore {
  /// Enqueues the commit; pending commits share one transaction, and completions follow it in
  /// order.
  public func commit(_ commit: Commit) { writer.commit(commit) }

  /// The group, with members by `userID`; nil where there is none. Other reads have their turn
  /// between its pages: only the group itself changes these rows, and it waits for this call.
  /// - Throws: `.unavailable`, or `.inconsistent` where a row is damaged.
  public func group(
    _ id: GroupID, sentSince: WallInstant, at now: WallInstant, mostFormer: Int
  ) async throws(StoreError) -> StoredGroup? {
    try await writer.waitForFates()
    let waiting = writer.queue.pendingUpdates
    let found = try await read { db in
      try db.number(of: id.rawValue).map { (number: $0, group: try StoredGroup(head: id, number: $0, in: db)) }
    }
    guard let (number, head) = found, var group = head else { return nil }
    group.members = try await pages(from: "", after: { $0.userID.rawValue }) { (after, limit, db) in
      try MemberRows.page(number: number, after: after, limit: limit, in: db)
    }
    group.former = try await pages(
      from: FormerMemberRows.Position.first, after: { .init(behind: $0, $0.restrictedUntil) }, atMost: mostFormer
    ) { (position, limit, db) in
      try FormerMemberRows.restricted(number: number, at: now, position, limit: limit, in: db)
    }
    let mostFree = mostFormer - group.former.count
    group.former += try await pages(
      from: FormerMemberRows.Position.first, after: { .init(behind: $0, $0.memorableUntil) }, atMost: mostFree
    ) { (position, limit, db) in
      try FormerMemberRows.free(number: number, at: now, position, limit: limit, in: db)
    }
    group.openApplications = try await pages(from: 0, after: \.number) { (after, limit, db) in
      try ApplicationRows.open(groupNumber: number, after: after, limit: limit, in: db)
    }.map(\.application)
    if let newest = group.lastMessage?.seq {
      group.recentlySent = try await recentlySent(number: number, through: newest, since: sentSince)
    }
    if group.record.type == .avChatRoom {
      group.offlineSince = try await absences(of: group.members, number: number, waiting)
    }
    return group
  }

  /// Collects the pages of a query, up to a number of items.
  /// - Parameter after: the key of an item, after which the next page begins.
  private func pages<Item: Sendable, Key: Sendable>(
    from start: Key, after key: @Sendable (Item) -> Key, atMost most: Int = .max,
    _ read: @escaping @Sendable (_ after: Key, _ limit: Int, PostgreSQLConnection) throws -> [Item]
  ) async throws(StoreError) -> [Item] {
    var items: [Item] = []
    while items.count < most {
      let limit = min(options.rowsPerRead, most - items.count)
      let last = items.last.map(key) ?? start
      let page = try await self.read(.singleStatement) { try read(last, limit, $0) }
      items += page
      if page.count < limit { break }
    }
    return items
  }

  private func recentlySent(number: Int64, through newest: Int64, since: WallInstant) async throws(StoreError) -> [SentMessage] {
    let limit = options.rowsPerRead
    guard var next = try await read(.snapshot, { try MessageRows.firstSeq(number: number, notBefore: since, in: $0) }) else {
      return []
    }
    var sent: [SentMessage] = []
    while next <= newest {
      let (first, last) = (next, min(newest, next + Int64(limit) - 1))
      sent += try await read(.singleStatement) { try MessageRows.sent(number: number, in: first...last, $0) }
      next = last + 1
    }
    return sent
  }

  private func absences(
    of members: [Member], number: Int64, _ waiting: [UserID: PresenceUpdate]
  ) async throws(StoreError) -> [UserID: WallInstant] {
    var absences: [UserID: WallInstant] = [:]
    var remaining = members[...]
    while !remaining.isEmpty {
      let page = Array(remaining.prefix(options.rowsPerRead))
      remaining = remaining.dropFirst(page.count)
      absences.merge(try await read(.singleStatement) { try UserRows.absent(of: page, number: number, waiting, in: $0) }) {
        _, new in new
      }
    }
    return absences
  }

  /// The groups a user is a member of, by `groupNumber` ascending.
  public func memberships(of user: UserID) async throws(StoreError) -> [Membership] {
    try await read(.singleStatement) { try Membership.all(of: user, in: $0) }
  }

  /// The groups, presence and profile that a sign-in needs, by a connection for sign-ins alone.
  public func signInRecord(of user: UserID) async throws(StoreError) -> SignInRecord {
    let update = writer.queue.pendingUpdate(of: user)
    return try await readForSignIn(of: user) { db in
      let memberships = try Membership.all(of: user, in: db)
      let offlineSince: WallInstant? =
        switch update {
        case .online: nil
        case .offline(let since): since
        case .known, nil: try UserRows.offlineSince(of: user, in: db)
        }
      return SignInRecord(
        memberships: memberships, offlineSince: offlineSince, profile: try UserInfoRows.profiles(of: [user], in: db)[user])
    }
  }

  /// The number of groups of a listed type for each user; counting stops at `limit`.
  public func membershipCounts(of users: [UserID], limit: Int) async throws(StoreError) -> [UserID: Int] {
    try await read(.singleStatement) { db in
      let counts = try db.rows(
        """
        SELECT wanted.userID, (SELECT count(*) FROM (
          SELECT 1 FROM member AS m JOIN groupRecord AS g ON g.number = m.number
          WHERE m.userID = wanted.userID AND g.type IN (\(GroupType.listedSQL)) LIMIT $2) AS found)
        FROM unnest($1) AS wanted (userID)
        """, [users.map(\.rawValue), limit]
      ) { (try $0.value(UserID.self), try $0.value(Int.self)) }
      return Dictionary(counts) { $1 }
    }
  }

  /// The number of groups of a type that a user owns; counting stops at `limit`.
  public func ownedCount(of user: UserID, type: GroupType, limit: Int) async throws(StoreError) -> Int {
    try await read(.singleStatement) { db in
      try db.count(
        "SELECT count(*) FROM (SELECT 1 FROM groupRecord WHERE owner = $1 AND type = $2 LIMIT $3) AS found",
        [user.rawValue, type.rawValue, limit])
    }
  }

  /// The groups of a listed type that a user is a member of, by `groupNumber` ascending, at most
  /// `limit` after `after`.
  /// - Parameters:
  ///   - type: nil = any.
  ///   - changedSince: leaves out groups whose rows show no change at or after it; the future end
  ///     of a mute counts as a change.
  public func listedMemberships(
    of user: UserID, type: GroupType?, changedSince: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    if let type, !type.isListed { return [] }
    return try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT g.groupID, g.type, m.number FROM member AS m JOIN groupRecord AS g ON g.number = m.number
        WHERE m.userID = $1 AND m.number > $2 AND g.type IN (\(type.listedSQL)) AND ($3 <= 0 OR
          greatest(g.lastInfoTime, g.changeTime, g.removedTime, m.changeTime, m.muteUntil, g.muteUntil) >= $3 OR
          (SELECT timestamp FROM message WHERE message.number = m.number ORDER BY seq DESC LIMIT 1) >= $3)
        ORDER BY m.number LIMIT $4
        """, [user.rawValue, after, changedSince, max(0, limit)], Membership.read)
    }
  }

  /// The groups of a listed type that a user has left or that were disbanded, by `groupNumber`
  /// ascending, at most `limit` after `after`.
  /// - Parameter type: nil = any.
  public func departures(
    of user: UserID, type: GroupType?, since: WallInstant, after: Int64, limit: Int
  ) async throws(StoreError) -> [Membership] {
    if let type, !type.isListed { return [] }
    return try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT groupID, type, groupNumber FROM departure
        WHERE userID = $1 AND groupNumber > $2 AND time >= $3 AND type IN (\(type.listedSQL))
        UNION ALL
        SELECT d.groupID, d.type, d.number FROM dismissedGroup AS d JOIN member AS m ON m.number = d.number AND m.userID = $1
        WHERE d.number > $2 AND d.time >= $3 AND d.type IN (\(type.listedSQL))
        ORDER BY groupNumber LIMIT $4
        """, [user.rawValue, after, since, max(0, limit)], Membership.read)
    }
  }

  /// Groups of a type (nil = any), by `groupNumber` ascending, at most `limit` after `after`.
  public func groups(ofType type: GroupType?, after: Int64, limit: Int) async throws(StoreError) -> [Membership] {
    try await read(.singleStatement) { db in
      try db.rows(
        """
        SELECT groupID, type, number FROM groupRecord WHERE number > $1 \(type == nil ? "" : "AND type = $3")
        ORDER BY number LIMIT $2
        """, [after, max(0, limit)] + (type.map { [$0.rawValue] } ?? []), Membership.read)
    }
  }

  /// The number of groups of each type; a type without groups is absent.
  public func groupCounts() async throws(StoreError) -> [GroupType: Int] {
    try await read(.singleStatement) { db in
      let counts = try db.rows("SELECT type, count(*) FROM groupRecord GROUP BY type", []) {
        (try $0.value(GroupType.self), try $0.value(Int.self))
      }
      return Dictionary(counts) { $1 }
    }
  }
}

extension StoredGroup {
  /// A group without the parts that are read in pages; nil where there is none of that number.
  fileprivate init?(head id: GroupID, number: Int64, in db: PostgreSQLConnection) throws {
    guard let group = try GroupRows.group(number: number, in: db) else { return nil }
    self = group
    lastMessage = try MessageRows.newest(of: id, number: number, in: db)
    attributes = try AttributeRows.attributes(number: number, in: db)
    counters = try CounterRows.counters(number: number, in: db)
    pinned = try MessageChangeRows.pinned(number: number, in: db)
  }
}

extension Membership {
  fileprivate static func all(of user: UserID, in db: PostgreSQLConnection) throws -> [Membership] {
    try db.rows(
      """
      SELECT g.groupID, g.type, m.number FROM member AS m JOIN groupRecord AS g ON g.number = m.number
      WHERE m.userID = $1 ORDER BY m.number
      """, [user.rawValue], Membership.read)
  }
}
