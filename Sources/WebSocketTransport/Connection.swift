import CTransport

/// A handle of one open WebSocket or event stream, for use on its loop's thread only. Once the
/// connection is gone it does nothing.
///
/// An event stream gets an event for each text frame, and a last event in place of a close frame
/// (Protocol.md, "Event streams"). It receives nothing.
public struct Connection: Hashable, Sendable {
  /// The loop that owns the connection.
  public let loop: EventLoop
  let id: ct_connection_id

  /// Tells the connection from all others of its loop, as long as the process lives.
  public var number: UInt64 { id }

  init(loop: EventLoop, id: ct_connection_id) {
    self.loop = loop
    self.id = id
  }

  /// The connection of that number; where it is gone, a handle that does nothing.
  public init(number: UInt64, on loop: EventLoop) { self.init(loop: loop, id: number) }

  /// Queues one text frame; it leaves at the end of the turn, before the entries of topics.
  public func send(_ text: UnsafeRawBufferPointer) { send(text, isText: true) }

  /// Queues one text frame.
  public func send(_ text: [UInt8]) { text.withUnsafeBytes { send($0, isText: true) } }

  /// Queues one text frame behind everything published to the connection's topics; all of it leaves
  /// at the end of the turn.
  public func sendAfterTopics(_ text: [UInt8]) {
    loop.preconditionCurrent()
    ct_connection_drain_topics(loop.pointer, id)
    send(text)
  }

  /// Queues one binary frame.
  public func sendBinary(_ bytes: UnsafeRawBufferPointer) { send(bytes, isText: false) }

  /// Sends the queued frames, then closes (Protocol.md, "Close codes"). Later frames are ignored.
  ///
  /// A `reason` over 123 bytes is cut at a character. The connection is cut if the peer does not
  /// answer in 5 s.
  public func close(code: Int, reason: String) {
    loop.preconditionCurrent()
    var bytes = Array(reason.utf8.prefix(123))
    while String(validating: bytes, as: UTF8.self) == nil { bytes.removeLast() }
    bytes.withUnsafeBytes {
      ct_connection_close(loop.pointer, id, Int32(clamping: code), $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
    }
  }

  /// Stops reading from the socket; a message that has arrived may still be delivered.
  public func pauseReading() {
    loop.preconditionCurrent()
    ct_connection_set_reading(loop.pointer, id, false)
  }

  /// Reads again.
  public func resumeReading() {
    loop.preconditionCurrent()
    ct_connection_set_reading(loop.pointer, id, true)
  }

  /// Stops writing; frames and topic entries queue up within `sendQueueBytes`.
  public func pauseWriting() {
    loop.preconditionCurrent()
    ct_connection_pause_writing(loop.pointer, id)
  }

  /// Writes again: `first` leaves before everything that has queued up (empty: nothing does).
  public func resumeWriting(first: [UInt8]) {
    loop.preconditionCurrent()
    first.withUnsafeBytes { ct_connection_resume_writing(loop.pointer, id, $0.baseAddress, $0.count) }
  }

  /// Drops the frames that have queued up, and leaves all topics with what they still have for it.
  public func dropQueued() {
    loop.preconditionCurrent()
    ct_connection_drop_queued(loop.pointer, id)
  }

  /// Has the handler's `didReachDeadline` called once, after that many milliseconds or up to two
  /// ticks (200 ms) later. It replaces an earlier deadline.
  public func setDeadline(inMilliseconds milliseconds: Int64) {
    loop.preconditionCurrent()
    ct_connection_set_deadline(loop.pointer, id, UInt64(max(0, milliseconds)))
  }

  /// The deadline that was set does not count any more.
  public func clearDeadline() {
    loop.preconditionCurrent()
    ct_connection_clear_deadline(loop.pointer, id)
  }

  /// Whether the connection is open and neither side has begun to close it.
  public var isOpen: Bool {
    loop.preconditionCurrent()
    return ct_connection_is_open(loop.pointer, id)
  }

  /// Whether it is an event stream, and no WebSocket; false where it is gone.
  public var isEventStream: Bool {
    loop.preconditionCurrent()
    return ct_connection_is_event_stream(loop.pointer, id)
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
