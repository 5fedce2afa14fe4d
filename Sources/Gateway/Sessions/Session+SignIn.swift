import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// Signing in, renewing, expiring, being replaced (contract section 2).
extension Session {
  /// How long before expiry the session is warned.
  private static let warningTime: Instant = 60_000

  typealias Replied = @Sendable (isolated Session, Reply) -> Void

  // MARK: At the upgrade

  /// The connection is open. A token of the upgrade signs in at once, and its faults close with 4500: "the reason beginning with
  /// the code".
  func begin(_ credential: UpgradeCredential?) {
    guard let credential else {
      deadlines[.signIn] = MonotonicClock.now() + services.configuration.signInTime
      return schedule()
    }
    signInAnew(credential.login) { session, reply in session.finishUpgrade(reply) }
  }

  private func finishUpgrade(_ reply: Reply) {
    switch reply {
    case .success(.session(let result)): send(SessionEvent.onConnectSuccess(result).frame)
    case .success: assertionFailure("a sign-in answers a session")
    // Where the token is bad or the store cannot be read, the close is under way.
    case .failure(let error):
      noteRefusedUpgrade(error)
      close(.authenticationFailed, reason: "\(error.code.rawValue) \(error.message)")
    }
  }

  // MARK: login

  /// Signs in, or renews. After the reply to a bad token of an anonymous connection, it closes with 4500.
  func signIn(_ login: Login, then reply: @escaping Replied) {
    if identity != nil { return renew(login, then: reply) }
    signInAnew(login, then: reply)
  }

  private func signInAnew(_ login: Login, then reply: @escaping Replied) {
    // Behind a logout or a bad token of the same batch nobody signs in any more.
    guard case .anonymous = phase, farewell == nil else { return reply(self, .error(.notSignedIn)) }
    let device: Login.Device
    do throws(WireError) { device = try login.device() } catch { return reply(self, .failure(error)) }
    let wasHeld = hold
    hold = .working
    context.enqueue(on: connection.loop) {
      self.assumeIsolated { session in
        // Its client has gone meanwhile.
        guard case .anonymous = session.phase else { return }
        session.hold = wasHeld
        // The server drains.
        guard session.farewell == nil else { return reply(session, .error(.notSignedIn)) }
        session.check(login, on: device, then: reply)
        session.drainMailbox()
      }
    }
  }

  /// It is this sign-in's turn.
  private func check(_ login: Login, on device: Login.Device, then reply: @escaping Replied) {
    switch services.tokens.publicOwner(of: login.token, at: services.clock.now()) {
    case .failure(let error):
      if error.code == .tokenExpired { tokenOwner = services.tokens.signer(of: login.token) }
      refuse(error, then: reply)
    case .success(let owner):
      tokenOwner = owner.userID
      let now = MonotonicClock.Reading()
      let budget = services.budgets.budget(of: owner.userID, at: now.milliseconds)
      guard services.configuration.sessionsPerPlatform[device.platform, default: 0] > 0 else {
        if let wait = budget.takeRequest(at: now.milliseconds) { return refuse(for: wait, then: reply) }
        return reply(self, .error(.badValue, "This platform is not admitted", field: "platform"))
      }
      if let wait = services.signIns.admit(budget, at: now) { return refuse(for: wait, then: reply) }
      self.budget = budget
      admit(owner, on: device, then: reply)
    }
  }

  /// The user or the server has had too many: "answered 7008 with `retryAfterMs` and closed with 4004" (contract section 10.7). Behind
  /// an upgrade the reason tells it all.
  private func refuse(for wait: Instant, then reply: @escaping Replied) {
    deadlines[.signIn] = nil
    finish(.requestFlood, reason: "\(ErrorCode.requestRate.rawValue) retry after \(wait) ms")
    reply(self, .failure(WireError(.requestRate, retryAfterMs: wait)))
  }

  private func refuse(_ error: WireError, then reply: @escaping Replied) {
    deadlines[.signIn] = nil
    answerFailure { session in
      session.finish(.authenticationFailed, reason: "\(error.code.rawValue) \(error.message)")
      reply(session, .failure(error))
    }
  }

