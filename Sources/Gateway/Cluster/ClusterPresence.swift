import Cluster
import DequeModule
import Dispatch
import GroupModel
import GroupRuntime
import Synchronization

/// Hears of users who come online and go, whose shards are this node's.
protocol PresenceObserver: AnyObject, Sendable {
  /// Called in the order of the changes. It must neither block nor call `ClusterPresence`.
  func presenceChanged(_ user: UserID, _ platform: Platform, isOnline: Bool)
}

/// The sessions of all nodes: this node tells the others of its own, and hears of theirs (Cluster.md,
/// "Users").
package final class ClusterPresence: Sendable {
  private struct State {
    var table = PresenceTable()
    var absent = AbsentAttachments()
    /// The snapshot that a node is sending.
    var snapshots: [NodeNumber: [UserID: [ClusterSession]]] = [:]
    /// Nodes all of whose sessions were told at least once.
    var heard: Set<NodeNumber> = []
    var gains: RecentGains
    var own: NodeNumber?

    init(gains: RecentGains) { self.gains = gains }
  }

  private let links: ClusterLinks
  private let shards: ShardMap
  private let clocks: any Clocks
  private let state: Mutex<State>
  private let queue = DispatchQueue(label: "throng.cluster.presence")
  /// How many users are processed per lock: loops wait for it, and a group may have very many.
  static let batchSize = 1000
  /// How many sessions of a node that has gone end per lock: each may concern statuses and timers.
  static let endsAtOnce = 100
  /// nonisolated(unsafe): set before the node starts, and never again.
  nonisolated(unsafe) weak var observer: (any PresenceObserver)?
  /// Hears of the platforms of all users.
  ///
  /// nonisolated(unsafe): set before the node starts, and never again.
  package nonisolated(unsafe) weak var statuses: (any SessionObserver)?

  /// - Parameter gains: those of this node.
  init(
    links: ClusterLinks, shards: ShardMap, clocks: any Clocks, gains: RecentGains = RecentGains(lifetime: .seconds(60))
  ) {
    self.links = links
    self.shards = shards
    self.clocks = clocks
    state = Mutex(State(gains: gains))
  }

  private func note(_ transition: PresenceTable.Transition?) {
    guard let transition, shards.term(of: Shard(of: transition.user), at: clocks.monotonic) != nil else { return }
    observer?.presenceChanged(transition.user, transition.platform, isOnline: transition.isOnline)
  }

  /// Changes the sessions of a user, and tells of the platforms that are others then.
  private func change<Value>(_ user: UserID, in state: inout State, _ body: (inout State) -> Value) -> Value {
    let last = state.table.platforms(of: user)
    let value = body(&state)
    let platforms = state.table.platforms(of: user)
    if platforms != last { statuses?.sessionsChanged(of: user, from: last, to: platforms) }
    return value
  }

  // MARK: Reading

  var userCount: Int { state.withLock { $0.table.userCount } }
  var sessionCount: Int { state.withLock { $0.table.sessionCount } }
  /// The attempts to find a user's sessions that are remembered, because news may be on its way.
  var absentCount: Int { state.withLock { $0.absent.count } }

  func isPresent(_ user: UserID) -> Bool { state.withLock { $0.table.isPresent(user) } }

  func isOnline(_ user: UserID) -> Bool { state.withLock { $0.table.isOnline(user) } }

  func signedIn(among users: [UserID]) -> [UserID] {
    var found: [UserID] = []
    var remaining = users[...]
    while !remaining.isEmpty {
      let batch = remaining.prefix(ClusterPresence.batchSize)
      remaining = remaining.dropFirst(batch.count)
      found += state.withLock { state in batch.filter { state.table.isPresent($0) } }
    }
    return found
  }

  /// The presence of users in the order given, as far as sessions tell.
  func presences(of users: [UserID]) -> [UserPresence] {
    state.withLock { state in
      let platforms = users.map { state.table.platforms(of: $0) }
      return statuses?.presences(of: users, on: platforms) ?? platforms.map { UserPresence(platforms: $0) }
    }
  }

  func allUsers() -> [UserID] { state.withLock { $0.table.allUsers } }

  /// The users with a session that is signed in and for whom the condition holds.
  func onlineUsers(where isIncluded: (UserID) -> Bool) -> [UserID] {
    state.withLock { $0.table.onlineUsers }.filter(isIncluded)
  }

  /// The users with sessions on a node.
  func users(on node: NodeNumber) -> [UserID] {
    state.withLock { state in Set(state.table.sessions(on: node).map(\.user)).sorted() }
  }

  /// Whether one of the users has another session than this one.
  func hasSession(of users: [UserID], except session: SessionKey?) -> Bool {
    state.withLock { state in users.contains { state.table.hasSession(of: $0, except: session) } }
  }

  /// The other nodes with sessions of a user.
  func otherNodes(of user: UserID) -> [NodeNumber] {
    state.withLock { state in state.table.nodes(of: user).filter { $0 != state.own } }
  }

  // MARK: Sessions of this node

  /// Becomes a node, without any session.
  func start(as own: NodeNumber) {
    state.withLock { state in
      state = State(gains: state.gains)
      state.own = own
    }
  }

  // Entries are sent within the lock, so that a snapshot and later changes leave in one order.

  func begin(_ key: SessionKey, on platform: Platform, deviceID: String?, of user: UserID) {
    state.withLock { state in
      guard let own = state.own else { return }
      let session = ClusterSession(
        key: key, platform: platform, deviceID: deviceID, order: state.table.nextOrder(of: user))
      state.table.begin(session, of: user, on: own)
      // The request to the owners of the user's groups takes it along, and so does the wait of the sign-in until
      // the other nodes have heard it.
      links.sendToAll(.sessionBegan(user, session), mayWait: true)
    }
  }

  /// The sessions that a sign-in ends.
  struct Replacement: Sendable, Equatable {
    /// Sessions of this node.
    var here: [SessionKey] = []
    /// Groups of this node with the user, who has no session any more on some other one.
    var groups: Set<GroupID> = []
  }

  /// The session has signed in: others end for it.
  /// - Returns: nil where the session itself has to end.
  func complete(_ key: SessionKey, of user: UserID, limit: Int) -> Replacement? {
    state.withLock { state in
      guard let own = state.own, let replaced = state.table.replaced(by: key, of: user, limit: limit) else { return nil }
      return change(user, in: &state) { state -> Replacement in
        note(state.table.complete(key, of: user))
        links.sendToAll(.sessionCompleted(user, key))
        var replacement = Replacement()
        for (node, session) in replaced {
          let end = state.table.end(session.key, of: user)
          if node == own {
            replacement.here.append(session.key)
            links.sendToAll(.sessionEnded(user, session.key))
          } else {
            if let end, end.endsOnNode { replacement.groups.formUnion(end.groups) }
            links.send(.replace(user, session.key), to: node)
          }
        }
        return replacement
      }
    }
  }

  /// A session has ended.
  /// - Returns: nil where it had ended before.
  func end(_ key: SessionKey, of user: UserID) -> PresenceTable.End? {
    state.withLock { state in
      guard let end = change(user, in: &state, { $0.table.end(key, of: user) }) else { return nil }
      // Thousands may end at once. Answers that say so come behind it.
      links.sendToAll(.sessionEnded(user, key), mayWait: true)
      note(end.transition)
      return end
    }
  }

  /// Tells a node all sessions of this one.
  func sendSnapshot(to node: NodeNumber) {
    state.withLock { state in
      guard let own = state.own else { return }
      links.send(.snapshotBegan, to: node)
      for (user, session) in state.table.sessions(on: own) { links.send(.sessionBegan(user, session), to: node) }
      links.send(.snapshotEnded, to: node)
    }
  }

  /// Whether all sessions of a node were told at least once.
  func hasHeard(_ node: NodeNumber) -> Bool { state.withLock { $0.heard.contains(node) } }

  // MARK: Sessions of other nodes

  /// The changes of a node's entry for the groups of this node.
  struct Change: Sendable, Equatable {
    let user: UserID
    let groups: [GroupID]
  }

  func didReceive(_ entry: ClusterEntry, from node: NodeNumber) -> [Change] {
    state.withLock { state in
      switch entry {
      case .snapshotBegan: state.snapshots[node] = [:]
      case .snapshotEnded:
        guard let found = state.snapshots.removeValue(forKey: node) else { return [] }
        state.heard.insert(node)
        return replace(found, of: node, in: &state)
      case .sessionBegan(let user, let session):
        if state.snapshots[node] != nil {
          state.snapshots[node]?[user, default: []].append(session)
          return []
        }
        return [begin(session, of: user, on: node, in: &state)].compactMap(\.self)
      case .sessionCompleted(let user, let key): note(change(user, in: &state) { $0.table.complete(key, of: user) })
      case .sessionEnded(let user, let key): return [end(key, of: user, in: &state)].compactMap(\.self)
      case .replace, .wantsGroups, .unit, .expectFollow, .missed, .webhooksWait, .charged, .badToken, .statusChanged,
        .request, .reply:
        break
      }
      return []
    }
  }

  /// A node has gone, with its sessions, and tells nothing any more.
  func drop(_ node: NodeNumber) -> [Change] {
    let ended = state.withLock { state in
      state.snapshots[node] = nil
      state.heard.remove(node)
      return state.table.sessions(on: node)
    }
    var remaining = ended[...]
    var changes: [Change] = []
    while !remaining.isEmpty {
      let batch = remaining.prefix(ClusterPresence.endsAtOnce)
      remaining = remaining.dropFirst(batch.count)
      changes += state.withLock { state in batch.compactMap { end($0.session.key, of: $0.user, in: &state) } }
    }
    return changes
  }

  private func begin(_ session: ClusterSession, of user: UserID, on node: NodeNumber, in state: inout State) -> Change? {
    let isFirstOnNode = !state.table.nodes(of: user).contains(node)
    note(change(user, in: &state) { $0.table.begin(session, of: user, on: node) })
    var groups = Set(state.absent.remove(user))
    // A group that attached the user's other sessions meanwhile did not know of this node.
    if isFirstOnNode { groups.formUnion(state.table.groups(of: user)) }
    return groups.isEmpty ? nil : Change(user: user, groups: groups.sorted())
  }

  private func end(_ key: SessionKey, of user: UserID, in state: inout State) -> Change? {
    guard let end = change(user, in: &state, { $0.table.end(key, of: user) }) else { return nil }
    note(end.transition)
    return end.endsOnNode && !end.groups.isEmpty ? Change(user: user, groups: end.groups) : nil
  }

  private func replace(_ found: [UserID: [ClusterSession]], of node: NodeNumber, in state: inout State) -> [Change] {
    let (ended, begun) = state.table.differences(on: node, to: found)
    // New ones first: a user who has come back on the node has not been away.
    let added = begun.compactMap { begin($0.1, of: $0.0, on: node, in: &state) }
    return added + ended.compactMap { end($0.1, of: $0.0, in: &state) }
  }

  // MARK: Groups of this node

  /// Whether groups of this node may have looked for sessions before their news was here, though the
  /// sessions' nodes take others for the owners.
  var hasGainedShards: Bool {
    let (count, now) = (shards.gainCount, clocks.monotonic)
    return state.withLock { $0.gains.isRecent(count, at: now) }
  }

  /// As if no shard had come for long.
  func forgetGains() {
    let count = shards.gainCount
    state.withLock { $0.gains.forget(count) }
  }

  /// A group attaches a user's sessions.
  /// - Returns: the other nodes with sessions of the user.
  func attach(_ group: GroupID, to user: UserID, by topic: TopicNumber) -> [NodeNumber] {
    state.withLock { state in
      let nodes = state.table.nodes(of: user).filter { $0 != state.own }
      if state.table.isPresent(user) {
        state.table.attach(group, to: user, by: topic)
      } else {
        state.absent.add(group, user, at: clocks.monotonic)
      }
      return nodes
    }
  }

  func detach(_ group: GroupID, from user: UserID, by topic: TopicNumber) {
    state.withLock { $0.table.detach(group, from: user, by: topic) }
  }

  /// A topic is closed: of many users it is noted a little later, because the caller's loop must not wait
  /// for it.
  func detach(_ group: GroupID, fromAll users: [UserID], by topic: TopicNumber) {
    if users.count <= ClusterPresence.batchSize { return detach(group, from: users[...], by: topic) }
    queue.async { [self] in
      var remaining = users[...]
      while !remaining.isEmpty {
        detach(group, from: remaining.prefix(ClusterPresence.batchSize), by: topic)
        remaining = remaining.dropFirst(ClusterPresence.batchSize)
      }
    }
  }

  private func detach(_ group: GroupID, from users: ArraySlice<UserID>, by topic: TopicNumber) {
    state.withLock { state in for user in users { state.table.detach(group, from: user, by: topic) } }
  }
}

