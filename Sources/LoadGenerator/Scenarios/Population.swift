/// G groups of M open connections. Connection c belongs to group c mod G; the first G are the
/// creators and first senders.
struct Population {
  let run: Run
  private let dialect: any Dialect
  /// The messages to each group.
  private let messages: [MessageTemplate]
  /// The groups on a Throng server; nil: another server.
  private let groups: ThrongGroups?
  private let senders: Int

  /// - Parameters:
  ///   - senders: the number of senders, at least one in each group; nil: one in each group.
  ///   - other: the protocol of another server; nil: Throng's.
  init(
    _ bench: Benchmark, groups count: Int, members: Int, senders: Int? = nil, type: MeasuredGroupType,
    other: TemplateDescription? = nil
  ) throws {
    self.senders = senders ?? count
    let sessions = count * members
    let size = bench.options.size
    if let other {
      let dialect = TemplateDialect(address: bench.options.address, other, size: size) { $0 % count }
      messages = (0..<count).map { dialect.message(to: $0) }
      groups = nil
      self.dialect = dialect
      run = try bench.makeRun(connections: sessions, dialect: dialect)
      try run.connect(0..<sessions, parallel: bench.options.parallel)
    } else {
      let groups = try ThrongGroups(bench, type: type.groupType, sessions: sessions) { $0 % count }
      messages = (0..<count).map { groups.dialect.message(to: $0, size: size) }
      self.groups = groups
      dialect = groups.dialect
      run = try bench.makeRun(connections: sessions, dialect: dialect)
      try groups.createAndJoin(run, bench, creators: Array(0..<count), others: Array(count..<sessions))
    }
  }

  /// A group has several senders, so that senders receive as well.
  private var sendersReceive: Bool { senders > messages.count }

  /// The connections that receive: all but the only sender of each group.
  var receivers: [Int] { Array((sendersReceive ? 0 : messages.count)..<run.pool.count) }

  /// The messages, from the senders in turn.
  func traffic(pace: Traffic.Pace) -> Traffic {
    let messages = messages
    let participants = Participants(
      senders: Array(0..<senders), groups: messages.count, groupOf: { $0 % messages.count }, sendersReceive: sendersReceive)
    return Traffic(run.pool, dialect, participants: participants, pace: pace) { sender, _ in messages[sender % messages.count] }
  }

  /// Removes the groups.
  func removeGroups(_ bench: Benchmark, into report: inout Report) { groups?.remove(run, bench, into: &report) }
}
