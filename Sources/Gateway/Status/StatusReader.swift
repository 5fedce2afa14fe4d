import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// Puts the statuses of users together: from the store, and from the sessions of all nodes.
package final class StatusReader: Sendable {
  /// Users whose statuses are read again, because news of another node may be missing.
  private struct Backlog: Sendable {
    var users: [UserID] = []
    var isReading = false
    /// The store has failed: not before then.
    var nextRead = MonotonicInstant.distantPast
  }

  /// How many users are read again at once.
  private static let batchSize = 500
  /// The wait before a retry after a failure of the store.
  private static let retryTime = Duration.seconds(1)

  private let users: any UserStore
  private let sessions: any UserDirectory
  private let statuses: Statuses
  private let clocks: any Clocks
  private let observer: StoreObserver
  private let backlog = Mutex(Backlog())

  /// - Parameter sessions: of all nodes.
  init(
    users: any UserStore, sessions: any UserDirectory, statuses: Statuses, clocks: any Clocks, observer: StoreObserver
  ) {
    self.users = users
    self.sessions = sessions
    self.statuses = statuses
    self.clocks = clocks
    self.observer = observer
  }

  /// The rows of those of the users that are known, in the order given.
  func rows(of users: [UserID]) async throws(StoreError) -> [UserStatusInfo] {
    try await read(users).compactMap(\.info)
  }

  /// The same for users whom a session has begun to watch.
  func watchedRows(of users: [UserID]) async throws(StoreError) -> [UserStatusInfo] {
    let mark = statuses.mark
    let readings = try await read(users)
    statuses.fill(readings, since: mark)
    return readings.compactMap(\.info)
  }

  private func read(_ names: [UserID]) async throws(StoreError) -> [StatusReading] {
    let stored = Dictionary(uniqueKeysWithValues: try await users.statuses(of: names).map { ($0.userID, $0) })
    return zip(names, sessions.presences(of: names)).map { StatusReading($0, stored[$0], $1) }
  }

  // MARK: Missing news

  /// News of other nodes may be missing: the statuses of all watched users are read again, some with
  /// each tick.
  func readAgain() {
    let users = statuses.watchedUsers
    backlog.withLock { $0.users = users }
  }

  /// Called ten times a second.
  func tick(at now: MonotonicInstant) {
    let batch = backlog.withLock { backlog -> [UserID] in
      guard !backlog.users.isEmpty, !backlog.isReading, backlog.nextRead <= now else { return [] }
      backlog.isReading = true
      let batch = Array(backlog.users.suffix(StatusReader.batchSize))
      backlog.users.removeLast(batch.count)
      return batch
    }
    if !batch.isEmpty { Task { await readAgain(batch) } }
  }

  private func readAgain(_ batch: [UserID]) async {
    do throws(StoreError) {
      _ = try await watchedRows(of: batch)
      backlog.withLock { $0.isReading = false }
    } catch {
      observer.storeFailed(error)
      let nextRead = clocks.monotonic + StatusReader.retryTime
      backlog.withLock { backlog in
        backlog.isReading = false
        backlog.nextRead = nextRead
        // Behind a later call it may stand there twice, which is harmless.
        backlog.users += batch
      }
    }
  }
}
