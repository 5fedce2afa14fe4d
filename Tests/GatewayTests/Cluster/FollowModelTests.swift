import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// One node follows one group, whose owners commit, die between the commit and the event, release it, and are
/// replaced; links are slow, and lose what is on its way; users sign in and out. A session that stays open gets
/// every durable event behind its sign-in, in order and once; another one was closed.
@Suite struct FollowModelTests {
  @Test(arguments: 0..<400) func nobodyWhoStaysMissesAnything(seed: UInt64) {
    var model = FollowModel(seed: seed, mostReplayed: .max)
    model.run()
    #expect(model.fault == nil)
    // Whatever was missing could be told again.
    #expect(model.losses.isEmpty, "\(model.losses)")
  }

  /// More than a few messages cannot be told again: then who was attached is closed, and nobody else.
  @Test(arguments: 400..<700) func nobodyMissesWhatCannotBeToldAgain(seed: UInt64) {
    var model = FollowModel(seed: seed, mostReplayed: 2)
    model.run()
    #expect(model.fault == nil)
    #expect(model.losses.allSatisfy { $0 == .replay(.tooMuch) }, "\(model.losses)")
  }
}

private struct FollowModel {
  private typealias Node = Int64

  /// What travels from a node to the one that follows.
  private enum Message {
    /// - Parameter gate: the load whose commits wait for it.
    case unit(TopicUnit, gate: Int?)
    case compared(Comparison, of: GroupStamp?)
    case replayed(GroupReplay?, from: GroupStamp, through: GroupStamp)
    case signedIn(UserID, Int)
    /// What was before it on the link is lost, and this is heard.
    case loss
  }

  /// The group in the memory of an owner.
  private struct Load {
    let id: Int
    let term: Int64
    var told: Int64
    var users: Set<UserID>
    /// Nothing is committed before this was heard.
    var isGated = false
    var gateWasLost = false
  }

  private struct Session {
    let id: Int
    /// The nodes whose answers the sign-in waits for; nil = it is open, or has ended.
    var awaited: Set<Node>?
    /// What the client has read when it was signed in; nil = it is not yet.
    var base: Int64?
    var isClosed = false
    var isSubscribed = false
    var got: [Int64] = []

    mutating func end() {
      isClosed = true
      awaited = nil
    }
  }

  private static let members: [UserID] = ["mary", "nora", "olga"]
  private static let steps = 900
  /// From then on nothing happens but what is on its way.
  private static let busySteps = 500

  private var random: SeededGenerator
  private let mostReplayed: Int64
  private var now = 0
  /// The newest durable event.
  private var durable: Int64 = 0
  private var owner: Node? = 1
  private var term: Int64 = 1
  private var lastNode: Node = 1
  private var lastID = 0
  private var alive: Set<Node> = [1]
  private var loads: [Node: Load] = [:]
  private var links: [Node: [Message]] = [1: []]
  /// A node whose link has begun again, and which tells only later what it told.
  private var lateFollow: Node?
  // What the following node knows.
  private var view: Set<Node> = [1]
  private var shardOwner: Node? = 1
  private var shardTerm: Int64 = 1
  private var topic: FollowState?
  private var attached: Set<UserID> = []
  private var sessions: [UserID: Session] = [:]
  private var questions: [(node: Node, question: FollowState.Question)] = []
  private var compared: Set<Node> = []
  private(set) var fault: String?
  /// Why sessions were closed whose sign-in had been answered.
  private(set) var losses: [FollowLoss] = []

  init(seed: UInt64, mostReplayed: Int64) {
    random = SeededGenerator(seed: seed)
    self.mostReplayed = mostReplayed
    load(at: 1)
  }

  private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

  private var instant: MonotonicInstant { MonotonicInstant(milliseconds: Int64(now)) }

  private func stamp(_ seq: Int64) -> GroupStamp { GroupStamp(epoch: "e", seq: seq, changeSeq: 0, revision: 0, board: 0) }

  mutating func run() {
    while now < FollowModel.steps, fault == nil {
      step()
      now += 1
    }
    guard fault == nil else { return }
    for (user, session) in sessions {
      guard !session.isClosed, let base = session.base else { continue }
      let last = max(base, session.got.last ?? 0)
      if last != durable { fault = "\(user) has \(last) of \(durable): \(topic.map { "\($0)" } ?? "no topic")" }
    }
  }

