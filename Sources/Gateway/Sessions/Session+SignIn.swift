import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// Sign-in and renewal (Protocol.md, "Sign-in").
extension Session {
  typealias ReplyHandler = @Sendable (isolated Session, Reply) -> Void

  // MARK: At the upgrade

  /// Starts the connection. A token of the upgrade signs in at once; its errors close with 4500,
  /// and the reason begins with the code (Protocol.md, "Ways to sign in").
  func start(with credential: UpgradeCredential?) {
    if let credential { return enqueueSignIn(credential.login) { session, reply in session.finishUpgrade(reply) } }
    // Nobody could sign in on an event stream later.
    guard !connection.isEventStream else {
      return refuseToken(.noneOnStream) { session, reply in session.finishUpgrade(reply) }
    }
    deadlines[.signIn] = context.clocks.monotonic + signInPolicy.signInTime
    schedule()
  }

  private func finishUpgrade(_ reply: Reply) {
    switch reply {
    case .success(.session(let result)): send(SessionEvent.onConnectSuccess(result, streamKey: beginStream()).frame)
    case .success: assertionFailure("a sign-in answers a session")
    // After an invalid token or a failure of the store, the close is pending already.
    case .failure(let error):
      noteRefusedSignIn(error)
      close(.authenticationFailed, reason: "\(error.code.rawValue) \(error.message)")
    }
  }

  // MARK: login

  /// Signs in, or renews the token of a signed-in user.
  func signIn(_ login: Login, then reply: @escaping ReplyHandler) {
    if identity != nil { return renew(login, then: reply) }
    enqueueSignIn(login, then: reply)
  }

  private func enqueueSignIn(_ login: Login, then reply: @escaping ReplyHandler) {
    // A logout or an invalid token earlier in the same batch excludes a sign-in.
    guard case .anonymous = phase, pendingClose == nil else { return reply(self, .error(.notSignedIn)) }
    let device: Login.Device
    do throws(WireError) { device = try login.device() } catch { return reply(self, .failure(error)) }
    waits.insert(.signIn)
    context.enqueueSignIn(on: connection.loop) {
      self.assumeIsolated { session in
        // The connection may have closed meanwhile.
        guard case .anonymous = session.phase else { return }
        session.waits.remove(.signIn)
        // The server may drain.
        guard session.pendingClose == nil else { return reply(session, .error(.notSignedIn)) }
        session.verify(login, on: device, then: reply)
        session.drainReceiveQueue()
      }
    }
  }

  /// Checks the token, the platform and the rates.
  private func verify(_ login: Login, on device: Login.Device, then reply: @escaping ReplyHandler) {
    let result = signInPolicy.check(login.token, at: context.clocks.wall)
    guard case .failure(let refusal) = result, refusal.awaitsKeys else { return judge(result, on: device, then: reply) }
    waits.insert(.signIn)
    Task { await self.verifyWithNewKeys(login, on: device, then: reply) }
  }

  /// The keys are read again for the token, and later texts wait.
  private func verifyWithNewKeys(_ login: Login, on device: Login.Device, then reply: @escaping ReplyHandler) async {
    let result = await signInPolicy.checkWithNewKeys(login.token, context.clocks)
    // The connection may have closed meanwhile.
    guard case .anonymous = phase else { return }
    waits.remove(.signIn)
    // The server may drain.
    guard pendingClose == nil else { return reply(self, .error(.notSignedIn)) }
    judge(result, on: device, then: reply)
    drainReceiveQueue()
  }

  private func judge(
    _ result: Result<AcceptedToken, TokenRefusal>, on device: Login.Device, then reply: @escaping ReplyHandler
  ) {
    switch result {
    case .failure(let refusal) where refusal.error.code == .temporary:
      refusalReason = refusal.reason
      refuseUnready(then: reply)
      refusalReason = nil
    case .failure(let refusal):
      if let user = refusal.userID { tokenUser = user }
      refuseToken(refusal, then: reply)
    case .success(let accepted):
      tokenUser = accepted.userID
      switch signInPolicy.verdict(on: accepted.userID, device.platform, at: context.clocks.monotonic) {
      case .unready: refuseUnready(then: reply)
      case .tooOften(let wait): refuseForRate(wait, then: reply)
      case .platformRefused: reply(self, .error(.badValue, "This platform is not admitted", field: "platform"))
      case .admitted(let budget):
        self.budget = budget
        noteWarning(of: accepted)
        register(accepted, on: device, then: reply)
      }
    }
  }

