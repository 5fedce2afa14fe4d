import CoreMetrics
import Synchronization

/// Observations counted by size.
final class HistogramSeries: MetricSeries, TimerHandler, RecorderHandler {
  /// Bounds for durations, in seconds.
  static let durationBounds = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// Bounds for sizes and counts of any unit.
  static let sizeBounds: [Double] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000, 10_000_000,
  ]

  /// A class, because an array cannot hold atomics.
  private final class Count: Sendable {
    let value = Atomic<UInt64>(0)
  }

  /// The largest observation of each bucket; the last bucket has no bound.
  let bounds: [Double]
  private let counts: [Count]
  private let sum = Atomic<Double>(0)

  /// - Parameter bounds: ascending.
  init(bounds: [Double]) {
    self.bounds = bounds
    counts = (0...bounds.count).map { _ in Count() }
  }

  /// Records a duration; a negative one counts as zero.
  func recordNanoseconds(_ duration: Int64) { record(Double(max(0, duration)) / 1e9) }

  func record(_ value: Int64) { record(Double(value)) }

  /// Counts an observation. A number that is not finite is ignored: it would spoil the sum for
  /// ever.
  func record(_ value: Double) {
    guard value.isFinite else { return }
    counts[bounds.firstIndex { value <= $0 } ?? bounds.count].value.wrappingAdd(1, ordering: .relaxed)
    sum.add(value)
  }

  func write(into writer: inout ExpositionWriter, named name: String, _ labels: LabelSet) {
    let reading = HistogramReading(
      counts: counts.map { $0.value.load(ordering: .relaxed) }, sum: sum.load(ordering: .relaxed))
    writer.histogram(name, labels, bounds: bounds, reading)
  }
}
