import CTransport

/// Bytes that wait to be sent to connections.
public struct SendQueues: Sendable, Equatable {
  /// Bytes that wait for all connections together.
  public var bytes = 0
  /// Bytes that wait for the connection with the most.
  public var largestBytes = 0
  /// Connections for which anything waits.
  public var connections = 0

  /// Nothing waits.
  public init() {}

  /// The sum over two loops.
  public static func + (a: SendQueues, b: SendQueues) -> SendQueues {
    var both = a
    both.bytes += b.bytes
    both.largestBytes = max(a.largestBytes, b.largestBytes)
    both.connections += b.connections
    return both
  }
}

extension EventLoop {
  /// Adds up what waits for the loop's connections, some hundred of them between two flushes.
  public func measureSendQueues() async -> SendQueues {
    await withCheckedContinuation { continuation in
      perform { self.measure(from: 0, ct_waiting()) { continuation.resume(returning: $0) } }
    }
  }

  private func measure(
    from position: UInt32, _ before: ct_waiting, _ completion: @escaping @Sendable (SendQueues) -> Void
  ) {
    var sum = before
    let next = ct_loop_add_waiting(pointer, position, &sum)
    if next > 0 { return enqueueInBackground { [sum] in self.measure(from: next, sum, completion) } }
    var queues = SendQueues()
    queues.bytes = Int(sum.bytes)
    queues.largestBytes = Int(sum.largest_bytes)
    queues.connections = Int(sum.connections)
    completion(queues)
  }
}
