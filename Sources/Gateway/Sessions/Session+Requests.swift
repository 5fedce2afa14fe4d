import GroupModel
import GroupRuntime
import WebSocketTransport
import WireProtocol

/// The way of a request: authorize, execute, and complete with its reply.
extension Session {
  /// How many requests a connection may send before sign-in (Protocol.md, "Before sign-in").
  private static let anonymousRequests = 10

  /// Handles a request, alone or in a batch.
  /// - Parameters:
  ///   - text: as it came, where it may have to travel; nil on one node.
  ///   - isBatchFull: its batch has no more space for the reply of a read.
  ///   - parent: the trace that an HTTP request tells of (`TraceContext.init(traceparent:)`); nil = none, as
  ///     on a WebSocket.
  func handle(
    _ call: consuming Call, _ text: RequestText? = nil, isBatchFull: Bool = false, in parent: TraceContext? = nil,
    for receiver: PendingRequest.Receiver
  ) {
    let trace = telemetry.tracer.isActive ? PendingRequest.Trace(call) : nil
    let span =
      parent != nil || telemetry.tracing.beginsTraces ? telemetry.tracing.begin(parent, group: call.groupID) : nil
    if call.unknownParameters != nil { noteUnknownParameters(of: call, in: span?.context) }
    let pending = PendingRequest(
      call, text, cost: call.writeCost(indexesTexts: dispatcher.searchesMessages), at: context.clocks.monotonic,
      isBatchFull: isBatchFull, trace: trace, span: span, for: receiver)
    if case .ended = phase { return deliver([], to: receiver) }
    do throws(WireError) {
      execute(try authorize(call, at: pending.start), pending)
    } catch {
      complete(pending, with: .failure(error))
    }
  }

  /// The request of a call, or the error of the first failing check, in this order: envelope,
  /// method, signed in, rate, parameters (Protocol.md, "Order of errors"). Every call counts for
  /// the rate.
  private func authorize(_ call: consuming Call, at now: MonotonicInstant) throws(WireError) -> Request {
    let verdict = checkRate(at: now)
    if case .flood = verdict { closeAfterReplies(.requestFlood) }
    guard call.method != nil else { return try call.request() }
    if case .anonymous = phase, !call.isLogin { throw WireError(.notSignedIn) }
    switch verdict {
    case .pass: return try call.request()
    case .refuse(let wait), .flood(let wait): throw WireError(.requestRate, retryAfterMs: wait)
    }
  }

  /// Counts a request: for the user's rate, or for the limit before sign-in.
  private func checkRate(at now: MonotonicInstant) -> RequestLimiter.Verdict {
    if case .anonymous(let requests) = phase {
      phase = .anonymous(requests: requests + 1)
      return requests < Session.anonymousRequests ? .pass : .flood(retryAfterMs: 0)
    }
    guard let budget else { return .pass }
    return requestLimiter.check(budget, at: now)
  }

  private func execute(_ request: consuming Request, _ pending: PendingRequest) {
    switch request {
    case .login(let login): signIn(login) { session, reply in session.complete(pending, with: reply) }
    case .logout:
      // Later requests of the same batch find no signed-in user.
      signOut()
      closeAfterReplies(.normal)
      complete(pending, with: .empty)
    // They read nothing, so no limit defers them.
    case .ping: complete(pending, with: dispatcher.ping())
    case .unsubscribeUsersStatus(let subscription): complete(pending, with: unsubscribe(from: subscription.userIDList))
    default:
      if pending.isRead { startRead(request, pending) } else { scheduleWrite(request, pending) }
    }
  }

  // MARK: Replies

  func finish(_ pending: PendingRequest, with reply: Reply) {
    guard releaseCapacity(of: pending) else { return }
    complete(pending, with: reply)
    resumeDeferred()
    drainReceiveQueue()
  }

  /// Counts, logs, encodes and delivers a reply.
  func complete(_ pending: PendingRequest, with reply: Reply) {
    telemetry.metrics.didAnswer(pending.method, reply, after: context.clocks.monotonic.nanoseconds(since: pending.start))
    if case .failure(let error) = reply {
      noteRefusal(error, of: pending.method, sent: pending.sentMethod, in: pending.span?.context)
    }
    if let span = pending.span { end(span, of: pending, reply) }
    let text = pending.wantsReply ? reply.text(id: pending.id) : []
    if let trace = pending.trace { note(pending, trace, reply, bytes: text.count) }
    deliver(text, to: pending.receiver)
  }

  private func end(_ span: RequestSpan, of pending: PendingRequest, _ reply: Reply) {
    telemetry.tracing.end(
      span, of: pending.method?.name ?? "unknown", reply, over: stream == nil ? .webSocket : .http, from: pending.start,
      to: context.clocks.monotonic)
  }

  private func note(_ pending: PendingRequest, _ trace: PendingRequest.Trace, _ reply: Reply, bytes: Int) {
    telemetry.tracer.note(
      TraceEntry(
        .request, pending.method?.name ?? "unknown", at: context.clocks.wall, userID: identity?.userID, groupID: trace.groupID,
        sessionID: identity?.sessionID, code: Int64(reply.code), bytes: Int64(bytes),
        microseconds: context.clocks.monotonic.nanoseconds(since: pending.start) / 1000,
        unknownParameters: trace.unknownParameters?.text))
  }

