import GroupModel
import GroupRuntime

/// What the statements of a read see of the database.
package enum ReadIsolation: Sendable {
  /// All of them see the same instant.
  case snapshot
  /// There is only one, which sees one instant by itself.
  case singleStatement
}

/// A store in a database. Its ports are made of the queries and the writer of a dialect; what is one
/// query stands in the dialect.
package protocol DatabaseStore: GroupStore, MessageStore, UserStore, PersonalStore, WebhookStore, AccessStore, ReportStore,
  StoreHealth
{
  associatedtype Queries: StoreQueries

  /// The bounds and clocks of the store.
  var engineOptions: EngineOptions { get }
  /// What the writer has.
  var core: WriterCore { get }

  /// Waits for commits of which nobody knows yet whether they are durable: a group must not be read
  /// before.
  func waitForFates() async throws(StoreError)

  /// Reads with one of the connections that reads share, when it is the requester's turn.
  /// - Throws: `.unavailable`, also where the store is closed, or `.inconsistent` where a page is
  ///   damaged.
  func read<Value: Sendable>(
    _ isolation: ReadIsolation, _ body: @escaping @Sendable (Queries) throws -> Value
  ) async throws(StoreError) -> Value

  /// Reads in a snapshot for a search, which waits for others and lets no other read wait.
  func readForSearch<Value: Sendable>(
    of reader: UserID?, _ body: @escaping @Sendable (Queries) throws -> Value
  ) async throws(StoreError) -> Value
}

extension DatabaseStore {
  private var queue: CommitQueue { core.queue }

  /// Whether the last write succeeded; after a failed one the store tries again about once a
  /// second.
  package var canPersist: Bool { core.canPersist }

  /// Counts the transactions of commits.
  package var commitMeter: CommitMeter { core.meter }

  /// The clocks that the store goes by.
  package var clocks: any Clocks { engineOptions.clocks }

  /// How many commits wait for a transaction.
  package var pendingCommits: Int { queue.pendingCommits }

  /// How many users wait to be made known, or to have their presence noted, with the next commit.
  package var pendingUsers: Int { queue.pendingUserCount }

  // MARK: Users

  /// Makes users known at once, and durable with the next commit or within about a second.
  package func remember(_ users: [UserID]) { queue.markKnown(users) }

  /// At once, and durable with the next commit or within about a second.
  package func notePresence(of user: UserID, offlineSince: WallInstant?) {
    queue.setPresence(offlineSince.map { .offline(since: $0) } ?? .online, of: user)
  }

  /// A user who was online at a crash counts as offline from about that second on.
  package func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? {
    switch queue.pendingUpdate(of: user) {
    case .online: nil
    case .offline(let since): since
    case .known, nil: try await read(.singleStatement) { try $0.offlineSince(of: user) }
    }
  }

