import GroupModel
import Synchronization

/// A sequence of commits, each decided on the state of those before. When one fails, the later ones
/// must not be applied: their state never became durable. The group then begins a new generation.
public final class CommitGeneration: Sendable {
  private let broken = Atomic<Bool>(false)
  private let term: Atomic<Int64>

  /// A generation without a failed commit.
  /// - Parameter term: of the group's shard when the group was read, where there are several nodes;
  ///   0 = that of the first commit.
  public init(term: Int64 = 0) { self.term = Atomic(term) }

  /// Binds the generation to the term of its shard, for stores that several nodes share.
  /// - Returns: false where it belongs to another: it has not read what the owner between has written.
  public func bind(to term: Int64) -> Bool {
    let (isFirst, bound) = self.term.compareExchange(expected: 0, desired: term, ordering: .acquiringAndReleasing)
    return isFirst || bound == term
  }

  /// Whether a commit of this generation has failed.
  public var isBroken: Bool { broken.load(ordering: .acquiring) }

  /// Called by the store before it completes a failed commit.
  public func markBroken() { broken.store(true, ordering: .releasing) }
}

/// A decision's changes on their way to the store.
public struct Commit: Sendable {
  /// The after-events that the changes add, in their order, with their numbers and the profiles
  /// that were stored; or why nothing is durable.
  public typealias Answer = Result<[WebhookEntry], StoreError>

  public let changes: [StoreChange]
  public let generation: CommitGeneration
  /// Called once, from a thread of the store, when the changes are durable or cannot be; never where
  /// nobody can say, and the process ends.
  public let completion: @Sendable (Answer) -> Void

  /// A commit with everything given.
  public init(changes: [StoreChange], generation: CommitGeneration, completion: @escaping @Sendable (Answer) -> Void) {
    self.changes = changes
    self.generation = generation
    self.completion = completion
  }
}
