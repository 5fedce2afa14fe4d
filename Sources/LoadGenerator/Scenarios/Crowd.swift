/// G groups of M sessions, all of them there. Session g is the creator and first sender of group g; the others follow, group by group in turn.
struct Crowd {
  let stage: Stage
  let groups: ThrongGroups
  private let count: Int
  private let senders: Int

  /// - Parameter senders: how many send, at least one in each group; nil: one in each group.
  init(_ bench: Benchmark, groups count: Int, members: Int, senders: Int? = nil, type: MeasuredType) throws {
    self.count = count
    self.senders = senders ?? count
    let sessions = count * members
    groups = try ThrongGroups(bench, type: type.groupType, sessions: sessions) { $0 % count }
    stage = try bench.stage(connections: sessions, dialect: groups.dialect)
    try groups.admit(stage, bench, creators: Array(0..<count), others: Array(count..<sessions))
  }

  /// Somewhere several speak, so that senders receive as well.
  private var sendersReceive: Bool { senders > count }

  /// All who receive something: everyone but the only sender of each group.
  var receivers: [Int] { Array((sendersReceive ? 0 : count)..<stage.swarm.count) }

  /// The messages, from the senders in turn.
  func traffic(pace: Traffic.Pace, size: Int) -> Traffic {
    let count = count
    let messages = (0..<count).map { groups.dialect.message(to: $0, size: size) }
    let audience = Audience(
      senders: Array(0..<senders), groups: count, groupOf: { $0 % count }, sendersReceive: sendersReceive)
    return Traffic(stage.swarm, groups.dialect, audience: audience, pace: pace) { sender, _ in messages[sender % count] }
  }

  /// Takes the groups away.
  func leave(_ bench: Benchmark, into report: inout Report) { groups.leave(stage, bench, into: &report) }
}
