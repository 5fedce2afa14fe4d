import GroupModel

/// One live room over its message rate limit, in all four priorities.
public struct PriorityScenario: Scenario {
  /// The number of receivers.
  public var members: Int
  /// The number of further members, which send in turn.
  public var senders: Int
  /// Messages per second of priority High, Normal, Low, Lowest.
  public var rates: [Double]

  /// Creates the scenario; the command line has checked the numbers.
  public init(members: Int, senders: Int, high: Double, normal: Double, low: Double, lowest: Double) {
    self.members = members
    self.senders = senders
    rates = [high, normal, low, lowest]
  }

  public var metrics: Set<Metric> { Metric.ofMessages }

  /// The priorities by flow.
  private static let priorities: [Priority] = [.high, .normal, .low, .lowest]

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("priority")
    report.parameters = [
      .init(name: "members", value: .integer(members)), .init(name: "publishers", value: .integer(senders)),
    ]
    for (priority, rate) in zip(PriorityScenario.priorities, rates) {
      report.parameters.append(.init(name: priority.rawValue.lowercased(), value: .number(rate)))
    }
    report.parameters += bench.messageParameters()
    let sessions = members + senders
    let groups = try ThrongGroups(bench, type: .avChatRoom, sessions: sessions) { _ in 0 }
    let run = try bench.makeRun(connections: sessions, dialect: groups.dialect)
    try groups.createAndJoin(run, bench, creators: [members], others: (0..<sessions).filter { $0 != members })
    let messages = PriorityScenario.priorities.map {
      groups.dialect.message(to: 0, size: bench.options.size, priority: $0)
    }
    let start = Clock.start()
    let participants = Participants(senders: Array(members..<sessions), groups: 1, groupOf: { _ in 0 }, sendersReceive: true)
    let schedules = rates.map { Schedule(rate: $0, start: start) }
    let traffic = Traffic(run.pool, groups.dialect, participants: participants, pace: .schedules(schedules)) { _, flow in
      messages[flow]
    }
    Measurement(run: run, traffic: traffic, bench: bench, receivers: Array(0..<sessions)).run(from: start, into: &report)
    report.priorities = figures(traffic, run.pool.recorder)
    groups.remove(run, bench, into: &report)
    return report
  }

  private func figures(_ traffic: Traffic, _ recorder: Recorder) -> [Report.PriorityFigures] {
    PriorityScenario.priorities.enumerated().map { flow, priority in
      Report.PriorityFigures(
        name: priority.rawValue, rate: rates[flow], tally: traffic.deliveryLog.tallies[flow],
        deliveries: recorder.matchedByFlow[flow], latencies: Report.Latencies(recorder.latencies[flow]))
    }
  }
}
