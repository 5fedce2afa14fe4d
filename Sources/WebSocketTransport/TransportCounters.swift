/// What one loop has counted since it was made.
public struct TransportCounters: Sendable, Equatable {
  /// WebSocket connections open now.
  public var connections = 0
  /// How many connections ended with each close code.
  public var closes: [Int: Int] = [:]
  /// Frames times recipients handed to the system.
  public var deliveries = 0
  /// Skippable entries that a slow connection did not get.
  public var skippedEntries = 0

  /// All zero.
  public init() {}

  /// The sums of two loops.
  public static func + (a: TransportCounters, b: TransportCounters) -> TransportCounters {
    var sum = a
    sum.connections += b.connections
    sum.closes.merge(b.closes, uniquingKeysWith: +)
    sum.deliveries += b.deliveries
    sum.skippedEntries += b.skippedEntries
    return sum
  }
}
