import GroupModel
import WireProtocol

/// The groups of a run on a Throng server: created, filled with members, removed at the end.
final class ThrongGroups {
  /// The most users of one inviteUserToGroup (Protocol.md, "Invitations").
  private static let mostInvited = 100

  let dialect: ThrongDialect
  private let type: GroupType
  private let groupOf: (Int) -> Int
  /// The sessions that created the groups.
  private var creators: [Int] = []
  /// Other sessions than the creators may be members of a Work group.
  private var hasInvited = false

  /// - Parameters:
  /// - sessions: the number of sessions.
  /// - groupOf: the group of a session.
  init(_ bench: Benchmark, type: GroupType, sessions: Int, groupOf: @escaping (Int) -> Int) throws {
    dialect = try ThrongDialect(address: bench.options.address, groupType: type, sessions: sessions, token: bench.token)
    self.type = type
    self.groupOf = groupOf
  }

  /// Signs the creators in and creates their groups; then the others sign in and join.
  func createAndJoin(
    _ run: Run, _ bench: Benchmark, creators: [Int], others: [Int], connectOptions: ConnectOptions? = nil
  ) throws {
    self.creators += creators
    do { try connectMembers(run, bench, creators: creators, others: others, connectOptions: connectOptions) } catch {
      // The groups created so far are removed.
      guard let remains = remove(run, parallel: bench.options.parallel) else { throw error }
      throw BenchmarkError("\(error); \(remains)")
    }
  }

  private func connectMembers(_ run: Run, _ bench: Benchmark, creators: [Int], others: [Int], connectOptions: ConnectOptions?)
    throws
  {
    let parallel = bench.options.parallel
    // Work groups are not joined: members are invited after their sign-in.
    let invites = type == .work
    dialect.setupAction = { [groupOf] in .createGroup(groupOf($0)) }
    try run.connect(creators, parallel: parallel, connectOptions: connectOptions)
    dialect.setupAction = { [groupOf] in invites ? .signIn : .joinGroup(groupOf($0)) }
    try run.connect(others, parallel: parallel, connectOptions: connectOptions)
    guard invites else { return }
    let creatorOf = Dictionary(self.creators.map { (groupOf($0), $0) }) { $1 }
    var invitations: [Run.ConnectionRequest] = []
    for (group, members) in Dictionary(grouping: others, by: groupOf) {
      guard let creator = creatorOf[group] else { continue }
      for start in stride(from: 0, to: members.count, by: ThrongGroups.mostInvited) {
        let part = members[start..<min(members.count, start + ThrongGroups.mostInvited)]
        invitations.append((creator, { [dialect] in dialect.inviteUserToGroup(group, part, id: $0) }))
      }
    }
    hasInvited = true
    try run.sendAndWait("inviting members", invitations)
  }

  /// Removes the groups. The report names those that remain.
  func remove(_ run: Run, _ bench: Benchmark, into report: inout Report) {
    if let remains = remove(run, parallel: bench.options.parallel) { report.notes.append(remains) }
  }

  /// - Returns: a sentence about the groups that remain; nil: none does.
  private func remove(_ run: Run, parallel: Int) -> String? {
    GroupRemoval(run: run, dialect: dialect, parallel: parallel).remove { [self] created in
      // A Work group cannot be dismissed; it ends with its last member (Protocol.md, "Disbanding a
      // group").
      guard type == .work else {
        return created.map { number, group in
          .init(connection: number, group: group, isOver: [.noSuchGroup]) { [dialect] in dialect.dismissGroup(group, id: $0) }
        }
      }
      let groups = Set(created.values)
      let members = hasInvited ? Array(0..<run.pool.count) : Array(created.keys)
      return members.map { ($0, groupOf($0)) }.filter { groups.contains($0.1) }.map { number, group in
        // A session that is no member gets 10007.
        .init(connection: number, group: group, isOver: [.noSuchGroup, .noRight]) { [dialect] in
          dialect.quitGroup(group, id: $0)
        }
      }
    }
  }
}
