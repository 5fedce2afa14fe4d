import GroupModel
import Synchronization

/// Whom a task works for. Stores take turns by it, and what nobody waits for any more is given up.
public final class Requester: Sendable {
  /// Of the task at hand; nil where it works for the server itself.
  @TaskLocal public static var current: Requester?

  /// Nil = an application administrator.
  public let userID: UserID?
  private let gone = Atomic(false)

  /// Somebody who waits for an answer.
  public init(_ userID: UserID?) { self.userID = userID }

  /// Nobody waits for the answer any more.
  public var isGone: Bool { gone.load(ordering: .relaxed) }

  /// The connection that the answer would go to is gone. There is no way back.
  public func leave() { gone.store(true, ordering: .relaxed) }

  /// Whether nobody waits for what the task at hand does.
  public static var hasLeft: Bool { current?.isGone ?? false }
}
