import Cluster
import GroupModel
import GroupRuntime
import Synchronization

/// A group's topic at the node that decides for it: each node with sessions of members, this one among
/// them, gets a unit for each decision (Cluster.md, "Events between nodes").
///
/// Only the group's executor changes it (`GroupTopic`), but for `follow`, which repeats what was told.
final class ClusterTopic: GroupTopic {
  /// A node with attached users.
  private struct Follower {
    var users: [UserID: ReceiveOption] = [:]
    /// It was told to follow.
    var isTold = false
    /// The stamp from which on it follows.
    var since: GroupStamp?

    var list: [AttachedUser] { users.map { AttachedUser($0.key, $0.value) } }
  }

  /// The events of a decision.
  private struct Telling {
    /// Those that all followers get.
    var shared: [TopicEvent] = []
    /// All events of the nodes that get others.
    var own: [NodeNumber: [TopicEvent]] = [:]
    /// Those who are detached by it.
    var detached: [NodeNumber: [AttachedUser]] = [:]
  }

  private struct State {
    /// Of the group's shard.
    let term: Int64
    var followers: [NodeNumber: Follower] = [:]
    /// The stamp that all followers were told last; nil = none.
    var stamp: GroupStamp?
    /// Nil between decisions.
    var telling: Telling?
    /// The first decision was told: that of loading, or of creating the group.
    var hasTold = false
    /// Another one behind each `close`.
    let number = TopicNumber()
    /// Nodes that have not confirmed that they follow.
    var unconfirmed: Set<NodeNumber> = []
    var waiting: [@Sendable () -> Void] = []

    // MARK: Collecting

    mutating func collect(_ event: TopicEvent) {
      telling?.shared.append(event)
      guard let nodes = telling?.own.keys.filter({ followers[$0] != nil }) else { return }
      for node in nodes { telling?.own[node]?.append(event) }
    }

    mutating func collect(_ event: TopicEvent, for node: NodeNumber) {
      guard let telling else { return }
      let earlier = followers[node]?.isTold == true ? telling.shared : []
      self.telling?.own[node, default: earlier].append(event)
    }

    mutating func attach(_ user: AttachedUser, on node: NodeNumber) {
      let isFirst = followers[node] == nil
      if isFirst { collect(.follow([user], term: term), for: node) }
      followers[node, default: Follower()].users[user.user] = user.option
      if isFirst { return }
      // One list for all who are attached at once.
      if let last = telling?.own[node]?.indices.last, case .follow(var users, _, _)? = telling?.own[node]?[last] {
        // The list is changed in place.
        telling?.own[node]?[last] = .resetCompression
        users.append(user)
        telling?.own[node]?[last] = .follow(users, term: term)
      } else {
        collect(.attach(user), for: node)
      }
    }

    mutating func detach(_ user: UserID, on node: NodeNumber) {
      guard let option = followers[node]?.users.removeValue(forKey: user) else { return }
      telling?.detached[node, default: []].append(AttachedUser(user, option))
      collect(.detach(user), for: node)
      guard followers[node]?.users.isEmpty == true else { return }
      collect(.close, for: node)
      followers[node] = nil
    }

    // MARK: Telling

    /// Ends the decision.
    /// - Returns: the units of each node, in their order.
    mutating func endTelling(_ told: GroupStamp?) -> [(nodes: [NodeNumber], units: [TopicUnit])] {
      guard let telling else { return [] }
      self.telling = nil
      var last = stamp
      if let told {
        // Another group under the same name: nothing that was told counts.
        if told.epoch != last?.epoch { last = nil }
        stamp = told.followed(by: last)
      }
      // Followers that were told no stamp of this group yet.
      let areNew = last == nil && stamp != nil
      var all: [(nodes: [NodeNumber], units: [TopicUnit])] = []
      var alike: [NodeNumber] = []
      for (node, follower) in followers where telling.own[node] == nil {
        if areNew { all.append(([node], firstUnits(of: follower, telling.shared, behind: last))) } else { alike.append(node) }
      }
      if !alike.isEmpty { all.append((alike, units(telling.shared, behind: last))) }
      for (node, events) in telling.own {
        guard let follower = followers[node] else {
          // It follows no longer, or never did.
          all.append(([node], [TopicUnit(nil, events)]))
          continue
        }
        let isNew = areNew || !follower.isTold
        all.append(([node], isNew ? firstUnits(of: follower, events, behind: last) : units(events, behind: last)))
      }
      for (node, follower) in followers where areNew || !follower.isTold {
        followers[node]?.isTold = true
        followers[node]?.since = last ?? stamp
      }
      return all
    }

