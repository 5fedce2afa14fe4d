import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// How requests become replies, in the order of errors of contract section 7: envelope, signed in, rate, parameters, and then the
/// group.
extension Session {
  /// "Before sign-in a connection may send 10 requests" (contract section 2).
  private static let anonymousRequests = 10

  /// One request on its own.
  func run(_ call: Call) {
    perform(call, Asking(call, for: .session(openReply())))
  }

  /// A batch: in order, one after the other, answered by one array.
  func run(_ calls: [Call]) {
    let slot = openReply()
    hold = .working
    runBatch(calls[...], BatchAnswer(mostBytes: services.configuration.readyReplyBytes * 3 / 2)) { session, answer in
      session.hold = .none
      session.answer(answer.text, in: slot)
      session.drainMailbox()
    }
  }

  /// A batch of none or too many counts as one request.
  func refuseBatch() {
    let slot = openReply()
    if case .flood = judge(at: MonotonicClock.now()) { finish(.requestFlood) }
    answer(Reply.error(.invalidRequest, "A batch has 1 to 20 requests").text(id: nil), in: slot)
  }

  private func runBatch(
    _ calls: ArraySlice<Call>, _ answer: BatchAnswer, then finish: @escaping @Sendable (isolated Session, BatchAnswer) -> Void
  ) {
    guard let call = calls.first else { return finish(self, answer) }
    let asking = Asking(
      call, isRefused: answer.isFull,
      for: .batch { session, text in session.runBatch(calls.dropFirst(), answer.with(text), then: finish) })
    perform(call, asking)
  }

  private func perform(_ call: Call, _ asking: Asking) {
    if case .ended = phase { return hand([], to: asking.receiver) }
    let verdict = judge(at: asking.start.milliseconds)
    if case .flood = verdict { finish(.requestFlood) }
    switch request(of: call, verdict) {
    case .success(let request): serve(request, asking)
    case .failure(let error): conclude(asking, with: .failure(error))
    }
  }

  /// A request is answered.
  func conclude(_ asking: Asking, with reply: Reply) {
    services.metrics.didAnswer(asking.method, reply, since: asking.start.nanoseconds)
    if case .failure(let error) = reply { noteRefusal(error, of: asking.method) }
    hand(asking.wantsAnswer ? reply.text(id: asking.id) : [], to: asking.receiver)
  }

  private func hand(_ text: [UInt8], to receiver: Asking.Receiver) {
    switch receiver {
    case .session(let slot): answer(text, in: slot)
    case .batch(let then): then(self, text)
    }
  }

  /// Counts a request: those of a session for its user's rate, those before sign-in for their bound.
  private func judge(at now: Instant) -> RateGuard.Verdict {
    if case .anonymous(let requests) = phase {
      phase = .anonymous(requests: requests + 1)
      return requests < Session.anonymousRequests ? .pass : .flood(retryAfterMs: 0)
    }
    guard let budget else { return .pass }
    return rate.judge(budget, at: now)
  }

  /// The request of a call, or what speaks against it, in the order of contract section 7.
  private func request(of call: Call, _ verdict: RateGuard.Verdict) -> Result<Request, WireError> {
    switch call.content {
    case .invalid: return .failure(WireError(.invalidRequest))
    case .unknownMethod: return .failure(WireError(.methodNotFound))
    case .request, .badParameters: break
    }
    if case .anonymous = phase, !call.isLogin { return .failure(WireError(.notSignedIn)) }
    switch (verdict, call.content) {
    case (.refuse(let wait), _), (.flood(let wait), _): return .failure(WireError(.requestRate, retryAfterMs: wait))
    case (.pass, .request(let request)): return .success(request)
    case (.pass, .badParameters(let error)): return .failure(error)
    case (.pass, .invalid), (.pass, .unknownMethod): return .failure(WireError(.invalidRequest))
    }
  }

  private func serve(_ request: Request, _ asking: Asking) {
    switch request {
    case .login(let login): signIn(login) { session, reply in session.conclude(asking, with: reply) }
    case .logout:
      // What stands behind it in a batch finds nobody signed in.
      signOut()
      finish(.normal)
      conclude(asking, with: .empty)
    // It reads nothing, so it waits for no turn.
    case .ping: conclude(asking, with: services.dispatcher.ping())
    default:
      if asking.isRead { read(request, asking) } else { write(request, asking) }
    }
  }

  /// The answer of somebody who may be elsewhere.
  nonisolated func take(_ reply: Reply, for asking: Asking) {
    let executor = connection.loop.executor
    guard executor.isCurrent else { return executor.enqueue { self.take(reply, for: asking) } }
    executor.isolated(self) { session in
      guard session.end(asking) else { return }
      session.conclude(asking, with: reply)
      session.resumeWaiting()
      session.drainMailbox()
    }
  }
}

/// What a batch has been answered so far.
private struct BatchAnswer: Sendable {
  private let mostBytes: Int
  private var texts: [[UInt8]] = []
  private var bytes = 0

  /// - Parameter mostBytes: where it is full: reads add nothing more.
  init(mostBytes: Int) { self.mostBytes = mostBytes }

  var isFull: Bool { bytes >= mostBytes }

  /// Empty texts are those that nobody wants.
  func with(_ text: [UInt8]) -> BatchAnswer {
    guard !text.isEmpty else { return self }
    var longer = self
    longer.texts.append(text)
    longer.bytes += text.count
    return longer
  }

  /// One array; empty where nothing is answered.
  var text: [UInt8] { texts.isEmpty ? [] : JSONWriter.text(capacity: bytes + texts.count + 2) { $0.array(texts) { $0.raw($1) } } }
}

/// A request under way: what is needed when its reply comes. A class, because it goes from hand to hand.
final class Asking: Sendable {
  /// Who gets the response.
  enum Receiver: Sendable {
    case session(ReplyQueue.Slot)
    /// Gets nothing where no response is wanted.
    case batch(@Sendable (isolated Session, [UInt8]) -> Void)
  }

  let id: RequestID?
  let method: MethodTable.Entry?
  /// No request at all is answered even without an id.
  let wantsAnswer: Bool
  let start = MonotonicClock.Reading()
  let receiver: Receiver
  /// It changes nothing, and its answer may be long.
  let isRead: Bool
  let cost: WriteCost
  /// There is no room for its answer where it is a read.
  let isRefused: Bool

  init(_ call: Call, isRefused: Bool = false, for receiver: Receiver) {
    id = call.id
    method = call.method
    isRead = call.method?.specification.writes == false
    self.isRefused = isRefused
    cost = call.writeCost
    wantsAnswer = call.id != nil || call.isInvalid
    self.receiver = receiver
  }
}

extension Call {
  /// No request at all is answered even without an id.
  var isInvalid: Bool {
    if case .invalid = content { true } else { false }
  }

  var isLogin: Bool {
    switch content {
    case .request(.login): true
    case .badParameters: method?.name == Login.specification.name
    case .request, .unknownMethod, .invalid: false
    }
  }
}
