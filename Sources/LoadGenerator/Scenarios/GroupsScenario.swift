/// G groups of M sessions each; in each group one of the M sends and the others receive.
public struct GroupsScenario: Scenario {
  /// How many groups there are.
  public var groups: Int
  /// How many sessions each has, the sender included.
  public var members: Int
  /// Messages per second, of all groups together.
  public var rate: Double
  /// The groups' type.
  public var type: MeasuredType

  /// Groups with everything given; each number was checked by the command line.
  public init(groups: Int, members: Int, rate: Double, type: MeasuredType) {
    self.groups = groups
    self.members = members
    self.rate = rate
    self.type = type
  }

  public var metrics: Set<Metric> { Metric.ofMessages }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("groups")
    report.parameters =
      [
        .init(name: "groups", value: .integer(groups)), .init(name: "members", value: .integer(members)),
        .init(name: "connections", value: .integer(groups * members)), .init(name: "rate", value: .number(rate)),
        .init(name: "type", value: .text(type.name)),
      ] + bench.messageParameters
    let crowd = try Crowd(bench, groups: groups, members: members, type: type)
    let start = Clock.start()
    let traffic = crowd.traffic(pace: .schedules([Schedule(rate: rate, start: start)]), size: bench.options.size)
    Measurement(stage: crowd.stage, traffic: traffic, bench: bench, receivers: crowd.receivers)
      .carryOut(from: start, into: &report)
    crowd.leave(bench, into: &report)
    return report
  }
}
