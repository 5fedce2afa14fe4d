import CTransport
import Dispatch
import Synchronization

/// The event loops of a server and their listeners.
///
/// Making one binds the listeners; clients can connect from then on but are served only after
/// `start`.
public final class Transport: Sendable {
  /// The loops; connections stay on the loop that accepted them.
  public let loops: [EventLoop]
  /// The port of the public listener, where there is one.
  public let publicPort: Int?
  /// The port of the internal listener, where there is one.
  public let internalPort: Int?
  private let files: TLSFiles?
  private let credentials: Mutex<TLSCredentials?>
  private let sockets: [SocketFile]

  private enum State {
    case made, running, stopped
  }
  private let state = Mutex(State.made)

  /// Sets how many files the process may open, connections included, up to the system's limit;
  /// before the first transport. No more than needed: each end of a connection takes 0.1 ms at
  /// 65,536.
  /// - Returns: the number set.
  @discardableResult
  public static func limitOpenFiles(to count: Int) -> Int { ct_limit_open_files(max(0, count)) }

  /// Binds the listeners and makes the loops. The delegate is retained until `stop` has returned.
  public init(_ configuration: TransportConfiguration, delegate: any TransportDelegate) throws(TransportError) {
    _ = TransportLog.prepared
    files = configuration.tls
    let credentials = try configuration.tls.map { tls throws(TransportError) in try TLSCredentials(tls) }
    self.credentials = Mutex(credentials)
    var loops: [EventLoop] = []
    for index in 0..<max(1, configuration.loops) {
      loops.append(try EventLoop(index: index, configuration: configuration, delegate: delegate))
    }
    if let credentials { for loop in loops { credentials.use(on: loop) } }
    self.loops = loops
    // A socket's file is made last, so that a start that fails leaves none.
    publicPort = try configuration.listenFile == nil ? Self.listen(configuration.listen, on: loops, isInternal: false) : nil
    internalPort =
      try configuration.internalListenFile == nil
      ? Self.listen(configuration.internalListen, on: [loops[0]], isInternal: true) : nil
    let own = try configuration.listenFile.map { path throws(TransportError) in try SocketFile(path, on: loops, isInternal: false)
    }
    do throws(TransportError) {
      sockets =
        [
          own,
          try configuration.internalListenFile.map { path throws(TransportError) in
            try SocketFile(path, on: [loops[0]], isInternal: true)
          },
        ].compactMap(\.self)
    } catch {
      own?.remove()
      throw error
    }
  }

  /// When the first certificate of the chain expires, in Unix seconds; nil without TLS.
  public var certificateExpiry: Int64? { credentials.withLock { $0?.expiry } }

  /// Reads the certificate and its key again; new connections use them. A file that is bad changes
  /// nothing, and its fault is returned; a good certificate may go with the key that was there.
  public func reloadTLS() -> (isReplaced: Bool, fault: String?) {
    guard let files else { return (false, nil) }
    let (read, fault) = TLSCredentials.read(files, previous: credentials.withLock(\.self))
    guard let read else { return (false, fault) }
    credentials.withLock { $0 = read }
    for loop in loops { loop.enqueue { read.use(on: loop) } }
    return (true, fault)
  }

  /// Starts the threads, once. They run until `stop`, also after the last reference to the
  /// transport.
  public func start() {
    let mayStart = state.withLock { state in
      defer { if state == .made { state = .running } }
      return state == .made
    }
    precondition(mayStart, "a transport starts once")
    for loop in loops {
      let error = loop.callbacks.start()
      precondition(error == 0, "cannot start a thread: error \(error)")
    }
  }

  /// Serves HTTP until no answer is in flight, then closes the listeners and calls `body`, from any
  /// thread; before `stop`, which would cut the answers. A request that is not whole by then is not
  /// delivered.
  ///
  /// An answer is in flight from the delivery of its request until the system has its last byte.
  /// - Parameter count: of answers of each loop behind which it waits for no more.
  public func finishAnswers(atMost count: Int = 1000, then body: @escaping @Sendable () -> Void) {
    guard state.withLock({ $0 == .running }) else { return body() }
    let unfinished = DispatchGroup()
    for loop in loops {
      unfinished.enter()
      loop.finishAnswers(atMost: count) { unfinished.leave() }
    }
    unfinished.notify(queue: .global(), execute: body)
  }

  /// Cuts all connections, ends the threads and waits for them. A second call returns at once.
  public func stop() async {
    let was = state.withLock { state in
      defer { state = .stopped }
      return state
    }
    switch was {
    case .made: for loop in loops { loop.callbacks.endUnstarted() }
    case .running: await join()
    case .stopped: break
    }
    for socket in sockets { socket.remove() }
  }

  private func join() async {
    for loop in loops { ct_loop_stop(loop.pointer) }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { [loops] in
        for loop in loops { ct_loop_join(loop.pointer) }
        continuation.resume()
      }
    }
  }

  /// Reads a certificate chain and its key as a listener would.
  /// - Returns: when the first certificate of the chain expires, in Unix seconds.
  /// - Throws: when they cannot be read or do not belong together.
  public static func check(_ tls: TLSFiles) throws(TransportError) -> Int64 {
    try TLSCredentials(tls).expiry
  }

  /// Binds one socket per loop to the same address, and returns the port.
  private static func listen(
    _ address: (host: String, port: Int)?, on loops: [EventLoop], isInternal: Bool
  ) throws(TransportError) -> Int? {
    guard let address else { return nil }
    var port = Int32(clamping: address.port)
    for loop in loops {
      var reason = ErrorText()
      let first = loop === loops[0]
      let shared = loops.count > 1
      let descriptor = reason.fill { text, size in
        ct_listen(address.host, &port, shared, first, text, size)
      }
      guard descriptor >= 0 else {
        throw .cannotBind(host: address.host, port: address.port, reason: reason.text)
      }
      ct_loop_add_listener(loop.pointer, descriptor, isInternal)
    }
    return Int(port)
  }
}

/// The library's log lines: errors and warnings, never a URL.
public enum TransportLog {
  /// The severity of a line.
  public enum Level: Sendable {
    case error, warning
  }

  private static let sink = Mutex<(@Sendable (Level, String) -> Void)?>(nil)

  /// Sends the library's lines to `sink`, from any thread. A process has one sink, since
  /// libwebsockets has one log.
  public static func setSink(_ sink: @escaping @Sendable (Level, String) -> Void) {
    self.sink.withLock { $0 = sink }
  }

  /// A static constant, which the first use initialises once.
  static let prepared: Void = ct_prepare_process { level, text, count in
    guard let sink = TransportLog.sink.withLock({ $0 }), let text else { return }
    let line = String(decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
    sink(level == 1 ? .error : .warning, line)
  }
}
