import GroupModel

/// N members of one room lose their connections at the same moment and all come back at once.
public struct StormScenario: Scenario {
  /// How many there are.
  public var connections: Int

  /// A storm of that many; the number was checked by the command line.
  public init(connections: Int) { self.connections = connections }

  public var metrics: Set<Metric> { [.cpu, .residentPerConnection, .connectionsPerSecond, .seconds] }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("storm")
    report.parameters = [
      .init(name: "connections", value: .integer(connections)), .init(name: "parallel", value: .integer(bench.options.parallel)),
    ]
    let groups = try ThrongGroups(bench, type: .avChatRoom, sessions: connections) { _ in 0 }
    let stage = try bench.stage(connections: connections, dialect: groups.dialect)
    let begin = Clock.now()
    try groups.admit(stage, bench, creators: [0], others: Array(1..<connections))
    report.connecting = Report.Connecting(connections: connections, seconds: Clock.seconds(from: begin, to: Clock.now()))
    let (server, generator) = (bench.serverUsage(), ProcessUsage.ofSelf())
    stage.cut(0..<connections)
    // Everyone joins again, the creator too: who is a member still is told so, and is in.
    let start = Clock.now()
    try groups.admit(stage, bench, creators: [], others: Array(0..<connections))
    let end = Clock.now()
    let after = bench.serverUsage()
    report.seconds = Clock.seconds(from: start, to: end)
    report.storm = Report.Connecting(connections: connections, seconds: report.seconds)
    report.server = bench.server(from: server, to: after, joined: server, connections: connections)
    report.generator = Report.Generator(cpuSeconds: ProcessUsage.ofSelf().cpuSeconds - generator.cpuSeconds)
    groups.leave(stage, bench, into: &report)
    return report
  }
}
