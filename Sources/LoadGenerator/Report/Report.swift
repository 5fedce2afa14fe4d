import Histogram

/// The figures of a run.
public struct Report: Sendable {
  /// Latencies in milliseconds.
  struct Latencies: Sendable, Equatable {
    var p50, p90, p99, p999, max, mean: Double
    /// The number of latencies.
    var count: Int
  }

  /// The server's CPU time and memory.
  struct Server: Sendable, Equatable {
    let pid: Int32
    /// Within the window; in `connect` and `storm` from the first connection to the last.
    var cpuSeconds: Double
    /// Before the first connection, at the end of the window, and the most so far.
    var residentBytesBefore, residentBytes, peakBytes: Int
    /// The growth per open connection before any message.
    var residentBytesPerConnection: Double?
  }

  /// The generator's CPU time.
  struct Generator: Sendable, Equatable {
    var cpuSeconds: Double
    /// The delay of messages behind their schedule, in milliseconds; open loop only.
    var sendDelay: Latencies?
  }

  /// The server's replies to the window's messages.
  struct Statuses: Sendable, Equatable {
    var tally: DeliveryLog.Tally
    /// The errors by code and message.
    var errors: [String: Int]
  }

  /// One priority of the `priority` scenario.
  struct PriorityFigures: Sendable, Equatable {
    let name: String
    let rate: Double
    let tally: DeliveryLog.Tally
    /// Deliveries of the window's messages.
    let deliveries: Int
    let latencies: Latencies?
  }

  /// The time that connections took to open.
  struct Connecting: Sendable, Equatable {
    let connections: Int
    let seconds: Double
    /// The number of postponed sign-ins (7008, 4004).
    var toldToWait = 0
    var perSecond: Double { seconds > 0 ? Double(connections) / seconds : 0 }
  }

  /// Sessions that send messages before and during a storm.
  struct Established: Sendable, Equatable {
    let connections: Int
    /// Messages per second.
    let rate: Double
    let before, during: Latencies?
    /// Messages that the server refused or did not answer.
    let errors: Int
  }

  /// Increments of a counter beside the messages.
  struct Increments: Sendable, Equatable {
    /// Answered within the window.
    let answered: Int
    let seconds: Double
    /// From due to answered.
    let latencies: Latencies?
    /// The errors by code and message.
    let errors: [String: Int]
    var perSecond: Double { seconds > 0 ? Double(answered) / seconds : 0 }
  }

  /// onUsersStatusChanged within the window.
  struct StatusEvents: Sendable, Equatable {
    let events: Int
    /// The statuses in them.
    let rows: Int
    let seconds: Double
    var eventsPerSecond: Double { seconds > 0 ? Double(events) / seconds : 0 }
    var rowsPerSecond: Double { seconds > 0 ? Double(rows) / seconds : 0 }
  }

  /// The deliveries inside the window to the connections that offer permessage-deflate.
  struct Compression: Sendable, Equatable {
    let deliveries: Int
    /// Those of them that came compressed.
    let compressed: Int
    /// Bytes of the messages after inflation, and all bytes that the sockets received.
    let messageBytes, wireBytes: Int
    /// The deliveries of the run whose bytes were compared with another receiver's.
    let compared: Int

    var share: Double { perDelivery(compressed) }
    var messageBytesPerDelivery: Double { perDelivery(messageBytes) }
    var wireBytesPerDelivery: Double { perDelivery(wireBytes) }

    private func perDelivery(_ count: Int) -> Double { deliveries > 0 ? Double(count) / Double(deliveries) : 0 }
  }

  /// One parameter of the scenario.
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
  /// The length of the window; in `connect` and `storm` of the connecting.
  var seconds = 0.0
  /// Messages sent within the window; in `durable`: stored within it.
  var messages = 0
  /// Deliveries that arrived within the window.
  var deliveries = 0
  /// Deliveries of the window's messages that did not arrive; nil: the scenario sends none.
  var lost: Int?
  /// Deliveries beyond the expected ones.
  var surplus = 0
  var latencies: Latencies?
  /// The name of `latencies` in the table.
  var latencyName = "latency"
  var messagesPerRead: Double?
  var server: Server?
  var generator: Generator?
  var statuses: Statuses?
  var priorities: [PriorityFigures] = []
  var increments: Increments?
  /// The name of `increments` in the table.
  var incrementsName = "increments"
  var statusEvents: StatusEvents?
  /// nil: the connections offered no compression.
  var compression: Compression?
  var connecting: Connecting?
  var storm: Connecting?
  var established: Established?
  /// The connections that ended by themselves, by close code or kind.
  var endings: [String: Int] = [:]
  /// Sentences about the figures.
  var notes: [String] = []
  /// Sentences about why the run failed.
  public internal(set) var failures: [String] = []
  /// The results of the conditions, in their order.
  public internal(set) var verdicts: [Verdict] = []

  init(_ scenario: String) { self.scenario = scenario }

  /// The run reached its end and every condition holds.
  public var isGood: Bool { failures.isEmpty && verdicts.allSatisfy(\.isMet) }

  var messagesPerSecond: Double { seconds > 0 ? Double(messages) / seconds : 0 }
  var deliveriesPerSecond: Double { seconds > 0 ? Double(deliveries) / seconds : 0 }

  /// A figure in the base unit of its dimension (seconds, bytes, one); nil: not measured.
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
    case .incrementsPerSecond: increments?.perSecond
    case .connectionsPerSecond: connecting?.perSecond ?? storm?.perSecond
    case .seconds: connecting?.seconds ?? storm?.seconds ?? seconds
    }
  }

  mutating func evaluate(_ conditions: [Condition]) { verdicts = conditions.map { $0.verdict(value(of: $0.metric)) } }
}

extension Report.Compression {
  init(_ check: CompressionCheck, wireBytes: Int) {
    let counters = check.counters
    self.init(
      deliveries: counters.deliveries, compressed: counters.compressed, messageBytes: counters.bytes, wireBytes: wireBytes,
      compared: check.equal)
  }
}

extension Report.Latencies {
  /// The figures of a histogram of nanoseconds; nil: it is empty.
  init?(_ histogram: Recorder.Latencies) {
    guard histogram.totalCount > 0 else { return nil }
    func milliseconds(_ percentile: Double) -> Double { Double(histogram.valueAtPercentile(percentile)) / 1e6 }
    self.init(
      p50: milliseconds(50), p90: milliseconds(90), p99: milliseconds(99), p999: milliseconds(99.9),
      max: Double(histogram.max) / 1e6, mean: histogram.mean / 1e6, count: Int(histogram.totalCount))
  }
}
