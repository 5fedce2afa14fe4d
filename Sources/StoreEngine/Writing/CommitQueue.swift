import GroupModel
import GroupRuntime
import Synchronization

/// A change of a user that waits to be written.
package enum PresenceUpdate: Sendable, Equatable {
  /// The user exists; the sessions are unchanged.
  case known
  /// The first session has begun.
  case online
  /// The last session has ended.
  case offline(since: WallInstant)
}

/// Decides which commits of a process may be written where several share a database.
package protocol CommitAdmission: Sendable {
  /// The commit as it is written; nil where this process may not write it.
  func admit(_ commit: Commit) -> Commit?
}

/// Changes that wait for the writer. Callers add to it on any thread and never wait for the disk; the
/// writer takes out one batch at a time.
package final class CommitQueue: Sendable {
  /// The writer's next work.
  package struct Batch: Sendable {
    package var commits: [Commit] = []
    package var users: [UserID: PresenceUpdate] = [:]
    package var probe = false
    package var tasks: Set<MaintenanceTask> = []
    /// `CommitQueue.leaseCount` when it was taken out.
    package var leaseCount = 0
  }

  private struct State {
    var commits: [Commit] = []
    /// Held by the commits, as `Commit.weight` counts them.
    var bytes = 0
    /// Users stay here until they are durable, so that readers find them; only the last update counts.
    var users: [UserID: PresenceUpdate] = [:]
    var flushUsers = false
    var probe = false
    var tasks: Set<MaintenanceTask> = []
    var isWriterAwake = false
    var isClosed = false
    /// Nil = this process has the database alone.
    var admission: (any CommitAdmission)?
    var leaseCount = 0

    var hasWork: Bool { !commits.isEmpty || flushUsers || probe || !tasks.isEmpty }

    mutating func wakeWriter() -> Bool {
      defer { isWriterAwake = true }
      return !isWriterAwake
    }

    mutating func popCommits(_ limit: Int) -> [Commit] {
      if commits.count <= limit {
        defer { (commits, bytes) = ([], 0) }
        return commits
      }
      let taken = Array(commits.prefix(limit))
      commits.removeFirst(limit)
      bytes -= taken.reduce(0) { $0 + $1.weight }
      return taken
    }

    /// A commit fails in its turn, because completions come in order, but its changes leave memory.
    mutating func keepPlace(of commit: Commit) {
      commit.generation.markBroken()
      commits.append(Commit(changes: [], generation: commit.generation, completion: commit.completion))
    }
  }

  private let state = Mutex(State())
  private let maxCommits: Int
  private let maxPending: Int
  private let maxBytes: Int

  /// - Parameter options: a commit beyond its bounds fails in its turn without being tried.
  package init(_ options: EngineOptions) {
    maxCommits = options.commitsPerTransaction
    maxPending = options.pendingCommits
    maxBytes = options.pendingBytes
  }

  enum Enqueued { case wake, queued, full(wake: Bool), closed, refused(wake: Bool) }

  /// Adds a commit; the caller wakes the writer where the result says so. One that is not written
  /// keeps its place, unless the queue is closed.
  func enqueue(_ commit: Commit) -> Enqueued {
    let weight = commit.weight
    return state.withLock { state in
      if state.isClosed { return .closed }
      var commit = commit
      if let admission = state.admission {
        // Under the lock: `breakAll` finds whatever was let through before the lease was lost.
        guard let admitted = admission.admit(commit) else {
          state.keepPlace(of: commit)
          return .refused(wake: state.wakeWriter())
        }
        commit = admitted
      }
      if state.commits.count >= maxPending || state.bytes >= maxBytes {
        state.keepPlace(of: commit)
        return .full(wake: state.wakeWriter())
      }
      state.commits.append(commit)
      state.bytes += weight
      return state.wakeWriter() ? .wake : .queued
    }
  }

  /// Asks for each commit from now on.
  package func use(_ admission: any CommitAdmission) { state.withLock { $0.admission = admission } }

  /// The lease was lost: what waits was decided under it, and fails. Other nodes note the presence of
  /// users now.
  package func breakAll() {
    state.withLock { state in
      state.leaseCount += 1
      for user in state.users.keys { state.users[user] = .known }
      for commit in state.commits { commit.generation.markBroken() }
    }
  }

  /// How many leases were lost: a batch that was taken out before belongs to none.
  package var leaseCount: Int { state.withLock { $0.leaseCount } }

  /// Makes users known; they become durable with the next commit or `request(flushUsers:)`.
  package func markKnown(_ users: [UserID]) {
    state.withLock { state in for user in users where state.users[user] == nil { state.users[user] = .known } }
  }

  /// Replaces the update that waits for a user.
  package func setPresence(_ update: PresenceUpdate, of user: UserID) { state.withLock { $0.users[user] = update } }

  /// The users among these that wait to become durable.
  package func pendingUsers(among users: [UserID]) -> Set<UserID> {
    state.withLock { state in Set(users.filter { state.users[$0] != nil }) }
  }

  /// The update of a user that waits to become durable.
  package func pendingUpdate(of user: UserID) -> PresenceUpdate? { state.withLock { $0.users[user] } }

  /// The updates among these users that wait to become durable.
  package func pendingUpdates(of users: [UserID]) -> [UserID: PresenceUpdate] {
    state.withLock { state in
      if state.users.isEmpty { return [:] }
      return Dictionary(users.compactMap { user in state.users[user].map { (user, $0) } }) { $1 }
    }
  }

  /// All updates that wait to become durable. The next update pays for a copy while this is kept.
  package var pendingUpdates: [UserID: PresenceUpdate] { state.withLock { $0.users } }

  /// How many users wait to be written.
  package var pendingUserCount: Int { state.withLock { $0.users.count } }

  /// Requests work besides commits; true where the writer must be woken.
  package func request(flushUsers: Bool = false, probe: Bool = false, _ tasks: Set<MaintenanceTask> = []) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.flushUsers = state.flushUsers || (flushUsers && !state.users.isEmpty)
      state.probe = state.probe || probe
      state.tasks.formUnion(tasks)
      return state.hasWork && state.wakeWriter()
    }
  }

  /// The next batch; nil where nothing waits, and the writer may sleep.
  package func nextBatch() -> Batch? {
    state.withLock { state in
      guard state.hasWork else {
        state.isWriterAwake = false
        return nil
      }
      let batch = Batch(
        commits: state.popCommits(maxCommits), users: state.users, probe: state.probe, tasks: state.tasks,
        leaseCount: state.leaseCount)
      state.flushUsers = false
      state.probe = false
      return batch
    }
  }

  /// Takes out the commits of all generations but these, in their order.
  package func popCommits(except generations: Set<ObjectIdentifier>) -> [Commit] {
    state.withLock { state in
      var taken: [Commit] = []
      var kept: [Commit] = []
      for commit in state.commits {
        if generations.contains(ObjectIdentifier(commit.generation)) { kept.append(commit) } else { taken.append(commit) }
      }
      state.commits = kept
      state.bytes -= taken.reduce(0) { $0 + $1.weight }
      return taken
    }
  }

  /// The users that wait, once no commit is added any more.
  package func lastBatch() -> Batch? {
    state.withLock { $0.users.isEmpty ? nil : Batch(users: $0.users, leaseCount: $0.leaseCount) }
  }

  /// Removes updates that are durable now; later ones still wait.
  func removeDurable(_ updates: [UserID: PresenceUpdate]) {
    if updates.isEmpty { return }
    state.withLock { state in
      for (user, update) in updates where state.users[user] == update { state.users[user] = nil }
    }
  }

  /// Removes a task that has nothing left to do, or cannot go on.
  package func remove(_ task: MaintenanceTask) { state.withLock { _ = $0.tasks.remove(task) } }

  /// How many commits wait to be taken out.
  package var pendingCommits: Int { state.withLock { $0.commits.count } }

  package var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Ends all adding. The commits and users that wait are still taken out, maintenance tasks are
  /// not.
  /// - Returns: false where the queue was closed before.
  package func close() -> Bool {
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
  /// Inlined, and by the fields of a message: each message is weighed, and a call would get a copy of it.
  @inline(__always)
  fileprivate var weight: Int {
    switch self {
    case .append(let message), .revise(let message): message.content.byteCount + (message.extras?.byteCount ?? 0)
    case .putAttributes(let attributes, in: _): attributes.entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    case .putApplication(let application, asNewest: _): application.requestMsg.utf8.count + (application.attach?.utf8.count ?? 0)
    case .updateReaction, .putChangeOrigin: 128
    case .putUserInfo(let info): info.customInfo.values.reduce(info.faceURL.utf8.count) { $0 + $1.utf8.count }
    case .putReport(let report): report.message.count + (report.text?.utf8.count ?? 0)
    case .putBlock(_, let block, at: _): block?.reason.utf8.count ?? 0
    case .notify(let notification, _): notification.data?.utf8.count ?? 0
    case .putReceiptMembers(let users, from: _, in: _), .endHidden(let users, at: _, in: _), .noteGroup(let users, in: _):
      users.reduce(0) { $0 + $1.rawValue.utf8.count + 1 }
    case .appendWebhook(let entry), .giveUpWebhook(let entry, _, _): entry.estimatedBytes
    case .erase(let rows): rows.reduce(0) { $0 + $1.weight }
    case .removeApplications(let ids, in: _): ids.reduce(0) { $0 + $1.utf8.count }
    default: 0
    }
  }
}

extension ErasedRow {
  /// A commit may have many of them, so each counts with its keys.
  fileprivate var weight: Int {
    switch self {
    case .tips(_, _, let content): 64 + content.utf8.count
    case .receiptList(_, _, let users), .targets(_, _, let users): users.reduce(64) { $0 + $1.rawValue.utf8.count + 1 }
    case .reportedMessage(_, let bytes), .webhook(_, let bytes), .failure(_, let bytes): 64 + bytes.count
    case .profile, .nameCard, .application, .answer, .notification, .notice, .receipts, .formerMember, .disbandedMember, .report,
      .groupOfUser, .departures, .marks, .known:
      64
    }
  }
}
