import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// A sign-in while the user's group moves from owner to owner, in any order of what nodes hear and do: what
/// is published behind the answer reaches the session.
///
/// The links bring all in order, as late as chance will have it. Losses are `ClusterFaultTests`'.
@Suite struct SignInModelTests {
  @Test(arguments: 0..<10) func nothingIsMissedBehindTheAnswer(part: Int) {
    for seed in (part * 100)..<(part * 100 + 100) { #expect(Model.missed(seed, .asWritten) == [], "\(seed)") }
  }

  /// The model finds what these rules are for.
  @Test(arguments: [Rules.nobodyAsks, .nobodyIsWaitedFor]) func aBrokenRuleIsFound(rules: Rules) {
    #expect((0..<4000).contains { !Model.missed($0, rules).isEmpty })
  }

  enum Rules: Sendable {
    case asWritten
    /// A node that has got the shard does not ask for the groups.
    case nobodyAsks
    /// Only the owner is waited for.
    case nobodyIsWaitedFor
  }

  /// The nodes by their index: the first one has the session.
  private struct Model {
    private enum Entry {
      case began, heard, wish, event(Int)
      case attach(isAll: Bool)
      case attached(isAll: Bool)
      /// Asks for `heard` behind what was sent before.
      case question
    }

    private enum Step {
      case arrive(from: Int, to: Int)
      case begin, tell, answer
      case release, claim
      case look(Int), load(Int), publish(Int)
    }

    private enum Phase { case idle, begun, telling, answered }

    private enum Wait { case heard, attached(isAll: Bool), done }

    private struct Node {
      /// Whose the group is, as far as this node knows.
      var owner: Int?
      var leads = false
      var hasGained = false
      /// Whether the session is known.
      var isKnown = false
      /// Whether the group, in memory, has the session attached; nil = it is not in memory.
      var isAttached: Bool?
    }

    private static let user: UserID = "mary"
    private static let key = SessionKey(loop: 0, connection: 1)
    private static let count = 4
    private static let lastEvent = 15

    private let rules: Rules
    private var random: SeededGenerator
    private var nodes: [Node]
    /// What the database says.
    private var owner: Int?
    private var links: [[[Entry]]]
    private var phase = Phase.idle
    private var waits: [Wait]
    private var signIns = PendingSignIns()
    private var published = 0
    private var due: [Int] = []
    private var heard: Set<Int> = []

    /// The events behind the answer that the session has not got, in the end.
    static func missed(_ seed: Int, _ rules: Rules) -> [Int] {
      var model = Model(seed: seed, rules)
      model.run()
      return model.due.filter { !model.heard.contains($0) }
    }

    private init(seed: Int, _ rules: Rules) {
      self.rules = rules
      random = SeededGenerator(seed: UInt64(seed))
      let first = Int.random(in: 1..<Model.count, using: &random)
      owner = first
      nodes = Array(repeating: Node(owner: first), count: Model.count)
      nodes[first].leads = true
      links = Array(repeating: Array(repeating: [], count: Model.count), count: Model.count)
      waits = Array(repeating: .done, count: Model.count)
    }

    private mutating func run() {
      for number in 0..<400 {
        guard let step = steps(mayMove: number < 60).randomElement(using: &random) else { break }
        take(step)
      }
      // All that is on its way comes.
      while true {
        for from in 0..<Model.count {
          for to in 0..<Model.count { while !links[from][to].isEmpty { take(.arrive(from: from, to: to)) } }
        }
        if links.allSatisfy({ $0.allSatisfy(\.isEmpty) }) { break }
      }
    }

    private func steps(mayMove: Bool) -> [Step] {
      var steps: [Step] = []
      for from in 0..<Model.count {
        for to in 0..<Model.count where !links[from][to].isEmpty { steps.append(.arrive(from: from, to: to)) }
      }
      switch phase {
      case .idle: steps.append(.begin)
      case .begun: steps.append(.tell)
      case .telling: if isEverybodyDone { steps.append(.answer) }
      case .answered: break
      }
      if mayMove {
        if let owner { if nodes[owner].leads { steps.append(.release) } } else { steps.append(.claim) }
      }
      for (index, node) in nodes.enumerated() {
        if node.owner != owner { steps.append(.look(index)) }
        if node.leads, node.isAttached == nil { steps.append(.load(index)) }
        if node.isAttached != nil, published < Model.lastEvent { steps.append(.publish(index)) }
      }
      return steps
    }

    private var isEverybodyDone: Bool { waits.allSatisfy { if case .done = $0 { true } else { false } } }

    private mutating func take(_ step: Step) {
      switch step {
      case .arrive(let from, let to):
        let entry = links[from][to].removeFirst()
        receive(entry, from: from, at: to)
      case .begin:
        nodes[0].isKnown = true
        let origins = Dictionary(uniqueKeysWithValues: (1..<Model.count).map { (NodeNumber(Int64($0)), UInt64(1)) })
        signIns.begin(Model.key, of: Model.user, over: origins)
        for node in 1..<Model.count { links[0][node].append(.began) }
        phase = .begun
      case .tell: tell()
      case .answer:
        signIns.end(Model.key, of: Model.user)
        phase = .answered
      case .release:
        guard let owner else { return }
        nodes[owner].leads = false
        nodes[owner].isAttached = nil
        nodes[owner].owner = nil
        self.owner = nil
      case .claim:
        let next = Int.random(in: 0..<Model.count, using: &random)
        owner = next
        nodes[next].owner = next
        nodes[next].leads = true
        nodes[next].hasGained = true
      case .look(let node): nodes[node].owner = owner
      case .load(let node): nodes[node].isAttached = nodes[node].isKnown
      case .publish(let node): publish(at: node)
      }
    }

    private mutating func tell() {
      if nodes[0].isAttached != nil { nodes[0].isAttached = true }
      for node in 1..<Model.count {
        if nodes[0].owner == node {
          let isAll = wants(node)
          waits[node] = .attached(isAll: isAll)
          links[0][node].append(.attach(isAll: isAll))
        } else if rules != .nobodyIsWaitedFor {
          waits[node] = .heard
          links[0][node].append(.question)
        }
      }
      phase = .telling
    }

    private func wants(_ node: Int) -> Bool { signIns.wantsGroups(of: Model.user, NodeNumber(Int64(node))) }

    private mutating func receive(_ entry: Entry, from: Int, at node: Int) {
      switch entry {
      case .began:
        nodes[node].isKnown = true
        if nodes[node].hasGained, rules != .nobodyAsks { links[node][0].append(.wish) }
      case .question: links[node][0].append(.heard)
      case .attach(let isAll):
        if nodes[node].isAttached != nil, nodes[node].isKnown { nodes[node].isAttached = true }
        links[node][0].append(.attached(isAll: isAll))
      case .wish: signIns.noteWish(of: NodeNumber(Int64(from)), for: Model.user)
      case .heard: didAnswer(from)
      case .attached(let isAll): if isAll { waits[from] = .done } else { didAnswer(from) }
      case .event(let number): heard.insert(number)
      }
    }

    private mutating func didAnswer(_ node: Int) {
      if wants(node) {
        waits[node] = .attached(isAll: true)
        links[0][node].append(.attach(isAll: true))
      } else {
        waits[node] = .done
      }
    }

    private mutating func publish(at node: Int) {
      published += 1
      if case .answered = phase { due.append(published) }
      guard nodes[node].isAttached == true else { return }
      if node == 0 { heard.insert(published) } else { links[node][0].append(.event(published)) }
    }
  }
}
