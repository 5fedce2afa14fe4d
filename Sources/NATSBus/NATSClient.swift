import CNATS
import Foundation

/// A connection of nats.c, which connects again by itself.
final class NATSClient: Sendable {
  /// Keeps the events' receiver alive until the last event has come.
  private final class Context: Sendable {
    let receive: @Sendable (cn_event, String) -> Void
    init(_ receive: @escaping @Sendable (cn_event, String) -> Void) { self.receive = receive }
  }

  /// nonisolated(unsafe): nats.c's calls may come from any thread; freed with this object.
  nonisolated(unsafe) private let handle: OpaquePointer
  /// The longest message that the server takes.
  let maxPayload: Int

  /// Connects, and blocks meanwhile.
  /// - Parameter receive: called on a thread of nats.c, one event at a time; the last is CN_CLOSED.
  init(
    _ address: NATSAddress, name: String, _ receive: @escaping @Sendable (cn_event, String) -> Void
  ) throws(NATSAddress.Fault) {
    let context = Unmanaged.passRetained(Context(receive))
    var error: UnsafePointer<CChar>?
    let made = NATSClient.withOptions(address, name: name) { options in
      withUnsafePointer(to: options) { options in
        cn_connect(
          options,
          { context, event, text in
            guard let context, let text else { return }
            let kept = Unmanaged<Context>.fromOpaque(context)
            kept.takeUnretainedValue().receive(event, String(cString: text))
            if event == CN_CLOSED { kept.release() }
          }, context.toOpaque(), &error)
      }
    }
    guard let made else {
      context.release()
      // nats.c names the line of its own source first.
      let reason = error.map { String(cString: $0).replacing(#/^\([a-z]+\.c:[0-9]+\): /#, with: "") } ?? "unknown"
      throw NATSAddress.Fault(description: "no connection to \(address.shown): \(reason)")
    }
    handle = made
    maxPayload = Int(cn_max_payload(made))
  }

  private static let timeout: Int32 = 2_000
  /// Two unanswered pings end a connection.
  private static let pingInterval: Int32 = 1_000
  private static let reconnectWait: Int32 = 100

  private static func withOptions<Value>(_ address: NATSAddress, name: String, _ body: (cn_options) -> Value) -> Value {
    let texts =
      (address.servers
      + [address.caFile, address.certificateFile, address.keyFile, address.credentialsFile, name]
      .map { $0 ?? "" }).map { strdup($0) }
    defer { for text in texts { free(text) } }
    let count = address.servers.count
    let file = { (index: Int, path: String?) in path == nil ? nil : UnsafePointer(texts[count + index]) }
    return texts[..<count].map { UnsafePointer($0) }.withUnsafeBufferPointer { servers in
      body(
        cn_options(
          servers: servers.baseAddress, server_count: Int32(count), uses_tls: address.usesTLS,
          ca_file: file(0, address.caFile), certificate_file: file(1, address.certificateFile),
          key_file: file(2, address.keyFile), credentials_file: file(3, address.credentialsFile), name: texts[count + 4],
          timeout_ms: timeout, ping_interval_ms: pingInterval, reconnect_wait_ms: reconnectWait))
    }
  }

  /// Writes one message.
  /// - Returns: the reason where it was not written.
  func publish(_ bytes: ArraySlice<UInt8>, to subject: String, reply: String?) -> String? {
    let failure = bytes.withUnsafeBufferPointer {
      cn_publish(handle, subject, reply, $0.baseAddress, Int32($0.count))
    }
    return failure.map { String(cString: $0) }
  }

  /// Subscribes, and waits until the server knows it.
  /// - Parameters:
  ///   - receive: called on a thread of nats.c, one call at a time, with the reply's subject.
  /// - Returns: the end of the subscription; nil without a connection.
  func subscribe(
    to subject: String, maxMessages: Int, maxBytes: Int,
    _ receive: @escaping @Sendable (String, UnsafeBufferPointer<UInt8>) -> Void
  ) -> NATSSubscription? {
    let context = Unmanaged.passRetained(NATSSubscription.Context(receive))
    let made = cn_subscribe(
      handle, subject, Int32(maxMessages), Int32(maxBytes),
      { context, reply, bytes, count in
        guard let context, let reply else { return }
        let kept = Unmanaged<NATSSubscription.Context>.fromOpaque(context).takeUnretainedValue()
        kept.receive(String(cString: reply), UnsafeBufferPointer(start: bytes, count: Int(count)))
      },
      { context in
        if let context { Unmanaged<NATSSubscription.Context>.fromOpaque(context).release() }
      }, context.toOpaque())
    guard let made else {
      context.release()
      return nil
    }
    let subscription = NATSSubscription(made)
    if cn_flush(handle, NATSClient.timeout) { return subscription }
    subscription.cancel()
    return nil
  }

  /// Waits until the server has everything.
  func flush() { _ = cn_flush(handle, NATSClient.timeout) }

  deinit { cn_close(handle) }
}

/// A subscription of nats.c.
final class NATSSubscription: Sendable {
  fileprivate final class Context: Sendable {
    let receive: @Sendable (String, UnsafeBufferPointer<UInt8>) -> Void
    init(_ receive: @escaping @Sendable (String, UnsafeBufferPointer<UInt8>) -> Void) { self.receive = receive }
  }

  /// nonisolated(unsafe): used once, by `cancel`.
  nonisolated(unsafe) private let handle: OpaquePointer

  fileprivate init(_ handle: OpaquePointer) { self.handle = handle }

  /// Ends it, once.
  func cancel() { cn_unsubscribe(handle) }
}
