#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A session that outlives its connections, as a value: `handle` takes what has happened, and
/// answers what is to be done. The rules are those of Protocol.md, "Reconnecting".
struct ClientState {
  /// A session that lived this long was a good one: the next loss begins with the first delay
  /// again.
  static let goodSession = Duration.seconds(10)
  /// The longest wait for an open WebSocket and the answer to `login`.
  static let connectTimeout = Duration.seconds(20)
  static let pingTimeout = Duration.seconds(10)
  /// The shortest time from a renewal of the token to the next.
  static let renewalPause = Duration.seconds(10)
  /// A token's `iat` has whole seconds, so that one of the second of a revocation may be refused as
  /// well.
  static let revocationPause = Duration.seconds(1)
  /// A token with less left is not used for a new session.
  static let leastTokenLife = Duration.seconds(5)

  /// The connection. Each attempt to make one has a number.
  enum Phase: Equatable {
    /// Next: readingToken, opening.
    case idle
    /// Next: opening, waiting, closed.
    case readingToken(attempt: Int)
    /// Next: signingIn, waiting, closed.
    case opening(attempt: Int)
    /// Next: online, waiting, closed.
    case signingIn(attempt: Int)
    /// Next: waiting, closed.
    case online(attempt: Int, since: Instant)
    /// Next: readingToken, opening, closed.
    case waiting
    case closed
  }

  /// The session, and when its token ends by the client's clock.
  struct SignedIn {
    let session: Session
    /// When the server has answered so.
    let since: Instant
    let tokenEnd: Instant
  }

  let platform: Platform?
  let deviceID: String?
  let queueLimit: Int
  /// How long the token function may take.
  let tokenTimeout: Duration
  /// The user whose store it is; nil = anybody's.
  private let owner: String?
  let random: @Sendable () -> Double

  var now: Instant
  var effects: [ClientEffect] = []
  /// The bytes of the frame that was received last.
  var frameBytes = 0
  private(set) var phase = Phase.idle
  private var lastAttempt = 0
  private var backoff = Backoff()
  /// The wait that the server asked for.
  var waitAtLeast = Duration.zero
  private(set) var signedIn: SignedIn?
  var tokens: TokenState
  var requests = RequestTable()
  /// Calls that wait for a connection.
  private var calls: [(number: Int, request: EncodedRequest)] = []
  var outbox: Outbox
  var tracker: GroupTracker
  var resume: Resume?
  var resumeBackoff = Backoff()
  var statuses = StatusWatch()
  var statusBackoff = Backoff()
  /// Changes of the store that this input makes.
  var storeEvents: [StoreEvent] = []
  /// Groups that the user has left, or that are gone: no message is sent there.
  var ended: Set<String> = []
  /// Those of which it is not known yet whether they are gone.
  var unexplained: Set<String> = []
  /// Groups of which the store cannot tell what is unread; whether the server is being asked.
  var doubtful: Set<String> = []
  var isAskingInfos = false
  /// Groups that the application has joined, and that are being read: their own event tells nothing new.
  var joining: Set<String> = []
  /// Whether any session was in step.
  var wasInStep = false
  private var isHeard = false
  private var isAskingForLife = false
  private var isLoggingOut = false

  init(token: TokenSource, options: ClientOptions, random: @escaping @Sendable () -> Double, now: Instant) {
    platform = options.platform
    deviceID = options.deviceID
    queueLimit = options.queueLimit
    tokenTimeout = options.tokenTimeout
    owner = options.userID
    self.random = random
    self.now = now
    tokens = TokenState(token)
    outbox = Outbox(
      limit: options.queueLimit, isDurable: options.storage != nil, owner: UUID().uuidString, random: random)
    tracker = GroupTracker(options.positions)
  }

  var userID: String { signedIn?.session.userID ?? owner ?? "" }

  /// The server's clock, as the last sign-in or renewal showed it and the client's own has gone on since.
  var serverTime: Int {
    guard let signedIn else { return 0 }
    return ClientLimits.count(signedIn.session.serverTime + Int((now - signedIn.since) / .milliseconds(1)))
  }

  /// The attempt whose connection is there or is being made.
  var attempt: Int? {
    switch phase {
    case .readingToken(let attempt), .opening(let attempt), .signingIn(let attempt), .online(let attempt, _): attempt
    case .idle, .waiting, .closed: nil
    }
  }

  var isOnline: Bool {
    if case .online = phase { true } else { false }
  }