    /// Repeats to a node that it follows, and what it was told last.
    func followUnit(for node: NodeNumber) -> TopicUnit? {
      guard let follower = followers[node], follower.isTold else { return nil }
      // Whoever is just being detached gets the events until then.
      let users = (telling?.detached[node] ?? []) + follower.list
      return TopicUnit(stamp.map { .whole($0) }, [.follow(users, term: term, isRepeated: follower.since != stamp)])
    }

    /// - Returns: none where there is nothing to tell.
    private func units(_ events: [TopicEvent], behind last: GroupStamp?) -> [TopicUnit] {
      var step: StampStep?
      if let last, let stamp {
        let change = StampChange(from: last, to: stamp)
        if !change.isEmpty { step = .change(change) }
      }
      return step == nil && events.isEmpty ? [] : [TopicUnit(step, events)]
    }

    /// The first units of a node: it follows from the stamp on that was told last, so that what comes behind
    /// is compared with what it knows from a former owner.
    private func firstUnits(of follower: Follower, _ given: [TopicEvent], behind last: GroupStamp?) -> [TopicUnit] {
      var events = given
      let isFollow: (TopicEvent) -> Bool = { if case .follow = $0 { true } else { false } }
      if !events.contains(where: isFollow) { events.insert(.follow(follower.list, term: term), at: 0) }
      guard let stamp else { return [TopicUnit(nil, events)] }
      guard let last, let index = events.firstIndex(where: isFollow) else { return [TopicUnit(.whole(stamp), events)] }
      return [TopicUnit(.whole(last), Array(events[...index]))] + units(Array(events[(index + 1)...]), behind: last)
    }
  }

  /// The units of this node that are delivered off the group's executor, because they take long: the first
  /// ones, whose end the group waits for (`whenTold`) before it tells more.
  private struct OwnDelivery {
    /// How many deliveries are under way. Units behind them follow in their order.
    var count = 0
    var waiting: [@Sendable () -> Void] = []
  }

  /// How long the first unit of a node waits for its answer: the group stores nothing meanwhile.
  private static let confirmationWait = Duration.milliseconds(500)

  private let group: GroupID
  private let own: NodeNumber
  private let directory: SessionDirectory
  private let presence: ClusterPresence
  private let links: ClusterLinks
  private let requests: RemoteRequests
  private let followed: FollowedTopics
  private let topics: OwnTopics
  private let tracer: Tracer
  private let state: Mutex<State>
  private let ownDelivery = Mutex(OwnDelivery())

  /// - Parameters:
  ///   - own: this node.
  ///   - term: the one of the group's shard in which this node decides.
  init(
    _ group: GroupID, on own: NodeNumber, in term: Int64, directory: SessionDirectory, presence: ClusterPresence,
    links: ClusterLinks, requests: RemoteRequests, followed: FollowedTopics, topics: OwnTopics, tracer: Tracer
  ) {
    self.group = group
    self.own = own
    state = Mutex(State(term: term))
    self.directory = directory
    self.presence = presence
    self.links = links
    self.requests = requests
    self.followed = followed
    self.topics = topics
    self.tracer = tracer
  }

  // MARK: Decisions

  func beginTelling() {
    state.withLock { if $0.telling == nil { $0.telling = Telling() } }
  }

  func didTell(_ stamp: GroupStamp?) {
    let (isFirst, unconfirmed, here) = state.withLock { state -> (Bool, [(NodeNumber, TopicUnit)], [TopicUnit]) in
      if state.telling == nil { state.telling = Telling() }
      let isFirst = !state.hasTold
      state.hasTold = true
      let (unconfirmed, here) = send(state.endTelling(stamp), isFirst: isFirst, &state)
      return (isFirst, unconfirmed, here)
    }
    deliver(here, areFirst: isFirst)
    // Behind the lock, because an answer may come at once. Only this executor sends more.
    for (node, unit) in unconfirmed { confirm(unit, by: node) }
  }

