import Cluster
import GroupModel
import GroupRuntime
import Synchronization
import WireProtocol

/// The users of all nodes (Cluster.md, "Users"): tells and asks the other nodes what a sign-in, the end of
/// sessions or a change of a user needs. `ClusterPresence` knows the sessions.
package final class ClusterUserDirectory: UserDirectory {
  private struct State {
    /// Users whose sessions a node was not told of: what its groups have sent since is missing.
    var unconfirmed: [NodeNumber: Set<UserID>] = [:]
    /// News of users, of their texts or of what ends their sessions, that a node has not confirmed.
    var unheardNews: [NodeNumber: UnconfirmedNews] = [:]
    /// The part of it whose answers nobody waits for any more.
    var lateNews: [NodeNumber: UnconfirmedNews] = [:]
    /// Users of whose sessions a node is being told, by the number of the request.
    var awaited: [NodeNumber: [UInt64: UserID]] = [:]
    var lastRequest: UInt64 = 0
    /// Nodes that may have groups in memory: they have heard this one before, or it has begun to serve
    /// without being heard by them.
    var known: Set<NodeNumber> = []
    /// Nodes without which this one began to serve: its groups know none of their sessions.
    var unheard: Set<NodeNumber> = []
    /// The users of this node's sessions that are signing in.
    var signIns = PendingSignIns()
    var isReady = false
  }

  /// How long a node has for an answer about sessions; a link that is lost ends the wait before.
  private static let replyWait = Duration.seconds(5)
  /// The part of it for hearing that a session begins.
  private static let hearingWait = Duration.seconds(2)

  private let directory: SessionDirectory
  private let registry: GroupRegistry
  private let profiles: ProfileCache
  private let presence: ClusterPresence
  private let statuses: Statuses
  private let links: ClusterLinks
  private let requests: RemoteRequests
  let otherNodes: OtherNodes
  private let router: ShardRouter
  private let membership: any ClusterMembership
  private let bus: any Bus
  private let store: any PresenceStore
  private let state = Mutex(State())

  /// A directory of no sessions, which does not serve yet.
  package init(
    directory: SessionDirectory, registry: GroupRegistry, profiles: ProfileCache, statuses: Statuses, network: ClusterNetwork
  ) {
    otherNodes = network.otherNodes
    self.directory = directory
    self.registry = registry
    self.profiles = profiles
    self.statuses = statuses
    presence = network.presence
    links = network.links
    requests = network.requests
    router = network.router
    membership = network.ports.membership
    bus = network.ports.bus
    store = network.ports.presence
  }

  /// How many users other nodes are being told of, or were not told of.
  var unconfirmedCount: Int {
    state.withLock { state in
      let users = state.unconfirmed.values.reduce(0) { $0 + $1.count }
      return state.awaited.values.reduce(users) { $0 + $1.count }
    }
  }

  // MARK: Readiness

  var isReady: Bool { state.withLock { $0.isReady } }

  /// Serves, or does so no longer.
  /// - Parameter unheard: nodes with which the links are not open yet.
  func setReady(_ isReady: Bool, without unheard: [NodeNumber] = []) {
    state.withLock { state in
      state.isReady = isReady
      state.known.formUnion(unheard)
      state.unheard = Set(unheard)
    }
    router.setServing(isReady)
    // Heard meanwhile.
    for node in unheard where presence.hasHeard(node) { tellLate(node) }
  }

  package var acceptsSignIns: Bool { isReady && bus.isConnected && membership.node != nil }

  // MARK: Sessions

  package var sessionCount: Int { presence.sessionCount }

  package func isPresent(_ user: UserID) -> Bool { presence.isPresent(user) }

  package func begin(_ entry: SessionEntry, of user: UserID) {
    directory.register(entry, of: user)
    // Before the news, which a node may answer at once.
    let origins = links.origins
    state.withLock { $0.signIns.begin(entry.session.key, of: user, over: origins) }
    presence.begin(entry.session.key, on: entry.platform, deviceID: entry.deviceID, of: user)
  }

  /// The groups of everybody are known to their nodes alone, and all nodes have to hear of the session.
  package func hasGroups(in memberships: [Membership]) -> Bool { true }

  /// Each owner that this node knows attaches the session to its groups. All other nodes have heard by then
  /// that the session begins: groups that they load from now on find it, and so does all that they decide.
  package func attachGroups(_ change: Group.Presence, in memberships: [Membership]) async {
    let nodes = otherNodes.all
    let owned = OwnedMemberships(memberships, shards: membership.shards)
    await withTaskGroup(of: Void.self) { group in
      if hasOwnGroups(in: memberships) { group.addTask { await self.attachOwnGroups(change, in: memberships) } }
      group.addTask { await self.attachGroups(change, in: memberships, of: nodes.filter { owned.of($0).isEmpty }) }
      for node in nodes where !owned.of(node).isEmpty {
        group.addTask { await self.attachGroups(change, in: memberships, owned.of(node), of: node) }
      }
    }
  }

  /// - Parameter nodes: those that own none of the groups, as far as this one knows.
  private func attachGroups(_ change: Group.Presence, in all: [Membership], of nodes: [NodeNumber]) async {
    let user = change.user
    let origins = state.withLock { $0.signIns.origins(of: nodes, for: user) }
    let heard = await links.heard(by: origins, timeout: ClusterUserDirectory.hearingWait)
    // What a node has asked came before the sign that it has heard.
    let asked = nodes.filter { !heard.contains($0) || wantsGroups(of: user, $0) }
    if asked.isEmpty { return }
    await withTaskGroup { group in
      for node in asked { group.addTask { _ = await self.tell(node, .presence(change, in: all), of: user) } }
    }
  }

  /// - Parameter owned: the groups of the node, as far as this one knows.
  private func attachGroups(
    _ change: Group.Presence, in all: [Membership], _ owned: [Membership], of node: NodeNumber
  ) async {
    if !wantsGroups(of: change.user, node) {
      let isTold = await tell(node, .presence(change, in: owned), of: change.user)
      // With an answer that was lost, a wish may be.
      if isTold ? !wantsGroups(of: change.user, node) : !links.isUp(with: node) { return }
    }
    await tell(node, .presence(change, in: all), of: change.user)
  }

  /// Lets the groups of all nodes look for a user: each node gets the whole list, and finds its groups,
  /// whatever this one knows of their owners.
  private func attachGroupsEverywhere(_ change: Group.Presence, in memberships: [Membership]) async {
    let nodes = otherNodes.all
    await withTaskGroup(of: Void.self) { group in
      if hasOwnGroups(in: memberships) { group.addTask { await self.attachOwnGroups(change, in: memberships) } }
      for node in nodes {
        group.addTask { _ = await self.tell(node, .presence(change, in: memberships), of: change.user) }
      }
    }
  }

  private func wantsGroups(of user: UserID, _ node: NodeNumber) -> Bool {
    state.withLock { $0.signIns.wantsGroups(of: user, node) }
  }

  /// A node asks for the groups of a user of this one who signs in.
  func didAskForGroups(of user: UserID, _ node: NodeNumber) { state.withLock { $0.signIns.noteWish(of: node, for: user) } }

  /// A session of another node has begun. Groups that this node has got lately may have been loaded without
  /// it, while the session's node takes others for their owners; and groups of everybody attach it.
  func didBegin(_ session: ClusterSession, of user: UserID, on node: NodeNumber) {
    // Part of a snapshot: its groups have attached it.
    if session.isCompleted { return }
    guard presence.hasGainedShards || registry.hasGroups(in: []) else { return }
    links.send(.wantsGroups(user), to: node)
  }

  /// Lets the groups of this node attach a user's sessions. Those in memory are told while the lease
  /// pauses, too: it may go on.
  func attachOwnGroups(_ change: Group.Presence, in memberships: [Membership]) async {
    await registry.presenceChanged(change, in: memberships.filter(isOwn))
  }

  /// Whether `attachOwnGroups` may have somebody to tell.
  func hasOwnGroups(in memberships: [Membership]) -> Bool { registry.hasGroups(in: memberships.filter(isOwn)) }

  private func isOwn(_ membership: Membership) -> Bool {
    router.leads(membership.groupID) || registry.resident(membership.groupID) != nil
  }

  /// The grace of a user without a session has ended: the nodes of the live rooms let the user leave.
  /// - Returns: false where no node leads a room now.
  func endGrace(_ change: Group.Presence, in rooms: [Membership]) async -> Bool {
    await attachGroupsEverywhere(change, in: rooms)
    return rooms.allSatisfy { router.isReachable($0.groupID) }
  }

  /// Tells a node of a change of a user, and waits for its answer.
  /// - Returns: whether it has answered.
  @discardableResult
  private func tell(_ node: NodeNumber, _ request: RemoteRequest, of user: UserID) async -> Bool {
    let number = state.withLock { state in
      state.lastRequest += 1
      state.awaited[node, default: [:]][state.lastRequest] = user
      return state.lastRequest
    }
    let outcome = await requests.outcome(of: request, to: node, timeout: ClusterUserDirectory.replyWait)
    // A node that has gone has no groups, and one that was never heard has none in memory.
    let isThere = membership.view.nodes[node] != nil
    return state.withLock { state in
      // Nil: the link began again meanwhile, and the user is among those of `didOpenLink`.
      guard state.awaited[node]?.removeValue(forKey: number) != nil else { return false }
      if case .reply = outcome { return true }
      if isThere, state.known.contains(node) { state.unconfirmed[node, default: []].insert(user) }
      return false
    }
  }

  /// A node hears this one from now on. Requests that wait for its answers are lost.
  /// - Returns: the users whose sessions it was not told of.
  func didOpenLink(to node: NodeNumber) -> Set<UserID> {
    tellLate(node)
    // Sessions of users of whom the node did not hear some news: their clients connect again, and the sign-in
    // reads it.
    let unheard = state.withLock { state in
      state.lateNews[node] = nil
      return state.unheardNews[node]
    }
    if let news = unheard, !news.isEmpty {
      links.send(.missed(news.users ?? presence.users(on: node)), to: node)
      whenHeard(by: node) { $0.unheardNews[node]?.didConfirm(news) }
    }
    return state.withLock { state in
      let awaited = state.awaited.removeValue(forKey: node) ?? [:]
      guard !state.known.insert(node).inserted else { return [] }
      return (state.unconfirmed.removeValue(forKey: node) ?? []).union(awaited.values)
    }
  }

  /// The link to a node was interrupted, and goes on: the news of the time between reaches it, late.
  /// - Returns: the users who have signed in meanwhile, before its groups had attached their sessions.
  func didResumeLink(to node: NodeNumber) -> Set<UserID> {
    confirmLateNews(by: node)
    return state.withLock { $0.unconfirmed.removeValue(forKey: node) ?? [] }
  }

  /// A node answers behind all that was sent to it before: the news itself, or by a link that has begun
  /// meanwhile that users have missed it.
  private func confirmLateNews(by node: NodeNumber) {
    guard let late = state.withLock({ $0.lateNews.removeValue(forKey: node) }) else { return }
    requests.send(.uptime, to: node, timeout: ClusterUserDirectory.replyWait) { [self] outcome in
      state.withLock { state in
        guard case .reply = outcome else { return state.lateNews[node, default: UnconfirmedNews()].add(late) }
        state.unheardNews[node]?.didConfirm(late)
      }
    }
  }

  /// All sessions of a node are known, also those that began before this node served: its groups have sent
  /// them nothing. Their clients connect again, and look.
  func tellLate(_ node: NodeNumber) {
    guard state.withLock({ $0.unheard.contains(node) }), presence.hasHeard(node) else { return }
    links.send(.missed(presence.users(on: node)), to: node)
    whenHeard(by: node) { $0.unheard.remove(node) }
  }

  /// Whether sessions of a node are still to be told that they have missed something.
  func isBehind(with node: NodeNumber) -> Bool { state.withLock { $0.unheard.contains(node) } }

  /// Calls `body` when a node has received all that was sent to it. A link that begins anew has lost it.
  private func whenHeard(by node: NodeNumber, _ body: @escaping @Sendable (inout State) -> Void) {
    requests.send(.uptime, to: node, timeout: ClusterUserDirectory.replyWait) { [self] outcome in
      if case .reply = outcome { state.withLock { body(&$0) } }
    }
  }

  /// A node has gone, with the news that it did not hear.
  /// - Returns: the users whose sessions it was not told of. Its groups may have stored something since, and
  ///   have told it to none of these.
  func didGo(_ node: NodeNumber) -> Set<UserID> {
    state.withLock { state in
      state.known.remove(node)
      state.unheard.remove(node)
      state.unheardNews[node] = nil
      state.lateNews[node] = nil
      state.awaited[node] = nil
      return state.unconfirmed.removeValue(forKey: node) ?? []
    }
  }

  package func completeSignIn(of session: Session, by user: UserID, limit: Int) -> Bool {
    state.withLock { $0.signIns.end(session.key, of: user) }
    guard let replacement = presence.complete(session.key, of: user, limit: limit) else { return false }
    directory.noteSignIn(session.key, of: user)
    for key in replacement.here { directory.removeReplaced(key, of: user)?.replace() }
    notify(replacement.groups, of: user)
    return true
  }

  package func end(_ session: Session, of user: UserID) {
    state.withLock { $0.signIns.end(session.key, of: user) }
    // Other nodes first: an answer without the session then reaches them behind the news.
    let everywhere = presence.end(session.key, of: user)
    let here = directory.unregister(session, of: user)
    notify(here.groups.union(everywhere?.groups ?? []), of: user)
  }

  /// Groups in memory look for the sessions of a user again.
  func notify(_ groups: some Sequence<GroupID>, of user: UserID) {
    for group in groups { registry.resident(group)?.enqueue(.presence(Group.Presence(of: user)) {}) }
  }

  /// The same for the users whose sessions on other nodes have changed.
  func notify(_ changes: [ClusterPresence.Change]) {
    for change in changes { notify(change.groups, of: change.user) }
  }

  /// The store hears of the presence from the owner of the user's shard, so what it says may be older
  /// than what this node knows.
  package func absence(of user: UserID, readAs offlineSince: WallInstant?) -> WallInstant? {
    presence.isOnline(user) ? nil : offlineSince
  }

  // MARK: Of one user, on all nodes

  package func endSessions(of user: UserID, _ ending: SessionEnding) async -> Int {
    async let endedHere = directory.endSessions(of: user, ending)
    let answers = await otherNodes.ask(
      "kickUser", of: presence.otherNodes(of: user), timeout: ClusterUserDirectory.replyWait
    ) { _ in .endSessions(user, ending) }
    var ended = await endedHere
    for case (_, .count(let count)) in answers { ended += Int(count) }
    return ended
  }

  /// Asks each node, whatever this one knows of its sessions: one may be signing in there.
  @discardableResult
  package func endSessionsEverywhere(of user: UserID, _ ending: SessionEnding) async -> Bool {
    async let endedHere = directory.endSessions(of: user, ending)
    let isConfirmed = await announce("endSessions", .endSessions(user, ending), of: user)
    _ = await endedHere
    return isConfirmed
  }

  package func sessions(of user: UserID) async -> [SessionInfo] {
    var found = directory.infos(of: user)
    let answers = await otherNodes.ask(
      "listSessions", of: presence.otherNodes(of: user), timeout: ClusterUserDirectory.replyWait
    ) { _ in .sessions(of: user) }
    for case (_, .sessions(let sessions)) in answers { found += sessions }
    return found.sorted { ($0.loginTime, $0.sessionID) < ($1.loginTime, $1.sessionID) }
  }

  package func presences(of users: [UserID]) -> [UserPresence] { presence.presences(of: users) }

  /// A node that misses the news reads the statuses of watched users again (`StatusReader.readAgain`).
  package func showStatus(_ customStatus: String, of user: UserID) {
    statuses.statusChanged(of: user, to: customStatus)
    links.sendToAll(.statusChanged(user, customStatus))
  }

  package var knowsAtOnce: Bool { false }

  package func makeKnown(_ user: UserID, isNew: Bool) async throws(StoreError) {
    try await store.makeKnown([user], areNew: isNew)
  }

  package func show(_ profile: UserProfile?, of user: UserID, _ frame: [UInt8]?, except session: SessionKey?) async {
    async let isShownHere: Void = showHere(profile, of: user, frame, except: session)
    await announce("userInfo", .userInfo(user, profile, frame: frame, except: session), of: user)
    await isShownHere
  }

  /// Tells all nodes some news of a user. The user's sessions on one that does not confirm it are closed
  /// when the link is back (4008): their next sign-in reads the store.
  /// - Returns: whether each node has confirmed it, or has gone.
  @discardableResult
  private func announce(_ purpose: StaticString, _ request: RemoteRequest, of user: UserID) async -> Bool {
    let nodes = otherNodes.all
    // Until they have answered: a link that begins meanwhile has lost the news.
    state.withLock { state in for node in nodes { state.unheardNews[node, default: UnconfirmedNews()].add(user) } }
    let answers = await otherNodes.ask(purpose, of: nodes, timeout: ClusterUserDirectory.replyWait) { _ in request }
    let confirmed = Set(answers.map(\.node))
    let living = membership.view.nodes
    state.withLock { state in
      for node in nodes {
        if confirmed.contains(node) {
          state.unheardNews[node]?.didConfirm(user)
          continue
        }
        // Earlier news was told again, before this one was lost.
        if state.unheardNews[node]?.isEmpty != false { state.unheardNews[node, default: UnconfirmedNews()].add(user) }
        state.lateNews[node, default: UnconfirmedNews()].add(user)
      }
      // A node that has gone has no sessions.
      for node in nodes where living[node] == nil { (state.unheardNews[node], state.lateNews[node]) = (nil, nil) }
    }
    // Its answer was late, or its link went on just before.
    for node in nodes where !confirmed.contains(node) && links.isUp(with: node) { confirmLateNews(by: node) }
    return nodes.allSatisfy { confirmed.contains($0) || living[$0] == nil }
  }

  package func forget(_ user: UserID, _ messages: UserDeletion.MessageFate) async -> Bool {
    await forgetHere(user)
    let nodes = otherNodes.all
    let answers = await otherNodes.ask("forgetUser", of: nodes, timeout: ClusterUserDirectory.replyWait) { _ in
      .forgetUser(user, messages)
    }
    let answered = Set(answers.map(\.node))
    // A node that has gone remembers nothing, and one that has come since has never heard of the user.
    return nodes.allSatisfy { answered.contains($0) || membership.view.nodes[$0] == nil }
  }

  /// What this node remembers of a user who is being deleted.
  func forgetHere(_ user: UserID) async {
    store.forgetKnown(user)
    await showHere(nil, of: user, nil, except: nil)
  }

  /// News of other nodes may be missing: what they have changed is read again.
  func forgetProfiles() { profiles.removeAll() }

  func showHere(_ profile: UserProfile?, of user: UserID, _ frame: [UInt8]?, except session: SessionKey?) async {
    profiles.didChange(profile, of: user)
    await directory.show(profile, of: user, frame, except: session)
  }
}
