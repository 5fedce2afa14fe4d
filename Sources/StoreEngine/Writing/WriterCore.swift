import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// What the writers of all stores have: the queue, the meter, and whether the last write succeeded.
package final class WriterCore: Sendable {
  package let queue: CommitQueue
  package let meter = CommitMeter()
  package let logger: Logger
  /// Measure a batch.
  let clocks: any Clocks
  private let persists = Atomic<Bool>(true)
  private let isHalted = Atomic<Bool>(false)
  /// Commits of which nobody can say whether they are durable: they wait for an answer, and get none.
  private let unanswered = Mutex<[Commit]>([])

  /// - Parameter clocks: measure a batch.
  package init(_ options: EngineOptions, clocks: any Clocks, logger: Logger) {
    queue = CommitQueue(options)
    self.clocks = clocks
    self.logger = logger
  }

  /// Whether the last write succeeded, and commits are answered.
  package var canPersist: Bool { persists.load(ordering: .acquiring) && !hasHalted }

  /// Whether no commit is answered any more.
  package var hasHalted: Bool { isHalted.load(ordering: .sequentiallyConsistent) }

  /// Ends all answers, because nobody can say what is durable. Any thread.
  /// - Returns: false where they had ended before.
  package func halt() -> Bool { !isHalted.exchange(true, ordering: .sequentiallyConsistent) }

  func leaveUnanswered(_ commits: [Commit]) { unanswered.withLock { $0 += commits } }

  /// A write has failed.
  package func note(failure: StoreError) {
    guard failure.kind == .unavailable else {
      logger.error("commits refused", metadata: ["error": "\(failure)"])
      return
    }
    if persists.exchange(false, ordering: .acquiringAndReleasing) {
      logger.error("cannot write to the store", metadata: ["error": "\(failure)"])
    }
  }

  /// A write has succeeded.
  /// - Returns: whether one before it had failed.
  @discardableResult
  package func noteSuccess() -> Bool {
    guard !persists.exchange(true, ordering: .acquiringAndReleasing) else { return false }
    logger.notice("the store can write again")
    return true
  }
}
