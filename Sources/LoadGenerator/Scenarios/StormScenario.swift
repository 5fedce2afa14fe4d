import GroupModel

/// N members of one room lose their connections at the same moment and all come back at once; others go on talking meanwhile.
public struct StormScenario: Scenario {
  /// How many there are.
  public var connections: Int
  /// How many more stay, and talk in a room of theirs.
  public var established: Int
  /// Messages per second that these send, together.
  public var rate: Double

  /// A storm of that many; the numbers were checked by the command line.
  public init(connections: Int, established: Int, rate: Double) {
    self.connections = connections
    self.established = established
    self.rate = rate
  }

  public var metrics: Set<Metric> { [.cpu, .residentPerConnection, .connectionsPerSecond, .seconds] }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("storm")
    report.parameters = [
      .init(name: "connections", value: .integer(connections)), .init(name: "parallel", value: .integer(bench.options.parallel)),
    ]
    if established > 0 {
      report.parameters += [
        .init(name: "established", value: .integer(established)), .init(name: "rate", value: .number(rate)),
      ]
    }
    let (total, count) = (connections + established, connections)
    let groups = try ThrongGroups(bench, type: .avChatRoom, sessions: total) { $0 < count ? 0 : 1 }
    let stage = try bench.stage(connections: total, dialect: groups.dialect)
    let begin = Clock.now()
    let creators = established > 0 ? [0, connections] : [0]
    try groups.admit(stage, bench, creators: creators, others: (0..<total).filter { !creators.contains($0) })
    report.connecting = Report.Connecting(
      connections: total, seconds: Clock.seconds(from: begin, to: Clock.now()), toldToWait: stage.toldToWait)
    let before = established > 0 ? talk(bench, stage, groups, lane: 0) : nil
    let (server, generator, told) = (bench.serverUsage(), ProcessUsage.ofSelf(), stage.toldToWait)
    let start = Clock.now()
    let during = established > 0 ? traffic(bench, stage, groups, lane: 1) : nil
    stage.traffic = during
    stage.cut(0..<connections)
    // Everyone joins again, the creator too: who is a member still is told so, and is in.
    try groups.admit(stage, bench, creators: [], others: Array(0..<connections))
    let end = Clock.now()
    stage.traffic = nil
    let after = bench.serverUsage()
    report.seconds = Clock.seconds(from: start, to: end)
    report.storm = Report.Connecting(
      connections: connections, seconds: report.seconds, toldToWait: stage.toldToWait - told)
    report.server = bench.server(from: server, to: after, joined: server, connections: total)
    report.generator = Report.Generator(
      cpuSeconds: ProcessUsage.ofSelf().cpuSeconds - generator.cpuSeconds,
      sendDelay: during.flatMap { Report.Latencies($0.delays) })
    if let before, let during { report.established = figures(stage, before, during) }
    if let ending = stage.firstEnding {
      report.failures.append("\(stage.endings.values.reduce(0, +)) connections ended, the first: \(ending)")
    }
    report.endings = stage.endings
    groups.leave(stage, bench, into: &report)
    return report
  }

  // MARK: - Those who stay

  private func traffic(_ bench: Benchmark, _ stage: Stage, _ groups: ThrongGroups, lane: Int) -> Traffic {
    let talkers = Array(connections..<connections + established)
    let message = groups.dialect.message(to: 1, size: bench.options.size)
    let audience = Audience(senders: talkers, groups: 2, groupOf: { _ in 1 }, sendersReceive: true)
    let now = Clock.start()
    let schedules = (0...lane).map { Schedule(rate: $0 == lane ? rate : 0, start: now) }
    return Traffic(stage.swarm, groups.dialect, audience: audience, pace: .schedules(schedules)) { _, _ in message }
  }

  /// Lets them talk for as long as the window is, behind the warm-up.
  private func talk(_ bench: Benchmark, _ stage: Stage, _ groups: ThrongGroups, lane: Int) -> Traffic {
    let counters = stage.swarm.recorder.counters
    for number in connections..<connections + established { stage.swarm.table[number].counts = true }
    counters.pointee.windowStart = Stamp.value(at: Clock.now() + Clock.nanoseconds(bench.options.warmUp), lane: 0)
    let traffic = traffic(bench, stage, groups, lane: lane)
    stage.traffic = traffic
    stage.run(until: counters.pointee.windowStart + Clock.nanoseconds(bench.options.duration))
    return traffic
  }

  private func figures(_ stage: Stage, _ before: Traffic, _ during: Traffic) -> Report.Established {
    let latencies = stage.swarm.recorder.latencies
    let errors = [before, during].reduce(0) { $0 + $1.ledger.errors.values.reduce(0, +) }
    return Report.Established(
      connections: established, rate: rate, before: Report.Latencies(latencies[0]), during: Report.Latencies(latencies[1]),
      errors: errors)
  }
}