  /// Counts a bad token. "After 20 failures in 10 s from one address each further answer waits `auth.failureDelay`"; what the
  /// client sends behind it waits, too.
  private func answerFailure(_ answer: @escaping @Sendable (isolated Session) -> Void) {
    let now = MonotonicClock.now()
    guard services.admissions.noteFailure(from: address, at: now), services.configuration.failureDelay > 0 else {
      return answer(self)
    }
    let wasHeld = hold
    hold = .delayed
    delayedRefusal = { session in
      session.hold = wasHeld
      answer(session)
      session.drainMailbox()
    }
    deadlines[.failureAnswer] = now + services.configuration.failureDelay
    schedule()
  }

  private func admit(_ owner: TokenOwner, on device: Login.Device, then reply: @escaping Replied) {
    let identity = Identity(userID: owner.userID, sessionID: SessionID.make(), tokenExpiresAt: owner.expiresAt)
    phase = .signingIn(identity)
    platform = device.platform
    let wasHeld = hold
    hold = .working
    deadlines[.signIn] = nil
    holdEvents()
    let entry = SessionEntry(
      sessionID: identity.sessionID, connection: connection, session: self, platform: device.platform, deviceID: device.deviceID,
      address: address, loginTime: services.clock.now())
    services.directory.register(entry, of: identity.userID)
    services.users.remember([identity.userID])
    context.signIns.began()
    Task { await self.attachGroups(of: identity, wasHeld: wasHeld, then: reply) }
  }

  /// Every group in memory that the user is a member of has the session attached before the sign-in is answered; a group that is
  /// not in memory looks for its members' sessions when it is loaded.
  private func attachGroups(of identity: Identity, wasHeld: Hold, then reply: @escaping Replied) async {
    let user = identity.userID
    do throws(StoreError) {
      let quotas = services.dispatcher.quotas
      quotas.watch(user)
      let record = try await services.groups.signInRecord(of: user)
      // The groups take as long as they take; the next sign-in does not wait for them.
      context.signInEnded(on: connection.loop)
      guard case .signingIn = phase else { return services.forgetIfAbsent(user) }
      quotas.learn(user, groups: record.memberships.count { $0.type.isListed })
      // Only live rooms forget whoever is away too long.
      let isInRooms = record.memberships.contains { $0.type == .avChatRoom }
      let awaySince = isInRooms ? record.offlineSince : nil
      let presence = Group.Presence(of: user, awaySince: awaySince.flatMap { services.isTooLong($0) ? $0 : nil })
      await services.registry.presenceChanged(presence, in: record.memberships)
      finishSignIn(identity, wasHeld: wasHeld, then: reply)
    } catch {
      context.signInEnded(on: connection.loop)
      services.observer.storeFailed(error)
      abandonSignIn(of: user, wasHeld: wasHeld, then: reply)
    }
  }

  private func finishSignIn(_ identity: Identity, wasHeld: Hold, then reply: @escaping Replied) {
    // Closed while the store was read, or replaced, and the close is on its way.
    guard case .signingIn = phase else { return }
    let limit = services.configuration.sessionsPerPlatform[platform, default: 0]
    guard let replaced = services.directory.settle(self, of: identity.userID, limit: limit) else { return }
    for session in replaced { session.replace() }
    phase = .signedIn(identity)
    services.graces.forget(identity.userID)
    becomeCaller(identity.userID)
    watchToken()
    hold = wasHeld
    reply(self, signedIn(identity))
    releaseEvents()
    announceDrain()
    drainMailbox()
  }

  /// "10002: nothing was changed": nobody has been replaced. The connection closes behind the answer, because groups of the user
  /// may have attached it already.
  private func abandonSignIn(of user: UserID, wasHeld: Hold, then reply: @escaping Replied) {
    guard case .signingIn = phase else { return services.forgetIfAbsent(user) }
    signOut()
    hold = wasHeld
    finish(.tryAgainLater)
    reply(self, .error(.temporary))
  }

  private func signedIn(_ identity: Identity) -> Reply {
    .success(
      .session(
        Login.Result(
          userID: identity.userID, sessionID: identity.sessionID, serverTime: services.clock.now(),
          tokenExpiresAt: identity.tokenExpiresAt, heartbeat: services.configuration.heartbeat)))
  }