  /// Beyond the user's or the server's rate: 7008, then close with 4004 (Protocol.md, "Sign-in
  /// rate"). The reason repeats the wait for a sign-in at the upgrade, which gets no reply.
  private func refuseForRate(_ wait: Int64, then reply: @escaping ReplyHandler) {
    deadlines[.signIn] = nil
    closeAfterReplies(.requestFlood, reason: "\(ErrorCode.requestRate.rawValue) retry after \(wait) ms")
    reply(self, .failure(WireError(.requestRate, retryAfterMs: wait)))
  }

  /// This node has no lease, or misses links to others; another node may accept the sign-in.
  private func refuseUnready(then reply: @escaping ReplyHandler) {
    deadlines[.signIn] = nil
    closeAfterReplies(.tryAgainLater)
    reply(self, .error(.temporary))
  }

  /// An invalid token closes an anonymous connection with 4500 after the reply.
  private func refuseToken(_ refusal: TokenRefusal, then reply: @escaping ReplyHandler) {
    deadlines[.signIn] = nil
    answerBadToken { session in
      // An event that was on its way when the sign-in was refused.
      session.dropHeldOutput()
      let error = refusal.error
      session.closeAfterReplies(.authenticationFailed, reason: "\(error.code.rawValue) \(error.message)")
      session.answer(refusal, then: reply)
    }
  }

  /// Answers a refused token; the log gets its reason, which the client may not learn.
  private func answer(_ refusal: TokenRefusal, then reply: ReplyHandler) {
    refusalReason = refusal.reason
    reply(self, .failure(refusal.error))
    refusalReason = nil
  }

  /// Counts a bad token, and answers it: after many of them from one address with a delay, during
  /// which later texts wait too.
  private func answerBadToken(_ answer: @escaping @Sendable (isolated Session) -> Void) {
    let now = context.clocks.monotonic
    guard let delay = signInPolicy.noteBadToken(from: address, at: now) else { return answer(self) }
    waits.insert(.refusal)
    delayedRefusal = { session in
      session.waits.remove(.refusal)
      answer(session)
      session.drainReceiveQueue()
    }
    deadlines[.failureAnswer] = now + delay
    schedule()
  }

  // MARK: The user's groups

  /// Registers the session with its user, so that groups can attach it; events wait for the reply.
  private func register(_ accepted: AcceptedToken, on device: Login.Device, then reply: @escaping ReplyHandler) {
    let identity = Identity(
      userID: accepted.userID, sessionID: SessionID.make(), tokenExpiresAt: accepted.expiresAt, issuedAt: accepted.issuedAt)
    phase = .signingIn(identity)
    platform = device.platform
    waits.insert(.signIn)
    deadlines[.signIn] = nil
    holdOutput()
    let entry = SessionEntry(
      sessionID: identity.sessionID, connection: connection, session: self, platform: device.platform, deviceID: device.deviceID,
      address: address, loginTime: context.clocks.wall)
    registration.begin(entry, of: identity.userID)
    context.signIns.begin()
    let signIn = StoreSignIn(identity: identity, profileChanges: profileChanges, reply: reply)
    // Behind the registration: a block that the read does not see is committed later, and ends the session.
    registration.read(identity.userID) { record in self.didRead(record, for: signIn) }
  }

  /// A sign-in that waits for the store.
  private struct StoreSignIn: Sendable {
    let identity: Identity
    /// `Session.profileChanges` before the store was read.
    let profileChanges: Int
    let reply: ReplyHandler
  }

  /// The store has been read; nil = it has failed. On any thread.
  private nonisolated func didRead(_ record: SignInRecord?, for signIn: StoreSignIn) {
    connection.loop.enqueue { self.assumeIsolated { $0.admit(signIn, by: record) } }
  }

