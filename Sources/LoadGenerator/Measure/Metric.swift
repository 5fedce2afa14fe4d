/// A figure that a condition may bound.
public enum Metric: String, CaseIterable, Sendable {
  case p50, p90, p99
  case p999 = "p99.9"
  case max, mean, lost
  case messagesPerSecond = "messages/s"
  case deliveriesPerSecond = "deliveries/s"
  case cpuPerDelivery = "cpu/delivery"
  case cpuPerMessage = "cpu/message"
  case residentPerConnection = "rss/connection"
  case cpu
  case connectionsPerSecond = "connections/s"
  case incrementsPerSecond = "increments/s"
  case seconds

  /// The dimension of a figure.
  enum Dimension {
    case time, bytes, plain
  }

  var dimension: Dimension {
    switch self {
    case .p50, .p90, .p99, .p999, .max, .mean, .cpuPerDelivery, .cpuPerMessage, .cpu, .seconds: .time
    case .residentPerConnection: .bytes
    case .lost, .messagesPerSecond, .deliveriesPerSecond, .connectionsPerSecond, .incrementsPerSecond: .plain
    }
  }

  /// The unit of a bound without one, and of the reported value.
  var unit: Unit {
    switch self {
    case .p50, .p90, .p99, .p999, .max, .mean: .milliseconds
    case .cpuPerDelivery, .cpuPerMessage: .microseconds
    case .cpu, .seconds: .seconds
    case .residentPerConnection: .kilobytes
    case .lost, .messagesPerSecond, .deliveriesPerSecond, .connectionsPerSecond, .incrementsPerSecond: .one
    }
  }

  /// It needs the server's process ID.
  public var needsServer: Bool {
    switch self {
    case .cpuPerDelivery, .cpuPerMessage, .residentPerConnection, .cpu: true
    default: false
    }
  }

  /// The metrics of scenarios that send messages.
  static let ofMessages: Set<Metric> = Set(allCases).subtracting([.connectionsPerSecond, .incrementsPerSecond])
}

/// A unit of the command line.
enum Unit: String, CaseIterable {
  case nanoseconds = "ns"
  case microseconds = "us"
  case milliseconds = "ms"
  case seconds = "s"
  case bytes = "B"
  case kilobytes = "KB"
  case megabytes = "MB"
  case one = ""

  /// Its size in the dimension's base unit (seconds, bytes, one). A kilobyte has 1024 bytes, as
  /// in `/proc`.
  var factor: Double {
    switch self {
    case .nanoseconds: 1e-9
    case .microseconds: 1e-6
    case .milliseconds: 1e-3
    case .seconds, .bytes, .one: 1
    case .kilobytes: 1024
    case .megabytes: 1_048_576
    }
  }

  var dimension: Metric.Dimension {
    switch self {
    case .nanoseconds, .microseconds, .milliseconds, .seconds: .time
    case .bytes, .kilobytes, .megabytes: .bytes
    case .one: .plain
    }
  }
}
