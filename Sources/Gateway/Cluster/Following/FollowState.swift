import Cluster
import DequeModule
import GroupModel
import GroupRuntime

/// How far this node is with a group that another node decides for, or that it has just begun to decide
/// for itself (Cluster.md, "Following"). A value: `FollowedTopic` acts.
///
/// Stamps order everything: a unit whose stamp is known was heard before, and one behind a gap waits for
/// what is missing to be told again. It does not matter which owner has told what.
struct FollowState: Sendable {
  enum Phase: Sendable, Equatable {
    /// The shard's owner tells this node everything. → unsure, catchingUp, ended
    case current
    /// The owner is gone, its link was lost, or another node is the shard's owner.
    /// → current, comparing, catchingUp, ended
    case unsure
    /// A node was asked whether something is missing. → current, unsure, catchingUp, ended
    case comparing(NodeNumber, GroupStamp?)
    /// Units wait for what came before them; nil = nobody was asked for it yet. → current, unsure, ended
    case catchingUp(NodeNumber?, through: GroupStamp)
    /// This node does not follow the group any more.
    case ended
  }

  enum Action: Sendable, Equatable {
    case deliver([TopicEvent])
    case tellAgain([ReplayedEvent])
    /// Nil = a live room, of which the last state is asked.
    case askReplay(NodeNumber, from: GroupStamp?, through: GroupStamp)
    /// Closes the sessions of all users who are attached, and of these; nobody is attached behind it.
    case loseTouch(FollowLoss, also: [UserID])
    /// Closes the sessions of these users only.
    case loseTouchOnly([UserID])
  }

  /// The question that an unsure node has.
  enum Question: Sendable, Equatable {
    /// Nil = a group without a stamp.
    case compare(GroupStamp?)
    case replay(from: GroupStamp, through: GroupStamp)
  }

  private struct Held: Sendable {
    let unit: TopicUnit
    let from: GroupStamp?
    let to: GroupStamp?
  }

  /// How long a node waits for a `follow` that was announced, before it asks once more.
  static let followWait = Duration.seconds(1)
  /// How long a node waits for an answer, while the shard has an owner.
  static let patience = Duration.seconds(10)
  /// The same, where the owner is there and its link has been silent for as long already.
  static let shortPatience = Duration.seconds(2)
  /// The most units, and bytes of them, that wait for a replay.
  static let maxHeld = 1000
  static let maxHeldBytes = 1 << 20
  /// The stamp of nothing: it makes the owner tell what it knows.
  static let unknownStamp = GroupStamp(epoch: "", seq: 0, changeSeq: 0, revision: 0, board: 0)

  private(set) var phase = Phase.current
  /// Up to which this node was told everything; nil = the group has none, or nothing was told.
  private(set) var stamp: GroupStamp?
  /// The node whose units count.
  private(set) var owner: NodeNumber
  /// Of the shard, while that node was its owner.
  private(set) var term: Int64
  /// The owner of the shard by this node's view, and its term; nil = nobody.
  private(set) var shardOwner: NodeNumber?
  private(set) var shardTerm: Int64
  /// Whether each unit of the owner has come since its `follow`, or since it said that nothing is missing.
  private(set) var hearsOwner = false
  /// Where the owner's last unit ended: apart from `stamp`, which lags while this node catches up.
  private var chained: GroupStamp?
  /// Events are missing for good: whoever was attached was told so, and the next `follow` begins anew.
  private(set) var isLost = false
  /// A node without members of the group in its memory has said that nothing is missing.
  private(set) var isUnknownToOwner = false
  private var held: Deque<Held> = []
  private var heldBytes = 0
  /// Until then a question may wait.
  private var deadline = MonotonicInstant.distantFuture
  /// Until then the `follow` may come that the node announced which was asked; nil = it announced none.
  private var followDue: MonotonicInstant?
  /// A `follow` has come.
  private var isOpen = false
  /// The owner has closed it, behind what was told.
  private var isClosed = false

  /// A group of which nothing was told yet.
  /// - Parameters:
  ///   - shardOwner: of the shard by this node's view, in the term `shardTerm`.
  ///   - isLost: units before have not come.
  init(owner: NodeNumber, shardOwner: NodeNumber?, shardTerm: Int64, isLost: Bool = false, at now: MonotonicInstant) {
    self.owner = owner
    self.shardOwner = shardOwner
    self.shardTerm = shardTerm
    term = shardTerm
    guard isLost else { return }
    self.isLost = true
    beUnsure(at: now)
  }

