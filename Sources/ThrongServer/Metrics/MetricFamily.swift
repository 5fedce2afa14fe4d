import Synchronization

/// All series of one name.
struct MetricFamily: Sendable {
  /// Reads the current values.
  typealias Reader = @Sendable () async -> [(labels: [(String, String)], value: Double)]

  let name: String
  let type: MetricType
  var help: String?
  /// The buckets of a histogram; its first series decides, so that all have the same.
  var bounds: [Double]?
  var series: [LabelSet: any MetricSeries] = [:]
  var readers: [Reader] = []

  /// The family's name and the names of its samples.
  var names: [String] { [name] + type.suffixes.map { name + $0 } }

  /// Writes the family, with series by labels ascending, so that one state has one text.
  /// - Parameter read: the values of the readers.
  func write(into writer: inout ExpositionWriter, read: [LabelSet: Double]) {
    writer.head(name, type, help: help)
    for labels in (Array(series.keys) + read.keys).sorted() {
      if let one = series[labels] {
        one.write(into: &writer, named: name, labels)
      } else if let value = read[labels] {
        writer.sample(name, labels, value)
      }
    }
  }
}

/// One series: a metric with one set of labels.
protocol MetricSeries: AnyObject, Sendable {
  func write(into writer: inout ExpositionWriter, named name: String, _ labels: LabelSet)
}

extension Atomic<Double> {
  func add(_ amount: Double) {
    var current = load(ordering: .relaxed)
    while true {
      let (exchanged, original) = weakCompareExchange(expected: current, desired: current + amount, ordering: .relaxed)
      if exchanged { return }
      current = original
    }
  }
}
