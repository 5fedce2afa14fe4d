/// G groups of M open connections. Connection c belongs to group c mod G; the first G are the
/// creators and first senders.
struct Population {
  let run: Run
  let groups: ThrongGroups
  private let count: Int
  private let senders: Int

  /// - Parameter senders: the number of senders, at least one in each group; nil: one in each
  ///   group.
  init(_ bench: Benchmark, groups count: Int, members: Int, senders: Int? = nil, type: MeasuredGroupType) throws {
    self.count = count
    self.senders = senders ?? count
    let sessions = count * members
    groups = try ThrongGroups(bench, type: type.groupType, sessions: sessions) { $0 % count }
    run = try bench.makeRun(connections: sessions, dialect: groups.dialect)
    try groups.createAndJoin(run, bench, creators: Array(0..<count), others: Array(count..<sessions))
  }

  /// A group has several senders, so that senders receive as well.
  private var sendersReceive: Bool { senders > count }

  /// The connections that receive: all but the only sender of each group.
  var receivers: [Int] { Array((sendersReceive ? 0 : count)..<run.pool.count) }

  /// The messages, from the senders in turn.
  func traffic(pace: Traffic.Pace, size: Int) -> Traffic {
    let count = count
    let messages = (0..<count).map { groups.dialect.message(to: $0, size: size) }
    let participants = Participants(
      senders: Array(0..<senders), groups: count, groupOf: { $0 % count }, sendersReceive: sendersReceive)
    return Traffic(run.pool, groups.dialect, participants: participants, pace: pace) { sender, _ in messages[sender % count] }
  }

  /// Removes the groups.
  func removeGroups(_ bench: Benchmark, into report: inout Report) { groups.remove(run, bench, into: &report) }
}
