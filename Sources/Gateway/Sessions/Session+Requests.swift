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
    runBatch(calls[...], answered: []) { session, texts in
      session.hold = .none
      session.answer(texts.isEmpty ? [] : JSONWriter.text { $0.array(texts) { $0.raw($1) } }, in: slot)
      session.drainMailbox()
    }
  }

  /// A batch of none or too many counts as one request.
  func refuseBatch() {
    let slot = openReply()
    if case .flood = judge() { finish(.requestFlood) }
    answer(Reply.error(.invalidRequest, "A batch has 1 to 20 requests").text(id: nil), in: slot)
  }

  private func runBatch(
    _ calls: ArraySlice<Call>, answered: [[UInt8]], then finish: @escaping @Sendable (isolated Session, [[UInt8]]) -> Void
  ) {
    guard let call = calls.first else { return finish(self, answered) }
    let asking = Asking(
      call,
      for: .batch { session, text in
        session.runBatch(calls.dropFirst(), answered: text.isEmpty ? answered : answered + [text], then: finish)
      })
    perform(call, asking)
  }

  private func perform(_ call: Call, _ asking: Asking) {
    if case .ended = phase { return hand([], to: asking.receiver) }
    let verdict = judge()
    if case .flood = verdict { finish(.requestFlood) }
    switch request(of: call, verdict) {
    case .success(let request): serve(request, asking)
    case .failure(let error): conclude(asking, with: .failure(error))
    }
  }

  /// A request is answered.
  private func conclude(_ asking: Asking, with reply: Reply) {
    services.metrics.didAnswer(asking.method, reply, since: asking.start)
    if case .failure(let error) = reply { noteRefusal(error, of: asking.method) }
    hand(asking.wantsAnswer ? reply.text(id: asking.id) : [], to: asking.receiver)
  }

  private func hand(_ text: [UInt8], to receiver: Asking.Receiver) {
    switch receiver {
    case .session(let slot): answer(text, in: slot)
    case .batch(let then): then(self, text)
    }
  }

  /// Counts a request: those of a session for its rate, those before sign-in for their bound.
  private func judge() -> RateGuard.Verdict {
    if case .anonymous(let requests) = phase {
      phase = .anonymous(requests: requests + 1)
      return requests < Session.anonymousRequests ? .pass : .flood(retryAfterMs: 0)
    }
    return rate.judge(at: MonotonicClock.now())
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
    default:
      guard let identity else { return conclude(asking, with: .error(.notSignedIn)) }
      let caller = Caller.user(identity.userID, platform: platform, session: key)
      services.dispatcher.dispatch(request, by: caller) { self.take($0, for: asking) }
    }
  }

  /// The answer of somebody who may be elsewhere.
  private nonisolated func take(_ reply: Reply, for asking: Asking) {
    let executor = connection.loop.executor
    guard executor.isCurrent else { return executor.enqueue { self.take(reply, for: asking) } }
    executor.isolated(self) { session in
      session.conclude(asking, with: reply)
      session.drainMailbox()
    }
  }
}

/// A request under way: what is needed when its reply comes. A class, because it goes from hand to hand.
private final class Asking: Sendable {
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
  /// On the monotonic clock, in nanoseconds.
  let start = MonotonicClock.nanoseconds()
  let receiver: Receiver

  init(_ call: Call, for receiver: Receiver) {
    id = call.id
    method = call.method
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