  /// Takes what has happened; the effects are to be done in their order.
  mutating func handle(_ input: ClientInput, at now: Instant) -> [ClientEffect] {
    self.now = now
    switch input {
    case .restored(let start): restore(start)
    case .connect: if phase == .idle { open() }
    case .reconnectNow: reconnect()
    case .close: end(ConnectionLoss(CloseCode.normal.rawValue, "closed by the application", error: ClientError(.closed)))
    case .tokenRead(let result, let number):
      if number == nil || number == tokens.reading?.number { didReadToken(result) }
    case .opened(let attempt): didOpen(attempt)
    case .received(let attempt, let text): if attempt == self.attempt { receive(text) }
    case .ended(let attempt, let error, let didOpen): if attempt == self.attempt { didEnd(error, didOpen: didOpen) }
    case .fired(let timer): didFire(timer)
    case .call(let number, let request, let waits): call(number, request, waits: waits)
    case .cancelCall(let number):
      calls.removeAll { $0.number == number }
      requests.cancelCall(number)
    case .logout(let number): logout(number)
    case .send(let message): send(message)
    case .resend(let message): resend(message)
    case .discard(let clientMsgID): outbox.discard(clientMsgID)
    case .joined(let groupID): didJoin(groupID)
    case .outboxWritten(let ticket): outbox.didWrite(ticket)
    case .storeLost: outbox.loseDisk()
    case .storeRestarted: outbox.rewrite()
    case .doubt(let groupIDs):
      doubtful.formUnion(groupIDs)
      readDoubtful()
    case .watch(let userIDs): watch(userIDs)
    case .unwatch(let userIDs): unwatch(userIDs)
    }
    pumpOutbox()
    if !storeEvents.isEmpty { effects.append(.store(storeEvents, bytes: frameBytes)) }
    defer { (effects, storeEvents, frameBytes) = ([], [], 0) }
    return effects
  }

  /// The client begins where an earlier one has ended.
  private mutating func restore(_ start: LocalStore.Start) {
    guard phase == .idle else { return }
    let rooms = start.conversations.filter { $0.status == .member && $0.info.isLive }.map(\.info)
    tracker.restore(start.positions, rooms: rooms, toldUntil: start.summary.toldUntil)
    ended = Set(start.conversations.filter { $0.status != .member }.map(\.info.groupID))
    outbox.restore(start.outbox, lastOrder: start.summary.order, at: now)
    performOutbox()
    let shown = start.conversations.inOrder().filter { $0.info.selfInfo?.isHidden != true }
    let conversations = shown.map { Conversation($0, source: .stored) }
    tell(.stored(StoredStart(conversations: conversations, outbox: outbox.messages)))
    let live = Set(rooms.map(\.groupID))
    outbox.expireRestored { $0.options.onlineUserOnly == true || live.contains($0.groupID) }
    if !start.isDurable { outbox.loseDisk() }
  }

  // MARK: Connecting

  private mutating func open() {
    stop(.retry)
    lastAttempt += 1
    phase = .readingToken(attempt: lastAttempt)
    tell(.state(.connecting))
    if tokens.needsReading(endsSoon: tokenEndsSoon) { readToken() } else { openConnection() }
  }

  private var tokenEndsSoon: Bool { signedIn.map { $0.tokenEnd - now <= ClientState.leastTokenLife } ?? false }

  /// Asks the token function, unless it is being asked.
  mutating func readToken() {
    guard let number = tokens.startReading(until: now + tokenTimeout) else { return }
    effects.append(.readToken(number: number))
    start(.token, tokenTimeout)
  }

  /// The application does not want to wait: neither for the next try, nor for a token function that does not
  /// answer.
  private mutating func reconnect() {
    switch phase {
    case .waiting: open()
    case .readingToken:
      abandonToken()
      readToken()
    case .idle, .opening, .signingIn, .online, .closed: return
    }
  }

  private mutating func abandonToken() {
    tokens.abandonReading()
    effects.append(.abandonToken)
  }

  private mutating func didReadToken(_ result: Result<String, any Error>) {
    if phase != .closed { stop(.token) }
    switch result {
    case .success(let token):
      tokens.didRead(token)
      continueRenewal()
      if case .readingToken = phase { openConnection() }
    case .failure(let error):
      tokens.didRead(nil)
      failRenewal(error)
      if case .readingToken = phase { lose(ConnectionLoss(0, "no token", error: error)) }
    }
  }

  private mutating func openConnection() {
    phase = .opening(attempt: lastAttempt)
    effects.append(.open(attempt: lastAttempt))
    start(.connect, ClientState.connectTimeout)
  }

  private mutating func didOpen(_ attempt: Int) {
    guard phase == .opening(attempt: attempt) else { return }
    phase = .signingIn(attempt: attempt)
    request(Methods.Login(token: tokens.use(), platform: platform?.rawValue, deviceID: deviceID), .login)
  }

