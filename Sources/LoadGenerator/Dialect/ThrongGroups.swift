import GroupModel

/// The groups of a run on a Throng: made, filled, and taken away again.
final class ThrongGroups {
  /// inviteUserToGroup takes so many users at once (contract section 4).
  private static let mostInvited = 100

  /// Tidying up is not worth waiting longer for (seconds).
  private static let leavePatience = 5.0

  let dialect: ThrongDialect
  private let type: GroupType
  private let groupOf: (Int) -> Int
  /// The sessions that created a group each.
  private var creators: [Int] = []

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
      // What was made so far is taken away; if that fails too, the first error is the one that matters.
      try? leave(stage)
      throw error
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
    try stage.call("inviting members", invitations)
  }

  /// Takes the groups away. What cannot be taken away is told in the report.
  func leave(_ stage: Stage, into report: inout Report) {
    do { try leave(stage) } catch { report.notes.append("\(error)") }
  }

  private func leave(_ stage: Stage) throws {
    stage.traffic = nil
    stage.onTick = nil
    // Nobody may disband a Work group; it goes with its last member.
    let leavers = type == .work ? Array(0..<stage.swarm.count) : creators
    let requests = leavers.filter { stage.swarm.table[$0].phase == .open }.map { number -> Stage.Request in
      let group = groupOf(number)
      return (
        number, { [dialect, type] in type == .work ? dialect.quitGroup(group, id: $0) : dialect.dismissGroup(group, id: $0) }
      )
    }
    try stage.call("taking the groups away", within: ThrongGroups.leavePatience, requests)
  }
}
