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
    .object(capacity: 8192) { writer in
      writer.member("name", name)
      writer.member("version", version)
      writer.member("protocol", ServerInfo.protocolName)
      writer.key("limits")
      writer.object { writer in
        for limit in limits {
          writer.key(named: limit.key)
          writer.value(limit.value)
        }
      }
      writer.member("groupTypes", groupTypes.map(GroupTypeEncoding.init))
    }
  }
}
