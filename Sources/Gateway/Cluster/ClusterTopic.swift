import Cluster
import GroupModel
import GroupRuntime
import Synchronization

/// Carries frames to the sessions of all nodes.
package final class ClusterBroker: Broker {
  private let directory: SessionDirectory
  private let presence: ClusterPresence
  private let links: ClusterLinks
  private let tracer: Tracer

  /// - Parameter directory: has the sessions of this node, `presence` those of all.
  package init(directory: SessionDirectory, presence: ClusterPresence, links: ClusterLinks, tracer: Tracer) {
    self.directory = directory
    self.presence = presence
    self.links = links
    self.tracer = tracer
  }

  package func openTopic(of group: GroupID) -> any GroupTopic {
    // An event is noted once, by the owner of the group's shard, wherever it is heard.
    ClusterTopic(group, local: LocalTopic(group, directory: directory), presence: presence, links: links, tracer: tracer)
  }

  /// Nothing to note: each user who goes offline has a timer (`PresenceKeeper.presenceChanged`).
  package func noteSuspendedRoom(of users: [UserID]) {}

  package var usersSignedIn: Int { presence.userCount }

  package func signedIn(among users: [UserID]) -> [UserID] { presence.signedIn(among: users) }

  package func signedInUsers() -> [UserID] { presence.allUsers() }
}

/// A group's topic at the node that leads it: the local topic for sessions here, and an entry of
/// the links for each node with sessions of members (Cluster.md, "Events between nodes").
final class ClusterTopic: GroupTopic {
  private let group: GroupID
  private let local: LocalTopic
  private let presence: ClusterPresence
  private let links: ClusterLinks
  private let tracer: Tracer
  /// The members that each node has attached. Only the group's executor changes it (`GroupTopic`).
  private let attached = Mutex<[NodeNumber: Set<UserID>]>([:])

  init(_ group: GroupID, local: LocalTopic, presence: ClusterPresence, links: ClusterLinks, tracer: Tracer) {
    self.group = group
    self.local = local
    self.presence = presence
    self.links = links
    self.tracer = tracer
  }

  func attach(_ user: UserID, receiving option: ReceiveOption) -> Bool {
    let isHere = local.attach(user, receiving: option)
    let nodes = presence.attach(group, to: user)
    let left = attached.withLock { attached in
      let left = attached.filter { !nodes.contains($0.key) && $0.value.contains(user) }.map(\.key)
      for node in left { ClusterTopic.remove(user, on: node, from: &attached) }
      for node in nodes { attached[node, default: []].insert(user) }
      return left
    }
    links.send(.detach(group, user), to: left, mayWait: true)
    // The reply to a join, and each event, comes behind it.
    links.send(.attach(group, user, option), to: nodes, mayWait: true)
    return isHere || !nodes.isEmpty
  }

  func detach(_ user: UserID) {
    local.detach(user)
    let nodes = attached.withLock { attached in
      let nodes = attached.filter { $0.value.contains(user) }.map(\.key)
      for node in nodes { ClusterTopic.remove(user, on: node, from: &attached) }
      return nodes
    }
    presence.detach(group, from: CollectionOfOne(user))
    links.send(.detach(group, user), to: nodes, mayWait: true)
  }

  private static func remove(_ user: UserID, on node: NodeNumber, from attached: inout [NodeNumber: Set<UserID>]) {
    attached[node]?.remove(user)
    if attached[node]?.isEmpty == true { attached[node] = nil }
  }

  func resetCompression() {
    local.resetCompression()
    links.send(.resetCompression(group), to: attached.withLock { Array($0.keys) }, mayWait: true)
  }

  func publish(_ frame: [UInt8], _ kind: EventClass, except session: SessionKey?) {
    if tracer.isActive {
      let users = attached.withLock { $0.values.reduce(into: local.attachedUsers) { $0.formUnion($1) } }
      tracer.noteEvent(frame, of: group) { users.contains($0) }
    }
    local.publish(frame, kind, except: session)
    let nodes = attached.withLock { Array($0.keys) }
    if !nodes.isEmpty { links.send(.publish(group, kind, except: session, frame: frame), to: nodes) }
  }