  /// Whether it waits for an answer, or for somebody to ask.
  var isSettled: Bool {
    switch phase {
    case .current, .ended: true
    case .unsure, .comparing, .catchingUp: false
    }
  }

  /// Whether no later owner is known. The view may be older than what the owner tells.
  private var isOwnerLatest: Bool { term > shardTerm || term == shardTerm && owner == shardOwner }

  // MARK: Units

  /// A unit of a node has come.
  mutating func receive(_ given: TopicUnit, from node: NodeNumber, at now: MonotonicInstant) -> [Action] {
    guard phase != .ended else { return [] }
    var actions: [Action] = []
    var unit = given
    var isLast = false
    if phase != .current { isLast = unit.removeClose() && node == owner && hearsOwner }
    if let term = unit.followTerm {
      receiveFollow(unit, in: term, from: node, at: now, &actions)
    } else if node == owner, hearsOwner {
      let from = chained
      if case .change(let change)? = unit.step, let from { chained = change.applied(to: from) }
      apply(Held(unit: unit, from: from, to: chained), at: now, &actions)
    } else {
      drop(unit, from: node, &actions)
    }
    // Something may be missing, also of what the next owner tells: the group is compared before it ends.
    if isLast { (hearsOwner, chained) = (false, nil) }
    endIfClosed()
    return actions
  }

  /// Units of a former owner are old: what was stored of them was compared with the next owner's. Those of
  /// an owner whose earlier ones are missing cannot be placed.
  private mutating func drop(_ unit: TopicUnit, from node: NodeNumber, _ actions: inout [Action]) {
    guard node == owner || node == shardOwner else { return }
    if unit.step == nil {
      // For users who need not be members: it stands in no order with the group's events.
      let sends = unit.events.filter { event in
        switch event {
        case .send, .sendToSession: true
        case .follow, .attach, .detach, .resetCompression, .publish, .close: false
        }
      }
      if !sends.isEmpty { actions.append(.deliver(sends)) }
    }
    // The view may be older than the owner.
    if node == owner || term <= shardTerm { loseAttached(by: unit, &actions) }
  }

  /// Who is attached by a unit that cannot be placed is attached by the next `follow`, and may have missed what
  /// is between.
  private func loseAttached(by unit: TopicUnit, _ actions: inout [Action]) {
    let users = FollowState.attached(by: unit)
    if !users.isEmpty { actions.append(.loseTouchOnly(users)) }
  }

  private static func attached(by unit: TopicUnit) -> [UserID] {
    unit.events.compactMap { if case .attach(let user) = $0 { user.user } else { nil } }
  }

  private mutating func receiveFollow(
    _ unit: TopicUnit, in term: Int64, from node: NodeNumber, at now: MonotonicInstant, _ actions: inout [Action]
  ) {
    // A former owner's, on its way since before.
    guard term >= max(self.term, shardTerm) else { return }
    self.term = term
    var whole: GroupStamp?
    if case .whole(let stamp)? = unit.step { whole = stamp }
    let wasHeard = owner == node && hearsOwner && !isUnknownToOwner
    owner = node
    hearsOwner = true
    isUnknownToOwner = false
    chained = whole
    if stamp == nil, whole == nil, !isLost {
      // A live room: its new owner tells its last state, where there was an earlier one.
      actions.append(.deliver(unit.events))
      note(unit)
      if isOpen, !wasHeard { actions.append(.askReplay(node, from: nil, through: FollowState.unknownStamp)) }
      isOpen = true
      settle(at: now)
      return
    }
    // What was told behind the first one, which has not come, is missing.
    if whole != nil, !isOpen, unit.isRepeatedFollow { actions.append(.loseTouchOnly(unit.followedUsers.map(\.user))) }
    isOpen = true
    apply(Held(unit: unit, from: whole, to: whole), at: now, &actions)
  }

  private mutating func note(_ unit: TopicUnit) {
    for event in unit.events {
      switch event {
      case .close: isClosed = true
      case .follow: isClosed = false
      case .attach, .detach, .resetCompression, .publish, .send, .sendToSession: break
      }
    }
  }

