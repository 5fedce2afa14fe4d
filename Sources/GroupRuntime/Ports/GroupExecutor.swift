/// Runs the actors of groups. Its jobs come one at a time, in the order in which one thread gave them.
public protocol GroupExecutor: SerialExecutor {
  /// Whether the caller is on this executor right now.
  var isCurrent: Bool { get }

  /// Runs `body` behind what is queued.
  func enqueue(_ body: @escaping @Sendable () -> Void)
}

extension GroupExecutor {
  /// Runs `body` at once when called from this executor, else behind what is queued.
  public func perform(_ body: @escaping @Sendable () -> Void) {
    if isCurrent { body() } else { enqueue(body) }
  }

  /// Runs `body` isolated to an actor of this executor, which the caller is on.
  ///
  /// The same as the actor's `assumeIsolated`, which asks the concurrency runtime where it is: a thousand instructions, three times for each
  /// message.
  @inlinable
  public func isolated<Resident: Actor, Result>(_ actor: Resident, _ body: (isolated Resident) -> Result) -> Result {
    precondition(isCurrent, "not on this executor")
    #if DEBUG
      actor.preconditionIsolated("an actor of another executor")
    #endif
    return withoutActuallyEscaping(body) { body in
      // As the standard library does it: that the first argument is isolated is known to the compiler alone.
      unsafeBitCast(body, to: ((Resident) -> Result).self)(actor)
    }
  }

  /// The same for a body that captures nothing and takes an `input` instead: it allocates nothing.
  @inlinable
  public func isolated<Resident: Actor, Input>(
    _ actor: Resident, _ input: Input, _ body: @escaping (isolated Resident, Input) -> Void
  ) {
    precondition(isCurrent, "not on this executor")
    #if DEBUG
      actor.preconditionIsolated("an actor of another executor")
    #endif
    // Functions inside of structures are cast as they are; a function alone would be wrapped first.
    unsafeBitCast(IsolatedBody(run: body), to: Body<Resident, Input>.self).run(actor, input)
  }
}

/// A function whose first argument is isolated, and below the same as callers see it.
@usableFromInline
struct IsolatedBody<Resident: Actor, Input> {
  @usableFromInline let run: (isolated Resident, Input) -> Void

  @inlinable
  init(run: @escaping (isolated Resident, Input) -> Void) { self.run = run }
}

@usableFromInline
struct Body<Resident: Actor, Input> {
  @usableFromInline let run: (Resident, Input) -> Void
}
