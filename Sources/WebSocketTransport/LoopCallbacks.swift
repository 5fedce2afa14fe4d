import CTransport

/// The callbacks of the C loop, all on its own thread.
///
/// @unchecked Sendable: `loop`, `executor`, `delegate` and `running` are set before the thread starts
/// and used on it alone from then on; so are `served`, and `whenAnswered`, which the C loop takes no more
/// of at its end.
final class LoopCallbacks: @unchecked Sendable {
  /// Released when the thread ends: the delegate often owns the transport.
  private var delegate: (any TransportDelegate)?
  private unowned(unsafe) var loop: EventLoop?
  /// The loop's executor, which lives as long as the loop. Every turn asks it, several times for each
  /// message, so it is not even retained for that.
  private var executor: Unmanaged<LoopExecutor>?
  /// Retains the loop while its thread runs, so that `loop` needs no counted reference.
  private var running: EventLoop?
  /// Wait for the HTTP answers in flight.
  private var whenAnswered: [@Sendable () -> Void] = []

  /// What follows the end of exchanges that sessions serve.
  private var served: [ct_exchange_id: @Sendable () -> Void] = [:]

  private let announcesClients: (@Sendable (String) -> Bool)?

  init(delegate: any TransportDelegate, announcesClients: (@Sendable (String) -> Bool)?) {
    self.delegate = delegate
    self.announcesClients = announcesClients
  }

  func attach(_ loop: EventLoop) {
    self.loop = loop
    executor = .passUnretained(loop.executor)
  }

  func start() -> Int32 {
    running = loop
    guard let loop else { return 0 }
    return ct_loop_start(loop.pointer, "throng-loop-\(loop.index)")
  }

  /// Calls `body` when HTTP answers in flight are sent, and at the loop's end at the latest.
  func finishAnswers(of loop: EventLoop, atMost count: Int, then body: @escaping @Sendable () -> Void) {
    guard ct_loop_finish_answers(loop.pointer, max(0, count)) else { return body() }
    whenAnswered.append(body)
  }

  /// - Returns: false where the exchange is over.
  func serve(_ exchange: ct_exchange_id, on loop: EventLoop, _ ended: @escaping @Sendable () -> Void) -> Bool {
    guard ct_exchange_serve(loop.pointer, exchange) else { return false }
    served[exchange] = ended
    return true
  }

  private func answered() {
    let bodies = whenAnswered
    whenAnswered = []
    for body in bodies { body() }
  }

  /// The thread is about to end: runs the queued work and releases the delegate and the loop.
  func end() {
    answered()
    loop?.executor.end()
    delegate = nil
    running = nil
  }

  /// Does the same for a loop whose thread was never started.
  func endUnstarted() {
    guard let loop else { return }
    ct_loop_adopt_thread(loop.pointer)
    end()
    ct_loop_adopt_thread(nil)
  }

  func makeLoop(_ configuration: TransportConfiguration) throws(TransportError) -> OpaquePointer {
    let certificate = configuration.tls?.certificateFile
    let key = configuration.tls?.keyFile
    var reason = ErrorText()
    let made = configuration.subprotocol.withCString { subprotocol in
      withOptionalCString(certificate) { certificate in
        withOptionalCString(key) { key in
          withOptionalCString(configuration.publicBody?.path) { bodyPath in
            var options = ct_options(
              max_message_bytes: configuration.maxMessageBytes, send_queue_bytes: configuration.sendQueueBytes,
              max_body_bytes: configuration.maxBodyBytes, public_body_path: bodyPath,
              max_public_body_bytes: configuration.publicBody?.maxBytes ?? 0,
              ping_interval_ms: configuration.pingInterval.milliseconds, ping_timeout_ms: configuration.pingTimeout.milliseconds,
              handshake_timeout_s: UInt32(max(1, configuration.handshakeTimeout)),
              flush_window_ms: configuration.flushWindow.milliseconds, flush_clock: configuration.flushClock,
              clock: configuration.clock,
              pause_ms: (configuration.pauseLimit ?? (configuration.clock == nil ? .seconds(1) : .zero)).milliseconds,
              loops: UInt32(clamping: configuration.loops),
              max_waiting: UInt32(clamping: configuration.maxWaitingConnections ?? 0),
              ipv6_prefix_bits: UInt32(clamping: configuration.ipv6PrefixLength),
              accepts_binary: configuration.acceptsBinary,
              stream_bytes: configuration.compressionBytes / max(1, configuration.loops),
              stream_subscribers: configuration.compressionSubscribers,
              stream_bytes_in_second: configuration.compressionStartBytes, subprotocol: subprotocol,
              certificate_file: certificate, key_file: key)
            var table = makeTable()
            return reason.fill { ct_loop_create(&options, &table, $0, $1) }
          }
        }
      }
    }
    guard let made else { throw .context(reason: reason.text) }
    return made
  }
}