/// Groups that have lately looked for sessions of a user in vain. A session whose news is still on its
/// way from its node is attached when the news comes: the node has read the user's groups before.
struct AbsentAttachments: Sendable {
  private struct Attempt: Sendable {
    let user: UserID
    let group: GroupID
    let time: MonotonicInstant
  }

  /// News takes no longer, also where a node that is not heard has been waited for (`ClusterNode.linkWait`),
  /// and its link begins only behind several attempts.
  static let lifetime = Duration.seconds(60)
  private static let maxCount = 100_000

  private var attempts: Deque<Attempt> = []
  /// With the time of the newest attempt: an older one that ends must not take it away.
  private var groups: [UserID: [GroupID: MonotonicInstant]] = [:]

  /// None.
  init() {}

  var count: Int { attempts.count }

  mutating func add(_ group: GroupID, _ user: UserID, at now: MonotonicInstant) {
    while let first = attempts.first,
      first.time + AbsentAttachments.lifetime < now || attempts.count >= AbsentAttachments.maxCount
    {
      attempts.removeFirst()
      guard groups[first.user]?[first.group] == first.time else { continue }
      groups[first.user]?[first.group] = nil
      if groups[first.user]?.isEmpty == true { groups[first.user] = nil }
    }
    groups[user, default: [:]][group] = now
    attempts.append(Attempt(user: user, group: group, time: now))
  }

  /// A session of the user has begun: removes and returns the groups.
  mutating func remove(_ user: UserID) -> [GroupID] { groups.removeValue(forKey: user).map { $0.keys.sorted() } ?? [] }
}
