import GroupModel

/// N sessions sign in and stay idle: their rate and their cost.
public struct ConnectScenario: Scenario {
  /// The number of sessions.
  public var connections: Int
  /// Connections begun per second; nil: as fast as possible.
  public var rate: Double?

  /// Creates the scenario; the command line has checked the numbers.
  public init(connections: Int, rate: Double?) {
    self.connections = connections
    self.rate = rate
  }

  public var metrics: Set<Metric> { [.cpu, .residentPerConnection, .connectionsPerSecond, .seconds] }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("connect")
    report.parameters = [.init(name: "connections", value: .integer(connections))]
    if let rate { report.parameters.append(.init(name: "rate", value: .number(rate))) }
    report.parameters.append(.init(name: "parallel", value: .integer(bench.options.parallel)))
    let dialect = try ThrongDialect(
      address: bench.options.address, groupType: .avChatRoom, sessions: connections, token: bench.token)
    let run = try bench.makeRun(connections: connections, dialect: dialect)
    let (server, generator) = (bench.serverUsage(), ProcessUsage.ofSelf())
    let (start, end) = try run.connect(0..<connections, parallel: bench.options.parallel, rate: rate)
    let after = bench.serverUsage()
    report.seconds = Clock.seconds(from: start, to: end)
    report.connecting = Report.Connecting(connections: connections, seconds: report.seconds)
    report.server = bench.serverFigures(from: server, to: after, joined: after, connections: connections)
    report.generator = Report.Generator(cpuSeconds: ProcessUsage.ofSelf().cpuSeconds - generator.cpuSeconds)
    return report
  }
}
