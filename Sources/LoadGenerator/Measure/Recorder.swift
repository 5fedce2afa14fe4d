import Histogram

/// Counts deliveries and their latencies. One call per delivery, so everything it touches is raw memory: no reference counts, no
/// checks of exclusive access, no allocation.
final class Recorder {
  typealias Latencies = Histogram<UInt64>

  /// What the hot path counts.
  struct Counters {
    /// Messages with a stamp from here on, and before `windowEnd`, belong to the measurement (nanoseconds).
    var windowStart = UInt64.max
    var windowEnd = UInt64.max
    /// Deliveries that arrive now are inside the window.
    var isMeasuring = false
    /// Deliveries that arrived inside the window, whenever they were sent.
    var timely = 0
    /// Deliveries of the window's messages, whenever they arrived.
    var matched = 0
    /// All deliveries since the start.
    var total = 0
    /// Reads that brought something, and bytes.
    var reads = 0
    var bytes = 0
    /// Latencies of deliveries are wanted.
    var timesDeliveries = true
  }

  /// The longest latency that is told apart: an hour, in nanoseconds.
  static let longest: UInt64 = 3_600_000_000_000

  let counters: UnsafeMutablePointer<Counters>
  let latencies: UnsafeMutablePointer<Latencies>
  /// Deliveries of the window's messages by lane.
  let matchedByLane: UnsafeMutablePointer<Int>
  /// The messages of the closed loop that have not come back on the connection that is its clock.
  let underWay: UnsafeMutablePointer<UnderWay>

  init() {
    counters = .allocate(capacity: 1)
    counters.initialize(to: Counters())
    latencies = .allocate(capacity: Stamp.lanes)
    for lane in 0..<Stamp.lanes { (latencies + lane).initialize(to: Recorder.emptyHistogram()) }
    matchedByLane = .allocate(capacity: Stamp.lanes)
    matchedByLane.initialize(repeating: 0, count: Stamp.lanes)
    underWay = .allocate(capacity: 1)
    underWay.initialize(to: UnderWay())
  }

  deinit {
    counters.deallocate()
    latencies.deinitialize(count: Stamp.lanes)
    latencies.deallocate()
    matchedByLane.deallocate()
    underWay.deinitialize(count: 1)
    underWay.deallocate()
  }

  /// A microsecond is told apart, and 0.1 % of the value.
  static func emptyHistogram() -> Latencies {
    Latencies(lowestDiscernibleValue: 1000, highestTrackableValue: longest, numberOfSignificantValueDigits: .three)
  }

  /// Counts one delivery.
  /// - Returns: whether it belongs to the measurement.
  @inline(__always)
  func deliver(stamp: UInt64, isClock: Bool, now: UInt64) -> Bool {
    let counters = counters
    counters.pointee.total &+= 1
    if counters.pointee.isMeasuring { counters.pointee.timely &+= 1 }
    if isClock { underWay.pointee.comeBack(stamp, at: now) }
    guard stamp >= counters.pointee.windowStart, stamp < counters.pointee.windowEnd else { return false }
    counters.pointee.matched &+= 1
    let lane = Int(stamp & 3)
    matchedByLane[lane] &+= 1
    if counters.pointee.timesDeliveries { record(now > stamp ? now &- stamp : 0, lane: lane) }
    return true
  }

  /// Counts one latency (nanoseconds).
  @inline(__always)
  func record(_ latency: UInt64, lane: Int) {
    latencies[lane].record(min(latency, Recorder.longest))
  }

  /// The latencies of all lanes.
  var allLatencies: Latencies {
    var sum = latencies[0]
    for lane in 1..<Stamp.lanes { sum.add(latencies[lane]) }
    return sum
  }
}