  /// "A bad one is an error and the session lives on until the old token ends; another user's answers 6015."
  private func renew(_ login: Login, then reply: @escaping Replied) {
    guard var identity else { return reply(self, .error(.notSignedIn)) }
    switch services.tokens.publicOwner(of: login.token, at: services.clock.now()) {
    case .failure(let error): answerFailure { session in reply(session, .failure(error)) }
    case .success(let owner):
      guard owner.userID == identity.userID else { return reply(self, .error(.otherUserSignedIn)) }
      identity.tokenExpiresAt = owner.expiresAt
      identity.wasWarned = false
      phase = .signedIn(identity)
      watchToken()
      reply(self, signedIn(identity))
    }
  }

  // MARK: Expiry, replacement

  /// "60 s before expiry (at once if less is left)"; the deadlines run on the monotonic clock, the token on the wall's.
  private func watchToken() {
    guard let identity else { return }
    let left = max(0, identity.tokenExpiresAt - services.clock.now())
    let now = MonotonicClock.now()
    deadlines[.expiryWarning] = now + max(0, left - Session.warningTime)
    deadlines[.expiry] = now + left
    schedule()
  }

  func meet(_ deadline: Deadlines.Deadline) {
    switch deadline {
    case .signIn: endAnonymity()
    case .failureAnswer:
      let refusal = delayedRefusal
      delayedRefusal = nil
      refusal?(self)
    case .writing:
      resumeWaiting()
      drainMailbox()
    case .expiryWarning: warn()
    case .expiry: expire()
    case .drain: finish(.draining)
    }
  }

  /// Who waits for the turn of a sign-in is not late.
  private func endAnonymity() {
    guard case .working = hold else { return close(.notSignedIn) }
    deadlines[.signIn] = MonotonicClock.now() + 1000
    schedule()
  }

  private func warn() {
    guard var identity, !identity.wasWarned else { return }
    identity.wasWarned = true
    phase = .signedIn(identity)
    connection.sendLast(SessionEvent.onUserSigExpired(expiresAt: identity.tokenExpiresAt).frame)
  }

  /// The wall clock decides; where it has been set back, the session waits again.
  private func expire() {
    guard let identity else { return }
    if identity.tokenExpiresAt > services.clock.now() { watchToken() } else { close(.tokenExpired) }
  }

  /// Another device has signed in in this one's place.
  nonisolated func replace() {
    connection.loop.perform {
      _ = self.assumeIsolated { $0.kick(.replaced, reason: "OtherDevice", message: nil) }
    }
  }

  /// An application administrator ends the session (kickUser).
  /// - Parameter message: the administrator's reason.
  /// - Returns: false where it had ended by itself.
  nonisolated func remove(message: String?) async -> Bool {
    await withCheckedContinuation { continuation in
      connection.loop.perform {
        continuation.resume(
          returning: self.assumeIsolated { $0.kick(.removed, reason: "Administrator", message: message) })
      }
    }
  }

  private func kick(_ code: CloseCode, reason: String, message: String?) -> Bool {
    switch phase {
    case .signedIn, .signingIn: break
    // Nobody is signed in any more: a logout, say, closes behind the replies under way.
    case .anonymous, .ended: return false
    }
    connection.sendLast(SessionEvent.onKickedOffline(reason: reason, message: message).frame)
    close(code)
    return true
  }
}

/// Names sessions.
enum SessionID {
  /// 128 random bits in base 36.
  static func make() -> String {
    String(UInt64.random(in: .min ... .max), radix: 36) + String(UInt64.random(in: .min ... .max), radix: 36)
  }
}

extension TokenChecking {
  /// The owner of a token that came on the public listener, where administrators' tokens are refused (70003).
  func publicOwner(of token: String, at now: Instant) -> Result<TokenOwner, WireError> {
    owner(of: token, at: now).flatMap { owner in
      owner.isAdministrator
        ? .failure(WireError(.tokenMalformed, "An administrator's token is for the internal listener")) : .success(owner)
    }
  }
}
