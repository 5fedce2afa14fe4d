#if canImport(Glibc)
  import CTLSClient
  import Glibc

  /// A connected socket with TLS or without. One thread uses it, with SIGPIPE blocked.
  struct Socket: ~Copyable {
    private static let blockSize = 16_384
    /// So much is read before other work has its turn.
    private static let blocksPerRead = 16

    private let descriptor: Int32
    /// Freed in `deinit`, which nothing outlives.
    private var tls: OpaquePointer?
    private var wantsWrite = false
    /// TLS holds bytes that the descriptor does not show.
    private var holdsMore = false

    deinit {
      if let tls { tc_release(tls) }
      Glibc.close(descriptor)
    }

    /// Connects to the first address of the host that answers.
    /// - Parameter interruption: a descriptor that can be read when the attempt is to end.
    init(to address: WebSocketAddress, interruption: Int32) throws(TransportError) {
      var hints = addrinfo()
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      var list: UnsafeMutablePointer<addrinfo>?
      let status = getaddrinfo(address.host, "\(address.port)", &hints, &list)
      guard status == 0 else { throw .failed("\(address.host): \(String(cString: gai_strerror(status)))") }
      defer { freeaddrinfo(list) }
      var reason = "\(address.host): no address"
      var entry = list
      while let info = entry?.pointee {
        switch Socket.connect(info, interruption: interruption) {
        case .success(let descriptor):
          self.descriptor = descriptor
          return
        case .failure(.failed(let text)): reason = "\(address.authority): \(text)"
        case .failure(let error): throw error
        }
        entry = info.ai_next
      }
      throw .failed(reason)
    }

    private static func connect(_ info: addrinfo, interruption: Int32) -> Result<Int32, TransportError> {
      let kind = info.ai_socktype | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
      let descriptor = socket(info.ai_family, kind, info.ai_protocol)
      guard descriptor >= 0 else { return .failure(.failed(text(errno))) }
      var flag: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &flag, socklen_t(MemoryLayout<Int32>.size))
      var error = Glibc.connect(descriptor, info.ai_addr, info.ai_addrlen) == 0 ? 0 : errno
      if error == EINPROGRESS {
        guard wait(descriptor, for: Int16(POLLOUT), or: interruption) else {
          Glibc.close(descriptor)
          return .failure(.closed(code: 1006, reason: "given up"))
        }
        var length = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
      }
      guard error == 0 else {
        Glibc.close(descriptor)
        return .failure(.failed(text(error)))
      }
      return .success(descriptor)
    }

    /// Waits until the socket is ready; false where it is to end.
    private static func wait(_ descriptor: Int32, for events: Int16, or interruption: Int32) -> Bool {
      var polled = [
        pollfd(fd: descriptor, events: events, revents: 0), pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
      ]
      while poll(&polled, nfds_t(polled.count), -1) < 0, errno == EINTR {}
      return polled[1].revents == 0
    }

    static func text(_ error: Int32) -> String { String(cString: strerror(error)) }

    // MARK: TLS

    mutating func startTLS(_ context: borrowing TLSTrust, host: String, interruption: Int32) throws(TransportError) {
      guard let tls = context.connection(descriptor, host: host) else { throw .failed("TLS: no more memory") }
      self.tls = tls
      while true {
        let events: Int32
        switch tc_handshake(tls) {
        case TC_DONE: return
        case TC_WANTS_READ: events = POLLIN
        case TC_WANTS_WRITE: events = POLLOUT
        default: throw .failed("TLS: \(reason)")
        }
        guard Socket.wait(descriptor, for: Int16(events), or: interruption) else {
          throw .closed(code: 1006, reason: "given up")
        }
      }
    }

    private var reason: String {
      guard let tls else { return "" }
      var text = [CChar](repeating: 0, count: 256)
      tc_reason(tls, &text, text.count)
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    // MARK: Bytes

    /// Waits until something can be done, or the other descriptor can be read; at most so many
    /// milliseconds.
    func wait(toRead: Bool, toWrite: Bool, or interruption: Int32, milliseconds: Int32) {
      let events = (toRead ? POLLIN : 0) | (toWrite || wantsWrite ? POLLOUT : 0)
      var polled = [
        pollfd(fd: descriptor, events: Int16(events), revents: 0), pollfd(fd: interruption, events: Int16(POLLIN), revents: 0),
      ]
      // An interrupted wait is one that found nothing.
      _ = poll(&polled, nfds_t(polled.count), toRead && holdsMore ? 0 : milliseconds)
    }

    /// Appends what has arrived. Returns false at the end of the stream.
    mutating func read(into decoder: inout FrameDecoder) throws(TransportError) -> Bool {
      try read { decoder.append($0) }
    }

    mutating func read(into bytes: inout [UInt8]) throws(TransportError) -> Bool {
      try read { bytes.append(contentsOf: $0) }
    }

    /// One block: what is left makes the descriptor, or TLS, ready again.
    private mutating func read(_ take: (ArraySlice<UInt8>) -> Void) throws(TransportError) -> Bool {
      var block = [UInt8](repeating: 0, count: Socket.blockSize)
      guard let tls else {
        let count = recv(descriptor, &block, block.count, 0)
        if count > 0 { take(block[..<count]) }
        if count < 0, errno != EAGAIN, errno != EINTR { throw .closed(code: 1006, reason: Socket.text(errno)) }
        return count != 0
      }
      (wantsWrite, holdsMore) = (false, false)
      for _ in 0..<Socket.blocksPerRead {
        var count = 0
        let status = tc_read(tls, &block, block.count, &count)
        if count > 0 { take(block[..<count]) }
        switch status {
        case TC_DONE: continue
        case TC_WANTS_READ: return true
        case TC_WANTS_WRITE:
          wantsWrite = true
          return true
        case TC_ENDED: return false
        default: throw .closed(code: 1006, reason: "TLS: \(reason)")
        }
      }
      holdsMore = true
      return true
    }

    /// Writes as much as the socket takes; answers how much.
    mutating func write(_ bytes: [UInt8]) throws(TransportError) -> Int {
      guard !bytes.isEmpty else { return 0 }
      guard let tls else {
        let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        if count < 0, errno != EAGAIN, errno != EINTR { throw .closed(code: 1006, reason: Socket.text(errno)) }
        return max(0, count)
      }
      var count = 0
      switch tc_write(tls, bytes, bytes.count, &count) {
      case TC_DONE, TC_WANTS_READ, TC_WANTS_WRITE: return count
      case TC_ENDED: throw .closed(code: 1006, reason: "the server has ended the stream")
      default: throw .closed(code: 1006, reason: "TLS: \(reason)")
      }
    }
  }

  /// The certificates that connections accept.
  struct TLSTrust: ~Copyable {
    private let context: OpaquePointer

    /// - Parameter authoritiesFile: PEM of the trusted authorities; nil = those of the system.
    init(authoritiesFile: String?) throws(TransportError) {
      var reason = [CChar](repeating: 0, count: 256)
      guard let context = tc_context_create(true, authoritiesFile, &reason, reason.count) else {
        throw .failed("TLS: " + String(decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
      }
      self.context = context
    }

    deinit { tc_context_release(context) }

    fileprivate func connection(_ descriptor: Int32, host: String) -> OpaquePointer? { tc_create(context, descriptor, host) }
  }
#endif