  /// The users among these that are known.
  package func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    // The queue first: users who have left it since are in the database.
    let waiting = queue.pendingUsers(among: users)
    let others = users.filter { !waiting.contains($0) }
    return waiting.union(try await read(.singleStatement) { try $0.known(among: others) })
  }

  /// The profiles of users, by one query.
  package func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile] {
    if users.isEmpty { return [:] }
    return try await read(.singleStatement) { try $0.profiles(of: users) }
  }

  /// The texts of users, by one query.
  package func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo] {
    // The queue first: users who have left it since are in the database.
    let waiting = queue.pendingUsers(among: users)
    return try await read(.singleStatement) { try $0.infos(of: users, known: waiting) }
  }

  /// The statuses of users, by one query; waiting updates win over stored rows.
  package func statuses(of users: [UserID]) async throws(StoreError) -> [StoredStatus] {
    // The queue first: users who have left it since are in the database.
    let waiting = queue.pendingUpdates(of: users)
    let stored = try await read(.singleStatement) { try $0.statuses(of: users, known: Set(waiting.keys)) }
    if waiting.isEmpty { return stored }
    return stored.map { status in
      switch waiting[status.userID] {
      case .online: StoredStatus(userID: status.userID, customStatus: status.customStatus)
      case .offline(let since):
        StoredStatus(userID: status.userID, customStatus: status.customStatus, offlineSince: since)
      case .known, nil: status
      }
    }
  }

  /// Counted in milliseconds for a hundred thousand.
  package func knownCount() async throws(StoreError) -> Int {
    let waiting = Array(queue.pendingUpdates.keys)
    return try await read(.snapshot) { db in
      let stored = try db.knownCount()
      return try waiting.isEmpty ? stored : stored + waiting.count - db.known(among: waiting).count
    }
  }

  // MARK: Decisions about users

  /// One seek: it is asked at each renewal of a token.
  package func access(of user: UserID) async throws(StoreError) -> UserAccess {
    try await read(.singleStatement) { try $0.access(of: user).access }
  }

  /// Looks at a bounded number of users, because blocks that have ended stay for a day.
  package func blockedUsers(
    after number: Int64, at now: WallInstant, limit: Int
  ) async throws(StoreError) -> BlockedPage? {
    let mostLookedAt = engineOptions.rowsPerRead
    return try await read(.snapshot) { db in
      var (last, users) = (number, [BlockedUser]())
      var (behind, lookedAt) = ("", 0)
      if number != 0 {
        guard let user = try db.decidedUser(number: number) else { return nil }
        behind = user
      }
      while true {
        let page = try db.blocks(behind: behind, limit: limit + 1)
        for row in page {
          if row.user.block.holds(at: now) {
            if users.count == limit { return BlockedPage(users: users, next: last) }
            users.append(row.user)
          }
          (last, behind) = (row.number, row.user.userID.rawValue)
        }
        lookedAt += page.count
        if page.count <= limit { return BlockedPage(users: users, next: 0) }
        if lookedAt >= mostLookedAt { return BlockedPage(users: users, next: last) }
      }
    }
  }

  // MARK: Reports

  /// Reports in a state, the newest first.
  package func reports(
    state: MessageReport.State, in group: GroupID?, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedReport] {
    let end = before == 0 ? Int64.max : before
    return try await read(.singleStatement) { try $0.reports(state: state, in: group, below: end, limit: max(0, limit)) }
  }

  /// The report with an id.
  package func report(_ id: String) async throws(StoreError) -> NumberedReport? {
    try await read(.singleStatement) { try $0.report(id) }
  }

  /// Counted in an index.
  package func openReports() async throws(StoreError) -> Int { try await read(.singleStatement) { try $0.openReports() } }

  // MARK: What is kept for a user

  /// The marks of those who may decide an application.
  package func readMarks(ofDecidersOf application: GroupApplication) async throws(StoreError) -> [UserID: WallInstant] {
    try await read(.singleStatement) { db in
      guard let user = application.toUser else { return try db.applicationMarks(ofManagersOf: application.groupID) }
      let mark = try db.readMark(.applications, of: user)
      return mark > 0 ? [user: WallInstant(milliseconds: mark)] : [:]
    }
  }

  /// Up to when the user has read applications.
  package func applicationsReadThrough(by user: UserID) async throws(StoreError) -> WallInstant {
    WallInstant(milliseconds: try await read(.singleStatement) { try $0.readMark(.applications, of: user) })
  }

  /// Notifications of the user, and of the managers of groups that the user manages.
  package func notifications(
    of user: UserID, since: WallInstant, before: Int64, limit: Int
  ) async throws(StoreError) -> [NumberedNotification] {
    let newest = try await read(.singleStatement) { try $0.newestNotifications(of: user, since: since) }
    return Array(newest.drop { before > 0 && $0.number >= before }.prefix(max(0, limit)))
  }

  /// The number of those notifications that are newer than the mark.
  package func unreadNotifications(of user: UserID, since: WallInstant) async throws(StoreError) -> Int {
    try await read(.snapshot) { db in
      let mark = try db.readMark(.notifications, of: user)
      return try db.newestNotifications(of: user, since: since).count { $0.number > mark }
    }
  }

  /// Up to which number the user has read notifications.
  package func notificationsReadThrough(by user: UserID) async throws(StoreError) -> Int64 {
    try await read(.singleStatement) { try $0.readMark(.notifications, of: user) }
  }

  // MARK: Webhooks

  /// Entries that were given up, by their number.
  package func webhookFailures(after: Int64, limit: Int, bytes: Int) async throws(StoreError) -> [WebhookFailure] {
    try await read(.snapshot) { db in
      var failures: [WebhookFailure] = []
      var (last, sum) = (after, 0)
      // Pages, because nobody knows the bytes of an entry before it is read.
      while sum < bytes, failures.count < limit {
        let wanted = min(64, limit - failures.count)
        let page = try db.webhookFailures(after: last, limit: wanted)
        for failure in page where sum < bytes {
          sum += failure.entry.data.count
          failures.append(failure)
        }
        guard page.count == wanted, let number = page.last?.number else { break }
        last = number
      }
      return failures
    }
  }
}
