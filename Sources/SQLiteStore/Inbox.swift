import GroupModel
import GroupRuntime
import Synchronization

/// What waits for the writer. Callers put in from any thread and never wait for the disk; the writer takes out one portion at a
/// time.
final class Inbox: Sendable {
  /// What the writer does next.
  struct Portion {
    var commits: [Commit] = []
    var users: Set<UserID> = []
    var probe = false
    var purge = false
  }

  private struct State {
    var commits: [Commit] = []
    // Users stay in `users` until they are durable, so that whoever asks for them in between finds them.
    var users: Set<UserID> = []
    var flushUsers = false
    var probe = false
    var purge = false
    var isWriterAwake = false
    var isClosed = false

    var hasWork: Bool { !commits.isEmpty || flushUsers || probe || purge }

    mutating func wakeWriter() -> Bool {
      defer { isWriterAwake = true }
      return !isWriterAwake
    }

    mutating func takeCommits(_ limit: Int) -> [Commit] {
      if commits.count <= limit {
        defer { commits = [] }
        return commits
      }
      let taken = Array(commits.prefix(limit))
      commits.removeFirst(limit)
      return taken
    }
  }

  private let state = Mutex(State())
  private let maxCommits: Int
  private let maxPending: Int

  /// - Parameters:
  ///   - maxCommits: how many commits one portion has at most.
  ///   - maxPending: how many commits wait at most; beyond it a commit fails in its turn without being tried.
  init(maxCommits: Int, maxPending: Int) {
    self.maxCommits = maxCommits
    self.maxPending = maxPending
  }

  /// How a commit was taken in.
  enum Admission { case wake, queued, full(wake: Bool), closed }

  /// Takes a commit in; the caller wakes the writer where told to.
  func put(_ commit: Commit) -> Admission {
    state.withLock { state in
      if state.isClosed { return .closed }
      if state.commits.count >= maxPending {
        // It keeps its place, for completions come in order, but nothing of its changes stays in memory.
        commit.lineage.markBroken()
        state.commits.append(Commit(changes: [], lineage: commit.lineage, completion: commit.completion))
        return .full(wake: state.wakeWriter())
      }
      state.commits.append(commit)
      return state.wakeWriter() ? .wake : .queued
    }
  }

  /// Takes users in; they become durable with the next commit or with the next `ask`.
  func put(_ users: [UserID]) {
    state.withLock { $0.users.formUnion(users) }
  }

  /// Those of the users that wait to become durable.
  func waiting(among users: [UserID]) -> Set<UserID> {
    state.withLock { $0.users.intersection(users) }
  }

  /// All users that wait to become durable.
  var waitingUsers: Set<UserID> { state.withLock { $0.users } }

  /// Asks for work besides commits; true where the writer must be woken.
  func ask(flushUsers: Bool = false, probe: Bool = false, purge: Bool = false) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.flushUsers = state.flushUsers || (flushUsers && !state.users.isEmpty)
      state.probe = state.probe || probe
      state.purge = state.purge || purge
      return state.hasWork && state.wakeWriter()
    }
  }

  /// The next portion; nil where nothing waits, and the writer may sleep.
  func take() -> Portion? {
    state.withLock { state in
      guard state.hasWork else {
        state.isWriterAwake = false
        return nil
      }
      let portion = Portion(
        commits: state.takeCommits(maxCommits), users: state.users, probe: state.probe, purge: state.purge)
      state.flushUsers = false
      state.probe = false
      return portion
    }
  }

  /// Those users are durable now.
  func forget(_ users: Set<UserID>) {
    if !users.isEmpty { state.withLock { $0.users.subtract(users) } }
  }

  /// Nothing is left to purge, or it cannot go on.
  func purgeEnded() { state.withLock { $0.purge = false } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Nothing more is taken in. What waits is still taken out, the purge excepted.
  /// - Returns: false where the inbox was closed before.
  func close() -> Bool {
    state.withLock { state in
      defer { state.isClosed = true }
      state.purge = false
      return !state.isClosed
    }
  }
}
