import Synchronization
import WireProtocol

/// The documents of both interfaces, for programs that write clients.
public struct InterfaceDocuments: Sendable {
  /// The OpenRPC document.
  public let openRPC: LazyDocument
  /// The AsyncAPI document.
  public let asyncAPI: LazyDocument

  /// - Parameters:
  ///   - path: where the WebSocket is.
  ///   - version: the release.
  package init(_ methods: MethodTable, path: String, version: String) {
    openRPC = LazyDocument { methods.openRPC(version: version) }
    asyncAPI = LazyDocument { AsyncAPIDocument.text(version: version, path: path) }
  }
}

/// A document that is encoded when it is first asked for, and kept from then on: most servers are
/// never asked.
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
