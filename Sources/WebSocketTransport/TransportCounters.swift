/// What one loop has counted since it was made.
public struct TransportCounters: Sendable, Equatable {
  /// WebSocket connections open now.
  public var connections = 0
  /// WebSocket connections opened so far.
  public var connectionsTotal = 0
  /// How many connections ended with each close code.
  public var closes: [Int: Int] = [:]
  /// Messages received.
  public var messagesReceived = 0
  /// Frames times recipients handed to the system.
  public var deliveries = 0
  /// Bytes of those frames.
  public var deliveredBytes = 0
  /// Skippable entries that a slow connection did not get.
  public var skippedEntries = 0

  /// All zero.
  public init() {}

  /// The sums of two loops.
  public static func + (a: TransportCounters, b: TransportCounters) -> TransportCounters {
    var sum = a
    sum.connections += b.connections
    sum.connectionsTotal += b.connectionsTotal
    sum.closes.merge(b.closes, uniquingKeysWith: +)
    sum.messagesReceived += b.messagesReceived
    sum.deliveries += b.deliveries
    sum.deliveredBytes += b.deliveredBytes
    sum.skippedEntries += b.skippedEntries
    return sum
  }
}
