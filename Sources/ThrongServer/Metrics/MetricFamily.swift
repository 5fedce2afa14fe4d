import Synchronization

/// All series of one name.
struct MetricFamily: Sendable {
  /// Reads the current values.
  typealias Reader = @Sendable () async -> [(labels: [(String, String)], value: ScrapedValue)]

  let name: String
  let type: MetricType
  var help: String?
  /// The buckets of a histogram; its first series decides, so that all have the same.
  var bounds: [Double]?
  var series: [LabelSet: any MetricSeries] = [:]
  var readers: [Reader] = []

  /// The family's name and the names of its samples.
  var names: [String] { [name] + type.suffixes.map { name + $0 } }

  /// Whether a histogram's reading has the family's buckets.
  func accepts(_ value: ScrapedValue) -> Bool {
    switch value {
    case .number: type != .histogram
    case .histogram(let reading): type == .histogram && reading.counts.count == (bounds?.count ?? 0) + 1
    }
  }

  /// Writes the family, with series by labels ascending, so that one state has one text.
  /// - Parameter read: the values of the readers.
  func write(into writer: inout ExpositionWriter, read: [LabelSet: ScrapedValue]) {
    writer.head(name, type, help: help)
    for labels in (Array(series.keys) + read.keys).sorted() {
      if let one = series[labels] {
        one.write(into: &writer, named: name, labels)
      } else if let value = read[labels] {
        value.write(into: &writer, named: name, labels, bounds: bounds ?? [])
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
