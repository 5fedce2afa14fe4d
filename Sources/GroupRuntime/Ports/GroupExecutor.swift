/// Runs the actors of groups. Jobs run one at a time, in order for each thread that adds them.
public protocol GroupExecutor: SerialExecutor {
  /// Whether the caller is on this executor.
  var isCurrent: Bool { get }

  /// Runs `body` behind the queued jobs.
  func enqueue(_ body: @escaping @Sendable () -> Void)
}

extension GroupExecutor {
  /// Runs `body` at once when called on this executor, else behind the queued jobs.
  public func perform(_ body: @escaping @Sendable () -> Void) {
    if isCurrent { body() } else { enqueue(body) }
  }

  /// Runs `body` isolated to an actor of this executor, which the caller is on. The actor's own
  /// `assumeIsolated` asks the concurrency runtime: a thousand instructions, three times a message.
  @inlinable
  public func isolated<Resident: Actor, Result>(_ actor: Resident, _ body: (isolated Resident) -> Result) -> Result {
    precondition(isCurrent, "not on this executor")
    #if DEBUG
      actor.preconditionIsolated("an actor of another executor")
    #endif
    return withoutActuallyEscaping(body) { body in
      // As in the standard library: isolation of the first argument exists for the compiler alone.
      unsafeBitCast(body, to: ((Resident) -> Result).self)(actor)
    }
  }
}
