#if canImport(Glibc)
  import FoundationEssentials
  import Glibc
  import Synchronization

  /// WebSockets over sockets, and over OpenSSL where the address begins with wss. Each has a
  /// thread.
  public struct SocketTransport: Transport {
    private let authoritiesFile: String?

    /// - Parameter authoritiesFile: PEM of the trusted authorities; nil = those of the system.
    public init(authoritiesFile: String? = nil) { self.authoritiesFile = authoritiesFile }

    public func open(_ url: URL, subprotocol: String) async throws -> any TransportConnection {
      let address = try WebSocketAddress(url)
      let connection = try SocketConnection()
      let worker = SocketWorker(
        connection: connection, address: address, upgrade: Upgrade(subprotocol: subprotocol), authoritiesFile: authoritiesFile)
      try await connection.opened { () throws(TransportError) in try startThread { worker.run() } }
      return connection
    }
  }

  /// The body of a thread, carried through C.
  private final class ThreadBody {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private func startThread(_ run: @escaping @Sendable () -> Void) throws(TransportError) {
    let body = Unmanaged.passRetained(ThreadBody(run))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { body in
        // `startThread` has given the only reference, as the argument.
        Unmanaged<ThreadBody>.fromOpaque(body!).takeRetainedValue().run()
        return nil
      }, body.toOpaque())
    guard status == 0 else {
      body.release()
      throw .failed("no thread: \(Socket.text(status))")
    }
    pthread_detach(thread)
  }

  /// The state that a connection's thread and its users share.
  final class SocketConnection: TransportConnection {
    /// More than that waits for the socket before `send` returns.
    private static let outgoingLimit = 256 << 10
    private struct Shared {
      var isOpen = false
      var opener: CheckedContinuation<Void, any Error>?
      var outgoing: [UInt8] = []
      var sender: CheckedContinuation<Void, any Error>?
      var incoming = IncomingMessages()
      var receiver: CheckedContinuation<Data, any Error>?
      /// The close code that was asked for.
      var closing: Int?
      var end: TransportError?
    }

    private let shared = Mutex(Shared())
    /// The end of a pair of sockets that can be read when the thread is to look.
    let wakeup: Int32
    private let waker: Int32

    init() throws(TransportError) {
      var ends: [Int32] = [-1, -1]
      let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw .failed("no pair of sockets: \(Socket.text(errno))") }
      (wakeup, waker) = (ends[0], ends[1])
    }

    deinit {
      Glibc.close(wakeup)
      Glibc.close(waker)
    }

    private func wake() {
      var byte: UInt8 = 0
      // One that is full has woken it already.
      _ = Glibc.send(waker, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    // MARK: For users

    /// Waits until the thread, which `start` starts, has opened the connection.
    fileprivate func opened(_ start: () throws(TransportError) -> Void) async throws {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          shared.withLock { $0.opener = continuation }
          do throws(TransportError) {
            try start()
          } catch {
            finish(error)
          }
        }
      } onCancel: {
        close(code: 1000)
        // The thread may be in a look-up of the host's name, which nothing ends.
        finish(.closed(code: 1006, reason: "given up"))
      }
    }

    func send(_ text: Data) async throws {
      let frame = FrameEncoder.frame(FrameEncoder.text, text)
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let result: Result<Void, any Error>? = shared.withLock { shared in
          if let end = shared.end { return .failure(end) }
          shared.outgoing += frame
          guard shared.outgoing.count > SocketConnection.outgoingLimit else { return .success(()) }
          shared.sender = continuation
          return nil
        }
        wake()
        if let result { continuation.resume(with: result) }
      }
    }

    func receive() async throws -> Data {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let result: Result<Data, any Error>? = shared.withLock { shared in
            if let message = shared.incoming.next() { return .success(message) }
            if let end = shared.end { return .failure(end) }
            shared.receiver = continuation
            return nil
          }
          guard let result else { return }
          // The thread may have waited for room.
          wake()
          continuation.resume(with: result)
        }
      } onCancel: {
        close(code: 1000)
      }
    }

    func close(code: Int) {
      shared.withLock { if $0.closing == nil { $0.closing = code } }
      wake()
    }

    // MARK: For the thread

    /// The connection is open. Returns false where it is not wanted any more.
    fileprivate func didOpen() -> Bool {
      let opener = shared.withLock { shared -> CheckedContinuation<Void, any Error>? in
        guard shared.closing == nil else { return nil }
        shared.isOpen = true
        defer { shared.opener = nil }
        return shared.opener
      }
      opener?.resume()
      return opener != nil
    }

    /// Takes what is to be sent, and the close code that was asked for.
    fileprivate func takeOutgoing() -> (bytes: [UInt8], closing: Int?) {
      let (bytes, closing, sender) = shared.withLock { shared in
        defer {
          shared.outgoing = []
          shared.sender = nil
        }
        return (shared.outgoing, shared.closing, shared.sender)
      }
      sender?.resume()
      return (bytes, closing)
    }

    fileprivate var hasRoom: Bool { shared.withLock { $0.incoming.hasRoom } }

    fileprivate func deliver(_ message: Data) {
      let receiver = shared.withLock { shared -> CheckedContinuation<Data, any Error>? in
        if let receiver = shared.receiver {
          shared.receiver = nil
          return receiver
        }
        shared.incoming.append(message)
        return nil
      }
      receiver?.resume(returning: message)
    }

    fileprivate func finish(_ end: TransportError) {
      let (opener, sender, receiver) = shared.withLock { shared in
        shared.end = shared.end ?? end
        defer { (shared.opener, shared.sender, shared.receiver) = (nil, nil, nil) }
        return (shared.opener, shared.sender, shared.receiver)
      }
      opener?.resume(throwing: end)
      sender?.resume(throwing: end)
      receiver?.resume(throwing: end)
    }
  }

  /// The work of a connection's thread.
  private struct SocketWorker: Sendable {
    /// The longest wait for the last bytes to leave, in milliseconds.
    private static let closingTime: Int32 = 1_000

    let connection: SocketConnection
    let address: WebSocketAddress
    let upgrade: Upgrade
    let authoritiesFile: String?

    func run() {
      blockSIGPIPE()
      do throws(TransportError) {
        var socket = try Socket(to: address, interruption: connection.wakeup)
        if address.isSecure {
          let trust = try TLSTrust(authoritiesFile: authoritiesFile)
          try socket.startTLS(trust, host: address.host, interruption: connection.wakeup)
        }
        var decoder = FrameDecoder()
        guard try open(&socket, &decoder), connection.didOpen() else { throw .closed(code: 1006, reason: "given up") }
        try exchange(&socket, &decoder)
      } catch {
        connection.finish(error)
      }
    }

    /// A thread of its own: the signal of a write to a closed socket stays with it, and ends with
    /// it.
    private func blockSIGPIPE() {
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    private func clearWakeup() {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      // Nothing to read: nobody has woken the thread.
      _ = Glibc.read(connection.wakeup, &bytes, bytes.count)
    }

    private func open(_ socket: inout Socket, _ decoder: inout FrameDecoder) throws(TransportError) -> Bool {
      var request = upgrade.request(to: address)
      var response: [UInt8] = []
      while true {
        request.removeFirst(try socket.write(request))
        let isOpen = try socket.read(into: &response)
        if let length = try upgrade.accept(response) {
          decoder.append(response.dropFirst(length))
          return true
        }
        guard isOpen else { throw .failed("the server has ended the connection") }
        // Before `opened` has returned, only `close` wakes the thread.
        clearWakeup()
        if connection.takeOutgoing().closing != nil { return false }
        socket.wait(toRead: true, toWrite: !request.isEmpty, or: connection.wakeup, milliseconds: -1)
      }
    }

    private func exchange(_ socket: inout Socket, _ decoder: inout FrameDecoder) throws(TransportError) {
      var output: [UInt8] = []
      while true {
        try deliver(&decoder, &output, &socket)
        clearWakeup()
        let (bytes, closing) = connection.takeOutgoing()
        output += bytes
        if let closing {
          // The user hears at once that this is the end.
          connection.finish(.closed(code: closing, reason: "closed by the client"))
          try flush(&socket, output + FrameEncoder.close(closing))
        }
        output.removeFirst(try socket.write(output))
        let hasRoom = connection.hasRoom
        socket.wait(toRead: hasRoom, toWrite: !output.isEmpty, or: connection.wakeup, milliseconds: -1)
        guard hasRoom else { continue }
        guard try socket.read(into: &decoder) else {
          try deliver(&decoder, &output, &socket)
          throw .closed(code: 1006, reason: "the connection has ended")
        }
      }
    }

    private func deliver(_ decoder: inout FrameDecoder, _ output: inout [UInt8], _ socket: inout Socket) throws(TransportError) {
      while let next = try next(&decoder, output, &socket) {
        switch next {
        case .message(let message): connection.deliver(message)
        case .ping(let payload): FrameEncoder.answer(ping: payload, in: &output)
        case .pong: continue
        case .close(let code, let reason):
          connection.finish(.closed(code: code, reason: reason))
          // 1005 stands for no code, and is never sent.
          let frame = code == 1005 ? FrameEncoder.frame(FrameEncoder.close, []) : FrameEncoder.close(code)
          try flush(&socket, output + frame)
        }
      }
    }

    private func next(
      _ decoder: inout FrameDecoder, _ output: [UInt8], _ socket: inout Socket
    ) throws(TransportError) -> FrameDecoder.Output? {
      do throws(FrameDecoder.Fault) {
        return try decoder.next()
      } catch {
        connection.finish(.closed(code: error.code, reason: error.reason))
        try flush(&socket, output + FrameEncoder.close(error.code))
      }
    }

    /// The last bytes; then the connection ends.
    private func flush(_ socket: inout Socket, _ bytes: [UInt8]) throws(TransportError) -> Never {
      var bytes = bytes
      let deadline = ContinuousClock.now + .milliseconds(Int(SocketWorker.closingTime))
      while !bytes.isEmpty, ContinuousClock.now < deadline {
        bytes.removeFirst(try socket.write(bytes))
        // Wakeups do not matter any more: the own descriptor stands for none.
        if !bytes.isEmpty { socket.wait(toRead: false, toWrite: true, or: -1, milliseconds: SocketWorker.closingTime) }
      }
      throw .closed(code: 1000, reason: "closed")
    }
  }
#endif
