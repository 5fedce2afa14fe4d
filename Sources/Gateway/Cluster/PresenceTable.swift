import Cluster
import GroupModel
import GroupRuntime

/// The sessions of all users on all nodes, as one node knows them (Cluster.md, "Users"). A value:
/// `ClusterPresence` acts.
struct PresenceTable: Sendable {
  /// A user has come online, or has gone.
  struct Transition: Sendable, Equatable {
    let user: UserID
    let platform: Platform
    let isOnline: Bool
  }

  /// The changes by the end of sessions.
  struct End: Sendable, Equatable {
    /// The user has no session on that node any more.
    var endsOnNode = false
    var transition: Transition?
    /// Groups of this node that have the user attached.
    var groups: [GroupID] = []
  }

  private struct User: Sendable {
    /// Ascending by `order`, then by node.
    var sessions: [(node: NodeNumber, session: ClusterSession)] = []
    /// A session has completed its sign-in.
    var isOnline = false
    /// The groups of this node that have attached the user's sessions, with the topic that has.
    var groups: [GroupID: TopicNumber] = [:]
  }

  private var users: [UserID: User] = [:]
  private(set) var sessionCount = 0

  var userCount: Int { users.count }

  func isPresent(_ user: UserID) -> Bool { users[user] != nil }

  /// Whether a session of the user is signed in.
  func isOnline(_ user: UserID) -> Bool { users[user]?.isOnline == true }

  /// The platforms of the signed-in sessions.
  func platforms(of user: UserID) -> PlatformSet {
    guard let sessions = users[user]?.sessions else { return [] }
    var platforms: PlatformSet = []
    for (_, session) in sessions where session.isCompleted { platforms.insert(PlatformSet(platform: session.platform)) }
    return platforms
  }

  /// The users of which a session is signed in.
  var onlineUsers: [UserID] { users.filter(\.value.isOnline).map(\.key) }

  /// The users that have a session.
  var allUsers: [UserID] { Array(users.keys) }

  /// The sessions of a user, in order.
  func sessions(of user: UserID) -> [ClusterSession] { users[user]?.sessions.map(\.session) ?? [] }

  /// Whether a user has another session than this one.
  func hasSession(of user: UserID, except session: SessionKey?) -> Bool {
    users[user]?.sessions.contains { $0.session.key != session } ?? false
  }

  /// The nodes with sessions of a user, each once.
  func nodes(of user: UserID) -> [NodeNumber] {
    guard let sessions = users[user]?.sessions else { return [] }
    if sessions.count == 1 { return [sessions[0].node] }
    return Set(sessions.map(\.node)).sorted()
  }

  /// A number for the next session of a user, larger than all that are known. The largest there is
  /// could only come from a faulty node; it is used again, and the nodes' numbers decide.
  func nextOrder(of user: UserID) -> UInt64 {
    let last = users[user]?.sessions.last?.session.order ?? 0
    return last == .max ? last : last + 1
  }

  /// The sessions of a node, by user.
  func sessions(on node: NodeNumber) -> [(user: UserID, session: ClusterSession)] {
    var found: [(user: UserID, session: ClusterSession)] = []
    // No list for each user: there are those of all nodes, and loops wait.
    for (user, entry) in users {
      for (owner, session) in entry.sessions where owner == node { found.append((user, session)) }
    }
    return found
  }

  // MARK: Sessions

  /// Adds a session; one that is known only completes.
  /// - Returns: a transition, where the session is signed in and the first of its user.
  @discardableResult
  mutating func begin(_ session: ClusterSession, of user: UserID, on node: NodeNumber) -> Transition? {
    var entry = users[user] ?? User()
    if let index = entry.sessions.firstIndex(where: { $0.session.key == session.key && $0.node == node }) {
      if session.isCompleted { entry.sessions[index].session.isCompleted = true }
    } else {
      let place = entry.sessions.firstIndex { PresenceTable.isBefore((node, session), $0) } ?? entry.sessions.count
      entry.sessions.insert((node, session), at: place)
      sessionCount += 1
    }
    defer { users[user] = entry }
    guard session.isCompleted, !entry.isOnline else { return nil }
    entry.isOnline = true
    return Transition(user: user, platform: session.platform, isOnline: true)
  }

