/// All series of one name.
struct MetricFamily: Sendable {
  /// Asks for the values of one moment.
  typealias Reader = @Sendable () async -> [(labels: [(String, String)], value: Double)]

  let name: String
  let type: MetricType
  var help: String?
  /// The buckets of a histogram; its first series decides, so that all have the same.
  var bounds: [Double]?
  var series: [LabelSet: any MetricSeries] = [:]
  var readers: [Reader] = []

  /// Every name that a sample of the family can have, and the family's own.
  var names: [String] { [name] + type.suffixes.map { name + $0 } }

  /// Writes the family, series by labels ascending so that one state has one text.
  /// - Parameter read: what the readers answered.
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
