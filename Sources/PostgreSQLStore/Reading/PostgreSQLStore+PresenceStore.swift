import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization

extension PostgreSQLStore: PresenceStore {
  /// The users that are noted to have a session. Notes that wait in this process count; those of other
  /// nodes may come a second later.
  package func usersOnline() async throws(StoreError) -> [UserID] {
    // What has left the queue during the read may be missing in its rows.
    let earlier = writer.queue.pendingUpdates
    let stored = try await read(.singleStatement) { try $0.onlineUsers() }
    return stored.filter { user in
      if case .offline = writer.queue.pendingUpdate(of: user) ?? earlier[user] { false } else { true }
    }
  }

  /// The members of live rooms whose last session has ended since an instant, and when it has. Notes
  /// that wait do not count: who made them has them.
  package func roomMembersOffline(since: WallInstant) async throws(StoreError) -> [UserID: WallInstant] {
    try await read(.singleStatement) { try $0.roomMembersOffline(since: since) }
  }

  /// Makes users known to all nodes: returns when they are durable.
  /// - Parameter areNew: the store was read, and has none of them; false = it may have, and is read first:
  ///   that takes a part of the time of a commit.
  package func makeKnown(_ users: [UserID], areNew: Bool) async throws(StoreError) {
    let unsure = durableUsers.withLock { known in users.filter { !known.contains($0) } }
    if unsure.isEmpty { return }
    let stored: Set<UserID> = areNew ? [] : try await read(.singleStatement) { try $0.known(among: unsure) }
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

  /// The next sign-in writes the user's row again.
  package func forgetKnown(_ user: UserID) { durableUsers.withLock { _ = $0.remove(user) } }

  /// Returns when everything that was noted by now is durable, or has failed.
  package func flushPresence() async { _ = await flushUsers() }

  /// - Returns: whether it is durable.
  private func flushUsers() async -> Bool {
    // Each transaction takes what waits with it.
    await withCheckedContinuation { continuation in
      writer.commit(
        Commit(changes: [], generation: CommitGeneration()) { continuation.resume(returning: (try? $0.get()) != nil) })
    }
  }
}
