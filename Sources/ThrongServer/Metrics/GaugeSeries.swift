import CoreMetrics
import Synchronization

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