  mutating func didSignIn(_ result: Result<Session, ThrongError>) {
    guard case .signingIn(let attempt) = phase else { return }
    switch result {
    case .success(let session): start(session, attempt: attempt)
    case .failure(let error):
      waitAtLeast = max(waitAtLeast, error.retryAfter)
      let isRevoked = error.code == .tokenRevoked
      let isStale = error.code == .tokenExpired || isRevoked
      if isStale { tokens.refuse() }
      // A function whose second token is revoked as well has no other.
      let mayAskAgain = isStale && tokens.mayRenew && !(isRevoked && tokens.wasRevoked)
      let isFinal = !error.isTemporary && !mayAskAgain
      if isRevoked {
        tokens.wasRevoked = true
        waitAtLeast = max(waitAtLeast, ClientState.revocationPause)
      }
      let code = isFinal ? CloseCode.authenticationFailed.rawValue : 0
      lose(ConnectionLoss(code, error.message, error: error, didOpen: true), isFinal: isFinal)
    }
  }

  private mutating func start(_ session: Session, attempt: Int) {
    stop(.connect)
    if let expected = owner ?? signedIn?.session.userID, expected != session.userID {
      return end(ConnectionLoss(0, "the new token is of another user, \(session.userID)", didOpen: true))
    }
    phase = .online(attempt: attempt, since: now)
    tokens.wasRevoked = false
    note(session)
    store(.signedIn(userID: session.userID))
    start(.life, .seconds(max(1, session.heartbeat)))
    tell(.state(.online(session)))
    for (number, request) in calls { transmit(request, .call(number)) }
    calls = []
    resumeBackoff.reset()
    statusBackoff.reset()
    statuses.startSession()
    pumpStatuses()
    startResume()
  }

  /// A sign-in, or a renewal.
  mutating func note(_ session: Session) {
    let life = Duration.milliseconds(session.tokenExpiresAt - session.serverTime)
    signedIn = SignedIn(session: session, since: now, tokenEnd: now + life)
  }

  // MARK: Ends

  private mutating func didEnd(_ error: TransportError, didOpen: Bool) {
    switch error {
    case .badAddress: end(ConnectionLoss(0, "\(error)", error: error))
    case .failed(let reason): lose(ConnectionLoss(1006, reason, error: error, didOpen: didOpen))
    case .closed(let code, let reason): lose(ConnectionLoss(code, reason, didOpen: didOpen))
    }
  }

  /// The connection is gone, or given up: another one is made unless that has no sense.
  /// - Parameter isBreach: the server broke the protocol, so that the session was no good one however
  ///   long it was.
  mutating func lose(_ loss: ConnectionLoss, isFinal: Bool? = nil, isBreach: Bool = false) {
    if loss.code == .tokenExpired { tokens.expire() }
    let hasNoToken = loss.code == .tokenExpired && !tokens.mayRenew
    guard !(isFinal ?? loss.code.isFinal), !hasNoToken, !isLoggingOut else { return end(loss) }
    if case .online(_, let since) = phase, now - since >= ClientState.goodSession, !isBreach { backoff.reset() }
    disconnect()
    let delay = backoff.next(random: random(), least: waitAtLeast)
    waitAtLeast = .zero
    phase = .waiting
    start(.retry, delay)
    tell(.state(.waiting(loss, retryAfter: delay)))
  }

  private mutating func end(_ loss: ConnectionLoss) {
    guard phase != .closed else { return }
    if tokens.reading != nil { abandonToken() }
    disconnect()
    phase = .closed
    let closed = ClientError(.closed, detail: loss.reason)
    for (number, _) in calls { effects.append(.answer(number, .failure(closed))) }
    calls = []
    outbox.close(closed)
    performOutbox()
    tell(.state(.closed(loss)))
  }

  private mutating func disconnect() {
    if attempt != nil { effects.append(.disconnect) }
    tracker.endSession()
    statuses.endSession()
    resume = nil
    joining = []
    isAskingInfos = false
    isHeard = false
    isAskingForLife = false
    outbox.shut()
    performOutbox()
    for purpose in requests.removeAll() {
      switch purpose {
      case .call(let number): effects.append(.answer(number, .failure(ClientError(.connectionLost))))
      // The server closes once it has answered, so that an answer may be late.
      case .logout(let number): effects.append(.answer(number, .failure(ClientError(.connectionLost))))
      case .ends(let groupIDs): unexplained.formUnion(groupIDs)
      case .infos(let groupIDs): doubtful.formUnion(groupIDs)
      case .login, .renewal, .signOfLife, .message, .confirmation, .entry, .watch, .resume: continue
      }
    }
    // Its answer may be the one that could not be read.
    if tokens.renewal == .requested { failRenewal(ClientError(.connectionLost)) }
    tokens.isRenewalPlanned = false
    // Behind everything that might have started one.
    effects.append(.stopAllTimers)
    // The token function does not end with the connection.
    if let reading = tokens.reading { start(.token, max(Backoff.leastDelay, reading.deadline - now)) }
  }