  private mutating func step() {
    let isBusy = now < FollowModel.busySteps
    if let node = lateFollow, chance(3) {
      if loads[node]?.users.isEmpty == false { follow(at: node) }
      lateFollow = nil
    }
    switch Int.random(in: 0..<16, using: &random) {
    case 0...3 where isBusy: commit()
    case 4 where isBusy && chance(8): if let owner { die(owner) }
    case 5 where isBusy && chance(8): release()
    case 6: claim()
    case 7: look()
    case 8...10: hear()
    case 11 where isBusy && chance(10): if let node = alive.sorted().randomElement(using: &random) { lose(node) }
    case 12 where chance(2): signInOrOut(isBusy)
    default: answer()
    }
    if !isBusy, owner == nil { claim() }
    endSignIns()
    if chance(2) { ask() }
    check()
  }

  // MARK: Owners

  private mutating func load(at node: Node) {
    guard loads[node] == nil else { return }
    lastID += 1
    let users = Set(FollowModel.members.filter { sessions[$0].map { !$0.isClosed } ?? false })
    loads[node] = Load(id: lastID, term: term, told: durable, users: users)
    guard !users.isEmpty else { return }
    loads[node]?.isGated = true
    follow(at: node, isGate: true)
  }

  private mutating func follow(at node: Node, isGate: Bool = false) {
    guard let load = loads[node] else { return }
    let list = TopicEvent.follow(load.users.sorted().map { AttachedUser($0, .receive) }, term: load.term)
    let mustConfirm = isGate || load.gateWasLost
    loads[node]?.gateWasLost = false
    let unit = TopicUnit(.whole(stamp(load.told)), [list])
    links[node]?.append(.unit(unit, gate: mustConfirm ? load.id : nil))
  }

  private mutating func commit() {
    guard let owner, view.contains(owner) else { return }
    load(at: owner)
    guard loads[owner]?.isGated == false else { return }
    durable += 1
    // It dies behind the commit, and before it tells.
    if chance(14) { return die(owner) }
    loads[owner]?.told = durable
    guard loads[owner]?.users.isEmpty == false else { return }
    let event = TopicEvent.publish(.control, except: nil, frame: FollowModel.frame(durable))
    links[owner]?.append(.unit(TopicUnit(.change(StampChange(seq: durable)), [event]), gate: nil))
  }

