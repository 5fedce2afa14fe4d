import Dispatch
import Synchronization

/// Runs closures one at a time, in order: an event loop, or a serial queue of Dispatch.
public protocol WorkQueue: Sendable {
  /// Runs `body` behind the queued work; at once where the caller is on the queue, and it says so.
  func perform(_ body: @escaping @Sendable () -> Void)
}

extension DispatchQueue: WorkQueue {
  /// Runs `body` behind the queued work.
  public func perform(_ body: @escaping @Sendable () -> Void) { async(execute: body) }
}

/// Wakes parts of the server at instants of the monotonic clock. Everything that the server does at
/// a time of its own, and not for a request, comes from here or from the loops' wheel of timers.
public protocol Alarms: Sendable {
  /// Runs `body` once on the queue, at the instant or soon after it. It cannot be cancelled.
  func schedule(at instant: MonotonicInstant, on queue: any WorkQueue, _ body: @escaping @Sendable () -> Void)
}

extension Alarms {
  /// Returns at the instant, or when the task is cancelled.
  public func sleep(until instant: MonotonicInstant) async {
    let sleeper = Sleeper()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        guard sleeper.begin(continuation) else { return }
        schedule(at: instant, on: DispatchQueue.global()) { sleeper.end() }
      }
    } onCancel: {
      sleeper.end()
    }
  }

  /// Returns when the body that `begin` gets is called, and at the instant at the latest.
  public func wait(until instant: MonotonicInstant, for begin: (_ end: @escaping @Sendable () -> Void) -> Void) async {
    let sleeper = Sleeper()
    await withCheckedContinuation { continuation in
      guard sleeper.begin(continuation) else { return }
      schedule(at: instant, on: DispatchQueue.global()) { sleeper.end() }
      begin { sleeper.end() }
    }
  }
}

/// Resumes one continuation once: at the alarm or at the cancellation, which may come first.
private final class Sleeper: Sendable {
  private enum State {
    case new
    case sleeping(CheckedContinuation<Void, Never>)
    case ended
  }

  private let state = Mutex(State.new)

  /// - Returns: false where the end has come before; the continuation is resumed then.
  func begin(_ continuation: CheckedContinuation<Void, Never>) -> Bool {
    let isNew = state.withLock { state in
      guard case .new = state else { return false }
      state = .sleeping(continuation)
      return true
    }
    if !isNew { continuation.resume() }
    return isNew
  }

  func end() {
    let before = state.withLock { state in
      defer { state = .ended }
      return state
    }
    if case .sleeping(let continuation) = before { continuation.resume() }
  }
}

/// Alarms by the system's timers, for a clock that advances as the system's does.
public struct SystemAlarms: Alarms {
  private let clocks: any Clocks

  /// - Parameter clocks: tell how long to wait.
  public init(clocks: any Clocks = SystemClocks()) { self.clocks = clocks }

  public func schedule(at instant: MonotonicInstant, on queue: any WorkQueue, _ body: @escaping @Sendable () -> Void) {
    let wait = max(.zero, instant - clocks.monotonic)
    Task {
      // This task is never cancelled, so the sleep cannot fail.
      try? await Task.sleep(for: wait)
      queue.perform(body)
    }
  }
}
