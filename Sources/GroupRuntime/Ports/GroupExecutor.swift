import GroupModel

/// Runs the actors of groups. Jobs run one at a time, in order for each thread that adds them.
public protocol GroupExecutor: SerialExecutor, WorkQueue {
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
}

/// An actor whose executor knows whether the caller is on it.
public protocol ExecutorActor: Actor {
  /// Whether the caller is on the executor of this actor.
  nonisolated var isOnExecutor: Bool { get }
}

extension ExecutorActor {
  /// Runs `body` isolated to this actor, whose executor the caller is on; traps elsewhere.
  /// `assumeIsolated` asks the concurrency runtime: a thousand instructions, three times a message.
  @inlinable
  public nonisolated func isolated<Result>(_ body: (isolated Self) -> Result) -> Result {
    precondition(isOnExecutor, "not on the executor of this actor")
    return withoutActuallyEscaping(body) { body in
      // As in the standard library: isolation of the first argument exists for the compiler alone.
      unsafeBitCast(body, to: ((Self) -> Result).self)(self)
    }
  }

  /// The same for a body that captures nothing and takes an `input` instead: it allocates nothing.
  @inlinable
  public nonisolated func isolated<Input>(
    _ input: consuming Input, _ body: @escaping (isolated Self, consuming Input) -> Void
  ) {
    precondition(isOnExecutor, "not on the executor of this actor")
    // Functions inside of structures are cast as they are; a function alone would be wrapped first.
    unsafeBitCast(IsolatedBody(run: body), to: Body<Self, Input>.self).run(self, input)
  }

  /// The same with two inputs, which are only lent: a tuple of both would be a copy.
  @inlinable
  public nonisolated func isolated<First, Second>(
    _ first: borrowing First, _ second: borrowing Second,
    _ body: @escaping (isolated Self, borrowing First, borrowing Second) -> Void
  ) {
    precondition(isOnExecutor, "not on the executor of this actor")
    unsafeBitCast(IsolatedLendingBody(run: body), to: LendingBody<Self, First, Second>.self).run(self, first, second)
  }
}

/// A function whose first argument is isolated, and below the same as callers see it.
@usableFromInline
struct IsolatedBody<Resident: Actor, Input> {
  @usableFromInline let run: (isolated Resident, consuming Input) -> Void

  @inlinable
  init(run: @escaping (isolated Resident, consuming Input) -> Void) { self.run = run }
}

@usableFromInline
struct Body<Resident: Actor, Input> {
  @usableFromInline let run: (Resident, consuming Input) -> Void
}

@usableFromInline
struct IsolatedLendingBody<Resident: Actor, First, Second> {
  @usableFromInline let run: (isolated Resident, borrowing First, borrowing Second) -> Void

  @inlinable
  init(run: @escaping (isolated Resident, borrowing First, borrowing Second) -> Void) { self.run = run }
}

@usableFromInline
struct LendingBody<Resident: Actor, First, Second> {
  @usableFromInline let run: (Resident, borrowing First, borrowing Second) -> Void
}
