/// G groups of M sessions; in each group one sends and the others receive.
public struct GroupsScenario: Scenario {
  /// The number of groups.
  public var groups: Int
  /// The sessions of each group, the sender included.
  public var members: Int
  /// Messages per second, of all groups together.
  public var rate: Double
  /// The groups' type.
  public var type: MeasuredGroupType
  /// The protocol of another server; nil: Throng's, with groups of `type`.
  public var other: TemplateDescription?

  /// Creates the scenario; the command line has checked the numbers.
  public init(groups: Int, members: Int, rate: Double, type: MeasuredGroupType, other: TemplateDescription?) {
    self.groups = groups
    self.members = members
    self.rate = rate
    self.type = type
    self.other = other
  }

  public var metrics: Set<Metric> { Metric.ofMessages }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("groups")
    report.parameters =
      [
        .init(name: "groups", value: .integer(groups)), .init(name: "members", value: .integer(members)),
        .init(name: "connections", value: .integer(groups * members)), .init(name: "rate", value: .number(rate)),
      ] + (other == nil ? [.init(name: "type", value: .text(type.name))] : []) + bench.messageParameters()
    let population = try Population(bench, groups: groups, members: members, type: type, other: other)
    let start = Clock.start()
    let traffic = population.traffic(pace: .schedules([Schedule(rate: rate, start: start)]))
    Measurement(run: population.run, traffic: traffic, bench: bench, receivers: population.receivers)
      .run(from: start, into: &report)
    population.removeGroups(bench, into: &report)
    return report
  }
}
