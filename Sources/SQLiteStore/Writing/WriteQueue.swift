import GroupModel
import GroupRuntime
import Synchronization

/// Changes that wait for the writer. Callers add to it on any thread and never wait for the disk;
/// the writer takes out one batch at a time.
final class WriteQueue: Sendable {
  /// The writer's next work.
  struct Batch {
    var commits: [Commit] = []
    var users: [UserID: PresenceUpdate] = [:]
    var probe = false
    var tasks: Set<MaintenanceTask> = []
  }

  private struct State {
    var commits: [Commit] = []
    // Held by the commits, as `Commit.weight` counts them.
    var bytes = 0
    // Users stay here until they are durable, so that readers find them; only the last update
    // counts.
    var users: [UserID: PresenceUpdate] = [:]
    var flushUsers = false
    var probe = false
    var tasks: Set<MaintenanceTask> = []
    var isWriterAwake = false
    var isClosed = false

    var hasWork: Bool { !commits.isEmpty || flushUsers || probe || !tasks.isEmpty }

    mutating func wakeWriter() -> Bool {
      defer { isWriterAwake = true }
      return !isWriterAwake
    }

    mutating func takeCommits(_ limit: Int) -> [Commit] {
      if commits.count <= limit {
        defer { (commits, bytes) = ([], 0) }
        return commits
      }
      let taken = Array(commits.prefix(limit))
      commits.removeFirst(limit)
      bytes -= taken.reduce(0) { $0 + $1.weight }
      return taken
    }
  }

  private let state = Mutex(State())
  private let maxCommits: Int
  private let maxPending: Int
  private let maxBytes: Int

  /// - Parameters:
  ///   - maxCommits: the most commits of one batch.
  ///   - maxPending: the most commits that wait; one beyond fails in its turn without being tried.
  ///   - maxBytes: the most bytes that waiting commits hold; one beyond fails in the same way.
  init(maxCommits: Int, maxPending: Int, maxBytes: Int) {
    self.maxCommits = maxCommits
    self.maxPending = maxPending
    self.maxBytes = maxBytes
  }

  enum EnqueueResult { case wake, queued, full(wake: Bool), closed }

  /// Adds a commit; the caller wakes the writer where the result says so.
  func enqueue(_ commit: Commit) -> EnqueueResult {
    let weight = commit.weight
    return state.withLock { state in
      if state.isClosed { return .closed }
      if state.commits.count >= maxPending || state.bytes >= maxBytes {
        // It keeps its place, because completions come in order, but its changes leave memory.
        commit.generation.markBroken()
        state.commits.append(Commit(changes: [], generation: commit.generation, completion: commit.completion))
        return .full(wake: state.wakeWriter())
      }
      state.commits.append(commit)
      state.bytes += weight
      return state.wakeWriter() ? .wake : .queued
    }
  }

  /// Makes users known; they become durable with the next commit or with the next `request`.
  func markKnown(_ users: [UserID]) {
    state.withLock { state in
      for user in users where state.users[user] == nil { state.users[user] = .known }
    }
  }

  /// Replaces the update that waits for a user.
  func setPresence(_ update: PresenceUpdate, of user: UserID) {
    state.withLock { $0.users[user] = update }
  }

  /// The users among these that wait to become durable.
  func pendingUsers(among users: [UserID]) -> Set<UserID> {
    state.withLock { state in Set(users.filter { state.users[$0] != nil }) }
  }

  /// The update of a user that waits to become durable.
  func pendingUpdate(of user: UserID) -> PresenceUpdate? { state.withLock { $0.users[user] } }

  /// All updates that wait to become durable. The next update pays for a copy while this is kept.
  var pendingUpdates: [UserID: PresenceUpdate] { state.withLock { $0.users } }

  /// Requests work besides commits; true where the writer must be woken.
  func request(flushUsers: Bool = false, probe: Bool = false, _ tasks: Set<MaintenanceTask> = []) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.flushUsers = state.flushUsers || (flushUsers && !state.users.isEmpty)
      state.probe = state.probe || probe
      state.tasks.formUnion(tasks)
      return state.hasWork && state.wakeWriter()
    }
  }

  /// The next batch; nil where nothing waits, and the writer may sleep.
  func nextBatch() -> Batch? {
    state.withLock { state in
      guard state.hasWork else {
        state.isWriterAwake = false
        return nil
      }
      let batch = Batch(
        commits: state.takeCommits(maxCommits), users: state.users, probe: state.probe, tasks: state.tasks)
      state.flushUsers = false
      state.probe = false
      return batch
    }
  }

  /// Removes updates that are durable now; later ones still wait.
  func removeDurable(_ updates: [UserID: PresenceUpdate]) {
    if updates.isEmpty { return }
    state.withLock { state in
      for (user, update) in updates where state.users[user] == update { state.users[user] = nil }
    }
  }

  /// Removes a task that has nothing left to do, or cannot go on.
  func remove(_ task: MaintenanceTask) { state.withLock { _ = $0.tasks.remove(task) } }

  /// How many commits wait to be taken out.
  var pendingCommits: Int { state.withLock { $0.commits.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Ends all adding. The commits and users that wait are still taken out, maintenance tasks are
  /// not.
  /// - Returns: false where the queue was closed before.
  func close() -> Bool {
    state.withLock { state in
      defer { state.isClosed = true }
      state.tasks = []
      return !state.isClosed
    }
  }
}

extension Commit {
  /// Bytes of texts that may be long; the number of commits bounds everything else.
  fileprivate var weight: Int { changes.reduce(0) { $0 + $1.weight } }
}

extension StoreChange {
  fileprivate var weight: Int {
    switch self {
    case .append(let message), .revise(let message): message.content.byteCount
    case .putAttributes(let attributes, in: _): attributes.entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    case .putApplication(let application, asNewest: _): application.requestMsg.utf8.count + (application.attach?.utf8.count ?? 0)
    case .updateReaction: 128
    case .putUserInfo(let info): info.customInfo.values.reduce(info.faceURL.utf8.count) { $0 + $1.utf8.count }
    case .notify(let notification, _): notification.data?.utf8.count ?? 0
    case .putReceiptMembers(let members, from: _, in: _): members.reduce(0) { $0 + $1.rawValue.utf8.count + 1 }
    case .appendWebhook(let entry), .giveUpWebhook(let entry, _, _): entry.estimatedBytes
    default: 0
    }
  }
}
