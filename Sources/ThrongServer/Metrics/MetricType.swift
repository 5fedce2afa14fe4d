/// The type of a metric in the exposition format.
public enum MetricType: String, Sendable {
  /// Only grows.
  case counter
  /// Goes up and down.
  case gauge
  /// Observations counted by size.
  case histogram

  /// The suffixes of the sample names that a family has besides its own.
  var suffixes: [String] {
    switch self {
    case .counter, .gauge: []
    case .histogram: ["_bucket", "_sum", "_count"]
    }
  }
}

/// The type of a metric whose value is read at each scrape.
public enum ScrapedType: Sendable {
  /// Only grows.
  case counter
  /// Goes up and down.
  case gauge

  var type: MetricType {
    switch self {
    case .counter: .counter
    case .gauge: .gauge
    }
  }
}
