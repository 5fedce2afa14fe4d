import Glibc

extension Swarm {
  /// Sends bytes, whole frames or the upgrade; what the socket does not take waits.
  func send(_ number: Int, _ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { send(number, start, bytes.count) }
    }
  }

  func send(_ number: Int, _ bytes: UnsafeRawPointer, _ count: Int) {
    let connection = table + number
    guard connection.pointee.descriptor >= 0 else { return }
    var sent = 0
    if connection.pointee.unsent.isEmpty {
      sent = write(number, bytes, count)
      guard sent >= 0, sent < count else { return }
      poller.change(connection.pointee.descriptor, number: number, writing: true)
    }
    connection.pointee.unsent.append(bytes + sent, count - sent)
  }

  /// Sends what waits.
  func flush(_ number: Int) {
    let connection = table + number
    let bytes = connection.pointee.unsent.bytes
    guard let start = bytes.baseAddress else { return }
    let sent = write(number, start, bytes.count)
    guard sent >= 0 else { return }
    connection.pointee.unsent.removeFirst(sent)
    if connection.pointee.unsent.isEmpty { poller.change(connection.pointee.descriptor, number: number, writing: false) }
  }

  /// How many bytes the socket took; below 0 when the connection is no more.
  private func write(_ number: Int, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    let sent = Glibc.send(table[number].descriptor, bytes, count, flags)
    if sent >= 0 { return sent }
    if errno == EAGAIN || errno == EINTR { return 0 }
    // What the server said before it hung up may still wait to be read: the reading side tells the reason.
    return errno == EPIPE || errno == ECONNRESET ? -1 : fail(number, errno)
  }

  private func fail(_ number: Int, _ error: Int32) -> Int {
    end(number, .lost(error))
    return -1
  }
}
