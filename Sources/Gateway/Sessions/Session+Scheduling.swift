import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// Limits of requests in flight. A deferred request waits, and with it all later texts: reads,
/// because their replies are large; writes, while the user has written much or has a heavy write in
/// flight.
extension Session {
  /// How many reads of a session may be in flight.
  private static let maxReads = 4

  /// A request that waits for its turn.
  struct DeferredRequest {
    let request: Request
    let pending: PendingRequest
  }

  private func deferRequest(_ request: Request, _ pending: PendingRequest) {
    deferred = DeferredRequest(request: request, pending: pending)
    waits.insert(.turn)
  }

  /// Starts the deferred request, if the limits allow it now.
  func resumeDeferred() {
    guard let next = deferred, deadlines[.writing] == nil else { return }
    deferred = nil
    waits.remove(.turn)
    if next.pending.isRead { startRead(next.request, next.pending) } else { startWrite(next.request, next.pending) }
  }

  /// Another session of the user has released capacity.
  private nonisolated func retryDeferred() {
    connection.loop.enqueue {
      self.assumeIsolated { session in
        session.resumeDeferred()
        session.drainReceiveQueue()
      }
    }
  }

  /// Releases the capacity of a request that has its reply.
  /// - Returns: false where the reply is void: the session ended during a read.
  func releaseCapacity(of pending: PendingRequest) -> Bool {
    if pending.cost.isHeavy { for session in budget?.endHeavyWrite() ?? [] { session.retryDeferred() } }
    guard pending.isRead else { return true }
    readsInFlight -= 1
    for session in budget?.endRead() ?? [] { session.retryDeferred() }
    if case .ended = phase { return false }
    return true
  }

  /// Passes the reply on to `didReply`. Never inlined: the compiler would specialize the dispatcher
  /// for this closure, at 300 instructions a request.
  @inline(never)
  private func completion(of pending: PendingRequest) -> Dispatcher.Completion { { self.didReply($0, to: pending) } }

  /// The caller in the request's trace; nil where nobody is signed in.
  private func caller(of pending: PendingRequest) -> Caller? {
    guard let span = pending.span else { return caller }
    return caller?.with(trace: span.context)
  }

  // MARK: Reads

  func startRead(_ request: consuming Request, _ pending: PendingRequest) {
    guard let caller = caller(of: pending) else { return complete(pending, with: .error(.notSignedIn)) }
    guard !pending.isBatchFull else {
      return complete(pending, with: .error(.temporary, "The answer of this batch is as long as it may be; ask again"))
    }
    guard readsInFlight < Session.maxReads, !areRepliesFull, budget?.beginRead(of: self) != false else {
      return deferRequest(request, pending)
    }
    readsInFlight += 1
    switch request {
    case .subscribeUsersStatus(let subscription): subscribe(to: subscription.userIDList, by: caller, pending)
    default: dispatcher.dispatch(request, by: caller, text: pending.text, completion(of: pending))
    }
  }

  // MARK: Writes

  /// Charges the write; beyond the user's rate it is deferred until the charge is covered.
  func scheduleWrite(_ request: consuming Request, _ pending: PendingRequest) {
    let wait = budget?.chargeWrite(pending.cost.bytes, at: pending.start) ?? 0
    guard wait > 0 else { return startWrite(request, pending) }
    deferRequest(request, pending)
    deadlines[.writing] = pending.start.advanced(byMilliseconds: wait)
    schedule()
  }

  private func startWrite(_ request: consuming Request, _ pending: PendingRequest) {
    guard let caller = caller(of: pending) else { return complete(pending, with: .error(.notSignedIn)) }
    guard !pending.cost.isHeavy || budget?.beginHeavyWrite(of: self) != false else {
      return deferRequest(request, pending)
    }
    dispatcher.dispatch(request, by: caller, text: pending.text, completion(of: pending))
  }
}