  // MARK: Timers

  mutating func start(_ timer: ClientTimer, _ delay: Duration) { effects.append(.start(timer, delay)) }

  mutating func stop(_ timer: ClientTimer) { effects.append(.stop(timer)) }

  private mutating func didFire(_ timer: ClientTimer) {
    switch timer {
    case .retry: if phase == .waiting { open() }
    case .connect: if attempt != nil, !isOnline { lose(ConnectionLoss(1006, "no answer in time", didOpen: isOpen)) }
    case .life: if isOnline { lookForLife() }
    case .ping: if isOnline { lose(ConnectionLoss(CloseCode.noSignOfLife.rawValue, "no sign of life", didOpen: true)) }
    case .token:
      guard tokens.reading != nil else { return }
      abandonToken()
      didReadToken(.failure(ClientError(.tokenTimeout)))
    case .renewal:
      tokens.isRenewalPlanned = false
      if isOnline { renew() }
    case .resume: if isOnline { startResume() }
    case .pause: outbox.endPause()
    case .groupPause(let groupID): outbox.endPause(of: groupID)
    case .watch:
      statuses.endPause()
      pumpStatuses()
    case .entry(let groupID): if isOnline { enter(groupID) }
    case .queued(let clientMsgID): if isOnline { request(Methods.Ping(), .confirmation(clientMsgID: clientMsgID)) }
    }
  }

  private var isOpen: Bool {
    if case .signingIn = phase { true } else { false }
  }

  /// Not every transport shows the server's pings: after a silent interval a request asks for a
  /// sign of life.
  private mutating func lookForLife() {
    start(.life, .seconds(max(1, signedIn?.session.heartbeat ?? 1)))
    defer { isHeard = false }
    guard !isHeard, !isAskingForLife else { return }
    isAskingForLife = true
    start(.ping, ClientState.pingTimeout)
    request(Methods.Ping(), .signOfLife)
  }

  /// Whatever is received is a sign of life.
  mutating func noteLife() {
    isHeard = true
    guard isAskingForLife else { return }
    isAskingForLife = false
    stop(.ping)
  }

  // MARK: For the application

  private mutating func call(_ number: Int, _ request: EncodedRequest, waits: Bool) {
    let refusal: ClientError? =
      switch phase {
      case .closed: ClientError(.closed)
      case .online: nil
      case .idle: ClientError(.notConnected)
      case .readingToken, .opening, .signingIn, .waiting: waits ? nil : ClientError(.notConnected)
      }
    if let refusal { return effects.append(.answer(number, .failure(refusal))) }
    guard isOnline ? requests.callCount < ClientLimits.unansweredCalls : calls.count < queueLimit else {
      return effects.append(.answer(number, .failure(ClientError(.queueFull))))
    }
    if isOnline { transmit(request, .call(number)) } else { calls.append((number, request)) }
  }

  private mutating func logout(_ number: Int) {
    guard isOnline else {
      effects.append(.answer(number, .failure(ClientError(phase == .closed ? .closed : .notConnected))))
      return end(ConnectionLoss(CloseCode.normal.rawValue, "closed by the application", error: ClientError(.closed)))
    }
    isLoggingOut = true
    request(Methods.Logout(), .logout(number))
  }

  mutating func didLogOut(_ number: Int, _ result: Result<Data, any Error>) {
    effects.append(.answer(number, result))
    end(ConnectionLoss(CloseCode.normal.rawValue, "signed out", error: ClientError(.closed), didOpen: true))
  }

  private mutating func resend(_ message: LocalMessage) {
    // An application that sends again whatever fails would do so for ever.
    if phase == .closed { return }
    outbox.repeat(message, at: now, refusal: refusal(of: message))
    performOutbox()
  }

  private mutating func send(_ message: LocalMessage) {
    outbox.add(message, at: now, refusal: refusal(of: message))
    performOutbox()
  }

  /// Why a message is not sent at all; nil = it may be.
  private func refusal(of message: LocalMessage) -> ClientError? {
    if phase == .closed { return ClientError(.closed) }
    return ended.contains(message.groupID) ? ClientError(.conversationEnded) : nil
  }

  mutating func store(_ event: StoreEvent) { storeEvents.append(event) }

  /// - Parameter bytes: of the frame that the event came with.
  mutating func tell(_ event: ClientEvent, bytes: Int = 0) { effects.append(.tell(event, bytes: bytes)) }
}

extension CloseCode {
  /// Whether a connection that ends so is no reason to make another one unchanged (Protocol.md,
  /// "Close codes").
  public var isFinal: Bool { (4500..<5000).contains(rawValue) }
}
