import Synchronization

/// One series: a metric with one set of labels.
protocol MetricSeries: AnyObject, Sendable {
  /// Writes its samples.
  func write(into writer: inout ExpositionWriter, named name: String, _ labels: LabelSet)
}

extension Atomic<Double> {
  /// Adds without a lock.
  func add(_ amount: Double) {
    var current = load(ordering: .relaxed)
    while true {
      let (exchanged, original) = weakCompareExchange(expected: current, desired: current + amount, ordering: .relaxed)
      if exchanged { return }
      current = original
    }
  }
}
