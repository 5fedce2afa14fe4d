import GroupModel
import GroupPermissions
import WireProtocol

/// The server as getServerInfo and the documents of its interface describe it.
public struct Product: Sendable {
  /// The server's name.
  public let name: String
  /// The release.
  public let version: String
  /// Every key of `limits.…` with its number, each key once; durations in seconds.
  public let limits: [(key: String, value: Int64)]

  /// A product with everything given.
  public init(name: String, version: String, limits: [(key: String, value: Int64)]) {
    self.name = name
    self.version = version
    self.limits = limits
  }
}

/// The reply of `getServerInfo`: the server, its limits, and its group types (Protocol.md, "Server
/// information").
package struct ServerInfo {
  /// The version of the protocol.
  static let protocolName = "throng.v1"

  private let product: Product
  private let groupTypes: [GroupTypeDescription]

  /// - Parameters:
  ///   - product: its limits are answered by key ascending.
  ///   - groupTypes: answered in this order.
  package init(_ product: Product, groupTypes: [GroupTypeDescription]) {
    self.product = product
    self.groupTypes = groupTypes
  }

  /// It does not change while the server runs.
  package func reply() -> Reply {
    let limits = product.limits.sorted { $0.key < $1.key }
    let result = GetServerInfo.Result(
      name: product.name, version: product.version, protocolName: ServerInfo.protocolName, limits: NumberMap(limits),
      groupTypes: groupTypes.map { EncodedObject(GroupTypeEncoding($0)) })
    return .success(.serverInfo(Encoded(result, capacity: 8192)))
  }
}
