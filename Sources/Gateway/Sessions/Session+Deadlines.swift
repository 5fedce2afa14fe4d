import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// The deadlines of a session: sign-in, expiry of the token, delayed answers, deferred writes,
/// drain.
extension Session {
  /// How long before its expiry a token's user is warned.
  private static let warningTime: Instant = 60_000

  /// Has the transport's timer wheel tell when the next deadline comes.
  func schedule() {
    if let next = deadlines.next {
      connection.setDeadline(inMilliseconds: next - MonotonicClock.now())
    } else {
      connection.clearDeadline()
    }
  }

  nonisolated func didReachDeadline() { runDeadlines(at: MonotonicClock.now()) }

  nonisolated func runDeadlines(at now: Instant) {
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

  /// A connection whose sign-in is queued has been in time: it gets another second.
  private func endSignInTime() {
    guard processing == .busy else { return close(.notSignedIn) }
    deadlines[.signIn] = MonotonicClock.now() + 1000
    schedule()
  }

  /// Sets the deadlines of the token (Protocol.md, "Token renewal"). They run on the monotonic
  /// clock, the token on the wall clock.
  func scheduleExpiry() {
    guard let identity else { return }
    let left = max(0, identity.tokenExpiresAt - services.clock.now())
    let now = MonotonicClock.now()
    deadlines[.expiryWarning] = now + max(0, left - Session.warningTime)
    deadlines[.expiry] = now + left
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
    if identity.tokenExpiresAt > services.clock.now() { scheduleExpiry() } else { close(.tokenExpired) }
  }
}