  /// Delivers, drops or holds what the owner has told.
  private mutating func apply(_ next: Held, at now: MonotonicInstant, _ actions: inout [Action]) {
    if case .catchingUp = phase { return hold(next, at: now, &actions) }
    let isFollow = next.unit.isFollow
    if isLost, !isFollow { return loseAttached(by: next.unit, &actions) }
    guard let from = next.from, let to = next.to else {
      if isFollow, stamp != nil || isLost { return begin(next, at: now, &actions) }
      actions.append(.deliver(next.unit.events))
      return note(next.unit)
    }
    guard let stamp, stamp.epoch == from.epoch else {
      // The first stamp, or that of another group of the same name.
      if isFollow { return begin(next, at: now, &actions) }
      return loseAttached(by: next.unit, &actions)
    }
    switch from.order(to: stamp) {
    case .same:
      actions.append(.deliver(next.unit.events))
      self.stamp = to
      note(next.unit)
      if isFollow { settle(at: now) }
    case .ahead:
      // All of these were members throughout, or it cannot be told again. Those that are not attached here, because
      // that is missing too, get it with the others.
      if next.unit.isRepeatedFollow { actions.append(.deliver(next.unit.followedUsers.map { TopicEvent.attach($0) })) }
      if phase == .current { deadline = now + FollowState.patience }
      phase = .catchingUp(hearsOwner ? owner : nil, through: from)
      if hearsOwner { actions.append(.askReplay(owner, from: stamp, through: from)) }
      hold(next, at: now, &actions)
    case .behind, .apart:
      if !isFollow {
        switch to.order(to: stamp) {
        // It was heard already.
        case .same, .behind: return loseAttached(by: next.unit, &actions)
        case .ahead, .apart: break
        }
      }
      // This node knows more than the store.
      lose(.replay(.ahead), next, at: now, &actions)
    }
  }

  /// The next unit, or none, begins the group anew: whoever was attached may have missed something.
  private mutating func begin(_ next: Held, at now: MonotonicInstant, _ actions: inout [Action]) {
    if stamp != nil { actions.append(.loseTouch(.replay(.epoch), also: [])) }
    stamp = next.to
    isLost = false
    actions.append(.deliver(next.unit.events))
    note(next.unit)
    settle(at: now)
  }

  private mutating func hold(_ next: Held, at now: MonotonicInstant, _ actions: inout [Action]) {
    held.append(next)
    heldBytes += next.unit.events.reduce(64) { $0 + $1.keptBytes }
    if held.count > FollowState.maxHeld || heldBytes > FollowState.maxHeldBytes { lose(.overflow, at: now, &actions) }
  }

  /// Events are missing for good.
  /// - Parameter next: begins the group anew, if its sender is the owner from now on.
  private mutating func lose(
    _ reason: FollowLoss, _ next: Held? = nil, at now: MonotonicInstant, _ actions: inout [Action]
  ) {
    var rest = held
    if let next { rest.append(next) }
    dropHeld()
    stamp = nil
    isLost = true
    let first = rest.firstIndex { $0.unit.isFollow }
    // Who was attached by what is dropped here is in the list that begins anew, and may have missed what is
    // between.
    let also = rest[..<(first ?? rest.count)].flatMap { FollowState.attached(by: $0.unit) }
    actions.append(.loseTouch(reason, also: also))
    beUnsure(at: now)
    guard let first else {
      // The owner has to say who is attached.
      hearsOwner = false
      chained = nil
      return
    }
    // From the first that begins anew: later ones are compared with it.
    for unit in rest[first...] { apply(unit, at: now, &actions) }
  }

  private mutating func dropHeld() {
    held = []
    heldBytes = 0
  }

  /// The owner tells everything, if there is no later one.
  private mutating func settle(at now: MonotonicInstant) {
    if isOwnerLatest, hearsOwner {
      phase = .current
    } else {
      beUnsure(at: now)
    }
  }

  private mutating func beUnsure(at now: MonotonicInstant, patience: Duration = FollowState.patience) {
    if isSettled { deadline = now + patience }
    phase = .unsure
  }

  private mutating func endIfClosed() {
    if isClosed, held.isEmpty { phase = .ended }
  }

  // MARK: Owners

  /// The node is gone, or entries of its link are missing for good.
  /// - Parameter patience: for an answer, while the shard has an owner.
  mutating func ownerIsGone(_ node: NodeNumber, at now: MonotonicInstant, patience: Duration = FollowState.patience) {
    if owner == node {
      hearsOwner = false
      chained = nil
    }
    switch phase {
    case .current where owner == node: beUnsure(at: now, patience: patience)
    case .comparing(let asked, _) where asked == node: phase = .unsure
    case .catchingUp(let asked, let through) where asked == node: phase = .catchingUp(nil, through: through)
    case .current, .unsure, .comparing, .catchingUp, .ended: break
    }
  }