extension LoopCallbacks {
  private func makeTable() -> ct_callbacks {
    var table = ct_callbacks()
    table.context = Unmanaged.passUnretained(self).toOpaque()
    if announcesClients != nil {
      table.announces_client = { context, peer in
        withCallbacks(context) { $0.announcesClients?(peer.string ?? "") ?? false }
      }
    }
    table.arrived = { context, address in withCallbacks(context) { $0.arrived(address) } }
    table.left = { context, address in withCallbacks(context) { $0.left(address) } }
    table.dropped = { context, address, reason in withCallbacks(context) { $0.dropped(address, reason) } }
    table.paused = { context, milliseconds in
      withCallbacks(context) { callbacks in
        if let loop = callbacks.loop { callbacks.delegate?.didPause(loop, for: .milliseconds(Int64(clamping: milliseconds))) }
      }
    }
    table.upgrade = { context, head, reason, size in withCallbacks(context) { $0.upgrade(head, reason, size) } }
    table.refused = { context, head, status, reason, isUpgrade in
      withCallbacks(context) { $0.refused(head, status, reason, isUpgrade) }
    }
    table.opened = { context, connection, head in withCallbacks(context) { $0.opened(connection, head) } }
    table.received = { handler, bytes, count, isText in received(handler, bytes, count, isText) }
    table.deadline_reached = { handler in deadlineReached(handler) }
    table.closed = { handler, code, byPeer in closed(handler, code, byPeer) }
    table.requested = { context, exchange, head, body, count, tooLarge in
      withCallbacks(context) { $0.requested(exchange, head, UnsafeRawBufferPointer(start: body, count: count), tooLarge) }
    }
    table.exchange_ended = { context, exchange in withCallbacks(context) { $0.exchangeEnded(exchange) } }
    table.ticked = { context in
      withCallbacks(context) { callbacks in
        if let loop = callbacks.loop { callbacks.delegate?.didTick(loop) }
      }
    }
    table.run_jobs = { context in
      withCallbacks(context) { $0.executor?._withUnsafeGuaranteedRef { $0.drain() } ?? false }
    }
    table.answered = { context in withCallbacks(context) { $0.answered() } }
    table.ended = { context in withCallbacks(context) { $0.end() } }
    return table
  }

  private func arrived(_ address: ct_text) -> ct_admission {
    switch delegate?.admission(of: address.string ?? "") {
    case .admitted, nil: CT_ADMITTED
    case .full: CT_FULL
    case .uncounted: CT_UNCOUNTED
    }
  }

  private func left(_ address: ct_text) { delegate?.didLeave(address.string ?? "") }

  private func dropped(_ address: ct_text, _ reason: ct_drop) {
    let reason: EarlyEnd =
      switch reason {
      case CT_DROP_TIMEOUT: .timeout
      case CT_DROP_TOTAL: .total
      case CT_DROP_ADDRESS: .address
      default: .proxyHeader
      }
    delegate?.didDrop(address.string ?? "", for: reason)
  }

  private func upgrade(
    _ head: UnsafePointer<ct_request_head>?, _ text: UnsafeMutablePointer<CChar>?, _ size: Int
  ) -> Int32 {
    guard let head, let loop, let delegate else { return 503 }
    switch delegate.upgradeVerdict(for: RequestHead(head.pointee), on: loop) {
    case .accept: return 0
    case .refuse(let status, let reason):
      if let text {
        // C reads it up to a zero.
        let bytes = Array(reason.utf8.prefix(size - 1)) + [0]
        for (index, byte) in bytes.enumerated() { text[index] = CChar(bitPattern: byte) }
      }
      return Int32(clamping: status)
    }
  }

  private func refused(
    _ head: UnsafePointer<ct_request_head>?, _ status: Int32, _ reason: UnsafePointer<CChar>?, _ isUpgrade: Bool
  ) {
    guard let head, let reason, let delegate else { return }
    delegate.didRefuse(
      RequestHead(head.pointee), status: Int(status), reason: String(cString: reason), isUpgrade: isUpgrade)
  }

  private func opened(
    _ connection: ct_connection_id, _ head: UnsafePointer<ct_request_head>?
  ) -> UnsafeMutableRawPointer? {
    guard let head, let loop, let delegate else { return nil }
    let handler = delegate.didOpen(Connection(loop: loop, id: connection), head: RequestHead(head.pointee))
    return Unmanaged.passRetained(HandlerBox(handler)).toOpaque()
  }

  private func exchangeEnded(_ exchange: ct_exchange_id) { served.removeValue(forKey: exchange)?() }

  private func requested(
    _ exchange: ct_exchange_id, _ head: UnsafePointer<ct_request_head>?, _ body: UnsafeRawBufferPointer,
    _ tooLarge: Bool
  ) {
    guard let head, let loop, let delegate else { return }
    let request = HTTPRequest(head: RequestHead(head.pointee), body: Array(body), bodyTooLarge: tooLarge)
    delegate.didReceive(request, exchange: HTTPExchange(loop: loop, id: exchange))
  }
}

/// One pointer for C in place of an existential's two.
private final class HandlerBox {
  let handler: any ConnectionHandler
  init(_ handler: any ConnectionHandler) { self.handler = handler }
}

/// The context is the object that `makeTable` passed; its `EventLoop` retains it as long as the C
/// loop.
private func withCallbacks<Result>(_ context: UnsafeMutableRawPointer?, _ body: (LoopCallbacks) -> Result) -> Result {
  Unmanaged<LoopCallbacks>.fromOpaque(context!)._withUnsafeGuaranteedRef(body)
}

private func received(
  _ handler: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int, _ isText: Bool
) {
  guard let handler else { return }
  Unmanaged<HandlerBox>.fromOpaque(handler)._withUnsafeGuaranteedRef {
    $0.handler.didReceive(UnsafeRawBufferPointer(start: bytes, count: count), isText: isText)
  }
}

private func deadlineReached(_ handler: UnsafeMutableRawPointer?) {
  guard let handler else { return }
  Unmanaged<HandlerBox>.fromOpaque(handler)._withUnsafeGuaranteedRef { $0.handler.didReachDeadline() }
}

/// Releases the handler that `opened` retained.
private func closed(_ handler: UnsafeMutableRawPointer?, _ code: Int32, _ byPeer: Bool) {
  guard let handler else { return }
  Unmanaged<HandlerBox>.fromOpaque(handler).takeRetainedValue().handler.didClose(code: Int(code), byPeer: byPeer)
}

private func withOptionalCString<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) -> Result) -> Result {
  guard let text else { return body(nil) }
  return text.withCString { body($0) }
}
