import GroupModel
import GroupRuntime
import Synchronization

extension PostgreSQLStore: PresenceStore {
  /// The users that are noted to have a session. Notes that wait in this process count; those of other
  /// nodes may come a second later.
  public func usersOnline() async throws(StoreError) -> [UserID] {
    // What has left the queue during the read may be missing in its rows.
    let earlier = writer.queue.pendingUpdates
    let stored = try await read(.singleStatement) { try UserRows.onlineUsers(in: $0) }
    return stored.filter { user in
      if case .offline = writer.queue.pendingUpdate(of: user) ?? earlier[user] { false } else { true }
    }
  }

  /// The members of live rooms whose last session has ended since an instant, and when it has. Notes
  /// that wait do not count: who made them has them.
  public func roomMembersOffline(since: WallInstant) async throws(StoreError) -> [UserID: WallInstant] {
    try await read(.singleStatement) { try UserRows.roomMembersOffline(since: since, in: $0) }
  }

  /// Makes users known to all nodes: returns when they are durable.
  public func makeKnown(_ users: [UserID]) async throws(StoreError) {
    let unsure = durableUsers.withLock { known in users.filter { !known.contains($0) } }
    if unsure.isEmpty { return }
    let stored = Set(try await read(.singleStatement) { try UserRows.known(among: unsure.map(\.rawValue), in: $0) })
    let missing = unsure.filter { !stored.contains($0) }
    if !missing.isEmpty {
      writer.queue.markKnown(missing)
      guard await flushUsers() else { throw StoreError(.unavailable, "users cannot be made known") }
    }
    durableUsers.withLock { known in
      if known.count + unsure.count > PostgreSQLStore.maxDurableUsers { known = [] }
      known.formUnion(unsure)
    }
  }

  /// Returns when everything that was noted by now is durable, or has failed.
  public func flushPresence() async { _ = await flushUsers() }

  /// - Returns: whether it is durable.
  private func flushUsers() async -> Bool {
    // Each transaction takes what waits with it.
    await withCheckedContinuation { continuation in
      writer.commit(
        Commit(changes: [], generation: CommitGeneration()) { continuation.resume(returning: (try? $0.get()) != nil) })
    }
  }
}

extension PostgreSQLStore: UserStore {
  /// Makes users known at once, and durable with the next commit or within about a second.
  public func remember(_ users: [UserID]) { writer.queue.markKnown(users) }

  /// Notes that the user's first session has begun, or that the last has ended: at once, and
  /// durable with the next commit or within about a second.
  /// - Parameter offlineSince: nil = online.
  public func notePresence(of user: UserID, offlineSince: WallInstant?) {
    writer.queue.setPresence(offlineSince.map { .offline(since: $0) } ?? .online, of: user)
  }

  /// The end of the user's last session; nil where there is one, or never was.
  public func offlineSince(of user: UserID) async throws(StoreError) -> WallInstant? {
    switch writer.queue.pendingUpdate(of: user) {
    case .online: nil
    case .offline(let since): since
    case .known, nil: try await read(.singleStatement) { try UserRows.offlineSince(of: user, in: $0) }
    }
  }

  /// The users among these that are known.
  public func known(among users: [UserID]) async throws(StoreError) -> Set<UserID> {
    // The queue first: users who have left it since are in the database.
    let waiting = writer.queue.pendingUsers(among: users)
    let others = users.filter { !waiting.contains($0) }.map(\.rawValue)
    return waiting.union(try await read(.singleStatement) { try UserRows.known(among: others, in: $0) })
  }

  /// The profiles of users, by one query; empty ones are absent.
  public func profiles(of users: [UserID]) async throws(StoreError) -> [UserID: UserProfile] {
    if users.isEmpty { return [:] }
    return try await read(.singleStatement) { try UserInfoRows.profiles(of: users, in: $0) }
  }

  /// The texts of those of the users that are known, in the order given; by one query.
  public func infos(of users: [UserID]) async throws(StoreError) -> [UserInfo] {
    // The queue first: users who have left it since are in the database.
    let waiting = writer.queue.pendingUsers(among: users)
    return try await read(.singleStatement) { try UserInfoRows.infos(of: users, known: waiting, in: $0) }
  }

  /// The number of known users.
  public func knownCount() async throws(StoreError) -> Int {
    let waiting = writer.queue.pendingUpdates.keys.map(\.rawValue)
    return try await read { db in
      let stored = try db.count("SELECT count(*) FROM knownUser", [])
      return stored + waiting.count - (waiting.isEmpty ? 0 : try UserRows.known(among: waiting, in: db).count)
    }
  }
}
