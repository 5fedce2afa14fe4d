/// S senders, so many to a group, send messages that are stored; a message is done when the server says that it is.
public struct DurableScenario: Scenario {
  /// How many send.
  public var senders: Int
  /// How many of them share a group, at most.
  public var sendersPerGroup: Int
  /// How many sessions each group has, its senders included.
  public var members: Int
  /// Open loop: messages per second of all senders together; nil: closed loop, each sender has one message under way.
  public var rate: Double?
  /// The groups' type: one that stores its messages.
  public var type: MeasuredType

  /// Senders with everything given; each number was checked by the command line.
  public init(senders: Int, sendersPerGroup: Int, members: Int, rate: Double?, type: MeasuredType) {
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
      ] + bench.messageParameters
    if let rate { report.parameters.append(.init(name: "rate", value: .number(rate))) }
    report.latencyName = rate == nil ? "send to Stored" : "due to Stored"
    let crowd = try Crowd(bench, groups: groups, members: members, senders: senders, type: type)
    crowd.stage.swarm.recorder.counters.pointee.timesDeliveries = false
    let start = Clock.start()
    let pace: Traffic.Pace = rate.map { .schedules([Schedule(rate: $0, start: start)]) } ?? .eachSender
    let traffic = crowd.traffic(pace: pace, size: bench.options.size)
    Measurement(stage: crowd.stage, traffic: traffic, bench: bench, receivers: crowd.receivers)
      .carryOut(from: start, into: &report)
    crowd.leave(bench, into: &report)
    return report
  }
}
