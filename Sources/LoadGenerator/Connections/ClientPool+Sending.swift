import Glibc

extension ClientPool {
  /// Sends whole frames or the upgrade; bytes that the full socket refuses are kept.
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

  /// Sends the bytes that were kept.
  func flush(_ number: Int) {
    let connection = table + number
    let bytes = connection.pointee.unsent.bytes
    guard let start = bytes.baseAddress else { return }
    let sent = write(number, start, bytes.count)
    guard sent >= 0 else { return }
    connection.pointee.unsent.removeFirst(sent)
    if connection.pointee.unsent.isEmpty { poller.change(connection.pointee.descriptor, number: number, writing: false) }
  }

  /// - Returns: the number of bytes the socket took; below 0 after the connection's end.
  private func write(_ number: Int, _ bytes: UnsafeRawPointer, _ count: Int) -> Int {
    if let tls = table[number].tls { return writeTLS(tls, bytes, count) }
    let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
    let sent = Glibc.send(table[number].descriptor, bytes, count, flags)
    if sent >= 0 { return sent }
    if errno == EAGAIN || errno == EINTR { return 0 }
    // A close frame may still wait to be read: the reading side finds the reason.
    return errno == EPIPE || errno == ECONNRESET ? -1 : fail(number, errno)
  }

  private func fail(_ number: Int, _ error: Int32) -> Int {
    end(number, .lost(error))
    return -1
  }
}
