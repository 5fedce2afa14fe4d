import GroupModel

/// A node's last sign of life, as the database has it: another one with each heartbeat.
public struct LifeSign: Hashable, Sendable {
  public let rawValue: String

  /// - Parameter rawValue: is only compared.
  public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// Judges which other nodes have gone: those whose sign of life stays the same for the time of a lease,
/// by the monotonic clock of the node that looks (Cluster.md, "The lease"). The database's clock may
/// step as it likes: nobody asks it.
///
/// A sign is counted from when it was read, which is later than its heartbeat was sent. So a node has
/// paused by its own clock before others take it for gone. Removing it names the sign: a heartbeat that
/// came meanwhile keeps it.
public struct LeaseWatch: Hashable, Sendable {
  private struct Seen: Hashable {
    var sign: LifeSign
    var since: MonotonicInstant
    var changes = 0
  }

  private let duration: Duration
  private var seen: [NodeNumber: Seen] = [:]

  /// Nobody has been seen.
  public init(duration: Duration) { self.duration = duration }

  /// Takes the signs of all other nodes that are there.
  /// - Parameter now: when they had come, or later.
  public mutating func note(_ signs: [NodeNumber: LifeSign], receivedAt now: MonotonicInstant) {
    seen = signs.reduce(into: [:]) { kept, node in
      var entry = seen[node.key] ?? Seen(sign: node.value, since: now)
      if entry.sign != node.value { entry = Seen(sign: node.value, since: now, changes: entry.changes + 1) }
      kept[node.key] = entry
    }
  }

  /// The nodes that have gone, each with its last sign.
  public func silentNodes(at now: MonotonicInstant) -> [NodeNumber: LifeSign] {
    seen.filter { now - $0.value.since >= duration }.mapValues(\.sign)
  }

  /// How often a node has been seen to give another sign.
  public func changes(of node: NodeNumber) -> Int { seen[node]?.changes ?? 0 }
}
