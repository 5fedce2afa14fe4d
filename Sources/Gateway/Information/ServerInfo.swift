import GroupModel
import GroupPermissions
import WireProtocol

/// The reply of `getServerInfo`: the server, its limits, and its group types (Protocol.md, "Server
/// information").
struct ServerInfo {
  /// The version of the protocol.
  static let protocolName = "throng.v1"

  private let name: String
  private let version: String
  private let limits: [(key: String, value: Int64)]
  private let groupTypes: [GroupTypeDescription]

  /// - Parameters:
  ///   - limits: every key of `limits.…` with its number, each key once; answered by key ascending.
  ///   - groupTypes: answered in this order.
  init(name: String, version: String, limits: [(key: String, value: Int64)], groupTypes: [GroupTypeDescription]) {
    self.name = name
    self.version = version
    self.limits = limits.sorted { $0.key < $1.key }
    self.groupTypes = groupTypes
  }

  /// It does not change while the server runs.
  func reply() -> Reply {
    let result = GetServerInfo.Result(
      name: name, version: version, protocolName: ServerInfo.protocolName, limits: NumberMap(limits),
      groupTypes: groupTypes.map { EncodedObject(GroupTypeEncoding($0)) })
    return .success(.serverInfo(Encoded(result, capacity: 8192)))
  }
}
