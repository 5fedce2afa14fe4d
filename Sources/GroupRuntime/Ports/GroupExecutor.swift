import GroupModel

/// Runs the actors of groups. Jobs run one at a time, in order for each thread that adds them.
public protocol GroupExecutor: SerialExecutor, WorkQueue {
  /// Whether the caller is on this executor.
  var isCurrent: Bool { get }

  /// Runs `body` behind the queued jobs.
  func enqueue(_ body: @escaping @Sendable () -> Void)

  /// Runs `body` behind all other work: few such bodies run before sockets and other work have their
  /// turn. On this executor only.
  func enqueueInBackground(_ body: @escaping @Sendable () -> Void)
}

extension GroupExecutor {
  /// Runs `body` at once when called on this executor, else behind the queued jobs.
  public func perform(_ body: @escaping @Sendable () -> Void) {
    if isCurrent { body() } else { enqueue(body) }
  }
}
