import GroupModel

@testable import Cluster

/// Three nodes, one shard and the commits under it, with every step that a node or time can take.
/// A state is a value: the exploration visits each once.
struct LeaseModel: Hashable {
  /// A rule that is broken on purpose: the exploration must find what follows.
  enum Fault: CaseIterable {
    case none
    /// The fence is checked before the transaction, and locks nothing.
    case checksBeforeTransaction
    /// Commits are not checked at all: nodes rely on their clocks.
    case hasNoFence
    /// A shard is given back while a commit under it is open.
    case releasesBeforeLastCommit
    /// The lease is counted from the answer to a heartbeat, not from its sending.
    case countsFromAnswer
    /// A node reads the shard before it is the owner.
    case readsBeforeClaim
    /// A sign of life is counted from when it was asked for, not from when it was read.
    case countsFromQuestion
    /// A node is removed whose sign of life has changed since it was read.
    case removesWithoutSign
  }

  enum Step: Hashable {
    case tick
    case join(Int)
    /// A heartbeat is sent, noted by the database, and answered: three steps, since a node may stand
    /// still, and a network may be slow, between any two.
    case sendHeartbeat(Int)
    case noteHeartbeat(Int)
    case answerHeartbeat(Int)
    /// A node reads the signs of life of the others.
    case look(Int)
    /// A node that has looked removes another one.
    case expire(Int, by: Int)
    case claim(Int)
    case read(Int)
    /// A decision is made, and its commit is sent.
    case decide(Int)
    case beginCommit(Int)
    case endCommit(Int)
    case release(Int)
  }

  enum Violation: Hashable {
    /// A node has committed without having read what was committed before.
    case overwroteUnread(node: Int)
    /// Two nodes answer for the shard at the same time.
    case bothAnswer
  }

  struct Bounds {
    var ticks = 2
    /// Joins of nodes that were removed.
    var joins = 1
    var commits = 2
    var heartbeats = 1
    var looks = 1
  }

  fileprivate struct Heartbeat: Hashable {
    let sent: Int
    var isNoted: Bool?
  }

  fileprivate enum Commit: Hashable {
    case sent
    case open
    /// Its check has failed.
    case refused
  }

  fileprivate struct Node: Hashable {
    var lease: NodeLease
    var watch = LeaseWatch(duration: LeaseModel.duration)
    var heartbeat: Heartbeat?
    /// The term under which the shard was read, and how many commits were seen.
    var term: Int64?
    var seen: Int?
    var commit: Commit?
    /// The number of commits that the node had seen when it decided.
    var decidedOn: Int?
  }

  static let shard = Shard(0)!
  static let duration = Duration.milliseconds(6)

  private var now = 0
  private var table = LeaseTable(shardCount: 1)
  private var nodes: [Node] = []
  /// How many nodes have claimed the shard. Nodes are alike: the first to claim it is called 0, the
  /// second 1, so that no order is visited under two names.
  private var claimers = 0
  /// How many commits there are under the shard.
  private var commits = 0
  private var heartbeats = 0
  private var looks = 0
  private var joins = 0
  private(set) var violation: Violation?

  /// Three nodes that have joined.
  init() {
    nodes = (0..<3).map { _ in
      Node(lease: NodeLease(table.join(), joinSentAt: monotonic, duration: LeaseModel.duration))
    }
  }

