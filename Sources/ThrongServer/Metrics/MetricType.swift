/// What a metric is in the exposition format.
public enum MetricType: String, Sendable {
  /// Only grows.
  case counter
  /// Goes up and down.
  case gauge
  /// Observations counted by size.
  case histogram

  /// The names that samples of a family have besides its own.
  var suffixes: [String] {
    switch self {
    case .counter, .gauge: []
    case .histogram: ["_bucket", "_sum", "_count"]
    }
  }
}

/// What a value that is read at scrape time can be.
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
