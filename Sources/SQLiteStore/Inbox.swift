import GroupModel
import GroupRuntime
import Synchronization

/// What waits for the writer. Callers put in from any thread and never wait for the disk; the writer takes out one portion at a
/// time.
final class Inbox: Sendable {
  /// Work that nobody waits for, done in chunks between the commits until nothing is left.
  enum Chore: Sendable { case purge, sweep }

  /// What the writer does next.
  struct Portion {
    var commits: [Commit] = []
    var users: [UserID: UserNote] = [:]
    var probe = false
    var chores: Set<Chore> = []
  }

  private struct State {
    var commits: [Commit] = []
    // Of the commits, as `Commit.weight` counts them.
    var bytes = 0
    // Users stay in `users` until they are durable, so that whoever asks for them in between finds them. One note each: the last.
    var users: [UserID: UserNote] = [:]
    var flushUsers = false
    var probe = false
    var chores: Set<Chore> = []
    var isWriterAwake = false
    var isClosed = false

    var hasWork: Bool { !commits.isEmpty || flushUsers || probe || !chores.isEmpty }

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
  ///   - maxCommits: how many commits one portion has at most.
  ///   - maxPending: how many commits wait at most; beyond it a commit fails in its turn without being tried.
  ///   - maxBytes: how much they may hold; who comes when as much waits fails in the same way.
  init(maxCommits: Int, maxPending: Int, maxBytes: Int) {
    self.maxCommits = maxCommits
    self.maxPending = maxPending
    self.maxBytes = maxBytes
  }

  /// How a commit was taken in.
  enum Admission { case wake, queued, full(wake: Bool), closed }

  /// Takes a commit in; the caller wakes the writer where told to.
  func put(_ commit: Commit) -> Admission {
    let weight = commit.weight
    return state.withLock { state in
      if state.isClosed { return .closed }
      if state.commits.count >= maxPending || state.bytes >= maxBytes {
        // It keeps its place, for completions come in order, but nothing of its changes stays in memory.
        commit.lineage.markBroken()
        state.commits.append(Commit(changes: [], lineage: commit.lineage, completion: commit.completion))
        return .full(wake: state.wakeWriter())
      }
      state.commits.append(commit)
      state.bytes += weight
      return state.wakeWriter() ? .wake : .queued
    }
  }

  /// Takes users in; they become durable with the next commit or with the next `ask`.
  func put(_ users: [UserID]) {
    state.withLock { state in
      for user in users where state.users[user] == nil { state.users[user] = .known }
    }
  }

  /// Takes in whether a user is here; what waited of that user is out of date.
  func put(_ note: UserNote, of user: UserID) {
    state.withLock { $0.users[user] = note }
  }

  /// Those of the users that wait to become durable.
  func waiting(among users: [UserID]) -> Set<UserID> {
    state.withLock { state in Set(users.filter { state.users[$0] != nil }) }
  }

  /// What waits to become durable of a user.
  func note(of user: UserID) -> UserNote? { state.withLock { $0.users[user] } }

  /// All users that wait to become durable, and what is noted of them. Whoever keeps it makes the next one who is put in pay for a copy.
  var waitingUsers: [UserID: UserNote] { state.withLock { $0.users } }

  /// Asks for work besides commits; true where the writer must be woken.
  func ask(flushUsers: Bool = false, probe: Bool = false, _ chores: Set<Chore> = []) -> Bool {
    state.withLock { state in
      if state.isClosed { return false }
      state.flushUsers = state.flushUsers || (flushUsers && !state.users.isEmpty)
      state.probe = state.probe || probe
      state.chores.formUnion(chores)
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
        commits: state.takeCommits(maxCommits), users: state.users, probe: state.probe, chores: state.chores)
      state.flushUsers = false
      state.probe = false
      return portion
    }
  }

  /// Those notes are durable now; what has come since then still waits.
  func forget(_ notes: [UserID: UserNote]) {
    if notes.isEmpty { return }
    state.withLock { state in
      for (user, note) in notes where state.users[user] == note { state.users[user] = nil }
    }
  }

  /// Nothing is left to do, or it cannot go on.
  func ended(_ chore: Chore) { state.withLock { _ = $0.chores.remove(chore) } }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Nothing more is taken in. What waits is still taken out, the chores excepted.
  /// - Returns: false where the inbox was closed before.
  func close() -> Bool {
    state.withLock { state in
      defer { state.isClosed = true }
      state.chores = []
      return !state.isClosed
    }
  }
}

extension Commit {
  /// How many bytes of texts that may be long it keeps in memory; the rest is bounded by the number of commits.
  fileprivate var weight: Int { changes.reduce(0) { $0 + $1.weight } }
}

extension StoreChange {
  fileprivate var weight: Int {
    switch self {
    case .append(let message), .revise(let message):
      switch message.content {
      case .text(let text), .custom(let text), .tips(let text): text.utf8.count
      }
    case .putAttributes(let attributes, in: _): attributes.entries.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    case .putApplication(let application, asNewest: _): application.requestMsg.utf8.count + (application.attach?.utf8.count ?? 0)
    case .notify(let notification, _): notification.data?.utf8.count ?? 0
    default: 0
    }
  }
}
