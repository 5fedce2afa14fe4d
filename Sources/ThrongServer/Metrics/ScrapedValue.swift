/// Observations by size, as a scrape finds them.
public struct HistogramReading: Sendable {
  /// By bucket; the last has no bound.
  public let counts: [UInt64]
  /// The sum over all observations.
  public let sum: Double

  /// A reading with everything given.
  public init(counts: [UInt64], sum: Double) {
    self.counts = counts
    self.sum = sum
  }
}

/// A value of a reader.
enum ScrapedValue: Sendable {
  case number(Double)
  case histogram(HistogramReading)

  func write(into writer: inout ExpositionWriter, named name: String, _ labels: LabelSet, bounds: [Double]) {
    switch self {
    case .number(let value): writer.sample(name, labels, value)
    case .histogram(let reading): writer.histogram(name, labels, bounds: bounds, reading)
    }
  }
}
