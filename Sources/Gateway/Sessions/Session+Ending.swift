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
    registration.end(self, of: user)
  }

  // MARK: Disconnection

  /// Another session of the same user takes this one's place.
  nonisolated func replace() {
    connection.loop.perform {
      _ = self.assumeIsolated { $0.disconnect(.replaced, reason: "OtherDevice", message: nil) }
    }
  }

  /// An application administrator ends the session (kickUser).
  /// - Parameter message: the administrator's reason.
  /// - Returns: false where it had ended already.
  nonisolated func remove(message: String?) async -> Bool {
    await withCheckedContinuation { continuation in
      connection.loop.perform {
        continuation.resume(
          returning: self.assumeIsolated { $0.disconnect(.removed, reason: "Administrator", message: message) })
      }
    }
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

  private func disconnect(_ code: CloseCode, reason: String, message: String?) -> Bool {
    switch phase {
    case .signedIn, .signingIn: break
    // A logout, for example, closes after the replies of requests in flight.
    case .anonymous, .ended: return false
    }
    connection.sendAfterTopics(SessionEvent.onKickedOffline(reason: reason, message: message).frame)
    close(code)
    return true
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
