import GroupModel
import GroupRuntime
import Synchronization

/// The groups that background work has to look at: those that got messages lately and, once after
/// the start, all. It notes the groups in memory, so that a message costs no row.
struct PendingGroups {
  private var touched: Set<GroupID> = []
  /// All groups behind this number are still to be looked at; nil = none.
  private(set) var scanAfter: Int64? = 0

  var isEmpty: Bool { touched.isEmpty && scanAfter == nil }

  mutating func insert(_ group: GroupID) { touched.insert(group) }

  mutating func popFirst() -> GroupID? { touched.popFirst() }

  /// - Parameter number: the last group that was looked at; nil = it was the last of all.
  mutating func continueScan(after number: Int64?) { scanAfter = number }
}

/// The state of the background work that holds the writer for a few milliseconds at a time.
final class BackgroundWork: Sendable {
  private struct State {
    var removal = PendingGroups()
    var indexing = PendingGroups()
    /// Whether parts of the index are to be merged.
    var mustMerge = false
    /// Whether the index may hold texts that messages no longer have.
    var mayBeStale = true
    var trust: ClockTrust
    var holds = WriterHolds()
    /// Time that was used since the last tick.
    var used = Duration.zero
    /// Tasks that go on with the next tick.
    var unfinished: Set<MaintenanceTask> = []
    var lastRound: MonotonicInstant?
    /// Whether the file has become shorter, and the log may follow.
    var hasShrunk = false
    var onRemoval: (@Sendable (HistoryRemoval) -> Void)?
  }

  private let state: Mutex<State>
  private let removes: Bool
  private let indexes: Bool

  /// The time between two rounds of removal.
  static let interval = Duration.seconds(5)
  /// No step begins that much after the beginning of a transaction. Its COMMIT takes as long again.
  static let stepTime = Duration.milliseconds(1)
  /// The most time between two ticks, so that a checkpoint may reach the end of the log.
  static let timePerTick = Duration.milliseconds(400)

  init(_ options: StoreOptions) {
    removes = !options.history.isEmpty
    indexes = options.indexesMessages
    state = Mutex(State(trust: ClockTrust(options.clocks.now)))
  }

  /// Whether groups that get messages are noted.
  var notesAppends: Bool { removes || indexes }

  var holds: WriterHolds { state.withLock { $0.holds } }

  func onRemoval(_ body: @escaping @Sendable (HistoryRemoval) -> Void) { state.withLock { $0.onRemoval = body } }

  func noteAppends(_ commits: [Commit]) {
    state.withLock { state in
      for commit in commits {
        for case .append(let message) in commit.changes {
          if removes { state.removal.insert(message.groupID) }
          if indexes { state.indexing.insert(message.groupID) }
        }
        if indexes, commit.changes.contains(where: \.revises) { state.mayBeStale = true }
      }
    }
  }

  func trusts(_ now: ClockReading) -> Bool { state.withLock { $0.trust.isTrusted(now) } }

  /// Begins the time of a tick.
  /// - Returns: the tasks to request.
  func beginTick(at now: MonotonicInstant) -> Set<MaintenanceTask> {
    state.withLock { state in
      state.used = .zero
      var tasks = state.unfinished
      state.unfinished = []
      if state.lastRound.map({ now - $0 >= Self.interval }) ?? true {
        state.lastRound = now
        tasks.formUnion(removes ? [.removeMessages, .shrinkFile] : [.shrinkFile])
      }
      if indexes, state.mustMerge || state.mayBeStale || !state.indexing.isEmpty { tasks.insert(.indexMessages) }
      return tasks
    }
  }

  /// A task has held the writer.
  /// - Returns: whether it goes on in this tick.
  func note(_ task: MaintenanceTask, hold: Duration, isMore: Bool) -> Bool {
    state.withLock { state in
      state.holds.note(task.rawValue, hold)
      state.used += hold
      guard isMore, state.used >= Self.timePerTick else { return isMore }
      state.unfinished.insert(task)
      return false
    }
  }

  func noteShrunk() { state.withLock { $0.hasShrunk = true } }

  /// Whether the file has become shorter since the log was last cut, and work is at rest.
  var mayShortenLog: Bool { state.withLock { $0.hasShrunk && $0.unfinished.isEmpty } }

  /// The log has been cut; where a reader was in the way, a later round tries again.
  func didShortenLog() { state.withLock { $0.hasShrunk = false } }

  /// Changes the groups that removal has to look at.
  func withRemoval<Value: Sendable>(_ body: (inout PendingGroups) -> Value) -> Value {
    state.withLock { body(&$0.removal) }
  }

  /// Changes the groups whose messages have to be indexed.
  func withIndexing<Value: Sendable>(_ body: (inout PendingGroups) -> Value) -> Value {
    state.withLock { body(&$0.indexing) }
  }

  var mustMerge: Bool { state.withLock { $0.mustMerge } }

  func setMustMerge(_ must: Bool) { state.withLock { $0.mustMerge = must } }

  func setMayBeStale(_ may: Bool) { state.withLock { $0.mayBeStale = may } }

  /// A transaction that has removed messages is committed.
  func didRemove(_ outcome: MessageRemoval.Outcome) {
    let handler = state.withLock { state in
      state.holds.removedMessages += outcome.messages
      if indexes, outcome.messages > 0 { state.mayBeStale = true }
      return state.onRemoval
    }
    if let handler { for removal in outcome.removals { handler(removal) } }
  }
}

extension StoreChange {
  fileprivate var revises: Bool { if case .revise = self { true } else { false } }
}
