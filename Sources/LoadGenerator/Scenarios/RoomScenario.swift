/// One group of N members that receive what K senders send.
public struct RoomScenario: Scenario {
  /// What decides when messages are sent.
  public enum Load: Sendable {
    /// Messages per second, of all senders together.
    case rate(Double)
    /// So many messages under way, of all senders together.
    case inflight(Int)
  }

  /// How many receive.
  public var members: Int
  /// How many more send; they are members too.
  public var senders: Int
  /// How many more members never read.
  public var stalled: Int
  /// What decides when messages are sent.
  public var load: Load
  /// Whom it is measured with; nil: a Throng, and a group of `type`.
  public var other: TemplateDescription?
  /// The group's type.
  public var type: MeasuredType

  /// A room with everything given; each number was checked by the command line.
  public init(members: Int, senders: Int, stalled: Int, load: Load, type: MeasuredType, other: TemplateDescription?) {
    self.members = members
    self.senders = senders
    self.stalled = stalled
    self.load = load
    self.type = type
    self.other = other
  }

  public var metrics: Set<Metric> { Metric.ofMessages }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("room")
    report.parameters = parameters + bench.messageParameters
    let total = members + senders + stalled
    let speech = try speech(bench, sessions: total)
    let groups = speech.groups
    let stage = try bench.stage(connections: total, dialect: speech.dialect)
    try admit(bench, stage, groups, creator: members)
    let start = Clock.start()
    let audience = Audience(
      senders: Array(members..<members + senders), groups: 1, groupOf: { _ in 0 }, sendersReceive: groups != nil)
    let traffic = Traffic(stage.swarm, speech.dialect, audience: audience, pace: pace(start)) { _, _ in speech.message }
    if case .inflight = load { traffic.clock = 0 }
    // Whether another server sends a sender its own messages back is not known: there only the members count.
    let receivers = Array(0..<(groups == nil ? members : members + senders))
    Measurement(stage: stage, traffic: traffic, bench: bench, receivers: receivers).carryOut(from: start, into: &report)
    if case .inflight = load { report.latencyName = "queueing" }
    groups?.leave(stage, bench, into: &report)
    return report
  }

  /// How the server is spoken to.
  private struct Speech {
    let dialect: any Dialect
    let message: Template
    /// A Throng's group; nil elsewhere.
    let groups: ThrongGroups?
  }

  private func speech(_ bench: Benchmark, sessions: Int) throws -> Speech {
    if let other {
      let dialect = TemplateDialect(address: bench.options.address, other, size: bench.options.size)
      return Speech(dialect: dialect, message: dialect.message, groups: nil)
    }
    let groups = try ThrongGroups(bench, type: type.groupType, sessions: sessions) { _ in 0 }
    return Speech(
      dialect: groups.dialect, message: groups.dialect.message(to: 0, size: bench.options.size), groups: groups)
  }

  private func admit(_ bench: Benchmark, _ stage: Stage, _ groups: ThrongGroups?, creator: Int) throws {
    let readers = Array(0..<members + senders)
    if let groups {
      try groups.admit(stage, bench, creators: [creator], others: readers.filter { $0 != creator })
    } else {
      try stage.admit(readers, parallel: bench.options.parallel)
    }
    guard stalled > 0 else { return }
    // A small buffer: what is sent to them piles up in the server, not here.
    var narrow = stage.dialing
    narrow.receiveBuffer = 4096
    let numbers = members + senders..<members + senders + stalled
    if let groups {
      try groups.admit(stage, bench, creators: [], others: Array(numbers), dialing: narrow)
    } else {
      try stage.admit(numbers, parallel: bench.options.parallel, dialing: narrow)
    }
    for number in numbers { stage.swarm.stall(number) }
  }

  private func pace(_ start: UInt64) -> Traffic.Pace {
    switch load {
    case .rate(let rate): .schedules([Schedule(rate: rate, start: start)])
    case .inflight(let window): .window(window)
    }
  }

  private var parameters: [Report.Parameter] {
    var list: [Report.Parameter] = [
      .init(name: "members", value: .integer(members)), .init(name: "publishers", value: .integer(senders)),
    ]
    switch load {
    case .rate(let rate): list.append(.init(name: "rate", value: .number(rate)))
    case .inflight(let window): list.append(.init(name: "inflight", value: .integer(window)))
    }
    if stalled > 0 { list.append(.init(name: "stalled", value: .integer(stalled))) }
    if other == nil { list.append(.init(name: "type", value: .text(type.name))) }
    return list
  }
}
