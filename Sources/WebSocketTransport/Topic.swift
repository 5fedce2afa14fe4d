import CTransport

/// What may happen to a topic's entry when a connection is too slow (contract section 1, slow consumer).
public enum Lane: Sendable {
  /// It is never skipped; a connection that cannot take it closes with 4002.
  case lossless
  /// It may be skipped and counted.
  case skippable
}

/// One loop's fan-out log: a frame is stored once and goes to every subscribed connection at the end of the turn.
///
/// Made and used on its loop's thread; whoever drops the last reference, its memory is freed there.
///
/// @unchecked Sendable: the pointer never changes and every use checks the thread.
public final class Topic: @unchecked Sendable {
  /// The loop that owns the topic.
  public let loop: EventLoop
  private let topic: OpaquePointer

  /// An empty topic.
  public init(on loop: EventLoop) {
    loop.preconditionCurrent()
    self.loop = loop
    topic = ct_topic_create(loop.pointer)
  }

  deinit {
    let address = UInt(bitPattern: topic)
    loop.perform { ct_topic_destroy(OpaquePointer(bitPattern: address)) }
  }

  /// Subscribes a connection to what is published from now on, or changes the mask of a subscribed one.
  ///
  /// It gets the entries whose `kind` shares a bit with `mask`.
  public func subscribe(_ connection: Connection, mask: UInt8 = 0xff) {
    check(connection)
    ct_topic_subscribe(topic, connection.id, mask)
  }

  /// Ends a subscription; what was published before still goes out.
  public func unsubscribe(_ connection: Connection) {
    check(connection)
    ct_topic_unsubscribe(topic, connection.id)
  }

  /// Appends one text frame for all subscribers but `except`, who gets everything before and after it in order.
  ///
  /// `kind` has at least one bit; a subscriber gets the entry if its mask has one of them.
  public func publish(_ payload: UnsafeRawBufferPointer, lane: Lane, kind: UInt8 = 1, except: Connection? = nil) {
    loop.preconditionCurrent()
    precondition(kind != 0, "an entry without a kind is for nobody")
    ct_topic_publish(topic, payload.baseAddress, payload.count, lane == .skippable, kind, except?.id ?? 0)
  }

  /// Appends one text frame for all subscribers but `except`.
  public func publish(_ payload: [UInt8], lane: Lane, kind: UInt8 = 1, except: Connection? = nil) {
    payload.withUnsafeBytes { publish($0, lane: lane, kind: kind, except: except) }
  }

  /// Sends one text frame to one connection, subscribed or not, in order with what is published.
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
