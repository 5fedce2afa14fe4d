import Cluster
import GroupModel
import GroupRuntime

/// The users of a node's sessions that are signing in, and the nodes that want to be told of all their
/// groups (`ClusterEntry.wantsGroups`).
struct PendingSignIns: Sendable {
  private struct User: Sendable {
    /// The origins of the links by which nodes were told of each.
    var sessions: [SessionKey: [NodeNumber: UInt64]] = [:]
    var nodes: Set<NodeNumber> = []
  }

  private var users: [UserID: User] = [:]

  /// None.
  init() {}

  var count: Int { users.count }

  /// - Parameter origins: of the links by which nodes are told of it next (`ClusterLinks.origins`).
  mutating func begin(_ session: SessionKey, of user: UserID, over origins: [NodeNumber: UInt64]) {
    users[user, default: User()].sessions[session] = origins
  }

  /// The session has signed in, or has ended.
  mutating func end(_ session: SessionKey, of user: UserID) {
    guard users[user]?.sessions.removeValue(forKey: session) != nil, users[user]?.sessions.isEmpty == true else { return }
    users[user] = nil
  }

  /// The origins of the links by which nodes were told of all sessions of a user that are signing in; without
  /// those that were not told of some, or by several.
  func origins(of nodes: [NodeNumber], for user: UserID) -> [NodeNumber: UInt64] {
    guard let sessions = users[user]?.sessions.values, let first = sessions.first else { return [:] }
    var origins: [NodeNumber: UInt64] = [:]
    for node in nodes {
      guard let origin = first[node], sessions.allSatisfy({ $0[node] == origin }) else { continue }
      origins[node] = origin
    }
    return origins
  }

  /// A node wants to be told, if a session of the user is signing in.
  mutating func noteWish(of node: NodeNumber, for user: UserID) { users[user]?.nodes.insert(node) }

  func wantsGroups(of user: UserID, _ node: NodeNumber) -> Bool { users[user]?.nodes.contains(node) == true }
}

/// The groups of a user by the nodes that own their shards.
struct OwnedMemberships: Sendable {
  private var lists: [NodeNumber: [Membership]] = [:]

  init(_ memberships: [Membership], shards: ShardMap) {
    for membership in memberships {
      if let owner = shards.owner(of: Shard(of: membership.groupID)) { lists[owner, default: []].append(membership) }
    }
  }

  func of(_ node: NodeNumber) -> [Membership] { lists[node] ?? [] }
}
