import CNATS
import Foundation
import GroupModel
import Synchronization

/// One connection by nats.c. It never connects again by itself.
final class NATSClient: Sendable {
  enum Event: Sendable {
    /// Messages were dropped.
    case slowSubscriber
    case refused(String)
    /// The last one.
    case closed
  }

  /// Keeps the events' receiver alive until the last event has come.
  private final class Context: Sendable {
    let receive: @Sendable (Event) -> Void
    let isClosed = Atomic<Bool>(false)

    init(_ receive: @escaping @Sendable (Event) -> Void) { self.receive = receive }

    func receive(_ event: cn_event, _ text: String) {
      switch event {
      case CN_SLOW_SUBSCRIBER: receive(.slowSubscriber)
      case CN_CLOSED:
        isClosed.store(true, ordering: .releasing)
        receive(.closed)
      default: receive(.refused(text))
      }
    }
  }

  /// nonisolated(unsafe): nats.c's calls may come from any thread; freed with this object.
  nonisolated(unsafe) private let handle: OpaquePointer
  private let context: Context
  /// The longest message that the server takes.
  let maxPayload: Int

  /// Connects, and blocks meanwhile.
  /// - Parameters:
  ///   - cluster: the first word of all subjects.
  ///   - receive: called on a thread of nats.c, one event at a time.
  init(
    _ address: NATSAddress, cluster: String, _ receive: @escaping @Sendable (Event) -> Void
  ) throws(NATSAddress.Fault) {
    let kept = Context(receive)
    let context = Unmanaged.passRetained(kept)
    var error: UnsafePointer<CChar>?
    let made = NATSClient.withOptions(address, cluster: cluster) { options in
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
    self.context = kept
    maxPayload = Int(cn_max_payload(made))
  }

  private static let timeout: Int32 = 2_000

  private static func withOptions<Value>(_ address: NATSAddress, cluster: String, _ body: (cn_options) -> Value) -> Value {
    let optional = [
      address.user, address.password, address.caFile, address.certificateFile, address.keyFile, address.credentialsFile,
    ]
    let texts = (address.servers + ["throng \(cluster)", "\(cluster).echo.\(RandomID.with128Bits())"]).map { strdup($0) }
    let optionalTexts = optional.map { $0.map { strdup($0) } ?? nil }
    defer { for text in texts + optionalTexts { free(text) } }
    let count = address.servers.count
    let text = { (index: Int) in optionalTexts[index].map { UnsafePointer($0) } }
    return texts[..<count].map { UnsafePointer($0) }.withUnsafeBufferPointer { servers in
      body(
        cn_options(
          servers: servers.baseAddress, server_count: Int32(count), uses_tls: address.usesTLS, user: text(0),
          password: text(1), ca_file: text(2), certificate_file: text(3), key_file: text(4), credentials_file: text(5),
          name: texts[count], echo_subject: texts[count + 1], timeout_ms: timeout))
    }
  }

  /// Whether the connection has ended.
  var isClosed: Bool { context.isClosed.load(ordering: .acquiring) }

  /// Writes one message.
  /// - Returns: the reason where it was not written.
  func publish(_ bytes: ArraySlice<UInt8>, to subject: String, reply: String?) -> String? {
    let failure = bytes.withUnsafeBufferPointer {
      cn_publish(handle, subject, reply, $0.baseAddress, Int32($0.count))
    }
    return failure.map { String(cString: $0) }
  }

  /// Subscribes. The server knows it when a later `confirm` is true.
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
    return NATSSubscription(made)
  }

  /// Waits until the server has had everything, for 2 s at most.
  func confirm() -> Bool { cn_confirm(handle, NATSClient.timeout) }

  /// Sends a message to itself. May block.
  func ping() { cn_ping(handle) }

  /// How many messages to itself have not come back.
  var unansweredPings: UInt64 { cn_unanswered(handle) }

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
