import CoreMetrics
import Synchronization

/// A number that only grows. Whole amounts and amounts with a fraction are kept apart, so that the usual increment is one
/// atomic addition.
final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
  private let whole = Atomic<UInt64>(0)
  private let fractional = Atomic<Double>(0)

  /// Everything added up.
  var value: Double { Double(whole.load(ordering: .relaxed)) + fractional.load(ordering: .relaxed) }

  /// Adds; a negative amount is no amount to a counter and adds nothing.
  func increment(by amount: Int64) {
    whole.wrappingAdd(UInt64(max(0, amount)), ordering: .relaxed)
  }

  /// Adds; an amount that is negative or not a finite number adds nothing.
  func increment(by amount: Double) {
    guard amount.isFinite, amount > 0 else { return }
    fractional.add(amount)
  }

  func reset() {
    whole.store(0, ordering: .relaxed)
    fractional.store(0, ordering: .relaxed)
  }

  func write(into writer: inout ExpositionWriter, named name: String, _ labels: LabelSet) {
    writer.sample(name, labels, value)
  }
}
