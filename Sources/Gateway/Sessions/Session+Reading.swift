import GroupRuntime
import WebSocketTransport
import WireProtocol

/// Requests that only read. Their answers are large, so few are under way at once: of a session, of its user, and none while much is
/// ready that cannot leave. The next waits, and what the client sends behind it.
extension Session {
  /// How many may be under way.
  private static let mostReads = 4

  /// What a session reads.
  struct Reading {
    var underWay = 0
    /// The next, which waits for its turn.
    var waiting: Waiting?
  }

  /// A request that waits, and what the session was held by when it came.
  struct Waiting {
    let request: Request
    let asking: Asking
    let hold: Hold
  }

  func read(_ request: Request, _ asking: Asking) {
    guard let caller else { return conclude(asking, with: .error(.notSignedIn)) }
    guard !asking.isRefused else {
      return conclude(asking, with: .error(.temporary, "The answer of this batch is as long as it may be; ask again"))
    }
    guard reading.underWay < Session.mostReads, !hasFullReplies, budget?.beginRead(of: self) != false else {
      reading.waiting = Waiting(request: request, asking: asking, hold: hold)
      hold = .working
      return
    }
    reading.underWay += 1
    services.dispatcher.dispatch(request, by: caller) { self.take($0, for: asking) }
  }

  /// - Returns: whether anybody waits for the answer; else nothing was read for it, perhaps.
  func endRead() -> Bool {
    reading.underWay -= 1
    for session in budget?.endRead() ?? [] { session.retryReading() }
    if case .ended = phase { return false }
    return true
  }

  /// Another session of the user has read what it wanted.
  private nonisolated func retryReading() {
    connection.loop.enqueue {
      self.assumeIsolated { session in
        session.resumeReading()
        session.drainMailbox()
      }
    }
  }

  /// Begins the read that waits, if it may begin now.
  func resumeReading() {
    guard let waiting = reading.waiting else { return }
    reading.waiting = nil
    hold = waiting.hold
    read(waiting.request, waiting.asking)
  }
}
