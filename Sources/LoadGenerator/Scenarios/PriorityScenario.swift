import GroupModel

/// One live room that gets more messages than it lets through, in all four priorities.
public struct PriorityScenario: Scenario {
  /// How many receive.
  public var members: Int
  /// How many more send; they are members too, and take the messages in turn.
  public var senders: Int
  /// Messages per second of priority High, Normal, Low, Lowest.
  public var rates: [Double]

  /// An overload with everything given; each number was checked by the command line.
  public init(members: Int, senders: Int, high: Double, normal: Double, low: Double, lowest: Double) {
    self.members = members
    self.senders = senders
    rates = [high, normal, low, lowest]
  }

  public var metrics: Set<Metric> { Metric.ofMessages }

  /// The lanes in their order.
  private static let priorities: [Priority] = [.high, .normal, .low, .lowest]

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("priority")
    report.parameters = [
      .init(name: "members", value: .integer(members)), .init(name: "publishers", value: .integer(senders)),
    ]
    for (priority, rate) in zip(PriorityScenario.priorities, rates) {
      report.parameters.append(.init(name: priority.rawValue.lowercased(), value: .number(rate)))
    }
    report.parameters += bench.messageParameters
    let sessions = members + senders
    let groups = try ThrongGroups(bench, type: .avChatRoom, sessions: sessions) { _ in 0 }
    let stage = try bench.stage(connections: sessions, dialect: groups.dialect)
    try groups.admit(stage, bench, creators: [members], others: (0..<sessions).filter { $0 != members })
    let messages = PriorityScenario.priorities.map {
      groups.dialect.message(to: 0, size: bench.options.size, priority: $0)
    }
    let start = Clock.start()
    let audience = Audience(senders: Array(members..<sessions), groups: 1, groupOf: { _ in 0 }, sendersReceive: true)
    let schedules = rates.map { Schedule(rate: $0, start: start) }
    let traffic = Traffic(stage.swarm, groups.dialect, audience: audience, pace: .schedules(schedules)) { _, lane in
      messages[lane]
    }
    Measurement(stage: stage, traffic: traffic, bench: bench, receivers: Array(0..<sessions)).carryOut(from: start, into: &report)
    report.priorities = figures(traffic, stage.swarm.recorder)
    groups.leave(stage, bench, into: &report)
    return report
  }

  private func figures(_ traffic: Traffic, _ recorder: Recorder) -> [Report.PriorityFigures] {
    PriorityScenario.priorities.enumerated().map { lane, priority in
      Report.PriorityFigures(
        name: priority.rawValue, rate: rates[lane], tally: traffic.ledger.tallies[lane],
        deliveries: recorder.matchedByLane[lane], latencies: Report.Latencies(recorder.latencies[lane]))
    }
  }
}
