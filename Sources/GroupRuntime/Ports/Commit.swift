import GroupModel
import Synchronization

/// The commits that were decided one upon the other. When one fails the later ones must not be applied, because they were decided on a state
/// that never became durable; the group takes a new generation when it has loaded itself again.
public final class CommitGeneration: Sendable {
  private let broken = Atomic<Bool>(false)

  /// A generation in which nothing has failed yet.
  public init() {}

  /// Whether a commit of this generation has failed.
  public var isBroken: Bool { broken.load(ordering: .acquiring) }

  /// Called by the store before it answers a failed commit.
  public func markBroken() { broken.store(true, ordering: .releasing) }
}

/// What a decision hands to the store.
public struct Commit: Sendable {
  public let changes: [StoreChange]
  public let generation: CommitGeneration
  /// Called once, from a thread of the store, when the changes are durable or cannot be.
  public let completion: @Sendable (Result<Void, StoreError>) -> Void

  /// A commit with everything given.
  public init(
    changes: [StoreChange], generation: CommitGeneration, completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
  ) {
    self.changes = changes
    self.generation = generation
    self.completion = completion
  }
}
