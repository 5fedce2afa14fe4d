/// One group of N members that receive what K senders send.
public struct RoomScenario: Scenario {
  /// The rule that decides when messages are sent.
  public enum Load: Sendable {
    /// Messages per second, of all senders together.
    case rate(Double)
    /// Messages in flight, of all senders together.
    case inflight(Int)
  }

  /// The number of receivers.
  public var members: Int
  /// The number of further members, which send.
  public var senders: Int
  /// The number of further members that never read.
  public var stalled: Int
  /// The rule that decides when messages are sent.
  public var load: Load
  /// Increments of a counter per second, of all members in turn; nil: none.
  public var increments: Double?
  /// The connections offer permessage-deflate and check what comes.
  public var checksCompression: Bool
  /// The texts of the messages; nil: padding of the run's size.
  public var texts: MessageTexts?
  /// The protocol of another server; nil: Throng's, with a group of `type`.
  public var other: TemplateDescription?
  /// The group's type.
  public var type: MeasuredGroupType

  /// Creates the scenario; the command line has checked the numbers.
  public init(
    members: Int, senders: Int, stalled: Int, load: Load, increments: Double? = nil, checksCompression: Bool = false,
    texts: MessageTexts? = nil, type: MeasuredGroupType, other: TemplateDescription?
  ) {
    self.members = members
    self.senders = senders
    self.stalled = stalled
    self.load = load
    self.increments = increments
    self.checksCompression = checksCompression
    self.texts = texts
    self.type = type
    self.other = other
  }

  public var metrics: Set<Metric> { increments == nil ? Metric.ofMessages : Metric.ofMessages.union([.incrementsPerSecond]) }

  /// The most increments per second that a room of so many members takes.
  public static func mostIncrements(members: Int, senders: Int) -> Double { Increments.mostPerUser * Double(members + senders) }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("room")
    report.parameters = parameters + bench.messageParameters(texts)
    let total = members + senders + stalled
    let target = try target(bench, sessions: total)
    let groups = target.groups
    let run = try bench.makeRun(connections: total, dialect: target.dialect, checksCompression: checksCompression)
    try connect(bench, run, groups, creator: members)
    let start = Clock.start()
    let participants = Participants(
      senders: Array(members..<members + senders), groups: 1, groupOf: { _ in 0 }, sendersReceive: groups != nil)
    let traffic = Traffic(run.pool, target.dialect, participants: participants, pace: pace(start)) { _, _ in target.message }
    if case .inflight = load { traffic.pacer = 0 }
    if let increments, let groups {
      run.increments = Increments(
        run.pool, groups.dialect, groups.dialect.increment(in: 0), members: members + senders,
        schedule: Schedule(rate: increments, start: start))
    }
    // Another server may send a sender its own messages back: there only the members count.
    let receivers = Array(0..<(groups == nil ? members : members + senders))
    Measurement(run: run, traffic: traffic, bench: bench, receivers: receivers).run(from: start, into: &report)
    if case .inflight = load { report.latencyName = "queueing" }
    groups?.remove(run, bench, into: &report)
    return report
  }

  /// The protocol of the server and its messages.
  private struct Target {
    let dialect: any Dialect
    let message: MessageTemplate
    /// The group on a Throng server; nil: another server.
    let groups: ThrongGroups?
  }

  private func target(_ bench: Benchmark, sessions: Int) throws -> Target {
    if let other {
      let dialect = TemplateDialect(address: bench.options.address, other, size: bench.options.size, texts: texts) { _ in 0 }
      return Target(dialect: dialect, message: dialect.message(to: 0), groups: nil)
    }
    let groups = try ThrongGroups(bench, type: type.groupType, sessions: sessions) { _ in 0 }
    return Target(
      dialect: groups.dialect, message: groups.dialect.message(to: 0, size: bench.options.size, texts: texts), groups: groups)
  }

  private func connect(_ bench: Benchmark, _ run: Run, _ groups: ThrongGroups?, creator: Int) throws {
    let readers = Array(0..<members + senders)
    if let groups {
      try groups.createAndJoin(run, bench, creators: [creator], others: readers.filter { $0 != creator })
    } else {
      try run.connect(readers, parallel: bench.options.parallel)
    }
    guard stalled > 0 else { return }
    // A small buffer, so that unread messages pile up in the server, not here.
    var narrow = run.connectOptions
    narrow.receiveBuffer = 4096
    let numbers = members + senders..<members + senders + stalled
    if let groups {
      try groups.createAndJoin(run, bench, creators: [], others: Array(numbers), connectOptions: narrow)
    } else {
      try run.connect(numbers, parallel: bench.options.parallel, connectOptions: narrow)
    }
    for number in numbers { run.pool.stopReading(number) }
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
    if let increments { list.append(.init(name: "increments", value: .number(increments))) }
    if checksCompression { list.append(.init(name: "compress", value: .text("checked"))) }
    if stalled > 0 { list.append(.init(name: "stalled", value: .integer(stalled))) }
    if other == nil { list.append(.init(name: "type", value: .text(type.name))) }
    return list
  }
}