  /// The shard has another owner, or none.
  mutating func ownerMoved(to node: NodeNumber?, term: Int64, at now: MonotonicInstant) {
    guard node != shardOwner || term != shardTerm else { return }
    (shardOwner, shardTerm) = (node, term)
    switch phase {
    case .current where !isOwnerLatest: beUnsure(at: now)
    // The question was about an earlier term.
    case .comparing: phase = .unsure
    case .catchingUp(let asked?, let through) where asked != node: phase = .catchingUp(nil, through: through)
    case .current, .unsure, .catchingUp, .ended: break
    }
  }

  // MARK: Questions

  /// The question for the shard's owner, which is asked now.
  mutating func ask() -> Question? {
    guard let shardOwner else { return nil }
    switch phase {
    case .unsure:
      if isOwnerLatest, hearsOwner, !isLost {
        phase = .current
        return nil
      }
      let asked = isLost ? FollowState.unknownStamp : stamp
      phase = .comparing(shardOwner, asked)
      followDue = nil
      return .compare(asked)
    case .catchingUp(nil, let through):
      guard let stamp else { return nil }
      phase = .catchingUp(shardOwner, through: through)
      return .replay(from: stamp, through: through)
    case .current, .comparing, .catchingUp, .ended: return nil
    }
  }

  /// A node has answered.
  /// - Parameter asked: the stamp of the question.
  mutating func compared(
    _ result: Comparison, of asked: GroupStamp?, by node: NodeNumber, at now: MonotonicInstant
  ) -> [Action] {
    guard phase == .comparing(node, asked) else { return [] }
    switch result {
    case .same where asked == stamp && !isLost:
      (owner, term) = (node, max(term, shardTerm))
      hearsOwner = true
      chained = stamp
      isUnknownToOwner = true
      settle(at: now)
      return []
    // Its `follow` is on the way, and says how far it is.
    case .different:
      followDue = now + FollowState.followWait
      return []
    case .gone: return giveUp(.gone)
    case .same, .moved:
      phase = .unsure
      return []
    }
  }

  /// What was missing has come, or cannot.
  /// - Parameters:
  ///   - replay: nil = the node is no owner any more, or its answer is lost.
  ///   - from: of the question; nil = the last state of a live room.
  mutating func replayed(
    _ replay: GroupReplay?, by node: NodeNumber, from: GroupStamp?, through: GroupStamp, at now: MonotonicInstant
  ) -> [Action] {
    var actions: [Action] = []
    guard let from else {
      guard stamp == nil, !isLost, owner == node, phase != .ended, case .events(let events)? = replay else { return [] }
      return [.tellAgain(events)]
    }
    guard from == stamp, phase == .catchingUp(node, through: through) else { return [] }
    switch replay {
    case .events(let events)?:
      actions.append(.tellAgain(events))
      stamp = through
      phase = .unsure
      deadline = now + FollowState.patience
      let waiting = held
      dropHeld()
      for unit in waiting { apply(unit, at: now, &actions) }
      if phase == .unsure { settle(at: now) }
    // It may be there again.
    case nil, .impossible(.storeFailed)?: phase = .catchingUp(nil, through: through)
    case .impossible(let reason)?: lose(.replay(reason), at: now, &actions)
    }
    endIfClosed()
    return actions
  }

  /// - Parameter canBeAsked: whether the shard has an owner, and this node is on the bus: otherwise nothing
  ///   happens that could be missed.
  mutating func tick(at now: MonotonicInstant, canBeAsked: Bool) -> [Action] {
    guard !isSettled else { return [] }
    if !canBeAsked {
      deadline = max(deadline, now + FollowState.patience)
      return []
    }
    if now >= deadline { return giveUp(.late) }
    // The group may have left that node's memory before the `follow` was sent.
    if case .comparing = phase, let followDue, now >= followDue { phase = .unsure }
    return []
  }

  /// Nobody follows the group here any more.
  mutating func end() {
    dropHeld()
    phase = .ended
  }

  /// Nobody will say any more what is missing.
  private mutating func giveUp(_ reason: FollowLoss) -> [Action] {
    let users = held.flatMap { FollowState.attached(by: $0.unit) }
    end()
    return [.loseTouch(reason, also: users)]
  }
}

extension TopicUnit {
  /// Removes `TopicEvent.close`.
  /// - Returns: whether it was the last word on whether the receiver follows.
  fileprivate mutating func removeClose() -> Bool {
    var isLast = false
    for event in events {
      switch event {
      case .close: isLast = true
      case .follow: isLast = false
      case .attach, .detach, .resetCompression, .publish, .send, .sendToSession: break
      }
    }
    events.removeAll { if case .close = $0 { true } else { false } }
    return isLast
  }
}
