import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// The deadlines of a session: sign-in, expiry of the token, delayed answers, deferred writes,
/// drain.
extension Session {
  /// How long before its expiry a token's user is warned, in milliseconds.
  private static let warningTime: Int64 = 60_000

  /// Has the transport's timer wheel tell when the next deadline comes.
  func schedule() {
    if let next = deadlines.next {
      // Rounded up: a timer that is early finds nothing due.
      connection.setDeadline(inMilliseconds: next.milliseconds(since: context.clocks.monotonic) + 1)
    } else {
      connection.clearDeadline()
    }
  }

  package nonisolated func didReachDeadline() { runDeadlines(at: context.clocks.monotonic) }

  nonisolated func runDeadlines(at now: MonotonicInstant) {
    assumeIsolated { session in
      for deadline in session.deadlines.popDue(at: now) { session.run(deadline) }
      session.schedule()
    }
  }

  private func run(_ deadline: Deadlines.Deadline) {
    switch deadline {
    case .signIn: endSignInTime()
    case .failureAnswer:
      let refusal = delayedRefusal
      delayedRefusal = nil
      refusal?(self)
    case .writing:
      resumeDeferred()
      drainReceiveQueue()
    case .expiryWarning: warnOfExpiry()
    case .expiry: expire()
    case .drain: closeAfterReplies(.draining)
    }
  }

  /// The loop did not run for so long: the client has that time more to sign in, and whatever else is
  /// due comes at once.
  func resume(after pause: Duration) {
    if let signIn = deadlines[.signIn] { deadlines[.signIn] = signIn + pause }
    runDeadlines(at: context.clocks.monotonic)
  }

  /// A connection whose sign-in is queued has been in time: it gets another second.
  private func endSignInTime() {
    guard waits.contains(.signIn) else { return close(.notSignedIn) }
    deadlines[.signIn] = context.clocks.monotonic + .seconds(1)
    schedule()
  }

  /// Sets the deadlines of the token (Protocol.md, "Token renewal"). They run on the monotonic
  /// clock, the token on the wall clock.
  func scheduleExpiry() {
    guard let identity else { return }
    let left = max(0, identity.tokenExpiresAt.milliseconds(since: context.clocks.wall))
    let now = context.clocks.monotonic
    deadlines[.expiryWarning] = now.advanced(byMilliseconds: max(0, left - Session.warningTime))
    deadlines[.expiry] = now.advanced(byMilliseconds: left)
    schedule()
  }

  private func warnOfExpiry() {
    guard var identity, !identity.wasWarned else { return }
    identity.wasWarned = true
    phase = .signedIn(identity)
    connection.sendAfterTopics(SessionEvent.onUserSigExpired(expiresAt: identity.tokenExpiresAt).frame)
  }

  /// The wall clock decides; where it was set back, the session waits again.
  private func expire() {
    guard let identity else { return }
    if identity.tokenExpiresAt > context.clocks.wall { return scheduleExpiry() }
    guard waits.contains(.signIn) else { return close(.tokenExpired) }
    // A renewal that waits for the store has been in time: it gets another second.
    deadlines[.expiry] = context.clocks.monotonic + .seconds(1)
    schedule()
  }
}
