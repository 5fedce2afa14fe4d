/// G groups of M sessions, all of them there. Session g is the creator and sender of group g; the others follow, group by group in turn.
struct Crowd {
  let stage: Stage
  let groups: ThrongGroups
  private let count: Int

  init(_ bench: Benchmark, groups count: Int, members: Int, type: MeasuredType) throws {
    self.count = count
    let sessions = count * members
    groups = try ThrongGroups(bench, type: type.groupType, sessions: sessions) { $0 % count }
    stage = try bench.stage(connections: sessions, dialect: groups.dialect)
    try groups.admit(stage, bench, creators: Array(0..<count), others: Array(count..<sessions))
  }

  /// All who receive something: everyone but the only sender of each group.
  var receivers: [Int] { Array(count..<stage.swarm.count) }

  /// The messages, from the senders in turn.
  func traffic(pace: Traffic.Pace, size: Int) -> Traffic {
    let count = count
    let messages = (0..<count).map { groups.dialect.message(to: $0, size: size) }
    let audience = Audience(senders: Array(0..<count), groups: count, groupOf: { $0 % count }, sendersReceive: false)
    return Traffic(stage.swarm, groups.dialect, audience: audience, pace: pace) { sender, _ in messages[sender] }
  }

  /// Takes the groups away.
  func leave(into report: inout Report) { groups.leave(stage, into: &report) }
}
