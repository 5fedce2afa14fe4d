import GroupModel
import WireProtocol

/// The groups of a run on a Throng: made, filled, and taken away again.
final class ThrongGroups {
  /// inviteUserToGroup takes so many users at once (contract section 4).
  private static let mostInvited = 100

  let dialect: ThrongDialect
  private let type: GroupType
  private let groupOf: (Int) -> Int
  /// The sessions that created a group each.
  private var creators: [Int] = []
  /// Sessions beside the creators may be members of a Work group.
  private var hasInvited = false

  /// - Parameters:
  ///   - sessions: how many sessions there are in all.
  ///   - groupOf: the group of a session.
  init(_ bench: Benchmark, type: GroupType, sessions: Int, groupOf: @escaping (Int) -> Int) throws {
    dialect = try ThrongDialect(address: bench.options.address, groupType: type, sessions: sessions, token: bench.token)
    self.type = type
    self.groupOf = groupOf
  }

  /// Lets the creators sign in and create their groups, then the others sign in and become members.
  func admit(
    _ stage: Stage, _ bench: Benchmark, creators: [Int], others: [Int], dialing: Dialing? = nil
  ) throws {
    self.creators += creators
    do { try fill(stage, bench, creators: creators, others: others, dialing: dialing) } catch {
      // What was made so far is taken away.
      guard let remains = leave(stage, parallel: bench.options.parallel) else { throw error }
      throw BenchmarkError("\(error); \(remains)")
    }
  }

  private func fill(_ stage: Stage, _ bench: Benchmark, creators: [Int], others: [Int], dialing: Dialing?) throws {
    let parallel = bench.options.parallel
    // Work takes no applications: there members are invited, after they have signed in.
    let invites = type == .work
    dialect.entry = { [groupOf] in .creates(group: groupOf($0)) }
    try stage.admit(creators, parallel: parallel, dialing: dialing)
    dialect.entry = { [groupOf] in invites ? .onlySignsIn : .joins(group: groupOf($0)) }
    try stage.admit(others, parallel: parallel, dialing: dialing)
    guard invites else { return }
    let creatorOf = Dictionary(self.creators.map { (groupOf($0), $0) }) { $1 }
    var invitations: [Stage.Request] = []
    for (group, members) in Dictionary(grouping: others, by: groupOf) {
      guard let creator = creatorOf[group] else { continue }
      for start in stride(from: 0, to: members.count, by: ThrongGroups.mostInvited) {
        let part = members[start..<min(members.count, start + ThrongGroups.mostInvited)]
        invitations.append((creator, { [dialect] in dialect.inviteUserToGroup(group, part, id: $0) }))
      }
    }
    hasInvited = true
    try stage.call("inviting members", invitations)
  }

  /// Takes the groups away. What cannot be taken away is told in the report.
  func leave(_ stage: Stage, _ bench: Benchmark, into report: inout Report) {
    if let remains = leave(stage, parallel: bench.options.parallel) { report.notes.append(remains) }
  }

  /// - Returns: what cannot be taken away, a sentence; nil when nothing remains.
  private func leave(_ stage: Stage, parallel: Int) -> String? {
    GroupRemoval(stage: stage, dialect: dialect, parallel: parallel).carryOut { [self] made in
      // Nobody may disband a Work group; it goes with its last member.
      guard type == .work else {
        return made.map { number, group in
          .init(connection: number, group: group, isOver: [.noSuchGroup]) { [dialect] in dialect.dismissGroup(group, id: $0) }
        }
      }
      let groups = Set(made.values)
      let members = hasInvited ? Array(0..<stage.swarm.count) : Array(made.keys)
      return members.map { ($0, groupOf($0)) }.filter { groups.contains($0.1) }.map { number, group in
        // Who is no member gets 10007.
        .init(connection: number, group: group, isOver: [.noSuchGroup, .noRight]) { [dialect] in
          dialect.quitGroup(group, id: $0)
        }
      }
    }
  }
}
