import Histogram

/// What a run measured.
public struct Report: Sendable {
  /// Latencies in milliseconds.
  struct Latencies: Sendable, Equatable {
    var p50, p90, p99, p999, max, mean: Double
    /// How many there were.
    var count: Int
  }

  /// What the server used.
  struct Server: Sendable, Equatable {
    let pid: Int32
    /// Over the window; over the whole of it in `connect` and `storm`.
    var cpuSeconds: Double
    /// Before the first connection, at the end of the window, and the most so far.
    var residentBytesBefore, residentBytes, peakBytes: Int
    /// What a connection that takes part costs, before any traffic.
    var residentBytesPerConnection: Double?
  }

  /// What the generator used itself.
  struct Generator: Sendable, Equatable {
    var cpuSeconds: Double
    /// How late messages went out, in milliseconds; only in the open loop.
    var sendDelay: Latencies?
  }

  /// How the server answered the window's messages.
  struct Statuses: Sendable, Equatable {
    var tally: Ledger.Tally
    /// The errors by code and message.
    var errors: [String: Int]
  }

  /// One priority of the `priority` scenario.
  struct PriorityFigures: Sendable, Equatable {
    let name: String
    let rate: Double
    let tally: Ledger.Tally
    /// Deliveries of the window's messages.
    let deliveries: Int
    let latencies: Latencies?
  }

  /// How the connections came in.
  struct Connecting: Sendable, Equatable {
    let connections: Int
    let seconds: Double
    /// How many sign-ins were put off (7008, 4004).
    var toldToWait = 0
    var perSecond: Double { seconds > 0 ? Double(connections) / seconds : 0 }
  }

  /// Sessions that talk before and during a storm.
  struct Established: Sendable, Equatable {
    let connections: Int
    /// Messages per second.
    let rate: Double
    let before, during: Latencies?
    /// Messages that the server refused or did not answer.
    let errors: Int
  }

  /// One parameter, as it is told in the table and in JSON.
  struct Parameter: Sendable, Equatable {
    enum Value: Sendable, Equatable {
      case text(String)
      case integer(Int)
      case number(Double)
    }
    let name: String
    let value: Value
  }

  let scenario: String
  var parameters: [Parameter] = []
  /// The length of the window, or of what was measured instead of one.
  var seconds = 0.0
  /// Sent within the window; in `durable`: stored within it.
  var messages = 0
  /// Arrived within the window.
  var deliveries = 0
  /// The window's messages that had to arrive somewhere and did not. Nil where nothing is sent.
  var lost: Int?
  /// Arrived more often than they were sent.
  var surplus = 0
  var latencies: Latencies?
  /// What `latencies` are of.
  var latencyName = "latency"
  var messagesPerRead: Double?
  var server: Server?
  var generator: Generator?
  var statuses: Statuses?
  var priorities: [PriorityFigures] = []
  var connecting: Connecting?
  var storm: Connecting?
  var established: Established?
  /// The connections that ended by themselves, by close code or kind.
  var endings: [String: Int] = [:]
  /// What else the reader has to know, a sentence each.
  var notes: [String] = []
  /// Why the run does not count as done, a sentence each.
  public internal(set) var failures: [String] = []
  /// What became of the conditions, in their order.
  public internal(set) var verdicts: [Verdict] = []

  init(_ scenario: String) { self.scenario = scenario }

  /// The run was carried out to its end and every condition holds.
  public var isGood: Bool { failures.isEmpty && verdicts.allSatisfy(\.isMet) }

  var messagesPerSecond: Double { seconds > 0 ? Double(messages) / seconds : 0 }
  var deliveriesPerSecond: Double { seconds > 0 ? Double(deliveries) / seconds : 0 }

  /// The figure of a metric in the base of its dimension (seconds, bytes, one); nil when there is none.
  func value(of metric: Metric) -> Double? {
    func milliseconds(_ part: KeyPath<Latencies, Double>) -> Double? { latencies.map { $0[keyPath: part] / 1000 } }
    func perEach(_ count: Int) -> Double? { count > 0 ? server.map { $0.cpuSeconds / Double(count) } : nil }
    return switch metric {
    case .p50: milliseconds(\.p50)
    case .p90: milliseconds(\.p90)
    case .p99: milliseconds(\.p99)
    case .p999: milliseconds(\.p999)
    case .max: milliseconds(\.max)
    case .mean: milliseconds(\.mean)
    case .lost: lost.map(Double.init)
    case .messagesPerSecond: messagesPerSecond
    case .deliveriesPerSecond: deliveriesPerSecond
    case .cpuPerDelivery: perEach(deliveries)
    case .cpuPerMessage: perEach(messages)
    case .residentPerConnection: server?.residentBytesPerConnection
    case .cpu: server?.cpuSeconds
    case .connectionsPerSecond: connecting?.perSecond ?? storm?.perSecond
    case .seconds: connecting?.seconds ?? storm?.seconds ?? seconds
    }
  }

  mutating func judge(_ conditions: [Condition]) { verdicts = conditions.map { $0.verdict(value(of: $0.metric)) } }
}

extension Report.Latencies {
  /// The figures of a histogram of nanoseconds; nil without any value.
  init?(_ histogram: Recorder.Latencies) {
    guard histogram.totalCount > 0 else { return nil }
    func milliseconds(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1e6 }
    self.init(
      p50: milliseconds(50), p90: milliseconds(90), p99: milliseconds(99), p999: milliseconds(99.9),
      max: Double(histogram.max) / 1e6, mean: histogram.mean / 1e6, count: Int(histogram.totalCount))
  }
}
