import CTransport

/// One event loop: a thread that owns its connections, topics and HTTP requests.
public final class EventLoop: Sendable {
  /// The loop's number, from 0.
  public let index: Int
  /// Runs actors on this loop's thread.
  public let executor: LoopExecutor

  let callbacks: LoopCallbacks

  init(index: Int, configuration: TransportConfiguration, delegate: any TransportDelegate) throws(TransportError) {
    self.index = index
    callbacks = LoopCallbacks(delegate: delegate, announcesClients: configuration.announcesClients)
    executor = LoopExecutor(try callbacks.makeLoop(configuration))
    callbacks.attach(self)
  }

  /// Whether the caller is on this loop's thread.
  public var isCurrent: Bool { executor.isCurrent }

  /// Runs `body` at once when the caller is on this loop, else queues it.
  public func perform(_ body: @escaping @Sendable () -> Void) {
    if isCurrent { body() } else { enqueue(body) }
  }

  /// Queues `body`: it runs in a later turn, or later in this one, behind earlier work of the same
  /// thread.
  public func enqueue(_ body: @escaping @Sendable () -> Void) {
    executor.enqueue(body)
  }

  /// Queues `body` behind everything else: a busy loop runs one or two such bodies between two
  /// flushes. On this loop's thread only.
  public func enqueueInBackground(_ body: @escaping @Sendable () -> Void) {
    preconditionCurrent()
    executor.enqueueInBackground(body)
  }

  /// Does what is due by `TransportConfiguration.clock`, as the loop does every 100 ms by itself; on
  /// its thread only. For tests whose clock has moved.
  public func runTimers() {
    preconditionCurrent()
    ct_loop_run_timers(pointer)
  }

  /// Lets HTTP requests be answered, then closes the listeners and calls `body`; see `Transport`.
  func finishAnswers(atMost count: Int, then body: @escaping @Sendable () -> Void) {
    perform { self.callbacks.finishAnswers(of: self, atMost: count, then: body) }
  }

  /// The loop's counters; on its thread only.
  public func counters() -> TransportCounters {
    preconditionCurrent()
    let counted = ct_loop_counters(pointer)
    var counters = TransportCounters()
    counters.connections = Int(counted.connections_open)
    counters.eventStreams = Int(counted.event_streams)
    counters.waitingConnections = Int(counted.connections_waiting)
    counters.deliveries = Int(counted.deliveries)
    counters.skippedEntries = Int(counted.skipped_entries)
    counters.streams = Int(counted.streams)
    counters.followers = Int(counted.followers)
    counters.resets = Int(counted.resets)
    counters.compressedBytes = Int(counted.deflated_bytes)
    counters.uncompressedBytes = Int(counted.deflated_plain_bytes)
    counters.flushes = BucketCounts(counted.flushes)
    counters.lags = BucketCounts(counted.lags)
    counters.turns = BucketCounts(counted.turns)
    let closes = UnsafeBufferPointer(start: ct_loop_closes(pointer), count: CT_CLOSE_CODES)
    for (code, count) in closes.enumerated() where count > 0 { counters.closes[code] = Int(count) }
    return counters
  }

  /// The most steps that a search for a subscription can take.
  var longestSubscriptionSearch: Int { ct_loop_longest_search(pointer) }

  var pointer: OpaquePointer { executor.pointer }

  @inline(__always)
  func preconditionCurrent() {
    precondition(isCurrent, "not on the thread of this event loop")
  }
}

/// Observations of a loop by size.
public struct BucketCounts: Sendable, Equatable {
  /// The largest observation of each bucket but the last: deliveries of a flush, one unit each.
  public static let flushBounds = (0..<Int(CT_BUCKETS) - 1).map { Double(1 << $0) }
  /// The same for lags and turns, in seconds.
  public static let lagBounds = flushBounds.map { $0 * Double(CT_LAG_UNIT_US) / 1e6 }

  /// By bucket; the last has no bound.
  public var counts = [UInt64](repeating: 0, count: Int(CT_BUCKETS))
  /// The sum over all observations: deliveries, or microseconds.
  public var sum: UInt64 = 0

  init() {}

  init(_ histogram: ct_histogram) {
    withUnsafeBytes(of: histogram.counts) { counts = Array($0.assumingMemoryBound(to: UInt64.self)) }
    sum = histogram.sum
  }

  static func + (a: BucketCounts, b: BucketCounts) -> BucketCounts {
    var both = a
    for (bucket, count) in b.counts.enumerated() { both.counts[bucket] += count }
    both.sum += b.sum
    return both
  }
}

/// Counts of one loop since it was made.
public struct TransportCounters: Sendable, Equatable {
  /// WebSockets and event streams open now.
  public var connections = 0
  /// Those of them that are event streams.
  public var eventStreams = 0
  /// Connections now without their PROXY header, their head or their ClientHello.
  public var waitingConnections = 0
  /// How many connections ended with each close code.
  public var closes: [Int: Int] = [:]
  /// Frames times recipients handed to the system.
  public var deliveries = 0
  /// Skippable entries that a slow connection did not get.
  public var skippedEntries = 0
  /// Topics that are compressed now.
  public var streams = 0
  /// Connections that follow one of them now.
  public var followers = 0
  /// How often a compressor has begun anew.
  public var resets = 0
  /// Bytes of compressed frames times recipients.
  public var compressedBytes = 0
  /// Bytes of the plain frames in whose place those were sent.
  public var uncompressedBytes = 0
  /// Flushes by their deliveries.
  public var flushes = BucketCounts()
  /// How late the loop's timer of 100 ms came, ten times a second.
  public var lags = BucketCounts()
  /// How long the loop's turns were, from the end of a wait for events to the next wait.
  public var turns = BucketCounts()

  /// All zero.
  public init() {}

  /// The sums of two loops.
  public static func + (a: TransportCounters, b: TransportCounters) -> TransportCounters {
    var sum = a
    sum.connections += b.connections
    sum.eventStreams += b.eventStreams
    sum.waitingConnections += b.waitingConnections
    sum.closes.merge(b.closes, uniquingKeysWith: +)
    sum.deliveries += b.deliveries
    sum.skippedEntries += b.skippedEntries
    sum.streams += b.streams
    sum.followers += b.followers
    sum.resets += b.resets
    sum.compressedBytes += b.compressedBytes
    sum.uncompressedBytes += b.uncompressedBytes
    sum.flushes = a.flushes + b.flushes
    sum.lags = a.lags + b.lags
    sum.turns = a.turns + b.turns
    return sum
  }
}
