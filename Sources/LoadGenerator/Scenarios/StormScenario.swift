import GroupModel

/// N members of a live room lose their connections together and reconnect at once, while members of
/// another room go on sending.
public struct StormScenario: Scenario {
  /// The number of connections that are lost.
  public var connections: Int
  /// The number of further connections, which stay and send in another room.
  public var established: Int
  /// Messages per second of these, together.
  public var rate: Double

  /// Creates the scenario; the command line has checked the numbers.
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
    let run = try bench.makeRun(connections: total, dialect: groups.dialect)
    let begin = Clock.now()
    let creators = established > 0 ? [0, connections] : [0]
    try groups.createAndJoin(run, bench, creators: creators, others: (0..<total).filter { !creators.contains($0) })
    report.connecting = Report.Connecting(
      connections: total, seconds: Clock.seconds(from: begin, to: Clock.now()), toldToWait: run.toldToWait)
    let before = established > 0 ? measureBefore(bench, run, groups, flow: 0) : nil
    let (server, generator, told) = (bench.serverUsage(), ProcessUsage.ofSelf(), run.toldToWait)
    let start = Clock.now()
    let during = established > 0 ? traffic(bench, run, groups, flow: 1) : nil
    run.traffic = during
    run.reset(0..<connections)
    // All join again, the creator too: joining as a member counts as success.
    try groups.createAndJoin(run, bench, creators: [], others: Array(0..<connections))
    let end = Clock.now()
    run.traffic = nil
    let after = bench.serverUsage()
    report.seconds = Clock.seconds(from: start, to: end)
    report.storm = Report.Connecting(
      connections: connections, seconds: report.seconds, toldToWait: run.toldToWait - told)
    report.server = bench.serverFigures(from: server, to: after, joined: server, connections: total)
    report.generator = Report.Generator(
      cpuSeconds: ProcessUsage.ofSelf().cpuSeconds - generator.cpuSeconds,
      sendDelay: during.flatMap { Report.Latencies($0.delays) })
    if let before, let during { report.established = figures(run, before, during) }
    if let ending = run.firstEnding {
      report.failures.append("\(run.endings.values.reduce(0, +)) connections ended, the first: \(ending)")
    }
    report.endings = run.endings
    groups.remove(run, bench, into: &report)
    return report
  }

  // MARK: - Established connections

  private func traffic(_ bench: Benchmark, _ run: Run, _ groups: ThrongGroups, flow: Int) -> Traffic {
    let senders = Array(connections..<connections + established)
    let message = groups.dialect.message(to: 1, size: bench.options.size)
    let participants = Participants(senders: senders, groups: 2, groupOf: { _ in 1 }, sendersReceive: true)
    let now = Clock.start()
    let schedules = (0...flow).map { Schedule(rate: $0 == flow ? rate : 0, start: now) }
    return Traffic(run.pool, groups.dialect, participants: participants, pace: .schedules(schedules)) { _, _ in message }
  }

  /// Measures their latencies before the storm.
  private func measureBefore(_ bench: Benchmark, _ run: Run, _ groups: ThrongGroups, flow: Int) -> Traffic {
    let counters = run.pool.recorder.counters
    for number in connections..<connections + established { run.pool.table[number].countsDeliveries = true }
    counters.pointee.windowStart = Stamp.value(at: Clock.now() + Clock.nanoseconds(bench.options.warmUp), flow: 0)
    let traffic = traffic(bench, run, groups, flow: flow)
    run.traffic = traffic
    run.pollRepeatedly(until: counters.pointee.windowStart + Clock.nanoseconds(bench.options.duration))
    return traffic
  }

  private func figures(_ run: Run, _ before: Traffic, _ during: Traffic) -> Report.Established {
    let latencies = run.pool.recorder.latencies
    let errors = [before, during].reduce(0) { $0 + $1.deliveryLog.errors.values.reduce(0, +) }
    return Report.Established(
      connections: established, rate: rate, before: Report.Latencies(latencies[0]), during: Report.Latencies(latencies[1]),
      errors: errors)
  }
}