  func send(_ frame: [UInt8], to users: [UserID], except session: SessionKey?) {
    if tracer.isActive { tracer.noteEvent(frame, of: group) { users.contains($0) } }
    local.send(frame, to: users, except: session)
    var byNode: [NodeNumber: [UserID]] = [:]
    for user in users {
      for node in presence.otherNodes(of: user) { byNode[node, default: []].append(user) }
    }
    // News for some users, as that of each join for who joins, and messages for a few.
    for (node, users) in byNode {
      links.send(.send(group, to: users, except: session, frame: frame), to: node, mayWait: true)
    }
  }

  func send(_ frame: [UInt8], to session: SessionKey) {
    guard let node = session.node else { return local.send(frame, to: session) }
    links.send(.sendToSession(group, session, frame: frame), to: node)
  }

  func close() {
    presence.detach(group, from: local.attachedUsers)
    local.close()
    let closed = attached.withLock { attached in
      defer { attached = [:] }
      return attached
    }
    for users in closed.values { presence.detach(group, from: users) }
    links.send(.close(group), to: closed.keys.sorted())
  }

  func suspend() { close() }
}

/// The topics of groups of other nodes, for sessions of this one. Calls come one at a time.
package final class RemoteTopics: Sendable {
  private let directory: SessionDirectory
  private let topics = Mutex<[NodeNumber: [GroupID: LocalTopic]]>([:])

  /// No topics yet.
  package init(directory: SessionDirectory) { self.directory = directory }

  /// How many topics there are.
  var count: Int { topics.withLock { $0.values.reduce(0) { $0 + $1.count } } }

  /// Applies an entry of the node that leads the group.
  func didReceive(_ entry: ClusterEntry, from node: NodeNumber) {
    switch entry {
    case .attach(let group, let user, let option): _ = open(group, of: node).attach(user, receiving: option)
    case .detach(let group, let user):
      guard let topic = topic(of: group, node) else { return }
      topic.detach(user)
      if topic.isEmpty { topics.withLock { $0[node]?.removeValue(forKey: group) }?.close() }
    case .resetCompression(let group): topic(of: group, node)?.resetCompression()
    case .publish(let group, let kind, let except, let frame): topic(of: group, node)?.publish(frame, kind, except: except)
    case .send(let group, let users, let except, let frame):
      // The users need not be members: then a topic lasts for this frame only.
      (topic(of: group, node) ?? LocalTopic(group, directory: directory)).send(frame, to: users, except: except)
    case .sendToSession(let group, let session, let frame):
      (topic(of: group, node) ?? LocalTopic(group, directory: directory)).send(frame, to: session)
    case .close(let group): topics.withLock { $0[node]?.removeValue(forKey: group) }?.close()
    case .snapshotBegan, .snapshotEnded, .sessionBegan, .sessionCompleted, .sessionEnded, .replace, .missed, .webhooksWait,
      .charged, .badToken, .statusChanged, .request, .reply:
      break
    }
  }

  private func topic(of group: GroupID, _ node: NodeNumber) -> LocalTopic? { topics.withLock { $0[node]?[group] } }

  private func open(_ group: GroupID, of node: NodeNumber) -> LocalTopic {
    topics.withLock { topics in
      if let topic = topics[node]?[group] { return topic }
      let topic = LocalTopic(group, directory: directory)
      topics[node, default: [:]][group] = topic
      return topic
    }
  }

  /// The node's entries are missing, or it has gone: closes its topics.
  /// - Returns: the users who were attached.
  func drop(_ node: NodeNumber) -> Set<UserID> {
    let dropped = topics.withLock { $0.removeValue(forKey: node) } ?? [:]
    var users: Set<UserID> = []
    for topic in dropped.values {
      users.formUnion(topic.attachedUsers)
      topic.close()
    }
    return users
  }

  /// Closes everything.
  func dropAll() -> Set<UserID> {
    topics.withLock { Array($0.keys) }.reduce(into: []) { $0.formUnion(drop($1)) }
  }
}