  /// Decides by the stored data of the user, who is known from now on where the sign-in goes on.
  private func admit(_ signIn: StoreSignIn, by record: SignInRecord?) {
    let user = signIn.identity.userID
    guard let record, case .signingIn = phase else { return endAttempt(signIn, hasFailed: record == nil) }
    if let refusal = record.access.refusal(ofTokenIssued: signIn.identity.issuedAt, now: context.clocks.wall) {
      refuseAccess(refusal, to: user, then: signIn.reply)
      return context.signInEnded(on: connection.loop)
    }
    registration.admit(user)
    if registration.knowsAtOnce(record) { return attachGroups(signIn, record) }
    Task { await self.makeKnown(signIn, record) }
  }

  /// Goes on when all nodes know the user.
  private func makeKnown(_ signIn: StoreSignIn, _ record: SignInRecord) async {
    let isKnown = await registration.makeKnown(signIn.identity.userID, record)
    guard isKnown, case .signingIn = phase else { return endAttempt(signIn, hasFailed: !isKnown) }
    attachGroups(signIn, record)
  }

  /// The store has failed, or the session has ended meanwhile.
  private func endAttempt(_ signIn: StoreSignIn, hasFailed: Bool) {
    let user = signIn.identity.userID
    if hasFailed { failSignIn(of: user, then: signIn.reply) } else { registration.forgetIfAbsent(user) }
    context.signInEnded(on: connection.loop)
  }

  /// Attaches the session to the user's groups in memory before the reply. A group that is loaded
  /// later looks for its members' sessions itself.
  private func attachGroups(_ signIn: StoreSignIn, _ record: SignInRecord) {
    // The next sign-in does not wait for the groups of this one.
    context.signInEnded(on: connection.loop)
    // A change since the store was read has set it.
    if profileChanges == signIn.profileChanges { setProfile(record.profile) }
    let (identity, presence) = (signIn.identity, registration.presence(of: signIn.identity.userID, record))
    guard registration.sessions.hasGroups(in: record.memberships) else { return completeSignIn(identity, then: signIn.reply) }
    Task {
      await registration.sessions.attachGroups(presence, in: record.memberships)
      completeSignIn(identity, then: signIn.reply)
    }
  }

  private func completeSignIn(_ identity: Identity, then reply: @escaping ReplyHandler) {
    // The session may have closed or been replaced meanwhile.
    guard case .signingIn = phase else { return }
    let limit = signInPolicy.maxSessions(on: platform)
    guard registration.sessions.completeSignIn(of: self, by: identity.userID, limit: limit) else { return }
    phase = .signedIn(identity)
    if telemetry.tracer.isActive { traceSignIn(identity) }
    setCaller(identity.userID)
    scheduleExpiry()
    waits.remove(.signIn)
    reply(self, signInReply(identity))
    releaseOutput()
    announceDrain()
    drainReceiveQueue()
  }

  /// The store has failed: 10002, and no session is replaced. The connection closes after the
  /// reply, because groups of the user may have attached it.
  private func failSignIn(of user: UserID, then reply: @escaping ReplyHandler) {
    guard case .signingIn = phase else { return registration.forgetIfAbsent(user) }
    signOut()
    waits.remove(.signIn)
    closeAfterReplies(.tryAgainLater)
    reply(self, .error(.temporary))
  }

  /// The user may not sign in (Protocol.md, "Blocked users"): the connection closes with 4500 after the
  /// reply. A revoked token counts as a bad one.
  private func refuseAccess(_ refusal: UserAccess.Refusal, to user: UserID, then reply: @escaping ReplyHandler) {
    signOut()
    waits.remove(.signIn)
    dropHeldOutput()
    switch refusal {
    case .tokenRevoked: refuseToken(.revoked(of: user), then: reply)
    case .blocked(let isTemporary): refuse(.blocked(isTemporary: isTemporary), then: reply)
    }
  }

  /// Answers with an error, and closes with 4500; the reason of the close begins with the code.
  private func refuse(_ error: WireError, then reply: ReplyHandler) {
    closeAfterReplies(.authenticationFailed, reason: "\(error.code.rawValue) \(error.message)")
    reply(self, .failure(error))
  }

  private func signInReply(_ identity: Identity) -> Reply {
    .success(
      .session(
        Login.Result(
          userID: identity.userID, sessionID: identity.sessionID, serverTime: context.clocks.wall,
          tokenExpiresAt: identity.tokenExpiresAt, heartbeat: signInPolicy.heartbeat)))
  }

