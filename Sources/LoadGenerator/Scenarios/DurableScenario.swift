/// S senders send messages that the server stores; a message is done when the reply says Stored.
public struct DurableScenario: Scenario {
  /// The number of senders.
  public var senders: Int
  /// The most senders of one group.
  public var sendersPerGroup: Int
  /// The sessions of each group, its senders included.
  public var members: Int
  /// Open loop: messages per second of all senders together; nil: closed loop, one message in
  /// flight per sender.
  public var rate: Double?
  /// The groups' type, one that stores messages.
  public var type: MeasuredGroupType

  /// Creates the scenario; the command line has checked the numbers.
  public init(senders: Int, sendersPerGroup: Int, members: Int, rate: Double?, type: MeasuredGroupType) {
    self.senders = senders
    self.sendersPerGroup = sendersPerGroup
    self.members = members
    self.rate = rate
    self.type = type
  }

  public var metrics: Set<Metric> { Metric.ofMessages }

  public func run(_ bench: Benchmark) throws -> Report {
    let groups = (senders + sendersPerGroup - 1) / sendersPerGroup
    var report = Report("durable")
    report.parameters =
      [
        .init(name: "senders", value: .integer(senders)), .init(name: "groups", value: .integer(groups)),
        .init(name: "members", value: .integer(members)), .init(name: "connections", value: .integer(groups * members)),
        .init(name: "type", value: .text(type.name)),
      ] + bench.messageParameters()
    if let rate { report.parameters.append(.init(name: "rate", value: .number(rate))) }
    report.latencyName = rate == nil ? "send to Stored" : "due to Stored"
    let population = try Population(bench, groups: groups, members: members, senders: senders, type: type)
    population.run.pool.recorder.counters.pointee.timesDeliveries = false
    let start = Clock.start()
    let pace: Traffic.Pace = rate.map { .schedules([Schedule(rate: $0, start: start)]) } ?? .eachSender
    let traffic = population.traffic(pace: pace)
    Measurement(run: population.run, traffic: traffic, bench: bench, receivers: population.receivers)
      .run(from: start, into: &report)
    population.removeGroups(bench, into: &report)
    return report
  }
}
