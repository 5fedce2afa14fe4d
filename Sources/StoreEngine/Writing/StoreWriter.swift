import Dispatch
import GroupModel
import GroupRuntime
import Logging

/// The one writer of a store in this process: everything pending shares one transaction, and
/// completions follow its COMMIT in order. A dialect brings the transaction, and the thread.
package protocol StoreWriter: AnyObject, Sendable {
  /// What a batch is written with: a connection, where the writer's thread hands one out.
  associatedtype Access
  associatedtype Transaction: ChangeWriter

  var core: WriterCore { get }
  /// Lets the writer's thread take batches out of the queue, and `perform` them.
  func wake()
  /// Writes the users of a batch and what the body writes in one transaction, which is durable when
  /// this returns.
  /// - Parameter body: may run twice.
  /// - Returns: the after-events that the transaction has added, in their order, with their numbers and
  ///   the profiles that were stored.
  func write(
    _ batch: CommitQueue.Batch, _ access: Access, _ body: (Transaction) throws -> Void
  ) throws(StoreError) -> [WebhookEntry]
  /// Commits are durable, apart from those that were refused. Called before their completions.
  func didWrite(_ commits: [Commit])
}

extension StoreWriter {
  /// Enqueues a commit. Never blocks on the disk.
  package func commit(_ commit: Commit) {
    switch core.queue.enqueue(commit) {
    case .wake: wake()
    case .queued: break
    case .full(let mustWake):
      core.note(failure: StoreError(.unavailable, "the database does not keep up: too many commits wait"))
      if mustWake { wake() }
    case .closed: refuse(commit, "the store is closed")
    // Another node decides for the group.
    case .refused(let mustWake): if mustWake { wake() }
    }
  }

  // Asynchronous, because a caller may hold a lock that its completion wants.
  private func refuse(_ commit: Commit, _ reason: String) {
    commit.generation.markBroken()
    refusals.async { commit.completion(.failure(StoreError(.unavailable, reason))) }
  }

  /// Writes a batch, and answers its commits, unless nobody can say what is durable.
  package func perform(_ batch: CommitQueue.Batch, _ access: Access) {
    let begun = core.clocks.monotonic
    let outcomes = outcomes(of: batch, access)
    let ended = core.clocks.monotonic
    // Also where another thread has halted meanwhile.
    if core.hasHalted { return core.leaveUnanswered(batch.commits) }
    var failures = 0
    for (commit, outcome) in zip(batch.commits, outcomes) where outcome.isFailure {
      commit.generation.markBroken()
      failures += 1
    }
    if !batch.commits.isEmpty {
      core.meter.record(nanoseconds: ended.nanoseconds(since: begun), commits: batch.commits.count, failures: failures)
    }
    for (commit, outcome) in zip(batch.commits, outcomes) { commit.completion(outcome) }
  }

  private func outcomes(of batch: CommitQueue.Batch, _ access: Access) -> [Commit.Answer] {
    do throws(StoreError) {
      return try write(batch, apart: false, access)
    } catch  where error.kind == .unavailable {
      return failed(batch, error)
    } catch {
      // A commit contradicts the stored rows: apart from each other only that one fails.
      do throws(StoreError) {
        return try write(batch, apart: true, access)
      } catch {
        return failed(batch, error)
      }
    }
  }

  /// - Parameter apart: a commit that is `.inconsistent` fails alone instead of failing all.
  private func write(_ batch: CommitQueue.Batch, apart: Bool, _ access: Access) throws(StoreError) -> [Commit.Answer] {
    var outcomes: [Commit.Answer] = []
    // The places of a commit's after-events: their numbers may come with COMMIT only.
    var appends: [(commit: Int, entries: Range<Int>)] = []
    let appended = try write(batch, access) { transaction in
      (outcomes, appends) = ([], [])
      for commit in batch.commits {
        if commit.generation.isBroken {
          outcomes.append(.failure(.abandoned))
          continue
        }
        let first = transaction.appendedCount
        if let failure = try apply(commit, apart: apart, transaction) {
          outcomes.append(.failure(failure))
          continue
        }
        if transaction.appendedCount > first { appends.append((outcomes.count, first..<transaction.appendedCount)) }
        outcomes.append(.success([]))
      }
    }
    for (commit, entries) in appends { outcomes[commit] = .success(Array(appended[entries])) }
    core.queue.removeDurable(batch.users)
    didWrite(batch.commits)
    return outcomes
  }

  /// - Returns: why nothing of the commit is written, where it is written apart.
  private func apply(_ commit: Commit, apart: Bool, _ transaction: Transaction) throws -> StoreError? {
    guard apart else {
      for change in commit.changes { try transaction.apply(change) }
      return nil
    }
    let failure = try transaction.apart { for change in commit.changes { try transaction.apply(change) } }
    if let failure {
      commit.generation.markBroken()
      core.logger.error("commit refused", metadata: ["error": "\(failure)"])
    }
    return failure
  }

  private func failed(_ batch: CommitQueue.Batch, _ failure: StoreError) -> [Commit.Answer] {
    core.note(failure: failure)
    return batch.commits.map { .failure($0.generation.isBroken ? .abandoned : failure) }
  }
}

private let refusals = DispatchQueue(label: "throng.store.refusals")

extension Commit.Answer {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}

extension StoreError {
  fileprivate static let abandoned = StoreError(
    .abandoned, "an earlier commit of the same generation failed, or another node decides for the group")
}
