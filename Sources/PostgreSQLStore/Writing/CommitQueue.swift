import GroupModel
import GroupRuntime
import Synchronization

/// A change of a user that waits to be written.
enum PresenceUpdate: Sendable, Equatable {
  /// The user exists; the sessions are unchanged.
  case known
  /// The first session has begun.
  case online
  /// The last session has ended.
  case offline(since: WallInstant)
}

/// Changes that wait for the writer. Callers add to it on any thread and never wait; the writer takes
/// out one batch at a time.
final class CommitQueue: Sendable {
  /// The writer's next work.
  struct Batch {
    var commits: [Commit] = []
    var users: [UserID: PresenceUpdate] = [:]
    /// `CommitQueue.leaseCount` when it was taken out.
    var leaseCount = 0
  }

  private struct State {
    var commits: [Commit] = []
    /// Held by the commits, as `Commit.weight` counts them.
    var bytes = 0
    /// Users stay here until they are durable, so that readers find them.
    var users: [UserID: PresenceUpdate] = [:]
    var mustFlushUsers = false
    var isWriterAwake = false
    var isClosed = false
    /// Nil = this process has the database alone.
    var fence: CommitFence?
    var leaseCount = 0

    mutating func wakeWriter() -> Bool {
      defer { isWriterAwake = true }
      return !isWriterAwake
    }
  }

  enum Admission: Equatable { case queued, wake, full(wake: Bool), closed, fenced }

  private let state = Mutex(State())
  private let options: PostgreSQLOptions

  init(_ options: PostgreSQLOptions) { self.options = options }

  /// Adds a commit; the caller wakes the writer where the result says so.
  func enqueue(_ commit: Commit) -> Admission {
    let weight = commit.weight
    return state.withLock { state in
      if state.isClosed { return .closed }
      var commit = commit
      if let fence = state.fence {
        // Under the lock: `breakAll` finds whatever the fence has let through before the lease was lost.
        guard let admitted = fence.admit(commit) else { return .fenced }
        commit = admitted
      }
      if state.commits.count >= options.pendingCommits || state.bytes >= options.pendingBytes {
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

  func use(_ fence: CommitFence) { state.withLock { $0.fence = fence } }

  var fence: CommitFence? { state.withLock { $0.fence } }

  /// The lease was lost: what waits was decided under it, and fails. Other nodes note the presence of
  /// users now.
  func breakAll() {
    state.withLock { state in
      state.leaseCount += 1
      for user in state.users.keys { state.users[user] = .known }
      for commit in state.commits { commit.generation.markBroken() }
    }
  }

  /// How many leases were lost: a batch that was taken out before belongs to none.
  var leaseCount: Int { state.withLock { $0.leaseCount } }

  /// Makes users known; they become durable with the next commit or `flushUsers`.
  func markKnown(_ users: [UserID]) {
    state.withLock { state in for user in users where state.users[user] == nil { state.users[user] = .known } }
  }

  /// Replaces the update that waits for a user.
  func setPresence(_ update: PresenceUpdate, of user: UserID) { state.withLock { $0.users[user] = update } }

  /// The users among these that wait to become durable.
  func pendingUsers(among users: [UserID]) -> Set<UserID> {
    state.withLock { state in Set(users.filter { state.users[$0] != nil }) }
  }

  /// The update of a user that waits to become durable.
  func pendingUpdate(of user: UserID) -> PresenceUpdate? { state.withLock { $0.users[user] } }

  /// All updates that wait to become durable.
  var pendingUpdates: [UserID: PresenceUpdate] { state.withLock { $0.users } }

  /// Lets the writer make users durable.
  /// - Returns: whether it must be woken.
  func flushUsers() -> Bool {
    state.withLock { state in
      guard !state.isClosed, !state.users.isEmpty else { return false }
      state.mustFlushUsers = true
      return state.wakeWriter()
    }
  }

  /// The next batch; nil where nothing waits, and the writer may sleep.
  func nextBatch() -> Batch? {
    state.withLock { state in
      guard !state.commits.isEmpty || state.mustFlushUsers else {
        state.isWriterAwake = false
        return nil
      }
      state.mustFlushUsers = false
      let taken = Array(state.commits.prefix(options.commitsPerTransaction))
      state.commits.removeFirst(taken.count)
      state.bytes = state.commits.isEmpty ? 0 : state.bytes - taken.reduce(0) { $0 + $1.weight }
      return Batch(commits: taken, users: state.users, leaseCount: state.leaseCount)
    }
  }

  /// Removes updates that are durable now; later ones still wait.
  func removeDurable(_ updates: [UserID: PresenceUpdate]) {
    if updates.isEmpty { return }
    state.withLock { state in
      for (user, update) in updates where state.users[user] == update { state.users[user] = nil }
    }
  }

  /// How many commits wait to be taken out.
  var pendingCommits: Int { state.withLock { $0.commits.count } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Ends all adding. What waits is still taken out.
  /// - Returns: false where the queue was closed before.
  func close() -> Bool {
    state.withLock { state in
      defer { state.isClosed = true }
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
