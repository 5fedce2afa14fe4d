/// Runs the actor of a group. Its jobs come one at a time, in the order in which one thread gave them.
public protocol GroupExecutor: SerialExecutor {
  /// Runs `body` at once when called from this executor, else behind what is queued.
  func perform(_ body: @escaping @Sendable () -> Void)
}