  func deliver(_ text: [UInt8], to receiver: PendingRequest.Receiver) {
    switch receiver {
    case .session(let slot): sendInOrder(text, at: slot)
    case .batch(let next): next(self, text)
    case .post(let call): answer(call, text.isEmpty ? .nothing : .text(text))
    }
  }

  // MARK: Batches

  /// Handles a batch: its requests one after the other, answered by one array.
  /// - Parameters:
  ///   - text: of the batch; nil on one node.
  ///   - parent: see the other `handle`.
  func handle(_ calls: [Call], _ text: [UInt8]?, in parent: TraceContext? = nil, for receiver: PendingRequest.Receiver) {
    waits.insert(.batch)
    handle(calls[...], text, BatchReply(maxBytes: readyReplyBytes * 3 / 2), in: parent) { session, batch in
      session.waits.remove(.batch)
      session.deliver(batch.text, to: receiver)
      session.drainReceiveQueue()
    }
  }

  private func handle(
    _ calls: ArraySlice<Call>, _ text: [UInt8]?, _ batch: BatchReply, in parent: TraceContext?,
    then finish: @escaping @Sendable (isolated Session, BatchReply) -> Void
  ) {
    guard let call = calls.first else { return finish(self, batch) }
    handle(
      call, text.map { RequestText(text: $0, index: calls.startIndex, servesApplication: false) }, isBatchFull: batch.isFull,
      in: parent,
      for: .batch { session, reply in
        session.handle(calls.dropFirst(), text, batch.appending(reply), in: parent, then: finish)
      })
  }

  /// A batch with no or too many requests counts as one request.
  func refuseBatch(for receiver: PendingRequest.Receiver) {
    if case .flood = checkRate(at: context.clocks.monotonic) { closeAfterReplies(.requestFlood) }
    deliver(Reply.error(.invalidRequest, "A batch has 1 to 20 requests").text(id: nil), to: receiver)
  }
}

/// The replies of a batch up to the current request.
private struct BatchReply: Sendable {
  private let maxBytes: Int
  private var texts: [[UInt8]] = []
  private var bytes = 0

  /// - Parameter maxBytes: the size at which reads add nothing more.
  init(maxBytes: Int) { self.maxBytes = maxBytes }

  var isFull: Bool { bytes >= maxBytes }

  /// - Parameter text: empty for a request without an id.
  func appending(_ text: [UInt8]) -> BatchReply {
    guard !text.isEmpty else { return self }
    var longer = self
    longer.texts.append(text)
    longer.bytes += text.count
    return longer
  }

  /// One array; empty where no request has an id.
  var text: [UInt8] { texts.isEmpty ? [] : JSONWriter.text(capacity: bytes + texts.count + 2) { $0.array(texts) { $0.raw($1) } } }
}

/// A request in flight: the data that its reply needs. A class, because closures pass it on.
final class PendingRequest: Sendable {
  /// The consumer of the response's text.
  enum Receiver: Sendable {
    case session(ReplyQueue.Slot)
    /// Is answered by itself, whatever the order.
    case post(PostedCall)
    /// Gets an empty text for a request without an id.
    case batch(@Sendable (isolated Session, [UInt8]) -> Void)
  }

  let id: RequestID?
  let method: MethodTable.Entry?
  /// The name of an unknown method.
  let sentMethod: SentMethodName?
  /// An invalid request is answered even without an id.
  let wantsReply: Bool
  let start: MonotonicInstant
  let receiver: Receiver
  /// The request changes nothing, and its reply may be long.
  let isRead: Bool
  let cost: WriteCost
  /// The batch has no more space for the reply of a read.
  let isBatchFull: Bool
  /// The request as it came; nil on one node.
  let text: RequestText?
  /// The part of the request that a trace needs; nil while nothing is traced.
  let trace: Trace?
  /// Its span, where it belongs to a trace of several services; nil = to none.
  let span: RequestSpan?

  /// The part of a request that a trace needs.
  final class Trace: Sendable {
    let groupID: GroupID?
    let unknownParameters: [UnknownParameter]?

    init(_ call: borrowing Call) {
      groupID = call.groupID
      unknownParameters = call.unknownParameters
    }
  }

  init(
    _ call: borrowing Call, _ text: RequestText?, cost: WriteCost, at start: MonotonicInstant, isBatchFull: Bool, trace: Trace?,
    span: RequestSpan?, for receiver: Receiver
  ) {
    self.start = start
    self.text = text
    self.trace = trace
    self.span = span
    let id = call.id
    self.id = id
    method = call.method
    sentMethod = call.sentMethodName
    isRead = call.method?.writes == false
    self.isBatchFull = isBatchFull
    self.cost = cost
    wantsReply = id != nil || call.isInvalid
    self.receiver = receiver
  }
}

extension Call {
  /// The group that the request is for, where that is known before.
  fileprivate var groupID: GroupID? {
    if case .request(let request) = content { request.groupID } else { nil }
  }

  /// Whether it is no valid request at all.
  var isInvalid: Bool {
    if case .invalid = content { true } else { false }
  }

  var isLogin: Bool {
    switch content {
    case .request(.login): true
    case .badParameters: method?.specification.name == .login
    case .request, .unknownMethod, .invalid: false
    }
  }
}
