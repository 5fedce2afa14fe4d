import Synchronization

/// A document that is encoded when it is first asked for, and kept from then on: most servers are never
/// asked.
public final class LazyDocument: Sendable {
  private let encode: @Sendable () -> [UInt8]
  private let encoded = Mutex<[UInt8]?>(nil)

  init(_ encode: @escaping @Sendable () -> [UInt8]) { self.encode = encode }

  /// The document.
  public var bytes: [UInt8] {
    encoded.withLock { encoded in
      let bytes = encoded ?? encode()
      encoded = bytes
      return bytes
    }
  }
}
