import Glibc

/// The address and the socket options of connections.
struct ConnectOptions {
  let address: SocketAddress
  /// The number of source addresses 127.0.1.1, 127.0.1.2, …; 0: the kernel chooses.
  let sources: Int
  /// TLS; nil: plain connections.
  let tls: TLSContext?
  /// The size of a socket's receive buffer in bytes; nil: the kernel chooses.
  var receiveBuffer: Int32?
}

extension ClientPool {
  /// Begins to connect. The delegate learns the result.
  func connect(_ number: Int, _ options: ConnectOptions) throws(BenchmarkError) {
    let connection = table + number
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(Int32(options.address.storage.ss_family), kind, 0)
    guard descriptor >= 0 else { throw BenchmarkError("no more sockets: \(String(cString: strerror(errno)))") }
    option(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    if let size = options.receiveBuffer { option(descriptor, SOL_SOCKET, SO_RCVBUF, size) }
    if options.sources > 0 {
      option(descriptor, Int32(IPPROTO_IP), IP_BIND_ADDRESS_NO_PORT, 1)
      let source = SocketAddress.source(1 + number % options.sources)
      guard source.withPointer({ bind(descriptor, $0, $1) }) == 0 else {
        let reason = String(cString: strerror(errno))
        Glibc.close(descriptor)
        throw BenchmarkError("cannot connect from 127.0.1.\(1 + number % options.sources): \(reason)")
      }
    }
    connection.pointee.descriptor = descriptor
    connection.pointee.tls = try options.tls?.makeConnection(descriptor)
    connection.pointee.phase = .connecting
    connection.pointee.wasOpen = false
    connection.pointee.step = 0
    if options.address.withPointer({ Glibc.connect(descriptor, $0, $1) }) != 0, errno != EINPROGRESS {
      end(number, .unreachable(errno))
    } else {
      try poller.add(descriptor, number: number)
    }
  }

  /// connect(2) has ended: begins TLS or asks for the upgrade.
  func finishConnecting(_ number: Int) {
    let connection = table + number
    var error: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(connection.pointee.descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
    guard error == 0 else { return end(number, .unreachable(error)) }
    guard connection.pointee.tls != nil else { return didSecure(number) }
    connection.pointee.phase = .securing
    continueHandshake(number)
  }

  /// The connection can carry the upgrade: TCP, and TLS if any, are established.
  func didSecure(_ number: Int) {
    table[number].phase = .upgrading
    poller.change(table[number].descriptor, number: number, writing: false)
    delegate?.didConnect(number)
  }

  /// Resets the TCP connection, as a failing network would: the server gets no close frame.
  func reset(_ number: Int) {
    guard table[number].descriptor >= 0 else { return }
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      table[number].descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    close(number)
  }

  /// Stops reading from this connection, so that the server's data to it piles up.
  func stopReading(_ number: Int) { poller.remove(table[number].descriptor) }

  private func option(_ descriptor: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
    var value = value
    setsockopt(descriptor, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
  }
}
