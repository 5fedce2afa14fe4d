import Cluster
import Foundation
import GroupModel

/// The nodes and their shards, as `GET /cluster` tells them and `throng cluster status` shows them.
public struct ClusterStatus: Codable, Sendable, Equatable {
  /// One node.
  public struct Node: Codable, Sendable, Equatable {
    /// Its number.
    public let number: Int64
    /// Its name.
    public let name: String
    /// Its internal listener.
    public let address: String
    /// Its release of Throng.
    public let release: String
    /// How many shards it owns.
    public let shards: Int
    /// The age of its last sign of life, in milliseconds.
    public let heartbeatAgeMs: Int64
    /// Whether it gives its shards back.
    public let isDraining: Bool
    /// Whether it can reach the bus.
    public let isOnBus: Bool
    /// Whether the one that answers hears it, and is heard.
    public let isHeard: Bool
    /// Whether it is the one that answers.
    public let isOwn: Bool
  }

  /// Grows with each change of nodes and shards.
  public let version: Int64
  /// By number.
  public let nodes: [Node]
  /// Shards without an owner that is there.
  public let shardsWithoutOwner: Int

  init(_ contents: LeaseContents, own: NodeNumber?, unheard: Set<Int64>) {
    let view = contents.view(of: own)
    version = contents.version
    nodes = contents.nodes.map { node in
      Node(
        number: node.number.rawValue, name: node.name, address: node.address, release: node.release,
        shards: view.shards(of: node.number).count,
        heartbeatAgeMs: contents.heartbeatAges[node.number]?.wholeMilliseconds ?? 0, isDraining: node.isDraining,
        isOnBus: node.isOnBus, isHeard: !unheard.contains(node.number.rawValue), isOwn: node.number == own)
    }
    shardsWithoutOwner = Shard.all.count { view.owner(of: $0) == nil }
  }

  /// One JSON object, its members in a fixed order.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
  }

  /// Aligned columns for people; states are as the node that answers sees them.
  public var table: String {
    var rows = [["name", "number", "address", "release", "shards", "sign of life", "state"]]
    rows += nodes.map { node in
      [
        node.name, "\(node.number)", node.address, node.release, "\(node.shards)", "\(node.heartbeatAgeMs) ms ago",
        node.state,
      ]
    }
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
    }
    return (lines + ["", "shards without an owner: \(shardsWithoutOwner)"]).joined(separator: "\n")
  }
}

extension ClusterStatus.Node {
  fileprivate var state: String {
    let work = isDraining ? "draining" : "serving"
    if !isOnBus { return isDraining ? "draining, cut off from the bus" : "cut off from the bus" }
    return isHeard ? work : "\(work), not heard"
  }
}