  private static func frame(_ number: Int64) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xff)] }

  private mutating func die(_ node: Node) {
    alive.remove(node)
    loads[node] = nil
    let count = links[node]?.count ?? 0
    links[node]?.removeLast(Int.random(in: 0...count, using: &random))
    if owner == node { owner = nil }
  }

  private mutating func release() {
    guard let node = owner else { return }
    if let load = loads.removeValue(forKey: node), !load.users.isEmpty {
      links[node]?.append(.unit(TopicUnit(nil, [.close]), gate: nil))
    }
    owner = nil
  }

  private mutating func claim() {
    guard owner == nil else { return }
    term += 1
    if chance(3), let node = alive.sorted().randomElement(using: &random) {
      owner = node
    } else {
      lastNode += 1
      alive.insert(lastNode)
      links[lastNode] = []
      owner = lastNode
    }
  }

  /// The link begins again: what was on its way is lost.
  private mutating func lose(_ node: Node) {
    guard let link = links[node] else { return }
    let kept = Int.random(in: 0...link.count, using: &random)
    for case .unit(_, let gate?) in link[kept...] where loads[node]?.id == gate { loads[node]?.gateWasLost = true }
    links[node] = Array(link[..<kept]) + [.loss]
    guard loads[node]?.users.isEmpty == false else { return }
    if chance(3) { lateFollow = node } else { follow(at: node) }
  }

  private mutating func answer() {
    guard !questions.isEmpty else { return }
    let (node, question) = questions.removeFirst()
    // A dead node's are lost when it is known to have gone.
    guard alive.contains(node) else { return questions.append((node, question)) }
    let answer: Message
    switch question {
    case .compare(let asked):
      if node != owner {
        answer = .compared(.moved, of: asked)
      } else if loads[node]?.users.isEmpty == false {
        follow(at: node)
        answer = .compared(.different, of: asked)
      } else if asked == stamp(durable) {
        answer = .compared(.same, of: asked)
      } else {
        load(at: node)
        answer = .compared(loads[node]?.users.isEmpty == false ? .different : .gone, of: asked)
      }
    case .replay(let from, let through):
      if node != owner {
        answer = .replayed(nil, from: from, through: through)
      } else if through.seq - from.seq > mostReplayed {
        answer = .replayed(.impossible(.tooMuch), from: from, through: through)
      } else {
        let events = ((from.seq + 1)...through.seq).map { ReplayedEvent(frame: FollowModel.frame($0), kind: .control) }
        answer = .replayed(.events(events), from: from, through: through)
      }
    }
    links[node]?.append(answer)
  }

  // MARK: The node that follows

  /// It sees who is there, and who owns the shard.
  private mutating func look() {
    let time = instant
    let gone = view.subtracting(alive)
    (view, shardOwner, shardTerm) = (alive, owner, term)
    for node in gone.sorted() {
      loseQuestions(to: node)
      links[node] = []
      topic?.ownerIsGone(NodeNumber(node), at: time)
    }
    let (next, nextTerm) = (shardOwner.map { NodeNumber($0) }, shardTerm)
    topic?.ownerMoved(to: next, term: nextTerm, at: time)
  }

  private mutating func loseQuestions(to node: Node) {
    let time = instant
    let lost = questions.filter { $0.node == node }
    questions.removeAll { $0.node == node }
    compared.remove(node)
    for (_, question) in lost {
      switch question {
      case .compare(let asked): perform(topic?.compared(.moved, of: asked, by: NodeNumber(node), at: time))
      case .replay(let from, let through):
        perform(topic?.replayed(nil, by: NodeNumber(node), from: from, through: through, at: time))
      }
    }
  }

  private mutating func hear() {
    let time = instant
    let speaking = links.keys.filter { view.contains($0) && links[$0]?.isEmpty == false }.sorted()
    guard let node = speaking.randomElement(using: &random), let message = links[node]?.removeFirst() else { return }
    let sender = NodeNumber(node)
    switch message {
    case .unit(let unit, let gate):
      if let gate, loads[node]?.id == gate { loads[node]?.isGated = false }
      receive(unit, from: sender)
    case .compared(let result, let asked):
      compared.remove(node)
      perform(topic?.compared(result, of: asked, by: sender, at: time))
    case .replayed(let replay, let from, let through):
      perform(topic?.replayed(replay, by: sender, from: from, through: through, at: time))
    case .signedIn(let user, let id):
      if sessions[user]?.id == id { sessions[user]?.awaited?.remove(node) }
    case .loss:
      loseQuestions(to: node)
      for (user, session) in sessions where session.awaited?.contains(node) == true { sessions[user]?.end() }
      topic?.ownerIsGone(sender, at: time)
    }
  }

  private mutating func receive(_ unit: TopicUnit, from node: NodeNumber) {
    let time = instant
    if topic == nil {
      let shardNode = shardOwner.map { NodeNumber($0) }
      let attaches = unit.events.contains { if case .attach = $0 { true } else { false } }
      if let term = unit.followTerm {
        guard term >= shardTerm else { return }
        topic = FollowState(owner: node, shardOwner: shardNode, shardTerm: shardTerm, at: time)
      } else if node == shardNode, unit.step != nil || attaches {
        topic = FollowState(owner: node, shardOwner: shardNode, shardTerm: shardTerm, isLost: true, at: time)
      } else {
        return
      }
    }
    perform(topic?.receive(unit, from: node, at: time))
  }

  private mutating func ask() {
    let time = instant
    guard topic?.isSettled == false else { return }
    let canBeAsked = shardOwner != nil
    perform(topic?.tick(at: time, canBeAsked: canBeAsked))
    guard let node = shardOwner, view.contains(node), !compared.contains(node), let question = topic?.ask() else { return }
    questions.append((node, question))
    if case .compare = question { compared.insert(node) }
  }

  private mutating func perform(_ actions: [FollowState.Action]?) {
    for action in actions ?? [] {
      switch action {
      case .deliver(let events): for event in events { deliver(event) }
      case .tellAgain(let events): for event in events { publish(event.frame) }
      case .askReplay(let node, let from?, let through): questions.append((node.rawValue, .replay(from: from, through: through)))
      case .askReplay(_, nil, _): fault = "the last state of a group with a stamp is asked"
      case .loseTouch(let reason, let also): close(attached.union(also), reason)
      case .loseTouchOnly(let users): for user in users { end(user, .unplaced) }
      }
    }
    guard topic?.phase == .ended else { return }
    unsubscribeAll()
    topic = nil
  }

  private mutating func close(_ users: Set<UserID>, _ reason: FollowLoss) {
    unsubscribeAll()
    for user in users { end(user, reason) }
  }

  private mutating func end(_ user: UserID, _ reason: FollowLoss) {
    guard let session = sessions[user], !session.isClosed else { return }
    // One that signs in has missed nothing: its client comes again.
    if session.base != nil { losses.append(reason) }
    sessions[user]?.end()
  }

  private mutating func unsubscribeAll() {
    for user in attached { sessions[user]?.isSubscribed = false }
    attached = []
  }

  private mutating func deliver(_ event: TopicEvent) {
    switch event {
    case .follow(let users, _, _):
      let listed = Set(users.map(\.user))
      for user in attached.subtracting(listed) { detach(user) }
      for user in listed { attach(user) }
    case .attach(let user): attach(user.user)
    case .detach(let user): detach(user)
    case .publish(_, _, let frame): publish(frame)
    case .close: unsubscribeAll()
    case .resetCompression, .send, .sendToSession: fault = "an event that nobody has sent"
    }
  }

  private mutating func attach(_ user: UserID) {
    guard let session = sessions[user], !session.isClosed else { return detach(user) }
    attached.insert(user)
    sessions[user]?.isSubscribed = true
  }

  private mutating func detach(_ user: UserID) {
    attached.remove(user)
    sessions[user]?.isSubscribed = false
  }

  private mutating func publish(_ frame: [UInt8]) {
    let number = Int64(frame[0]) << 8 | Int64(frame[1])
    for user in attached where sessions[user]?.isSubscribed == true { sessions[user]?.got.append(number) }
  }

  // MARK: Users

  private mutating func signInOrOut(_ isBusy: Bool) {
    guard let user = FollowModel.members.randomElement(using: &random) else { return }
    if let session = sessions[user], !session.isClosed {
      guard isBusy, chance(3) else { return }
      sessions[user]?.end()
      for node in loads.keys.sorted() { leave(user, at: node) }
      return
    }
    if sessions[user] != nil { for node in loads.keys.sorted() { leave(user, at: node) } }
    attached.remove(user)
    lastID += 1
    let asked = alive.intersection(view)
    sessions[user] = Session(id: lastID, awaited: asked)
    for node in asked.sorted() {
      if let load = loads[node] {
        loads[node]?.users.insert(user)
        if load.users.isEmpty {
          follow(at: node)
        } else {
          links[node]?.append(.unit(TopicUnit(nil, [.attach(AttachedUser(user, .receive))]), gate: nil))
        }
      }
      links[node]?.append(.signedIn(user, lastID))
    }
  }

  private mutating func leave(_ user: UserID, at node: Node) {
    guard loads[node]?.users.remove(user) != nil else { return }
    let isLast = loads[node]?.users.isEmpty == true
    links[node]?.append(.unit(TopicUnit(nil, isLast ? [.detach(user), .close] : [.detach(user)]), gate: nil))
  }

  /// A sign-in ends when each node has answered, or has gone; then its client reads what is stored.
  private mutating func endSignIns() {
    for (user, session) in sessions {
      guard let awaited = session.awaited else { continue }
      let left = awaited.filter { alive.contains($0) || view.contains($0) }
      sessions[user]?.awaited = left.isEmpty ? nil : left
      if left.isEmpty { sessions[user]?.base = durable }
    }
  }

  // MARK: What must hold

  private mutating func check() {
    for (user, session) in sessions {
      let got = session.got
      if zip(got, got.dropFirst()).contains(where: { $0 >= $1 }) { fault = "\(user) got \(got)" }
      guard !session.isClosed, let base = session.base else { continue }
      let behind = got.filter { $0 > base }
      if !behind.elementsEqual((0..<Int64(behind.count)).map { base + 1 + $0 }) { fault = "\(user) read \(base), and got \(got)" }
    }
  }
}
