import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// One connection and, once it has signed in, one session. An actor on the loop of its connection:
/// the transport's callbacks enter it without a hop.
///
/// This file holds its state and the ways in and out: texts from the socket, replies to it. The
/// extensions hold sign-in, requests, those that come by HTTP, their scheduling, deadlines and the end.
package actor Session: ConnectionHandler {
  /// The signed-in user.
  struct Identity: Sendable {
    let userID: UserID
    let sessionID: String
    var tokenExpiresAt: WallInstant
    /// `iat` of the last token that was accepted; nil = it does not say it.
    var issuedAt: WallInstant?
    /// onUserSigExpired was sent for this token.
    var wasWarned = false
  }

  /// The phase of the connection, and which may follow.
  enum Phase {
    /// No user has signed in. → signingIn, ended
    case anonymous(requests: Int)
    /// The token is valid; the user's groups are being attached. → signedIn, anonymous (the store
    /// has failed, or the user may not sign in; the connection is about to close), ended
    case signingIn(Identity)
    /// → anonymous (a logout; the connection is about to close), ended
    case signedIn(Identity)
    /// The server has closed, or the connection is gone. Later texts are ignored.
    case ended
  }

  /// A close that waits for the replies of the requests in flight.
  struct PendingClose {
    let code: CloseCode
    let reason: String
  }

  /// What received texts wait for; nothing = they are processed.
  struct Waits: OptionSet {
    let rawValue: UInt8
    static let signIn = Waits(rawValue: 1)
    static let batch = Waits(rawValue: 2)
    /// The turn of a deferred request.
    static let turn = Waits(rawValue: 4)
    /// The delayed answer to a bad token (Protocol.md, "Ways to sign in").
    static let refusal = Waits(rawValue: 8)
  }

  /// Reading stops at this many requests in flight or texts queued, and resumes below.
  private static let inFlight = (stop: 64, resume: 16)
  /// Reading stops at this many bytes of queued texts: two of the longest.
  private static let maxQueuedBytes = 2 * TransportConfiguration().maxMessageBytes

  nonisolated let connection: Connection
  nonisolated let address: String
  let context: LoopContext
  let methods: MethodTable
  let dispatcher: Dispatcher
  let telemetry: RequestTelemetry
  let signInPolicy: SignInPolicy
  let registration: SessionRegistration
  private let connectionLimiter: ConnectionLimiter
  let streams: StreamDirectory
  /// How many bytes of replies may wait behind a slower one.
  let readyReplyBytes: Int
  var phase = Phase.anonymous(requests: 0)
  var waits: Waits = []
  var platform = Platform.unknown
  /// The caller of each request, while a user is signed in.
  private(set) var caller: Caller?
  /// The user's profile, for messages; nil = empty, or nobody has signed in.
  private var profile: UserProfile?
  /// How often the profile has changed on this session.
  private(set) var profileChanges = 0
  /// Tells stores that no client waits for replies. Outlives a logout, which comes before the last
  /// replies.
  private(set) var requester: Requester?
  var requestLimiter = RequestLimiter()
  /// The user's, from signing in on.
  var budget: UserBudget?
  var deadlines = Deadlines()
  let replies = ReplyQueue()
  var readsInFlight = 0
  /// Events of statuses wait until so many replies have been sent (`hearsStatuses`).
  var statusesFollow = 0
  /// The next request, while it waits for its turn.
  var deferred: DeferredRequest?
  /// Requests of an event stream that are not answered yet.
  var posts: [ObjectIdentifier: PostedCall] = [:]
  /// The name of a stream that has signed in; nil = it is none, or has not.
  var stream: StreamName?
  private let receiveQueue = ReceiveQueue()
  private var isReadingPaused = false
  private var isDrainingQueue = false
  private var invalidTexts = 0
  private var isOutputHeld = false
  /// Set once; from then on no text is processed.
  private(set) var pendingClose: PendingClose?
  /// The `retryAfterMs` of onServerDraining, until that is sent.
  var retryAfterDrain: Int64?
  /// Whether the connection is within the limits, and counts for them.
  private var isAccepted = false
  /// The user of the last signed token, for the log of refusals.
  var tokenUser: UserID?
  /// What is wrong with a refused token, for the log; set only while its answer is given.
  var refusalReason: String?
  /// The delayed answer to a bad token.
  var delayedRefusal: (@Sendable (isolated Session) -> Void)?
  /// The latest revocation that was heard of: a renewal may have read the store before it.
  var revokedBefore = WallInstant.unset

  package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.executor.asUnownedSerialExecutor() }

  /// `receive` and `finish`, for callers on the loop (Architecture.md, "Threads"); nil before the first
  /// text.
  ///
  /// nonisolated(unsafe): they are made and called on the loop alone.
  private nonisolated(unsafe) var receiveEntry: ((UnsafeRawBufferPointer) -> Void)?
  private nonisolated(unsafe) var finishEntry: ((PendingRequest, Reply) -> Void)?

  private func makeEntries() {
    // unowned(unsafe): nobody else has them, and this actor calls them by methods of its own.
    receiveEntry = { [unowned(unsafe) self] text in
      // A pointer is Sendable to nobody; this one is lent for the call.
      nonisolated(unsafe) let text = text
      self.receive(text)
    }
    finishEntry = { [unowned(unsafe) self] pending, reply in self.finish(pending, with: reply) }
  }

  init(
    _ connection: Connection, address: String, context: LoopContext, methods: MethodTable, dispatcher: Dispatcher,
    telemetry: RequestTelemetry, signInPolicy: SignInPolicy, registration: SessionRegistration,
    connectionLimiter: ConnectionLimiter, streams: StreamDirectory, readyReplyBytes: Int
  ) {
    self.connection = connection
    self.address = address
    self.context = context
    self.methods = methods
    self.dispatcher = dispatcher
    self.telemetry = telemetry
    self.signInPolicy = signInPolicy
    self.registration = registration
    self.connectionLimiter = connectionLimiter
    self.streams = streams
    self.readyReplyBytes = readyReplyBytes
  }

  /// The session's name in groups.
  nonisolated var key: SessionKey { SessionKey(loop: connection.loop.index, connection: connection.number) }

  /// Nil unless a user is signed in.
  var identity: Identity? {
    if case .signedIn(let identity) = phase { identity } else { nil }
  }

  // MARK: Callbacks of the transport, on the loop

  package nonisolated func didReceive(_ message: UnsafeRawBufferPointer, isText: Bool) {
    connection.loop.executor.checkIsolated()
    guard let receiveEntry else {
      assumeIsolated { $0.makeEntries() }
      return didReceive(message, isText: isText)
    }
    receiveEntry(message)
  }

  /// The dispatcher's reply, on any thread.
  nonisolated func didReply(_ reply: Reply, to pending: PendingRequest) {
    guard connection.loop.isCurrent else { return connection.loop.executor.enqueue { self.didReply(reply, to: pending) } }
    guard let finishEntry else { return assumeIsolated { $0.finish(pending, with: reply) } }
    finishEntry(pending, reply)
  }

  package nonisolated func didClose(code: Int, byPeer: Bool) {
    assumeIsolated { session in
      if !byPeer { session.noteTransportClose(code) }
      if session.telemetry.tracer.isActive { session.traceEnd(code) }
      session.closed()
    }
  }

  /// Starts with the credential of the upgrade, or closes a connection beyond the limits.
  func open(_ credential: UpgradeCredential?) {
    isAccepted = connectionLimiter.add(from: address)
    if isAccepted { start(with: credential) } else { close(.connectionLimit) }
  }

  private func closed() {
    end()
    context.open[ObjectIdentifier(self)] = nil
    connectionLimiter.remove(from: address, wasAccepted: isAccepted, at: context.clocks.monotonic)
  }

  // MARK: Receiving

  private func receive(_ text: UnsafeRawBufferPointer) {
    if case .ended = phase { return }
    guard pendingClose == nil else { return }
    if receiveQueue.isEmpty, canProcess { parse(text) } else { receiveQueue.append(text) }
    regulateReading()
  }

  /// A request of an event stream has come by HTTP.
  func receive(posted body: [UInt8], _ call: PostedCall) {
    if case .ended = phase { return call.answer(.gone) }
    guard pendingClose == nil else { return call.answer(.gone) }
    posts[ObjectIdentifier(call)] = call
    body.withUnsafeBytes { receiveQueue.append($0, call) }
    drainReceiveQueue()
  }

  /// - Parameter post: the request that it came by; nil = a frame.
  private func parse(_ text: UnsafeRawBufferPointer, _ post: PostedCall? = nil) {
    let handling = telemetry.unknownParameters.current
    switch Envelope(padded: text, parser: context.parser, methods: methods, unknownParameters: handling) {
    case .notJSON(let error): refuseInvalidText(error, for: receiver(of: post))
    case .badBatch:
      invalidTexts = 0
      refuseBatch(for: receiver(of: post))
    case .single(let call):
      invalidTexts = 0
      let text = dispatcher.isAlone ? nil : RequestText(text: Array(text), index: 0, servesApplication: false)
      handle(call, text, in: post?.trace, for: receiver(of: post))
    case .batch(let calls):
      invalidTexts = 0
      handle(calls, dispatcher.isAlone ? nil : Array(text), in: post?.trace, for: receiver(of: post))
    }
  }

  /// The receiver of the reply to a frame, in the order of frames, or to a request that came by HTTP.
  private func receiver(of post: PostedCall?) -> PendingRequest.Receiver {
    if let post { .post(post) } else { .session(replies.open()) }
  }

  /// The tenth invalid text in a row closes with 4501 (Protocol.md, "Frames").
  private func refuseInvalidText(_ error: WireError, for receiver: PendingRequest.Receiver) {
    invalidTexts += 1
    if invalidTexts >= 10 { closeAfterReplies(.badProtocol) }
    deliver(Reply.failure(error).text(id: nil), to: receiver)
  }

  /// Processes queued texts, until one of them makes the next wait.
  func drainReceiveQueue() {
    // A request that is answered at once calls this again: recursion would use up the stack.
    guard !isDrainingQueue else { return }
    isDrainingQueue = true
    while !receiveQueue.isEmpty, canProcess, let text = receiveQueue.popFirst() { text.read { parse($0, text.post) } }
    isDrainingQueue = false
    if isReadingPaused { regulateReading() }
  }

  private var canProcess: Bool {
    waits.isEmpty && replies.count < Session.inFlight.stop && !areRepliesFull
  }

  /// Whether the limit of bytes behind a slower reply is reached.
  var areRepliesFull: Bool { replies.readyBytes >= readyReplyBytes }

  /// Stops reading while too much waits. One more read of the library may still arrive.
  private func regulateReading() {
    let waiting = replies.count + receiveQueue.count
    let isFull = receiveQueue.bytes >= Session.maxQueuedBytes
    if !isReadingPaused, waiting >= Session.inFlight.stop || isFull {
      isReadingPaused = true
      connection.pauseReading()
    } else if isReadingPaused, waiting <= Session.inFlight.resume, !isFull {
      isReadingPaused = false
      connection.resumeReading()
    }
  }

  // MARK: Replies

  /// Fills a reply's place, and sends all replies that are ready.
  func sendInOrder(_ text: [UInt8], at slot: ReplyQueue.Slot) {
    if replies.removeIfNext(slot) { sendIfAny(text) } else { replies.fill(slot, with: text) }
    while !replies.isEmpty, let text = replies.popReady() { sendIfAny(text) }
    closeIfAnswered()
  }

  private func sendIfAny(_ text: [UInt8]) {
    if !text.isEmpty { send(text) }
  }

  /// Sends a text. While output is held, it precedes everything held, and releases it.
  func send(_ text: [UInt8]) {
    guard isOutputHeld else { return connection.send(text) }
    isOutputHeld = false
    connection.resumeWriting(first: text)
  }

  /// Holds events of the user's groups until the sign-in is answered.
  func holdOutput() {
    isOutputHeld = true
    connection.pauseWriting()
  }

  /// Drops the held events of a sign-in that is refused, and ends its subscriptions.
  func dropHeldOutput() {
    if isOutputHeld { connection.dropQueued() }
  }

  /// Releases held events, unless a reply has done so.
  func releaseOutput() {
    guard isOutputHeld else { return }
    isOutputHeld = false
    connection.resumeWriting(first: [])
  }

  // MARK: Closing

  /// Closes once the requests in flight, the current one included, are answered. Later texts are
  /// ignored.
  func closeAfterReplies(_ code: CloseCode, reason: String? = nil) {
    if case .ended = phase { return }
    guard pendingClose == nil else { return }
    pendingClose = PendingClose(code: code, reason: reason ?? code.reason)
    for call in receiveQueue.removeAll() { answer(call, .gone) }
    closeIfAnswered()
  }

  func closeIfAnswered() {
    if let pendingClose, replies.isEmpty, posts.isEmpty { close(pendingClose.code, reason: pendingClose.reason) }
  }

  /// Closes at once (Protocol.md, "Close codes"); replies that are ready are sent first.
  func close(_ code: CloseCode, reason: String? = nil) {
    if case .ended = phase { return }
    noteClose(code, reason: reason ?? code.reason)
    releaseOutput()
    connection.close(code: code.rawValue, reason: reason ?? code.reason)
    end()
  }

  private func end() {
    signOut()
    requester?.leave()
    phase = .ended
    receiveQueue.removeAll()
    endPosts()
    deadlines = Deadlines()
    delayedRefusal = nil
    deferred = nil
  }

  /// Makes the user the caller of requests; nil after a logout.
  func setCaller(_ user: UserID?) {
    guard let user else {
      caller = nil
      profile = nil
      return
    }
    let requester = Requester(user)
    self.requester = requester
    caller = .user(
      user, platform: platform, session: key, requester: requester, profile: profile, fanOut: budget?.fanOut,
      strangers: budget?.strangers)
  }

  /// Sets the profile of the user who signs in, or has signed in.
  func setProfile(_ profile: UserProfile?) {
    self.profile = profile
    profileChanges += 1
    caller = caller?.with(profile: profile)
  }

  /// The texts of the session's user have changed. Returns when its messages show them.
  /// - Parameter frame: tells the session; nil = it is not told.
  nonisolated func userInfoChanged(to profile: UserProfile?, _ frame: [UInt8]?) async {
    await withCheckedContinuation { continuation in
      connection.loop.perform {
        self.assumeIsolated { session in
          session.setProfile(profile)
          if session.identity != nil, let frame { session.connection.sendAfterTopics(frame) }
        }
        continuation.resume()
      }
    }
  }
}