  private func confirm(_ unit: TopicUnit, by node: NodeNumber) {
    requests.send(.following(.confirm(group, unit)), to: node, timeout: ClusterTopic.confirmationWait) { [weak self] outcome in
      switch outcome {
      case .reply: self?.didConfirm(node)
      // A node that is not heard follows when its link begins.
      case .notSent: self?.sendUnconfirmed(unit, to: node)
      case .lost: self?.confirmAgain(by: node)
      }
    }
  }

  private func sendUnconfirmed(_ unit: TopicUnit, to node: NodeNumber) {
    links.send(.unit(group, unit), to: node)
    didConfirm(node)
  }

  /// The node may not have got it: its link has begun again, or it is slow.
  private func confirmAgain(by node: NodeNumber) {
    guard state.withLock({ $0.unconfirmed.contains(node) }), follow(by: node) else { return didConfirm(node) }
    // The answer comes behind it.
    confirm(TopicUnit(), by: node)
  }

  /// Sends units to other nodes, within the lock: `follow` of another thread must not come between.
  /// - Returns: the units whose arrival is to be confirmed, and those of this node.
  private func send(
    _ all: [(nodes: [NodeNumber], units: [TopicUnit])], isFirst: Bool, _ state: inout State
  ) -> (unconfirmed: [(NodeNumber, TopicUnit)], here: [TopicUnit]) {
    var (unconfirmed, here): ([(NodeNumber, TopicUnit)], [TopicUnit]) = ([], [])
    for (nodes, units) in all {
      if nodes.contains(own) { here += units }
      let others = nodes.filter { $0 != own }
      for unit in units where !others.isEmpty {
        if isFirst, unit.isFollow {
          for node in others {
            unconfirmed.append((node, unit))
            state.unconfirmed.insert(node)
          }
        } else {
          links.send(.unit(group, unit), to: others, mayWait: unit.mayWait)
        }
      }
    }
    return (unconfirmed, here)
  }

  /// Delivers to the sessions of this node.
  /// - Parameter areFirst: the group tells nothing more before they are delivered. Otherwise frames that
  ///   loops have queued could be passed by later ones of the executor's loop.
  private func deliver(_ units: [TopicUnit], areFirst: Bool = false) {
    if units.isEmpty { return }
    // An earlier topic of the group may have ended while its list was delivered.
    let areSlow = areFirst && (units.contains(where: \.isLong) || followed.isDelivering(group))
    let isLater = ownDelivery.withLock { delivery in
      guard delivery.count > 0 || areSlow else { return false }
      delivery.count += 1
      return true
    }
    if isLater {
      followed.didReceiveLater(units, of: group, from: own) { [self] in didDeliver() }
    } else {
      for unit in units { followed.didReceive(unit, of: group, from: own) }
    }
  }

  private func didDeliver() {
    let waiting = ownDelivery.withLock { delivery -> [@Sendable () -> Void] in
      delivery.count -= 1
      guard delivery.count == 0 else { return [] }
      defer { delivery.waiting = [] }
      return delivery.waiting
    }
    for body in waiting { body() }
  }

  func whenTold(_ body: @escaping @Sendable () -> Void) {
    let mustWait = ownDelivery.withLock { delivery in
      if delivery.count > 0 { delivery.waiting.append(body) }
      return delivery.count > 0
    }
    if !mustWait { body() }
  }

  /// Collects events; outside of a decision they are told at once.
  private func collect(_ body: (inout State) -> Void) {
    let here = state.withLock { state -> [TopicUnit] in
      let isAlone = state.telling == nil
      if isAlone { state.telling = Telling() }
      body(&state)
      return isAlone ? send(state.endTelling(nil), isFirst: false, &state).here : []
    }
    deliver(here)
  }

  // MARK: Followers

  private func didConfirm(_ node: NodeNumber) {
    let waiting = state.withLock { state -> [@Sendable () -> Void] in
      state.unconfirmed.remove(node)
      guard state.unconfirmed.isEmpty else { return [] }
      defer { state.waiting = [] }
      return state.waiting
    }
    for body in waiting { body() }
  }

  func whenFollowed(_ body: @escaping @Sendable () -> Void) {
    let mustWait = state.withLock { state in
      if !state.unconfirmed.isEmpty { state.waiting.append(body) }
      return !state.unconfirmed.isEmpty
    }
    if !mustWait { body() }
  }