  private static func isBefore(
    _ a: (node: NodeNumber, session: ClusterSession), _ b: (node: NodeNumber, session: ClusterSession)
  ) -> Bool { (a.session.order, a.node) < (b.session.order, b.node) }

  /// A session has signed in.
  mutating func complete(_ key: SessionKey, of user: UserID) -> Transition? {
    guard let index = users[user]?.sessions.firstIndex(where: { $0.session.key == key }),
      let platform = users[user]?.sessions[index].session.platform
    else { return nil }
    users[user]?.sessions[index].session.isCompleted = true
    guard users[user]?.isOnline == false else { return nil }
    users[user]?.isOnline = true
    return Transition(user: user, platform: platform, isOnline: true)
  }

  /// A session has ended.
  /// - Returns: nil where there was none.
  mutating func end(_ key: SessionKey, of user: UserID) -> End? {
    guard let index = users[user]?.sessions.firstIndex(where: { $0.session.key == key }),
      let ended = users[user]?.sessions.remove(at: index)
    else { return nil }
    sessionCount -= 1
    guard let entry = users[user] else { return nil }
    var end = End(endsOnNode: !entry.sessions.contains { $0.node == ended.node }, groups: Array(entry.groups.keys))
    guard entry.sessions.isEmpty else { return end }
    users[user] = nil
    if entry.isOnline { end.transition = Transition(user: user, platform: ended.session.platform, isOnline: false) }
    return end
  }

  /// The sessions of a node are these, and no others.
  /// - Returns: those that have ended, and those that were not known.
  mutating func differences(
    on node: NodeNumber, to found: [UserID: [ClusterSession]]
  ) -> (ended: [(UserID, SessionKey)], begun: [(UserID, ClusterSession)]) {
    let known = sessions(on: node)
    let ended = known.filter { known in found[known.user]?.contains { $0.key == known.session.key } != true }
    var begun: [(UserID, ClusterSession)] = []
    for (user, sessions) in found {
      for session in sessions {
        let old = users[user]?.sessions.first { $0.session.key == session.key && $0.node == node }?.session
        if old == nil || old?.isCompleted != session.isCompleted { begun.append((user, session)) }
      }
    }
    return (ended.map { ($0.user, $0.session.key) }, begun)
  }

  /// The sessions that have to end for one that signs in: that of the same device, and the oldest
  /// ones beyond the platform's limit (Protocol.md, "Sessions per user").
  /// - Returns: nil where the session itself has been replaced.
  func replaced(by key: SessionKey, of user: UserID, limit: Int) -> [(node: NodeNumber, session: ClusterSession)]? {
    guard let sessions = users[user]?.sessions, let index = sessions.firstIndex(where: { $0.session.key == key }) else {
      return nil
    }
    let own = sessions[index].session
    let older = sessions[..<index]
    // By bytes: two spellings of one text, which Swift's strings take for equal, are two devices.
    let isSameDevice = { (session: ClusterSession) in
      guard let device = own.deviceID, let other = session.deviceID else { return false }
      return device.utf8.elementsEqual(other.utf8)
    }
    let sameDevice = older.filter { isSameDevice($0.session) }
    let samePlatform = older.filter { $0.session.platform == own.platform && !isSameDevice($0.session) }
    return Array(sameDevice + samePlatform.prefix(max(0, samePlatform.count + 1 - limit)))
  }

  // MARK: Groups of this node

  /// A group of this node has the user's sessions attached.
  mutating func attach(_ group: GroupID, to user: UserID, by topic: TopicNumber) { users[user]?.groups[group] = topic }

  /// A topic of the group has the user's sessions no longer attached; a later one may have.
  mutating func detach(_ group: GroupID, from user: UserID, by topic: TopicNumber) {
    if users[user]?.groups[group] == topic { users[user]?.groups[group] = nil }
  }

  /// The groups of this node that have a user attached.
  func groups(of user: UserID) -> [GroupID] { users[user].map { Array($0.groups.keys) } ?? [] }
}