  /// A tick is as long as a lease. The database has no clock here: whatever it says, and however it steps,
  /// is the same.
  private static func monotonic(_ tick: Int) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(tick) * 6_000_000) }
  private var monotonic: MonotonicInstant { LeaseModel.monotonic(now) }

  /// The states that can follow.
  func successors(_ bounds: Bounds, _ fault: Fault) -> [(step: Step, state: LeaseModel)] {
    guard violation == nil else { return [] }
    var steps: [Step] = now < bounds.ticks ? [.tick] : []
    for index in nodes.indices { steps += self.steps(of: index, bounds) }
    return steps.compactMap { step in
      var next = self
      guard next.perform(step, fault) else { return nil }
      next.lookForTwoAnswers()
      return next == self ? nil : (step, next)
    }
  }

  private func steps(of index: Int, _ bounds: Bounds) -> [Step] {
    let node = nodes[index]
    if node.lease.isLost, node.commit == nil { return joins < bounds.joins ? [.join(index)] : [] }
    var steps: [Step] = [.read(index), .release(index)]
    if !node.lease.isLost {
      if looks < bounds.looks { steps.append(.look(index)) }
      let silent = node.watch.silentNodes(at: monotonic)
      steps += nodes.indices.filter { silent[nodes[$0].lease.node] != nil }.map { .expire($0, by: index) }
    }
    if index <= claimers { steps.append(.claim(index)) }
    switch node.heartbeat {
    case nil: if heartbeats < bounds.heartbeats { steps.append(.sendHeartbeat(index)) }
    case .some(let heartbeat): steps.append(heartbeat.isNoted == nil ? .noteHeartbeat(index) : .answerHeartbeat(index))
    }
    switch node.commit {
    case nil: if commits < bounds.commits { steps.append(.decide(index)) }
    case .sent: steps.append(.beginCommit(index))
    case .open, .refused: steps.append(.endCommit(index))
    }
    return steps
  }

  /// - Returns: false where the step cannot be taken.
  private mutating func perform(_ step: Step, _ fault: Fault) -> Bool {
    switch step {
    case .tick: now += 1
    case .join(let index):
      joins += 1
      nodes[index] = Node(
        lease: NodeLease(table.join(), joinSentAt: monotonic, duration: LeaseModel.duration), watch: nodes[index].watch)
    case .sendHeartbeat(let index):
      heartbeats += 1
      nodes[index].heartbeat = Heartbeat(sent: now)
    case .noteHeartbeat(let index):
      let node = nodes[index]
      let isNoted = table.renew(node.lease.node)
      nodes[index].heartbeat?.isNoted = isNoted
    case .answerHeartbeat(let index):
      guard let heartbeat = nodes[index].heartbeat else { return false }
      nodes[index].heartbeat = nil
      if heartbeat.isNoted == true {
        let sent = fault == .countsFromAnswer ? monotonic : LeaseModel.monotonic(heartbeat.sent)
        nodes[index].lease.didRenew(sentAt: sent)
      } else {
        nodes[index].lose()
      }
    case .look(let index): return look(index, fault)
    case .expire(let index, by: let observer):
      let node = nodes[index].lease.node
      guard let known = nodes[observer].watch.silentNodes(at: monotonic)[node], let sign = table.sign(of: node) else {
        return false
      }
      return table.expire(node, after: fault == .removesWithoutSign ? sign : known) == .gone
    case .claim(let index):
      let node = nodes[index]
      guard !node.lease.isDraining else { return false }
      let terms = table.claim([LeaseModel.shard], by: node.lease.node)
      guard !terms.isEmpty else { return false }
      claimers = max(claimers, index + 1)
      nodes[index].lease.didClaim(terms)
      if fault != .readsBeforeClaim { nodes[index].seen = nil }
    case .read(let index): return read(index, fault)
    case .decide(let index): return decide(index)
    case .beginCommit(let index):
      let node = nodes[index].lease.node
      let isAdmitted = fault == .hasNoFence || table.beginCommit(of: node)
      if fault == .checksBeforeTransaction { table.endCommit(of: node) }
      nodes[index].commit = isAdmitted ? .open : .refused
    case .endCommit(let index): endCommit(index)
    case .release(let index): return release(index, fault)
    }
    return true
  }

  /// - Returns: false where it sees nothing new.
  private mutating func look(_ index: Int, _ fault: Fault) -> Bool {
    let own = nodes[index].lease.node
    let others = table.nodeNumbers.filter { $0 != own }
    let signs = Dictionary(uniqueKeysWithValues: others.compactMap { node in table.sign(of: node).map { (node, $0) } })
    let before = nodes[index].watch
    // An answer that comes later is counted from later, so nodes are removed later: that is the safe side.
    let asked = fault == .countsFromQuestion ? LeaseModel.monotonic(max(0, now - 1)) : monotonic
    nodes[index].watch.note(signs, receivedAt: asked)
    looks += 1
    return nodes[index].watch != before
  }

  /// The group is loaded: it has seen all commits so far.
  private mutating func read(_ index: Int, _ fault: Fault) -> Bool {
    let node = nodes[index]
    guard node.seen == nil, node.commit == nil else { return false }
    let mayRead = node.lease.term(of: LeaseModel.shard, at: monotonic) != nil
    guard mayRead || fault == .readsBeforeClaim else { return false }
    nodes[index].seen = commits
    return true
  }

  private mutating func decide(_ index: Int) -> Bool {
    let node = nodes[index]
    guard node.seen != nil, let term = node.lease.term(of: LeaseModel.shard, at: monotonic),
      nodes[index].lease.beginCommit(under: LeaseModel.shard, term: term)
    else { return false }
    nodes[index].term = term
    nodes[index].commit = .sent
    nodes[index].decidedOn = node.seen
    return true
  }

  private mutating func endCommit(_ index: Int) {
    let node = nodes[index]
    table.endCommit(of: node.lease.node)
    (nodes[index].commit, nodes[index].decidedOn) = (nil, nil)
    guard node.commit == .open else {
      nodes[index].lose()
      return
    }
    if node.decidedOn != commits { violation = .overwroteUnread(node: index) }
    commits += 1
    if node.seen == node.decidedOn { nodes[index].seen = commits }
    // The shard of a node that drains is given back behind its last commit.
    if let term = node.term, nodes[index].lease.endCommit(under: LeaseModel.shard, term: term) != nil { giveBack(index) }
  }

  private mutating func release(_ index: Int, _ fault: Fault) -> Bool {
    let node = nodes[index]
    guard node.lease.ownShards == [LeaseModel.shard], !node.lease.isDraining else { return false }
    let free = nodes[index].lease.drain()
    if !free.isEmpty || fault == .releasesBeforeLastCommit { giveBack(index) }
    return true
  }

  private mutating func giveBack(_ index: Int) {
    let node = nodes[index].lease.node
    _ = table.release(LeaseModel.shard, by: node)
    nodes[index].lease.didRelease(LeaseModel.shard)
  }

  private mutating func lookForTwoAnswers() {
    let answering = nodes.count { $0.lease.term(of: LeaseModel.shard, at: monotonic) != nil }
    if answering > 1 { violation = violation ?? .bothAnswer }
  }
}