  func isFollowed(by node: NodeNumber) -> Bool { state.withLock { $0.followers[node]?.isTold == true } }

  /// Tells a node once more that it follows, and up to which stamp it was told. For this node itself called on
  /// the group's executor, so that no unit comes between.
  /// - Returns: false where it does not follow yet.
  func follow(by node: NodeNumber) -> Bool {
    let unit = state.withLock { state -> TopicUnit? in
      guard let unit = state.followUnit(for: node) else { return nil }
      if node != own { links.send(.unit(group, unit), to: node, mayWait: true) }
      return unit
    }
    guard let unit else { return false }
    if node == own { deliver([unit]) }
    return true
  }

  // MARK: Events

  func attach(_ user: UserID, receiving option: ReceiveOption) -> Bool {
    // The presence has both kinds of sessions, and tells the group of their end.
    var nodes = presence.attach(group, to: user, by: state.withLock { $0.number })
    if directory.isPresent(user) { nodes.append(own) }
    collect { state in
      let left = state.followers.compactMap { node, follower in
        !nodes.contains(node) && follower.users[user] != nil ? node : nil
      }
      for node in left { state.detach(user, on: node) }
      // The reply to a join, and each event, comes behind it.
      for node in nodes { state.attach(AttachedUser(user, option), on: node) }
    }
    return !nodes.isEmpty
  }

  func detach(_ user: UserID) {
    collect { state in
      for node in state.followers.keys { state.detach(user, on: node) }
    }
    presence.detach(group, from: user, by: state.withLock { $0.number })
  }

  func resetCompression() { collect { $0.collect(.resetCompression) } }

  func publish(_ frame: [UInt8], _ kind: EventClass, except session: SessionKey?) {
    if tracer.isActive {
      let users = state.withLock { $0.followers.values.reduce(into: Set<UserID>()) { $0.formUnion($1.users.keys) } }
      tracer.noteEvent(frame, of: group) { users.contains($0) }
    }
    collect { $0.collect(.publish(kind, except: session, frame: frame)) }
  }

  func send(_ frame: [UInt8], to users: [UserID], except session: SessionKey?) {
    if tracer.isActive { tracer.noteEvent(frame, of: group) { users.contains($0) } }
    var byNode: [NodeNumber: [UserID]] = [:]
    for user in users {
      for node in presence.otherNodes(of: user) { byNode[node, default: []].append(user) }
      if directory.isPresent(user) { byNode[own, default: []].append(user) }
    }
    if byNode.isEmpty { return }
    // News for some users, as that of each join for who joins, and messages for a few.
    collect { state in
      for (node, users) in byNode { state.collect(.send(users, except: session, frame: frame), for: node) }
    }
  }

  func send(_ frame: [UInt8], to session: SessionKey) {
    collect { $0.collect(.sendToSession(session, frame: frame), for: session.node ?? own) }
  }

  func hears(_ users: [UserID], except session: SessionKey?) -> Bool { presence.hasSession(of: users, except: session) }

  func close() {
    topics.remove(self, of: group)
    let (closed, number) = state.withLock { ($0.followers.values.flatMap { Array($0.users.keys) }, $0.number) }
    presence.detach(group, fromAll: closed, by: number)
    let (here, waiting) = state.withLock { state -> ([TopicUnit], [@Sendable () -> Void]) in
      if state.telling == nil { state.telling = Telling() }
      state.collect(.close)
      // Behind what was told: no stamp is left that could be compared.
      let here = send(state.endTelling(nil), isFirst: false, &state).here
      defer { state = State(term: state.term) }
      return (here, state.waiting)
    }
    deliver(here)
    for body in waiting { body() }
  }

  func suspend() { close() }
}

extension GroupStamp {
  /// The stamp with the later of each component: what was told once stays told, though a load may have
  /// made something due again.
  fileprivate func followed(by told: GroupStamp?) -> GroupStamp {
    guard let told, told.epoch == epoch else { return self }
    return GroupStamp(
      epoch: epoch, seq: max(seq, told.seq), changeSeq: max(changeSeq, told.changeSeq),
      revision: max(revision, told.revision), board: max(board, told.board))
  }
}