  // MARK: Renewal

  /// After an invalid token the session keeps its old one; another user's token is 6015
  /// (Protocol.md, "Token renewal").
  private func renew(_ login: Login, then reply: @escaping ReplyHandler) {
    let result = signInPolicy.check(login.token, at: context.clocks.wall)
    guard case .failure(let refusal) = result, refusal.awaitsKeys else { return renew(by: result, then: reply) }
    waits.insert(.signIn)
    Task { await self.renewWithNewKeys(login, then: reply) }
  }

  /// The keys are read again for the token, and later texts wait.
  private func renewWithNewKeys(_ login: Login, then reply: @escaping ReplyHandler) async {
    let result = await signInPolicy.checkWithNewKeys(login.token, context.clocks)
    waits.remove(.signIn)
    // It has closed meanwhile.
    if case .ended = phase { return }
    renew(by: result, then: reply)
    drainReceiveQueue()
  }

  private func renew(by result: Result<AcceptedToken, TokenRefusal>, then reply: @escaping ReplyHandler) {
    guard let identity else { return reply(self, .error(.notSignedIn)) }
    switch result {
    // Nobody knows whether the token is good: the old one lasts as long as it does.
    case .failure(let refusal) where refusal.error.code == .temporary: answer(refusal, then: reply)
    case .failure(let refusal): answerBadToken { session in session.answer(refusal, then: reply) }
    case .success(let accepted):
      guard accepted.userID == identity.userID else { return reply(self, .error(.otherUserSignedIn)) }
      waits.insert(.signIn)
      Task { await self.renew(by: accepted, then: reply) }
    }
  }

  /// Renews by a token that is valid, unless the application has decided otherwise; later texts wait.
  private func renew(by accepted: AcceptedToken, then reply: @escaping ReplyHandler) async {
    let access = await registration.access(of: accepted.userID)
    waits.remove(.signIn)
    // It has closed meanwhile.
    if case .ended = phase { return }
    guard let identity else { return reply(self, .error(.notSignedIn)) }
    if var access {
      // A revocation that was committed behind the read has told the session.
      access.tokensBefore = max(access.tokensBefore, revokedBefore)
      switch access.refusal(ofTokenIssued: accepted.issuedAt, now: context.clocks.wall) {
      case nil: complete(identity, renewedBy: accepted, then: reply)
      case .tokenRevoked?: answerBadToken { session in session.answer(.revoked(of: accepted.userID), then: reply) }
      case .blocked(let isTemporary)?:
        // As behind a logout, the replies of requests in flight come before the close.
        signOut()
        refuse(.blocked(isTemporary: isTemporary), then: reply)
      }
    } else {
      reply(self, .error(.temporary))
    }
    drainReceiveQueue()
  }

  private func complete(_ old: Identity, renewedBy accepted: AcceptedToken, then reply: ReplyHandler) {
    noteWarning(of: accepted)
    var identity = old
    identity.tokenExpiresAt = accepted.expiresAt
    identity.issuedAt = accepted.issuedAt
    identity.wasWarned = false
    phase = .signedIn(identity)
    scheduleExpiry()
    reply(self, signInReply(identity))
  }
}

extension TokenRefusal {
  /// 70021. The token was signed for its user, who learns the reason.
  fileprivate static func revoked(of user: UserID) -> TokenRefusal {
    TokenRefusal(WireError(.tokenRevoked), userID: user)
  }

  /// 70003.
  fileprivate static let noneOnStream = TokenRefusal(
    WireError(.tokenMalformed, "An event stream is opened with a token"), reason: "an event stream without a token")
}

extension WireError {
  /// 70020. The reason of a block is for the sessions that it ends.
  /// - Parameter isTemporary: the user's data is being deleted, which ends by itself.
  fileprivate static func blocked(isTemporary: Bool) -> WireError {
    WireError(
      code: .userBlocked, isTemporary: isTemporary, message: ErrorCode.userBlocked.title, field: nil, retryAfterMs: nil)
  }
}

/// Makes names of sessions.
enum SessionID {
  /// 128 random bits in base 36.
  static func make() -> String {
    RandomID.with128Bits()
  }
}
