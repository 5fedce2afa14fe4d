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
    let slot = openReply()
    perform(call) { session, text in session.answer(text, in: slot) }
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
    perform(call) { session, text in
      session.runBatch(calls.dropFirst(), answered: text.isEmpty ? answered : answered + [text], then: finish)
    }
  }

  /// Runs a request and gives the whole response; nothing where none is wanted.
  typealias Answered = @Sendable (isolated Session, [UInt8]) -> Void

  private func perform(_ call: Call, then answered: @escaping Answered) {
    if case .ended = phase { return answered(self, []) }
    let start = MonotonicClock.nanoseconds()
    let verdict = judge()
    if case .flood = verdict { finish(.requestFlood) }
    dispatch(call, verdict) { session, reply in
      session.services.metrics.didAnswer(call.methodName, reply, since: start)
      let isAnswered = call.id != nil || call.isInvalid
      answered(session, isAnswered ? reply.text(id: call.id) : [])
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

  private func dispatch(
    _ call: Call, _ verdict: RateGuard.Verdict, then reply: @escaping @Sendable (isolated Session, Reply) -> Void
  ) {
    let request: Request?
    switch call.content {
    case .invalid: return reply(self, .error(.invalidRequest))
    case .unknownMethod: return reply(self, .error(.methodNotFound))
    case .request(let read): request = read
    case .badParameters: request = nil
    }
    if case .anonymous = phase, !call.isLogin { return reply(self, .error(.notSignedIn)) }
    switch verdict {
    case .pass: break
    case .refuse(let wait), .flood(let wait):
      return reply(self, .failure(WireError(.requestRate, retryAfterMs: wait)))
    }
    if case .badParameters(let error, _) = call.content { return reply(self, .failure(error)) }
    guard let request else { return }
    serve(request, then: reply)
  }

  private func serve(_ request: Request, then reply: @escaping @Sendable (isolated Session, Reply) -> Void) {
    switch request {
    case .login(let login): signIn(login, then: reply)
    case .logout:
      // What stands behind it in a batch finds nobody signed in.
      signOut()
      finish(.normal)
      reply(self, .empty)
    default:
      guard let identity else { return reply(self, .error(.notSignedIn)) }
      let caller = Caller.user(identity.userID, platform: platform, session: key)
      services.dispatcher.dispatch(request, by: caller) { answer in
        self.connection.loop.perform {
          self.assumeIsolated { session in
            reply(session, answer)
            session.drainMailbox()
          }
        }
      }
    }
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
    case .badParameters(_, let method): method == Login.specification.name
    case .request, .unknownMethod, .invalid: false
    }
  }
}