extension LeaseModel.Node {
  /// The node joins again as another.
  fileprivate mutating func lose() {
    lease.didLose()
    forgetRead()
  }

  fileprivate mutating func forgetRead() {
    seen = nil
    term = nil
  }
}

/// Visits every state that can be reached, the nearest first.
struct Exploration {
  private(set) var stateCount = 0
  private(set) var depth = 0
  /// The shortest way to a violation, if there is one.
  private(set) var counterexample: [LeaseModel.Step]?
  private(set) var violation: LeaseModel.Violation?

  init(_ bounds: LeaseModel.Bounds, _ fault: LeaseModel.Fault = .none, maxDepth: Int = .max) {
    var ways: [(state: LeaseModel, step: LeaseModel.Step?, before: Int)] = [(LeaseModel(), nil, 0)]
    var visited: Set<LeaseModel> = [LeaseModel()]
    var layer = 0..<1
    while !layer.isEmpty, depth < maxDepth {
      depth += 1
      for index in layer {
        for (step, state) in ways[index].state.successors(bounds, fault) where visited.insert(state).inserted {
          ways.append((state, step, index))
          guard let violation = state.violation else { continue }
          self.violation = violation
          stateCount = visited.count
          counterexample = Self.way(to: ways.count - 1, ways)
          return
        }
      }
      layer = layer.upperBound..<ways.count
    }
    stateCount = visited.count
  }

  private static func way(
    to last: Int, _ ways: [(state: LeaseModel, step: LeaseModel.Step?, before: Int)]
  ) -> [LeaseModel.Step] {
    var steps: [LeaseModel.Step] = []
    var index = last
    while let step = ways[index].step {
      steps.append(step)
      index = ways[index].before
    }
    return steps.reversed()
  }
}
