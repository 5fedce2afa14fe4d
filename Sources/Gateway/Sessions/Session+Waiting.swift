import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// Requests that wait for their turn, and with them what the client sends behind them: reads, whose answers are large, so that few are
/// under way at once; and writes, while the user has had much written, or has another large one written.
extension Session {
  /// How many reads may be under way.
  private static let mostReads = 4

  /// What waits.
  struct Waiting {
    let request: Request
    let asking: Asking
    /// What the session was held by when it came.
    let hold: Hold
  }

  private func wait(for request: Request, _ asking: Asking) {
    waiting = Waiting(request: request, asking: asking, hold: hold)
    hold = .working
  }

  /// Begins the request that waits, if it may begin now.
  func resumeWaiting() {
    guard let next = waiting, deadlines[.writing] == nil else { return }
    waiting = nil
    hold = next.hold
    if next.asking.isRead { read(next.request, next.asking) } else { begin(next.request, next.asking) }
  }

  /// Another session of the user is done with what it wanted.
  private nonisolated func retry() {
    connection.loop.enqueue {
      self.assumeIsolated { session in
        session.resumeWaiting()
        session.drainMailbox()
      }
    }
  }

  /// A request is over.
  /// - Returns: whether anybody waits for the answer; else nothing was read for it, perhaps.
  func end(_ asking: Asking) -> Bool {
    if asking.cost.isHeavy { for session in budget?.endHeavyWrite() ?? [] { session.retry() } }
    guard asking.isRead else { return true }
    readsUnderWay -= 1
    for session in budget?.endRead() ?? [] { session.retry() }
    if case .ended = phase { return false }
    return true
  }

  // MARK: Reads

  func read(_ request: Request, _ asking: Asking) {
    guard let caller else { return conclude(asking, with: .error(.notSignedIn)) }
    guard !asking.isRefused else {
      return conclude(asking, with: .error(.temporary, "The answer of this batch is as long as it may be; ask again"))
    }
    guard readsUnderWay < Session.mostReads, !hasFullReplies, budget?.beginRead(of: self) != false else {
      return wait(for: request, asking)
    }
    readsUnderWay += 1
    services.dispatcher.dispatch(request, by: caller) { self.take($0, for: asking) }
  }

  // MARK: Writes

  /// What is written is charged first; who had too much written waits until that would be made good.
  func write(_ request: Request, _ asking: Asking) {
    let pause = budget?.chargeWrite(asking.cost.bytes, at: asking.start.milliseconds) ?? 0
    guard pause > 0 else { return begin(request, asking) }
    wait(for: request, asking)
    deadlines[.writing] = asking.start.milliseconds + pause
    schedule()
  }

  private func begin(_ request: Request, _ asking: Asking) {
    guard let caller else { return conclude(asking, with: .error(.notSignedIn)) }
    guard !asking.cost.isHeavy || budget?.beginHeavyWrite(of: self) != false else {
      return wait(for: request, asking)
    }
    services.dispatcher.dispatch(request, by: caller) { self.take($0, for: asking) }
  }
}
