import CTransport

/// How a topic treats an entry for a connection that is too slow (Protocol.md, "Slow connections").
public enum Reliability: Sendable {
  /// Never skipped; a connection over its bound closes with 4002.
  case lossless
  /// Skipped and counted when the connection is over its bound.
  case skippable
}

/// One loop's fan-out log: a frame is stored once and goes to every subscribed connection at the
/// end of the turn.
///
/// Made and used on its loop's thread, and freed there, on whichever thread the last reference
/// ends.
///
/// @unchecked Sendable: the pointer never changes and every use checks the thread.
public final class Topic: @unchecked Sendable {
  /// The loop that owns the topic.
  public let loop: EventLoop
  private let topic: OpaquePointer

  /// An empty topic.
  /// - Parameter name: for `EventLoop.busiestTopics`, which leaves out topics without one.
  public init(on loop: EventLoop, name: String = "") {
    loop.preconditionCurrent()
    self.loop = loop
    var name = name
    topic = name.withUTF8 { ct_topic_create(loop.pointer, $0.baseAddress, $0.count) }
  }

  deinit {
    let address = UInt(bitPattern: topic)
    loop.perform { ct_topic_destroy(OpaquePointer(bitPattern: address)) }
  }

  /// Subscribes a connection from the next entry on, or changes the mask of a subscribed one.
  ///
  /// It gets the entries whose `kind` shares a bit with `mask`.
  public func subscribe(_ connection: Connection, mask: UInt8 = 0xff) {
    check(connection)
    ct_topic_subscribe(topic, connection.id, mask)
  }

  /// Ends a subscription; entries published before are still sent.
  public func unsubscribe(_ connection: Connection) {
    check(connection)
    ct_topic_unsubscribe(topic, connection.id)
  }

  /// Compresses later entries without a reference to earlier ones, so that their lengths tell nothing
  /// of these. It costs each subscriber that gets compressed frames some 400 bytes, once.
  public func resetCompression() {
    loop.preconditionCurrent()
    ct_topic_reset_stream(topic)
  }

  /// Appends one text frame for all subscribers but `except`, which gets the entries before and
  /// after it in order.
  ///
  /// `kind` has at least one bit; a subscriber gets the entry if its mask has one of them.
  public func publish(_ payload: [UInt8], _ reliability: Reliability, kind: UInt8 = 1, except: Connection? = nil) {
    loop.preconditionCurrent()
    precondition(kind != 0, "an entry without a kind has no recipient")
    payload.withUnsafeBytes {
      ct_topic_publish(topic, $0.baseAddress, $0.count, reliability == .skippable, kind, except?.id ?? 0)
    }
  }

  /// Sends one text frame to one connection, subscribed or not, in order with the published
  /// entries.
  public func send(_ payload: [UInt8], to connection: Connection) {
    check(connection)
    payload.withUnsafeBytes { ct_topic_send(topic, connection.id, $0.baseAddress, $0.count) }
  }

  /// How many connections are subscribed.
  public var subscriberCount: Int {
    loop.preconditionCurrent()
    return ct_topic_subscriber_count(topic)
  }

  private func check(_ connection: Connection) {
    loop.preconditionCurrent()
    precondition(connection.loop === loop, "the connection belongs to another loop")
  }
}
