import Histogram

/// Counts deliveries and their latencies. It is called for each delivery, so its data is raw
/// memory: no reference counts, no checks of exclusive access, no allocation.
final class Recorder {
  typealias Latencies = Histogram<UInt64>

  /// The counters of the hot path.
  struct Counters {
    /// The window: stamps from here on, and before `windowEnd` (nanoseconds).
    var windowStart = UInt64.max
    var windowEnd = UInt64.max
    /// Now is inside the window.
    var isMeasuring = false
    /// Deliveries that arrived inside the window, whenever they were sent.
    var timely = 0
    /// Deliveries of the window's messages, whenever they arrived.
    var matched = 0
    /// All deliveries since the start.
    var total = 0
    /// Reads of one byte or more, and their bytes.
    var reads = 0
    var bytes = 0
    /// Latencies are those of deliveries; otherwise of replies.
    var timesDeliveries = true
  }

  /// The longest latency of the histogram: an hour, in nanoseconds.
  static let longest: UInt64 = 3_600_000_000_000

  let counters: UnsafeMutablePointer<Counters>
  let latencies: UnsafeMutablePointer<Latencies>
  /// Deliveries of the window's messages by flow.
  let matchedByFlow: UnsafeMutablePointer<Int>
  /// The messages of the closed loop that have not come back to its pacer.
  let inFlight: UnsafeMutablePointer<InFlight>

  init() {
    counters = .allocate(capacity: 1)
    counters.initialize(to: Counters())
    latencies = .allocate(capacity: Stamp.flows)
    for flow in 0..<Stamp.flows { (latencies + flow).initialize(to: Recorder.emptyHistogram()) }
    matchedByFlow = .allocate(capacity: Stamp.flows)
    matchedByFlow.initialize(repeating: 0, count: Stamp.flows)
    inFlight = .allocate(capacity: 1)
    inFlight.initialize(to: InFlight())
  }

  deinit {
    counters.deallocate()
    latencies.deinitialize(count: Stamp.flows)
    latencies.deallocate()
    matchedByFlow.deallocate()
    inFlight.deinitialize(count: 1)
    inFlight.deallocate()
  }

  /// Its resolution is a microsecond or 0.1 % of the value.
  static func emptyHistogram() -> Latencies {
    Latencies(lowestDiscernibleValue: 1000, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
  }

  /// Counts one delivery.
  /// - Returns: whether it belongs to the measurement.
  @inline(__always)
  func recordDelivery(stamp: UInt64, isPacer: Bool, now: UInt64) -> Bool {
    let counters = counters
    counters.pointee.total &+= 1
    if counters.pointee.isMeasuring { counters.pointee.timely &+= 1 }
    if isPacer { inFlight.pointee.recordReturn(stamp, at: now) }
    guard stamp >= counters.pointee.windowStart, stamp < counters.pointee.windowEnd else { return false }
    counters.pointee.matched &+= 1
    let flow = Int(stamp & 3)
    matchedByFlow[flow] &+= 1
    if counters.pointee.timesDeliveries { record(now > stamp ? now &- stamp : 0, flow: flow) }
    return true
  }

  /// Counts one latency (nanoseconds).
  @inline(__always)
  func record(_ latency: UInt64, flow: Int) {
    latencies[flow].record(min(latency, Recorder.longest))
  }

  /// The latencies of all flows.
  var allLatencies: Latencies {
    var sum = latencies[0]
    for flow in 1..<Stamp.flows { sum.add(latencies[flow]) }
    return sum
  }
}
