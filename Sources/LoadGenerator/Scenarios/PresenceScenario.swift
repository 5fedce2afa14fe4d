import GroupModel

/// N sessions that watch W others each. Some change their statuses, and chat goes on in rooms of theirs.
public struct PresenceScenario: Scenario {
  /// The members of a room.
  private static let roomSize = 100
  /// The most users of one subscribeUsersStatus (Protocol.md, "Presence").
  private static let mostSubscribed = 100
  /// Sessions whose subscriptions are under way at once.
  private static let burst = 200

  /// The number of sessions.
  public var sessions: Int
  /// The number of users that each of them watches.
  public var watch: Int
  /// Changes of statuses per second, of all sessions in turn; 0: none.
  public var flap: Double
  /// Messages per second, of all rooms together.
  public var rate: Double

  /// Creates the scenario; the command line has checked the numbers.
  public init(sessions: Int, watch: Int, flap: Double, rate: Double) {
    self.sessions = sessions
    self.watch = watch
    self.flap = flap
    self.rate = rate
  }

  public var metrics: Set<Metric> { Metric.ofMessages }

  public func run(_ bench: Benchmark) throws -> Report {
    var report = Report("presence")
    report.parameters =
      [
        .init(name: "sessions", value: .integer(sessions)), .init(name: "watch", value: .integer(watch)),
        .init(name: "flap", value: .number(flap)), .init(name: "rate", value: .number(rate)),
      ] + bench.messageParameters()
    let rooms = (sessions + PresenceScenario.roomSize - 1) / PresenceScenario.roomSize
    let groups = try ThrongGroups(bench, type: .avChatRoom, sessions: sessions) { $0 % rooms }
    let dialect = groups.dialect
    let run = try bench.makeRun(connections: sessions, dialect: dialect)
    try groups.createAndJoin(run, bench, creators: Array(0..<rooms), others: Array(rooms..<sessions))
    do { try subscribe(run, dialect) } catch {
      groups.remove(run, bench, into: &report)
      throw error
    }
    let messages = (0..<rooms).map { dialect.message(to: $0, size: bench.options.size) }
    let participants = Participants(
      senders: Array(0..<rooms), groups: rooms, groupOf: { $0 % rooms }, sendersReceive: false)
    let start = Clock.start()
    let traffic = Traffic(
      run.pool, dialect, participants: participants, pace: .schedules([Schedule(rate: rate, start: start)])
    ) { sender, _ in messages[sender] }
    if flap > 0 {
      run.increments = Increments(
        run.pool, dialect, dialect.statusChange, members: sessions, schedule: Schedule(rate: flap, start: start))
    }
    let counters = run.pool.recorder.counters
    dialect.countsStatuses = { counters.pointee.isMeasuring }
    Measurement(run: run, traffic: traffic, bench: bench, receivers: Array(rooms..<sessions)).run(from: start, into: &report)
    report.incrementsName = "status changes"
    report.statusEvents = Report.StatusEvents(
      events: dialect.statusEvents, rows: dialect.statusRows, seconds: report.seconds)
    groups.remove(run, bench, into: &report)
    return report
  }

  /// Each session watches those behind it, so each is watched by as many.
  private func subscribe(_ run: Run, _ dialect: ThrongDialect) throws {
    for start in stride(from: 0, to: sessions, by: PresenceScenario.burst) {
      var requests: [Run.ConnectionRequest] = []
      for number in start..<min(sessions, start + PresenceScenario.burst) {
        for first in stride(from: 1, through: watch, by: PresenceScenario.mostSubscribed) {
          let last = min(watch, first + PresenceScenario.mostSubscribed - 1)
          let users = (first...last).map { (number + $0) % sessions }
          requests.append((number, { dialect.subscribe(to: users, id: $0) }))
        }
      }
      try run.sendAndWait("watching users", requests)
    }
  }
}
