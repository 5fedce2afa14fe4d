import GroupModel
import Synchronization
import Testing
import ThrongTestKit

@testable import Gateway

/// The requests of a user that the other nodes have not been told of, as a value.
@Suite struct UnreportedChargesTests {
  /// A value that `#expect` can ask to change.
  private final class Charges {
    private var charges: UnreportedCharges

    init(perSecond: Int, burst: Int) { charges = UnreportedCharges(perSecond: perSecond, burst: burst, now: 0) }

    func charge(_ peerCount: Int, at now: MonotonicInstant) -> Int { charges.charge(peerCount: peerCount, at: now) }
    func isEmpty(_ peerCount: Int, at now: MonotonicInstant) -> Bool { charges.isEmpty(peerCount: peerCount, at: now) }
  }

  @Test func anEighthOfTheBurstIsToldAtOnce() {
    let charges = Charges(perSecond: 50, burst: 40)
    for _ in 0..<4 { #expect(charges.charge(2, at: 0) == 0) }
    #expect(charges.charge(2, at: 0) == 5)
    #expect(charges.isEmpty(2, at: 0))
    for _ in 0..<4 { #expect(charges.charge(2, at: 0) == 0) }
    #expect(!charges.isEmpty(2, at: 0))
  }

  @Test func withASmallBurstEachRequestIsTold() {
    let charges = Charges(perSecond: 0, burst: 7)
    for _ in 0..<10 { #expect(charges.charge(1, at: 0) == 1) }
  }

  /// 32 a second over two other nodes: this one forgets two a second.
  @Test func aUserWhoSendsLittleIsNeverTold() {
    let charges = Charges(perSecond: 32, burst: 16)
    for second in 0..<100 {
      for part in [0, 500] { #expect(charges.charge(2, at: MonotonicInstant(milliseconds: second * 1000 + part)) == 0) }
    }
    #expect(charges.charge(2, at: 99_500) == 2, "one more is")
  }

  @Test func stepsThatAreTooShortToCountAddUp() {
    let charges = Charges(perSecond: 1, burst: 1_000)
    #expect(charges.charge(3, at: 0) == 0)
    for now in 1..<24_000 { #expect(!charges.isEmpty(3, at: MonotonicInstant(milliseconds: now))) }
    #expect(charges.isEmpty(3, at: 24_000))
  }

  @Test func aNodeThatIsAloneHasNothingToTell() {
    let charges = Charges(perSecond: 0, burst: 80)
    for _ in 0..<9 { #expect(charges.charge(1, at: 0) == 0) }
    for _ in 0..<100 { #expect(charges.charge(0, at: 0) == 0) }
    #expect(charges.isEmpty(1, at: 0))
  }
}

@Suite struct ChargesOfOtherNodesTests {
  private func budgets(perSecond: Int, burst: Int, reporter: (any ChargeReporter)? = nil) -> UserBudgets {
    var configuration = GatewayConfiguration()
    configuration.requestsPerSecond = perSecond
    configuration.requestBurst = burst
    return UserBudgets(configuration, reporter: reporter)
  }

  private func admitted(_ budgets: UserBudgets, at now: MonotonicInstant) -> Int {
    let budget = budgets.budget(of: "alice", at: now)
    var count = 0
    while budget.acquireRequest(at: now) == nil { count += 1 }
    return count
  }

  @Test func theyAreTakenFromTheUsersBucketAlone() {
    let budgets = budgets(perSecond: 0, burst: 10)
    budgets.charge(7, of: "alice", at: 0)
    #expect(admitted(budgets, at: 0) == 3)
    #expect(budgets.budget(of: "bob", at: 0).requestWait(at: 0) == nil)
  }

  /// Also what no node would tell: a user waits for two bursts at most.
  @Test(arguments: [20, 21, Int.max]) func aBucketLacksOneBurstAtMost(requests: Int) {
    let budgets = budgets(perSecond: 10, burst: 10)
    for _ in 0..<3 { budgets.charge(requests, of: "alice", at: 0) }
    #expect(budgets.budget(of: "alice", at: 0).requestWait(at: 0) == 1100)
    #expect(admitted(budgets, at: 1100) == 1)
  }

  @Test(arguments: [0, -1, Int.min]) func nothingGivesNothing(requests: Int) {
    let budgets = budgets(perSecond: 0, burst: 3)
    #expect(admitted(budgets, at: 0) == 3)
    budgets.charge(requests, of: "alice", at: 0)
    #expect(admitted(budgets, at: 0) == 0)
  }

  @Test func aRefusedRequestIsNotTold() {
    let node = Node()
    let budgets = budgets(perSecond: 0, burst: 8, reporter: node)
    #expect(admitted(budgets, at: 0) == 8)
    for _ in 0..<10 { #expect(budgets.budget(of: "alice", at: 0).acquireRequest(at: 0) != nil) }
    #expect(node.told.withLock { $0 } == 8)
  }

  /// Or a user who comes again and again would never be told of.
  @Test func aBudgetIsKeptWhileSomethingIsLeftToTell() {
    let budgets = budgets(perSecond: 8, burst: 80, reporter: Node())
    #expect(budgets.budget(of: "alice", at: 0).acquireRequest(at: 0) == nil)
    func sweep(at now: MonotonicInstant) { for _ in 0..<budgets.sweepTicks { budgets.sweep(at: now) } }
    sweep(at: 999)
    #expect(budgets.count == 1)
    sweep(at: 1000)
    #expect(budgets.count == 0)
  }

  /// Counts what it is told.
  private final class Node: ChargeReporter {
    let told = Mutex(0)
    let peerCount = 1

    func report(_ requests: Int, of user: UserID) { told.withLock { $0 += requests } }
  }
}

/// A user whose requests go to several nodes, which hear of each other's charges at once.
@Suite struct SharedRateTests {
  private final class Node: ChargeReporter {
    let peerCount: Int
    private let others = Mutex<[UserBudgets]>([])
    private let now = Mutex<MonotonicInstant>(0)

    init(peerCount: Int) { self.peerCount = peerCount }

    func connect(to others: [UserBudgets]) { self.others.withLock { $0 = others } }

    func request(of budgets: UserBudgets, at now: MonotonicInstant) -> Bool {
      self.now.withLock { $0 = now }
      return budgets.budget(of: "alice", at: now).acquireRequest(at: now) == nil
    }

    func report(_ requests: Int, of user: UserID) {
      let (now, others) = (now.withLock { $0 }, others.withLock { $0 })
      for budgets in others { budgets.charge(requests, of: user, at: now) }
    }
  }

  /// The requests that have passed, by their instants.
  private struct Passed {
    var instants: [Int] = []

    /// Whether one more at an instant stays within a burst and a rate, over any time that ends then.
    func allowsOneMore(at now: Int, burst: Int, perSecond: Double) -> Bool {
      instants.indices.allSatisfy { index in
        Double(instants.count - index + 1) <= Double(burst) + Double(now - instants[index]) / 1000 * perSecond
      } && burst >= 1
    }
  }

  private struct Case: CustomTestStringConvertible {
    let nodes: Int
    let perSecond: Int
    let burst: Int

    var testDescription: String { "\(nodes) nodes, \(perSecond) a second, bursts of \(burst)" }
    /// What the other nodes may let pass without a word.
    var slack: Int { (nodes - 1) * max(1, burst / UnreportedCharges.share) }
  }

  private static let cases = [
    Case(nodes: 2, perSecond: 50, burst: 100), Case(nodes: 3, perSecond: 50, burst: 100), Case(nodes: 3, perSecond: 1, burst: 40),
    Case(nodes: 5, perSecond: 7, burst: 64), Case(nodes: 3, perSecond: 1000, burst: 16), Case(nodes: 4, perSecond: 0, burst: 33),
  ]

  private func nodes(of test: Case) -> [(node: Node, budgets: UserBudgets)] {
    var configuration = GatewayConfiguration()
    configuration.requestsPerSecond = test.perSecond
    configuration.requestBurst = test.burst
    let nodes = (0..<test.nodes).map { _ in
      let node = Node(peerCount: test.nodes - 1)
      return (node: node, budgets: UserBudgets(configuration, reporter: node))
    }
    for own in nodes {
      let others = nodes.filter { $0.node !== own.node }
      own.node.connect(to: others.map { $0.budgets })
    }
    return nodes
  }

  /// The instants and nodes of requests: now and then a pause, and some nodes more often than others.
  private func requests(of test: Case, seed: UInt64) -> [(instant: Int, node: Int)] {
    var random = SeededGenerator(seed: seed)
    var (now, favourite) = (0, 0)
    let longest = [0, 1, 20, 300].randomElement(using: &random) ?? 0
    return (0..<600).map { _ in
      now += .random(in: 0...longest, using: &random)
      if Int.random(in: 0..<100, using: &random) == 0 { now += .random(in: 0...5000, using: &random) }
      if Int.random(in: 0..<10, using: &random) == 0 { favourite = .random(in: 0..<test.nodes, using: &random) }
      return (now, Bool.random(using: &random) ? favourite : .random(in: 0..<test.nodes, using: &random))
    }
  }

  @Test(arguments: SharedRateTests.cases, 0..<8 as Range<UInt64>)
  private func moreThanTheRateAnEighthAndTheSlackNeverPass(test: Case, seed: UInt64) {
    let nodes = nodes(of: test)
    var passed = Passed()
    for (now, index) in requests(of: test, seed: seed) {
      let (node, budgets) = nodes[index]
      guard node.request(of: budgets, at: MonotonicInstant(milliseconds: now)) else { continue }
      let perSecond = Double(test.perSecond) * (1 + 1 / Double(UnreportedCharges.share))
      #expect(passed.allowsOneMore(at: now, burst: test.burst + test.slack, perSecond: perSecond))
      passed.instants.append(now)
    }
    #expect(passed.instants.count >= test.burst)
  }

  @Test(arguments: SharedRateTests.cases, 0..<8 as Range<UInt64>)
  private func whoStaysBelowTheRateIsNeverRefused(test: Case, seed: UInt64) {
    let nodes = nodes(of: test)
    var passed = Passed()
    for (now, index) in requests(of: test, seed: seed) {
      guard passed.allowsOneMore(at: now, burst: test.burst - test.slack, perSecond: Double(test.perSecond)) else { continue }
      let (node, budgets) = nodes[index]
      #expect(node.request(of: budgets, at: MonotonicInstant(milliseconds: now)))
      passed.instants.append(now)
    }
  }
}
