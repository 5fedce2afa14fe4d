import CTransport

/// A handle of one open WebSocket. Used on its loop's thread only; when the connection is gone it does nothing.
public struct Connection: Hashable, Sendable {
  /// The loop that owns the connection.
  public let loop: EventLoop
  let id: ct_connection_id

  /// Queues one text frame; it leaves at the end of the turn, before what topics hold for the connection.
  public func send(_ text: UnsafeRawBufferPointer) { send(text, isText: true) }

  /// Queues one text frame.
  public func send(_ text: [UInt8]) { text.withUnsafeBytes { send($0, isText: true) } }

  /// Queues one text frame behind everything that was published to the connection's topics, which leaves with it.
  public func sendLast(_ text: [UInt8]) {
    loop.preconditionCurrent()
    ct_connection_take_along(loop.pointer, id)
    send(text)
  }

  /// Queues one binary frame.
  public func sendBinary(_ bytes: UnsafeRawBufferPointer) { send(bytes, isText: false) }

  /// Sends what is queued, then closes (contract section 1, close codes). Nothing is heard or sent after it.
  ///
  /// A `reason` over 123 bytes is cut at a character. The connection is cut if the peer does not answer in 5 s.
  public func close(code: Int, reason: String) {
    loop.preconditionCurrent()
    var bytes = Array(reason.utf8.prefix(123))
    while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
    bytes.withUnsafeBytes {
      ct_connection_close(loop.pointer, id, Int32(clamping: code), $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
  }

  /// Stops taking bytes from the socket; what has arrived may still be handed up.
  public func pauseReading() {
    loop.preconditionCurrent()
    ct_connection_read(loop.pointer, id, false)
  }

  /// Takes bytes again.
  public func resumeReading() {
    loop.preconditionCurrent()
    ct_connection_read(loop.pointer, id, true)
  }

  /// From now on nothing is written; frames and topic entries pile up within `sendQueueBytes`.
  public func hold() {
    loop.preconditionCurrent()
    ct_connection_hold(loop.pointer, id)
  }

  /// Ends a hold: `first` goes out before everything that has piled up (empty: nothing does).
  public func release(first: [UInt8]) {
    loop.preconditionCurrent()
    first.withUnsafeBytes { ct_connection_release(loop.pointer, id, $0.baseAddress, $0.count) }
  }

  /// Whether the connection is open and neither side has begun to close it.
  public var isOpen: Bool {
    loop.preconditionCurrent()
    return ct_connection_is_open(loop.pointer, id)
  }

  private func send(_ bytes: UnsafeRawBufferPointer, isText: Bool) {
    loop.preconditionCurrent()
    ct_connection_send(loop.pointer, id, bytes.baseAddress, bytes.count, isText)
  }

  /// Two handles are equal when they mean the same connection.
  public static func == (a: Connection, b: Connection) -> Bool { a.id == b.id && a.loop === b.loop }

  /// Hashes the connection's number.
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
