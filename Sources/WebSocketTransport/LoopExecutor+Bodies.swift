extension LoopExecutor {
  /// Whether the caller is on this executor's loop.
  public var isCurrent: Bool { handle.isCurrent }

  /// Queues `body`: it runs in a later turn, or later in this one, behind what the same thread queued before.
  public func enqueue(_ body: @escaping @Sendable () -> Void) { queue.add(.body(body), on: self) }
}
