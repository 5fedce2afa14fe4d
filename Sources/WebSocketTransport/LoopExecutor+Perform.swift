extension LoopExecutor {
  /// Runs `body` at once when the caller is on this executor's loop, else queues it.
  public func perform(_ body: @escaping @Sendable () -> Void) {
    if handle.isCurrent { body() } else { queue.add(.body(body), on: self) }
  }
}
