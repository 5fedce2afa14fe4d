import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// One connection and, once it has signed in, one session. An actor on the loop of its connection: what the socket brings is
/// handled in the callback itself, without a hop.
///
/// The rules of signing in stand in Session+SignIn.swift, those of requests in Session+Requests.swift.
actor Session: ConnectionHandler {
  /// Who is signed in.
  struct Identity: Sendable {
    let userID: UserID
    let sessionID: String
    var tokenExpiresAt: Instant
    /// onUserSigExpired was sent for this token.
    var wasWarned = false
  }

  /// What the connection is, and what may follow.
  enum Phase {
    /// Nobody has signed in. → signingIn, ended
    case anonymous(requests: Int)
    /// The token is good; the user's groups are being attached. → signedIn, anonymous (the store failed; it is about to close),
    /// ended
    case signingIn(Identity)
    /// → anonymous (a logout; it is about to close), ended
    case signedIn(Identity)
    /// We have closed, or the connection is gone. What still comes is ignored.
    case ended
  }

  /// How the connection is to end once the replies under way have left.
  struct Farewell {
    let code: CloseCode
    let reason: String
  }

  /// Why texts wait instead of being handled.
  enum Hold {
    case none
    /// A sign-in or a batch is under way.
    case working
    /// An answer to a bad token waits (contract section 2, auth.failureDelay).
    case delayed
  }

  /// At how many requests under way, or texts waiting, reading stops, and at how many it goes on.
  private static let underWay = (stop: 64, goOn: 16)
  /// At how many bytes of waiting texts reading stops: two of the longest.
  private static let mailboxBytes = 2 * TransportConfiguration().maxMessageBytes

  nonisolated let connection: Connection
  nonisolated let address: String
  let services: GatewayServices
  let context: LoopContext
  var phase = Phase.anonymous(requests: 0)
  var hold = Hold.none
  var platform = Platform.unknown
  /// Who asks with each request, while somebody is signed in.
  private(set) var caller: Caller?
  /// Hears that nobody waits for replies any more. Outlives a logout, behind which replies still leave.
  private var requester: Requester?
  var rate = RateGuard()
  /// What is left for the user, from signing in on.
  var budget: UserBudget?
  var deadlines = Deadlines()
  private var replies = ReplyQueue()
  var readsUnderWay = 0
  /// The next request, while it waits for its turn.
  var waiting: Waiting?
  private var mailbox = Mailbox()
  private var isPaused = false
  private var isEmptyingMailbox = false
  private var badTexts = 0
  private var isHeld = false
  private var wheelSlot: Instant?
  /// Set once; from then on nothing new is handled.
  private(set) var farewell: Farewell?
  /// What onServerDraining will say, until it has been said.
  private var retryAfterDrain: Instant?
  /// Whether the connection is within the limits, and counted for them.
  private var isAdmitted = false
  /// Whom the last good token named, for the log of refusals.
  var tokenOwner: UserID?
  /// What is to be done when the answer to a bad token has waited long enough.
  var delayedRefusal: (@Sendable (isolated Session) -> Void)?

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.executor.asUnownedSerialExecutor() }

  init(_ connection: Connection, address: String, services: GatewayServices, context: LoopContext) {
    self.connection = connection
    self.address = address
    self.services = services
    self.context = context
  }

  /// The session as groups know it.
  nonisolated var key: SessionKey { SessionKey(loop: connection.loop.index, connection: connection.number) }

  /// The signed-in user's identity, while there is one.
  var identity: Identity? {
    if case .signedIn(let identity) = phase { identity } else { nil }
  }

  // MARK: From the transport, on the loop

  nonisolated func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool) {
    // The bytes are used before this call returns, on the thread that owns them.
    nonisolated(unsafe) let message = message
    connection.loop.executor.isolated(self) { $0.receive(message) }
  }

  nonisolated func didClose(code: Int, byPeer: Bool) {
    assumeIsolated { session in
      if !byPeer { session.noteTransportClose(code) }
      session.closed()
    }
  }

  /// The connection is open: what the upgrade brought is looked at, or the connection is one too many.
  func open(_ credential: UpgradeCredential?) {
    isAdmitted = services.admissions.enter(address)
    if isAdmitted { begin(credential) } else { close(.connectionLimit) }
  }

  private func receive(_ message: UnsafeRawBufferPointer) {
    if case .ended = phase { return }
    guard farewell == nil else { return }
    guard mayHandle, mailbox.isEmpty else {
      mailbox.append(message)
      return regulateReading()
    }
    handle(message)
    regulateReading()
  }

  private func closed() {
    end()
    if let wheelSlot { context.wheel.remove(self, from: wheelSlot) }
    wheelSlot = nil
    context.open[ObjectIdentifier(self)] = nil
    services.admissions.leave(address, wasAdmitted: isAdmitted, at: MonotonicClock.now())
  }

  // MARK: Texts

  private func handle(_ message: UnsafeRawBufferPointer) {
    switch Envelope(padded: message, parser: context.parser, methods: services.methods) {
    case .notJSON: refuseText()
    case .badBatch:
      badTexts = 0
      refuseBatch()
    case .single(let call):
      badTexts = 0
      run(call)
    case .batch(let calls):
      badTexts = 0
      run(calls)
    }
  }

  /// "The tenth in a row is answered and then closed with 4501."
  private func refuseText() {
    badTexts += 1
    let slot = openReply()
    if badTexts >= 10 { finish(.badProtocol) }
    answer(Reply.error(.parseError).text(id: nil), in: slot)
  }

  /// Handles what waited, unless something new makes it wait again.
  func drainMailbox() {
    // A request that is answered at once comes back here; going deeper with each would use up the stack.
    guard !isEmptyingMailbox else { return }
    isEmptyingMailbox = true
    while mayHandle, let text = mailbox.popFirst() { text.read { handle($0) } }
    isEmptyingMailbox = false
    regulateReading()
  }

  /// Whether the next text may be handled; else it waits.
  private var mayHandle: Bool { hold == .none && replies.count < Session.underWay.stop && !hasFullReplies }

  /// As much is ready behind a slower reply as may be.
  var hasFullReplies: Bool { replies.readyBytes >= services.configuration.readyReplyBytes }

  /// Stops reading while too much waits. What the library has read already still comes; that is one read at most.
  private func regulateReading() {
    let waiting = replies.count + mailbox.count
    let isFull = mailbox.bytes >= Session.mailboxBytes
    if !isPaused, waiting >= Session.underWay.stop || isFull {
      isPaused = true
      connection.pauseReading()
    } else if isPaused, waiting <= Session.underWay.goOn, !isFull {
      isPaused = false
      connection.resumeReading()
    }
  }

  // MARK: Replies

  /// A place for the reply of the request at hand.
  func openReply() -> ReplyQueue.Slot { replies.open() }

  /// Fills a reply's place; what is ready leaves.
  func answer(_ text: [UInt8], in slot: ReplyQueue.Slot) {
    replies.fill(slot, with: text)
    while let text = replies.popReady() {
      if !text.isEmpty { send(text) }
    }
    leaveIfAnswered()
  }

  /// Sends a text. On a connection that is held it goes before everything that waits, and ends the hold.
  func send(_ text: [UInt8]) {
    guard isHeld else { return connection.send(text) }
    isHeld = false
    connection.release(first: text)
  }

  /// Nothing is written until the sign-in has been answered; events of the user's groups pile up meanwhile.
  func holdEvents() {
    isHeld = true
    connection.hold()
  }

  /// Lets what has piled up go, unless an answer has done so.
  func releaseEvents() {
    guard isHeld else { return }
    isHeld = false
    connection.release(first: [])
  }

  // MARK: The end

  /// Closes when every request taken so far has been answered, the one at hand included. What comes from now on is ignored.
  func finish(_ code: CloseCode, reason: String? = nil) {
    if case .ended = phase { return }
    guard farewell == nil else { return }
    farewell = Farewell(code: code, reason: reason ?? code.reason)
    mailbox.removeAll()
    leaveIfAnswered()
  }

  private func leaveIfAnswered() {
    if let farewell, replies.count == 0 { close(farewell.code, reason: farewell.reason) }
  }

  /// Closes at once with a code of the contract; replies that are ready leave first.
  func close(_ code: CloseCode, reason: String? = nil) {
    if case .ended = phase { return }
    noteClose(code, reason: reason ?? code.reason)
    releaseEvents()
    connection.close(code: code.rawValue, reason: reason ?? code.reason)
    end()
  }

  /// Nothing happens here any more, whoever ended it.
  private func end() {
    signOut()
    requester?.leave()
    phase = .ended
    mailbox.removeAll()
    deadlines = Deadlines()
    delayedRefusal = nil
    waiting = nil
  }

  /// Requests are the user's from now on.
  func becomeCaller(_ user: UserID) {
    let requester = Requester(user)
    self.requester = requester
    caller = .user(user, platform: platform, session: key, requester: requester)
  }

  /// The user has this session no more; groups hear of it where it was the last one.
  func signOut() {
    let user: UserID
    switch phase {
    case .signedIn(let identity), .signingIn(let identity): user = identity.userID
    case .anonymous, .ended: return
    }
    phase = .anonymous(requests: 0)
    caller = nil
    deadlines[.expiryWarning] = nil
    deadlines[.expiry] = nil
    let end = services.directory.unregister(self, of: user)
    var concernsSuspendedRooms = end.concernsSuspendedRooms
    for group in end.groups {
      // One that gives up its memory just now cannot be told.
      guard let group = services.registry.resident(group) else {
        concernsSuspendedRooms = true
        continue
      }
      group.presenceChanged(Group.Presence(of: user))
    }
    if concernsSuspendedRooms { services.graces.note(user, since: services.clock.now(), at: MonotonicClock.now()) }
    services.forgetIfAbsent(user)
  }

  /// The server is about to end: the session hears of it, now or when it has signed in, and is closed at a moment of its own
  /// before `end` (on the monotonic clock).
  func drain(until end: Instant) {
    if case .ended = phase { return }
    let now = MonotonicClock.now()
    let left = max(0, end - now)
    retryAfterDrain = .random(in: 0...max(1000, left))
    deadlines[.drain] = now + .random(in: 0...left)
    schedule()
    announceDrain()
  }

  /// Sends onServerDraining where it is due and somebody is signed in.
  func announceDrain() {
    guard identity != nil, let retryAfterMs = retryAfterDrain else { return }
    retryAfterDrain = nil
    connection.sendLast(SessionEvent.onServerDraining(retryAfterMs: retryAfterMs).frame)
  }

  // MARK: Deadlines

  /// Puts the session where it is woken at its next deadline.
  func schedule() {
    if let wheelSlot { context.wheel.remove(self, from: wheelSlot) }
    wheelSlot = deadlines.next.map { context.wheel.insert(self, at: $0) }
  }

  /// The wheel has come to this session.
  nonisolated func wake(at now: Instant) { assumeIsolated { $0.meetDeadlines(at: now) } }

  private func meetDeadlines(at now: Instant) {
    wheelSlot = nil
    for deadline in deadlines.takeDue(at: now) { meet(deadline) }
    schedule()
  }
}
