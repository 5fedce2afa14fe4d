import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// The ends of a session: logout, replacement, removal by the application, and the drain.
extension Session {
  /// Removes the session from its user, and notifies groups if it was the user's last.
  func signOut() {
    let user: UserID
    switch phase {
    case .signedIn(let identity), .signingIn(let identity): user = identity.userID
    case .anonymous, .ended: return
    }
    phase = .anonymous(requests: 0)
    setCaller(nil)
    deadlines[.expiryWarning] = nil
    deadlines[.expiry] = nil
    endSubscriptions()
    registration.end(self, of: user)
  }

  // MARK: Disconnection

  /// Another session of the same user takes this one's place.
  nonisolated func replace() {
    connection.loop.perform {
      self.assumeIsolated { session in
        guard session.hasUser else { return }
        session.disconnect(.replaced, SessionEvent.onKickedOffline(reason: "OtherDevice", message: nil))
      }
    }
  }

  /// The application ends the session.
  /// - Returns: false where it goes on, or had ended already.
  nonisolated func end(_ ending: SessionEnding) async -> Bool {
    await withCheckedContinuation { continuation in
      connection.loop.perform { continuation.resume(returning: self.assumeIsolated { $0.perform(ending) }) }
    }
  }

  private func perform(_ ending: SessionEnding) -> Bool {
    let identity: Identity
    switch phase {
    case .signedIn(let own), .signingIn(let own): identity = own
    // A logout, for example, closes after the replies of requests in flight.
    case .anonymous, .ended: return false
    }
    if case .tokensRevoked(let before) = ending { revokedBefore = max(revokedBefore, before) }
    guard ending.concerns(tokenIssued: identity.issuedAt) else { return false }
    disconnect(ending.closeCode, reason: ending.closeReason, ending.event)
    return true
  }

  /// The session may have missed events of groups on other nodes. One that is to reconnect anyway,
  /// because the server drains, is told that.
  nonisolated func loseTouch() {
    connection.loop.perform {
      self.assumeIsolated { session in
        switch session.phase {
        case .signedIn, .signingIn: session.close(session.deadlines[.drain] == nil ? .lostTouch : .draining)
        case .anonymous, .ended: break
        }
      }
    }
  }

  /// Whether a user has signed in, or is signing in.
  private var hasUser: Bool {
    switch phase {
    case .signedIn, .signingIn: true
    // A logout, for example, closes after the replies of requests in flight.
    case .anonymous, .ended: false
    }
  }

  private func disconnect(_ code: CloseCode, reason: String? = nil, _ event: SessionEvent?) {
    if case .signingIn = phase { dropHeldOutput() }
    if let event { connection.sendAfterTopics(event.frame) }
    close(code, reason: reason)
  }

  // MARK: Draining

  /// The server drains: the session is told now, or after its sign-in, and closes at a random
  /// instant.
  /// - Parameter end: of the drain.
  func drain(until end: MonotonicInstant) {
    if case .ended = phase { return }
    let now = context.clocks.monotonic
    let left = max(0, end.milliseconds(since: now))
    let close = Int64.random(in: 0...left)
    // Another node takes the user at once. A server that is alone refuses everybody until it has ended, and
    // then all come back to the next one.
    retryAfterDrain =
      dispatcher.isAlone ? left - close + .random(in: 0...max(1000, left / 2)) : .random(in: 0...1000)
    deadlines[.drain] = now.advanced(byMilliseconds: close)
    schedule()
    announceDrain()
  }

  /// Sends onServerDraining once, to a signed-in user.
  func announceDrain() {
    guard identity != nil, let retryAfterMs = retryAfterDrain else { return }
    retryAfterDrain = nil
    connection.sendAfterTopics(SessionEvent.onServerDraining(retryAfterMs: retryAfterMs).frame)
  }
}
