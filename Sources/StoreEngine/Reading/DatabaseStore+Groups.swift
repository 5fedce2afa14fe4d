import GroupModel
import GroupRuntime

extension DatabaseStore {
  /// The groups a user is a member of, by `groupNumber` ascending.
  package func memberships(of user: UserID) async throws(StoreError) -> [Membership] {
    try await read(.singleStatement) { try $0.memberships(of: user) }
  }

  /// The group, with members by `userID`. Other reads have their turn between its pages: only the
  /// group itself changes these rows, and it waits for this call.
  package func group(
    _ id: GroupID, sentSince: WallInstant, at now: WallInstant, mostFormer: Int
  ) async throws(StoreError) -> StoredGroup? {
    try await waitForFates()
    // Before the rows: an update that becomes durable meanwhile must not be missed.
    let waiting = core.queue.pendingUpdates
    let found = try await read(.snapshot) { db in
      try db.number(of: id).map { (number: $0, group: try db.headWithLastMessage(of: id, number: $0)) }
    }
    guard let (number, head) = found, var group = head else { return nil }
    group.members = try await pages(from: "", after: { $0.userID.rawValue }) { (db, after, limit) in
      try db.members(number: number, after: after, limit: limit)
    }
    group.former = try await pages(from: .first, after: { .init(behind: $0, $0.restrictedUntil) }, atMost: mostFormer) {
      try $0.restrictedMembers(number: number, at: now, $1, limit: $2)
    }
    let mostFree = mostFormer - group.former.count
    group.former += try await pages(from: .first, after: { .init(behind: $0, $0.memorableUntil) }, atMost: mostFree) {
      try $0.freeMembers(number: number, at: now, $1, limit: $2)
    }
    group.openApplications = try await pages(from: 0, after: \.number) { (db, after, limit) in
      try db.openApplications(number: number, after: after, limit: limit)
    }.map(\.application)
    if group.lastSeq >= group.firstSeq {
      group.recentlySent = try await recentlySent(number: number, through: group.lastSeq, since: sentSince)
    }
    if group.record.type == .avChatRoom {
      group.offlineSince = try await absences(of: group.members, number: number, waiting)
    }
    return group
  }

  /// The stamps of groups, in one statement.
  package func stamps(of groups: [GroupID]) async throws(StoreError) -> [GroupID: GroupStamp] {
    if groups.isEmpty { return [:] }
    try await waitForFates()
    return try await read(.singleStatement) { try $0.stamps(of: groups) }
  }

  /// Members of stored groups since an instant.
  package func recentMembers(since instant: WallInstant, limit: Int) async throws(StoreError) -> [(GroupID, UserID)] {
    try await waitForFates()
    // The instant decides which index is right, as keywords do for a search.
    return try await readForSearch(of: nil) { try $0.recentMembers(since: instant, limit: max(0, limit)) }
  }

  /// Collects the pages of a query, up to a number of items.
  /// - Parameter after: the key of an item, after which the next page begins.
  private func pages<Item: Sendable, Key: Sendable>(
    from start: Key, after key: @Sendable (Item) -> Key, atMost most: Int = .max,
    _ read: @escaping @Sendable (Queries, _ after: Key, _ limit: Int) throws -> [Item]
  ) async throws(StoreError) -> [Item] {
    var items: [Item] = []
    while items.count < most {
      let limit = min(engineOptions.rowsPerRead, most - items.count)
      let last = items.last.map(key) ?? start
      let page = try await self.read(.singleStatement) { try read($0, last, limit) }
      items += page
      if page.count < limit { break }
    }
    return items
  }

  private func recentlySent(number: Int64, through newest: Int64, since: WallInstant) async throws(StoreError) -> [SentMessage] {
    let limit = engineOptions.rowsPerRead
    let first = try await read(.snapshot) { try $0.firstSeq(number: number, notBefore: since) }
    guard var next = first else { return [] }
    var sent: [SentMessage] = []
    while next <= newest {
      let page = next...min(newest, next + Int64(limit) - 1)
      sent += try await read(.singleStatement) { try $0.sentMessages(number: number, in: page) }
      next = page.upperBound + 1
    }
    return sent
  }

  /// The end of the last session of each member who is offline; waiting updates win over stored rows.
  private func absences(
    of members: [Member], number: Int64, _ waiting: [UserID: PresenceUpdate]
  ) async throws(StoreError) -> [UserID: WallInstant] {
    var absences: [UserID: WallInstant] = [:]
    var remaining = members[...]
    while let first = remaining.first {
      let page = remaining.prefix(engineOptions.rowsPerRead)
      remaining = remaining.dropFirst(page.count)
      let users = first.userID.rawValue...(page.last ?? first).userID.rawValue
      absences.merge(try await read(.singleStatement) { try $0.absences(of: users, number: number) }) { _, new in new }
    }
    for member in waiting.isEmpty ? [] : members {
      switch waiting[member.userID] {
      case .online: absences[member.userID] = nil
      case .offline(let since): absences[member.userID] = since
      case .known, nil: break
      }
    }
    return absences
  }
}

extension StoreQueries {
  /// A group without what is read in pages. Its newest message may be none that is shown as its last.
  fileprivate func headWithLastMessage(of group: GroupID, number: Int64) throws -> StoredGroup? {
    guard var head = try head(of: group, number: number) else { return nil }
    guard let newest = head.lastMessage, let seq = newest.seq, !newest.movesLastMessage else { return head }
    head.setNewest(seq, at: newest.timestamp)
    // Retention may have removed it.
    let shown = head.record.lastShownSeq
    head.lastMessage = shown > 0 ? try messages(of: group, number: number, seqs: [shown]).first : nil
    return head
  }
}

extension PresenceUpdate? {
  /// The end of the user's last session, where this update is not durable yet; nil = there is a session,
  /// or never was.
  /// - Parameter stored: what the row of the user says.
  package func offlineSince(stored: () throws -> WallInstant?) rethrows -> WallInstant? {
    switch self {
    case .online: nil
    case .offline(let since): since
    case .known, nil: try stored()
    }
  }
}
