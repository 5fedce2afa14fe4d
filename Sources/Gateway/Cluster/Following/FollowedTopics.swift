import Cluster
import Dispatch
import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// Answers whether a node that follows groups of this one has missed something.
protocol FollowAnswers: AnyObject, Sendable {
  /// Compares what a node knows of groups with what is stored.
  /// - Returns: a result for each question, in their order.
  func compare(_ questions: [FollowQuestion], by node: NodeNumber) async -> [Comparison]

  /// Tells what came behind a stamp.
  /// - Returns: nil where this node does not decide for the group.
  func replay(_ group: GroupID, from: GroupStamp?, through: GroupStamp) async -> GroupReplay?
}

/// The groups with sessions of this node, whoever decides for them (Cluster.md, "Following").
package final class FollowedTopics: Sendable {
  /// Counts for metrics.
  struct Counters: Sendable {
    var compared: [Comparison: Int] = [:]
    var replays = 0
    var events = 0
    /// By groups.
    var lost: [FollowLoss: Int] = [:]
  }

  /// What has become of the groups of owners that went.
  private struct Wave: Sendable, Equatable {
    var same = 0
    var replayed = 0
    var closed = 0
  }

  private struct State {
    var topics: [GroupID: FollowedTopic] = [:]
    /// Those with a question.
    var unsettled: [ObjectIdentifier: FollowedTopic] = [:]
    /// Those whose owner may not know that this node follows them: it will not say when a user goes.
    var unknown: [ObjectIdentifier: FollowedTopic] = [:]
    /// Nodes that have not answered the last comparison.
    var asked: Set<NodeNumber> = []
    var counters = Counters()
    var wave = Wave()
    var isTickQueued = false
    /// How many deliveries of each group wait on `queue`.
    var later: [GroupID: Int] = [:]
    var nextSweep = MonotonicInstant.distantPast
  }

  /// The most groups of a comparison.
  static let maxCompared = 512
  /// How often groups are looked for whose users have all gone.
  private static let sweepInterval = Duration.seconds(5)

  private let directory: SessionDirectory
  private let shards: ShardMap
  private let links: ClusterLinks
  private let requests: RemoteRequests
  private let router: ShardRouter
  private let isOnBus: @Sendable () -> Bool
  private let clocks: any Clocks
  private let logger: Logger
  private let lossLines = LogRateLimiter()
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "throng.cluster.following")
  /// Answers where this node decides for a group itself.
  ///
  /// nonisolated(unsafe): set before the node starts, and never again.
  nonisolated(unsafe) weak var answers: (any FollowAnswers)?

  /// No groups yet.
  package convenience init(directory: SessionDirectory, network: ClusterNetwork, clocks: any Clocks, logger: Logger) {
    let bus = network.ports.bus
    self.init(
      directory: directory, shards: network.ports.membership.shards, links: network.links, requests: network.requests,
      router: network.router, clocks: clocks, logger: logger, isOnBus: { bus.isConnected })
  }

  init(
    directory: SessionDirectory, shards: ShardMap, links: ClusterLinks, requests: RemoteRequests, router: ShardRouter,
    clocks: any Clocks, logger: Logger, isOnBus: @escaping @Sendable () -> Bool
  ) {
    self.directory = directory
    self.shards = shards
    self.links = links
    self.requests = requests
    self.router = router
    self.clocks = clocks
    self.logger = logger
    self.isOnBus = isOnBus
  }

  /// How many groups there are.
  var count: Int { state.withLock { $0.topics.count } }

  /// How many wait for an answer, or for an owner.
  var unsettledCount: Int { state.withLock { $0.unsettled.count } }

  var counters: Counters { state.withLock { $0.counters } }

  // MARK: Units

  /// Applies a unit of a node, which may be this one.
  func didReceive(_ unit: TopicUnit, of group: GroupID, from node: NodeNumber) {
    let now = clocks.monotonic
    while let topic = topic(of: group, for: unit, from: node, at: now) {
      let outcome = topic.receive(unit, from: node, at: now)
      // It has ended meanwhile: the unit may begin the next.
      if outcome.isEnded, !outcome.mustNote {
        note(topic)
        continue
      }
      return finish(outcome, topic)
    }
    // Nobody follows the group: then a topic lasts for these frames only.
    let passing = LocalTopic(group, directory: directory)
    for event in unit.events {
      switch event {
      case .send(let users, let except, let frame): passing.send(frame, to: users, except: except)
      case .sendToSession(let session, let frame): passing.send(frame, to: session)
      case .follow, .attach, .detach, .resetCompression, .publish, .close: break
      }
    }
  }

  /// Applies units of this node off the caller's loop, in the order of the calls.
  func didReceiveLater(
    _ units: [TopicUnit], of group: GroupID, from node: NodeNumber, _ completion: @escaping @Sendable () -> Void
  ) {
    state.withLock { $0.later[group, default: 0] += 1 }
    queue.async { [self] in
      for unit in units { didReceive(unit, of: group, from: node) }
      state.withLock { state in
        let count = state.later[group] ?? 0
        state.later[group] = count > 1 ? count - 1 : nil
      }
      completion()
    }
  }

  /// Whether units of this node wait that were to be delivered later: the next ones come behind them.
  func isDelivering(_ group: GroupID) -> Bool { state.withLock { $0.later[group] != nil } }

  private func topic(
    of group: GroupID, for unit: TopicUnit, from node: NodeNumber, at now: MonotonicInstant
  ) -> FollowedTopic? {
    state.withLock { state in
      if let topic = state.topics[group] { return topic }
      let shard = Shard(of: group)
      let (shardOwner, shardTerm) = (shards.owner(of: shard), shards.term(of: shard))
      if let term = unit.followTerm {
        // A former owner's, which comes late.
        guard term >= shardTerm else { return nil }
        let made = FollowState(owner: node, shardOwner: shardOwner, shardTerm: shardTerm, at: now)
        return add(FollowedTopic(group, local: LocalTopic(group, directory: directory), made, senders: router), to: &state)
      }
      // Its sender believes that this node follows the group: events before it have not come.
      guard node == shardOwner, unit.step != nil || unit.events.contains(where: \.isAttach) else { return nil }
      let made = FollowState(owner: node, shardOwner: shardOwner, shardTerm: shardTerm, isLost: true, at: now)
      return add(FollowedTopic(group, local: LocalTopic(group, directory: directory), made, senders: router), to: &state)
    }
  }

  private func add(_ topic: FollowedTopic, to state: inout State) -> FollowedTopic {
    state.topics[topic.group] = topic
    if !topic.isSettled { state.unsettled[ObjectIdentifier(topic)] = topic }
    return topic
  }

  /// Acts on what a change has brought, outside of all locks.
  private func finish(_ outcome: FollowedTopic.Outcome, _ topic: FollowedTopic) {
    if outcome.mustNote { note(topic) }
    if outcome.toldAgain > 0 {
      state.withLock { state in
        state.counters.events += outcome.toldAgain
        state.wave.replayed += 1
      }
    }
    for loss in outcome.losses where !loss.users.isEmpty { lose(loss.users, of: topic.group, loss.reason) }
    for (node, from, through) in outcome.replays { ask(for: topic, node, from: from, through: through) }
  }

  private func lose(_ users: Set<UserID>, of group: GroupID, _ reason: FollowLoss) {
    state.withLock { state in
      state.counters.lost[reason, default: 0] += 1
      state.wave.closed += 1
    }
    if let dropped = lossLines.acquire(at: clocks.monotonic) {
      logger.warning(
        "events of a group cannot be told again: its sessions here were closed",
        metadata: [
          "group": "\(group)", "reason": "\(reason.name)", "users": .stringConvertible(users.count),
          "dropped": .stringConvertible(dropped),
        ])
    }
    // Not here: a group that is just telling would hear of the end of sessions.
    queue.async { [directory] in directory.loseTouch(users) }
  }

  /// Closes the sessions of members whom nobody has told of their groups, but for those that have signed in
  /// behind the last owner's end.
  /// - Parameter instant: a later sign-in has read what is stored.
  func expect(_ expected: [ExpectedFollow], before instant: WallInstant) {
    for member in expected {
      let topic = state.withLock { $0.topics[member.group] }
      if topic?.hadAttached(member.user, before: member.term) == true { continue }
      let sessions = directory.sessions(of: member.user, before: member.lastOwner).filter { $0.loginTime < instant }
      guard !sessions.isEmpty else { continue }
      state.withLock { $0.counters.lost[.expected, default: 0] += 1 }
      for entry in sessions { entry.session.loseTouch() }
    }
  }

  /// Keeps or removes a topic by its state.
  private func note(_ topic: FollowedTopic) {
    let wave = state.withLock { state -> Wave? in
      let id = ObjectIdentifier(topic)
      let hadQuestions = !state.unsettled.isEmpty
      if topic.isEnded {
        if state.topics[topic.group] === topic { state.topics[topic.group] = nil }
        state.unsettled[id] = nil
        state.unknown[id] = nil
      } else {
        state.unsettled[id] = topic.isSettled ? nil : topic
        state.unknown[id] = topic.isUnknownToOwner ? topic : nil
      }
      guard hadQuestions, state.unsettled.isEmpty, state.wave != Wave() else { return nil }
      defer { state.wave = Wave() }
      return state.wave
    }
    guard let wave else { return }
    logger.notice(
      "groups were compared with their next owner",
      metadata: [
        "same": .stringConvertible(wave.same), "replayed": .stringConvertible(wave.replayed),
        "closed": .stringConvertible(wave.closed),
      ])
  }

  // MARK: Owners

  private var all: [FollowedTopic] { state.withLock { Array($0.topics.values) } }

  private func update(_ topics: [FollowedTopic], _ body: (inout FollowState) -> Void) {
    for topic in topics {
      let outcome = topic.update { state in
        body(&state)
        return []
      }
      finish(outcome, topic)
    }
  }

  /// A node has gone.
  func ownerIsGone(_ node: NodeNumber) {
    let now = clocks.monotonic
    update(all) { $0.ownerIsGone(node, at: now) }
    wake()
  }

  /// Entries of a node are missing for good.
  func didLoseLink(from node: NodeNumber) {
    let now = clocks.monotonic
    // Without the link, it has been silent for long: then nobody hears from it here.
    let patience = links.isUp(with: node) ? FollowState.patience : FollowState.shortPatience
    update(all) { $0.ownerIsGone(node, at: now, patience: patience) }
    wake()
  }

  /// Shards have other owners.
  func ownersChanged() {
    let now = clocks.monotonic
    for topic in all {
      let shard = Shard(of: topic.group)
      let (owner, term) = (shards.owner(of: shard), shards.term(of: shard))
      update([topic]) { $0.ownerMoved(to: owner, term: term, at: now) }
    }
    wake()
  }

  /// This node belongs to the cluster no longer.
  func dropAll() {
    update(all) { $0.end() }
    state.withLock { state in
      state.topics = [:]
      state.unsettled = [:]
      state.unknown = [:]
      state.wave = Wave()
    }
  }

  // MARK: Questions, on `queue`

  /// Asks soon what has to be asked. Called ten times a second, and when an owner may have become known.
  func wake() {
    let mustQueue = state.withLock { state in
      guard !state.isTickQueued, !state.unsettled.isEmpty || !state.unknown.isEmpty else { return false }
      state.isTickQueued = true
      return true
    }
    if mustQueue { queue.async { [weak self] in self?.tick() } }
  }

  private func tick() {
    let now = clocks.monotonic
    let (topics, asked) = state.withLock { state in
      state.isTickQueued = false
      return (Array(state.unsettled.values), state.asked)
    }
    let (own, isOnBus) = (shards.ownNode, isOnBus())
    var areReachable: [NodeNumber: Bool] = [:]
    var questions: [NodeNumber: [(topic: FollowedTopic, stamp: GroupStamp?)]] = [:]
    for topic in topics {
      let shard = Shard(of: topic.group)
      let (owner, term) = (shards.owner(of: shard), shards.term(of: shard))
      let outcome = topic.update { state in
        state.ownerMoved(to: owner, term: term, at: now)
        return state.tick(at: now, canBeAsked: owner != nil && isOnBus)
      }
      finish(outcome, topic)
      guard !outcome.isEnded, let owner, !asked.contains(owner) else { continue }
      let isReachable = areReachable[owner] ?? (owner == own || links.isUp(with: owner))
      areReachable[owner] = isReachable
      guard isReachable, questions[owner, default: []].count < FollowedTopics.maxCompared else { continue }
      let (question, node) = topic.ask()
      switch (question, node) {
      case (.compare(let stamp)?, let node?): questions[node, default: []].append((topic, stamp))
      case (.replay(let from, let through)?, let node?): ask(for: topic, node, from: from, through: through)
      case (nil, _), (_, nil): note(topic)
      }
    }
    for (node, asked) in questions where !asked.isEmpty { compare(asked, by: node) }
    sweep(at: now)
  }

  private func compare(_ asked: [(topic: FollowedTopic, stamp: GroupStamp?)], by node: NodeNumber) {
    state.withLock { _ = $0.asked.insert(node) }
    let questions = asked.map { FollowQuestion(group: $0.topic.group, stamp: $0.stamp) }
    if node == shards.ownNode {
      Task { [self] in
        let results = await answers?.compare(questions, by: node) ?? []
        didCompare(asked, by: node, results)
      }
      return
    }
    requests.send(.following(.compare(questions)), to: node, timeout: FollowState.patience) { [self] outcome in
      if case .reply(.following(.compared(let results))) = outcome {
        didCompare(asked, by: node, results)
      } else {
        didCompare(asked, by: node, [])
      }
    }
  }

  /// - Parameter results: fewer where the node has not answered.
  private func didCompare(
    _ asked: [(topic: FollowedTopic, stamp: GroupStamp?)], by node: NodeNumber, _ results: [Comparison]
  ) {
    let now = clocks.monotonic
    state.withLock { state in
      state.asked.remove(node)
      for result in results.prefix(asked.count) { state.counters.compared[result, default: 0] += 1 }
      state.wave.same += results.prefix(asked.count).count { $0 == .same }
    }
    for (index, question) in asked.enumerated() {
      let result = index < results.count ? results[index] : .moved
      let outcome = question.topic.update { $0.compared(result, of: question.stamp, by: node, at: now) }
      finish(outcome, question.topic)
    }
    // More may wait than a question holds. A node that has not answered is asked by the clock.
    if results.contains(where: { $0 != .moved }) { wake() }
  }

  private func ask(for topic: FollowedTopic, _ node: NodeNumber, from: GroupStamp?, through: GroupStamp) {
    state.withLock { $0.counters.replays += 1 }
    let didAnswer: @Sendable (GroupReplay?) -> Void = { [self] replay in
      let now = clocks.monotonic
      let outcome = topic.update { $0.replayed(replay, by: node, from: from, through: through, at: now) }
      finish(outcome, topic)
    }
    if node == shards.ownNode {
      Task { [self] in didAnswer(await answers?.replay(topic.group, from: from, through: through)) }
      return
    }
    let request = RemoteRequest.following(.replay(topic.group, from: from, through: through))
    requests.send(request, to: node, timeout: FollowState.patience) { outcome in
      if case .reply(.following(.replayed(let replay))) = outcome { didAnswer(replay) } else { didAnswer(nil) }
    }
  }

  /// Ends the groups whose users have all gone without their owner's word.
  private func sweep(at now: MonotonicInstant) {
    let topics = state.withLock { state -> [FollowedTopic] in
      guard now >= state.nextSweep else { return [] }
      state.nextSweep = now + FollowedTopics.sweepInterval
      return Array(state.unknown.values)
    }
    let empty = topics.filter { topic in !topic.local.attachedUsers.contains { directory.isPresent($0) } }
    update(empty) { state in if state.isUnknownToOwner { state.end() } }
  }
}

extension TopicEvent {
  fileprivate var isAttach: Bool { if case .attach = self { true } else { false } }
}
