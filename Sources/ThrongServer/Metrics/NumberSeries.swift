import CoreMetrics
import Synchronization

/// A number that only grows. Integers and fractions are counted apart, so that the usual increment
/// is one atomic addition.
final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
  private let whole = Atomic<UInt64>(0)
  private let fractional = Atomic<Double>(0)

  var value: Double { Double(whole.load(ordering: .relaxed)) + fractional.load(ordering: .relaxed) }

  /// Adds an amount; a negative one adds nothing.
  func increment(by amount: Int64) {
    whole.wrappingAdd(UInt64(max(0, amount)), ordering: .relaxed)
  }

  /// Adds an amount; one that is negative or not finite adds nothing.
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

/// A number that goes up and down.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
  private let number = Atomic<Double>(0)

  var value: Double { number.load(ordering: .relaxed) }

  func set(_ value: Int64) { set(Double(value)) }

  func set(_ value: Double) { number.store(value, ordering: .relaxed) }

  func increment(by amount: Double) { number.add(amount) }

  func decrement(by amount: Double) { number.add(-amount) }

  func record(_ value: Int64) { set(value) }

  func record(_ value: Double) { set(value) }

  func write(into writer: inout ExpositionWriter, named name: String, _ labels: LabelSet) {
    writer.sample(name, labels, value)
  }
}
