import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization

/// The state of the background work that holds the writer for a few milliseconds at a time.
final class BackgroundWork: Sendable {
  private struct State {
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
    /// Free pages must go to the last one, and texts from the index; nil = as usual.
    var reclaim: Reclaim?
  }

  /// What is still to be done for the deletion of a user.
  private struct Reclaim {
    var mustShrink = true
    var mustRefreshIndex: Bool
  }

  /// The groups that removal has to look at.
  let removal = GroupBacklog()
  /// The groups whose messages have to be indexed.
  let indexing = GroupBacklog()
  private let state: Mutex<State>
  private let removes: Bool
  private let indexes: Bool

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
    if removes { removal.noteAppends(commits) }
    guard indexes else { return }
    indexing.noteAppends(commits)
    if commits.contains(where: { $0.changes.contains(where: \.revises) }) { setMayBeStale(true) }
  }

  func trusts(_ now: ClockReading) -> Bool { state.withLock { $0.trust.isTrusted(now) } }

  /// Begins the time of a tick.
  /// - Returns: the tasks to request.
  func beginTick(at now: MonotonicInstant) -> Set<MaintenanceTask> {
    state.withLock { state in
      state.used = .zero
      var tasks = state.unfinished
      state.unfinished = []
      if state.lastRound.map({ now - $0 >= HistoryBounds.interval }) ?? true {
        state.lastRound = now
        tasks.formUnion(removes ? [.removeMessages, .shrinkFile] : [.shrinkFile])
      }
      if state.reclaim?.mustShrink == true { tasks.insert(.shrinkFile) }
      if indexes, state.mustMerge || state.mayBeStale || !indexing.isEmpty { tasks.insert(.indexMessages) }
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

  var mustMerge: Bool { state.withLock { $0.mustMerge } }

  func setMustMerge(_ must: Bool) { state.withLock { $0.mustMerge = must } }

  func setMayBeStale(_ may: Bool) {
    state.withLock { state in
      state.mayBeStale = may
      if !may { state.reclaim?.mustRefreshIndex = false }
    }
  }

  // MARK: Deleted users

  /// Lets no page stay free, and no text in the index that its message has no more, from now on.
  func beginReclaim() {
    state.withLock { state in
      if indexes { state.mayBeStale = true }
      state.reclaim = Reclaim(mustRefreshIndex: indexes)
    }
  }

  /// Whether no page is to stay free.
  var reclaims: Bool { state.withLock { $0.reclaim?.mustShrink == true } }

  /// No page is free, or none can leave the file.
  func noteReclaimed() { state.withLock { $0.reclaim?.mustShrink = false } }

  /// Whether everything that was free when it began has gone.
  var hasReclaimed: Bool {
    state.withLock { $0.reclaim.map { !$0.mustShrink && !$0.mustRefreshIndex } ?? true }
  }

  func endReclaim() { state.withLock { $0.reclaim = nil } }

  // MARK: Retention

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
