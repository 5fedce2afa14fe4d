import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit
import WebSocketTransport

@testable import Gateway

/// The server's own rate of sign-ins, over a clock of nanoseconds.
@Suite struct SignInRateTests {
  private static let second: Int64 = 1_000_000_000

  @Test(arguments: [1, 3, 2000]) func thoseOfOneSecondComeAtOnceAndThenOneAfterTheOther(perSecond: Int) {
    var rate = SignInRate(perSecond: perSecond)
    let now = MonotonicInstant(nanoseconds: 5 * SignInRateTests.second)
    for _ in 0..<perSecond { #expect(rate.acquire(at: now, chance: 0) == nil) }
    let wait = rate.acquire(at: now, chance: 0)
    #expect(wait == Int64((1000 + perSecond - 1) / perSecond))
    #expect(rate.acquire(at: now + .nanoseconds(SignInRateTests.second / Int64(perSecond)), chance: 0) == nil)
    #expect(rate.acquire(at: now + .nanoseconds(SignInRateTests.second / Int64(perSecond)), chance: 0) != nil)
  }

  @Test func refusedClientsAreSpreadOverTheWait() {
    var rate = SignInRate(perSecond: 100)
    for _ in 0..<100 { _ = rate.acquire(at: 0, chance: 0) }
    let waits = (0..<1000).compactMap { _ in rate.acquire(at: 0, chance: 0) }
    #expect(waits == (1...1000).map { Int64($0 * 10) })
  }

  /// Clients that do as they are told are all in after the time that the rate needs, and none asks
  /// more than twice.
  @Test(arguments: 0..<5) func aStormThatHonoursItsWaitsIsIn(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var rate = SignInRate(perSecond: 2000)
    var (arrivals, asked, end) = ([Int64](repeating: 0, count: 10_000), 0, Int64(0))
    while !arrivals.isEmpty {
      var later: [Int64] = []
      for now in arrivals.sorted() {
        asked += 1
        end = max(end, now)
        guard let wait = rate.acquire(at: MonotonicInstant(nanoseconds: now), chance: .random(in: 0..<1, using: &random)) else {
          continue
        }
        later.append(now + wait * 1_000_000)
      }
      arrivals = later
    }
    #expect(asked <= 20_000, "\(asked)")
    #expect(end <= 5 * SignInRateTests.second, "\(end)")
  }

  @Test func noWaitIsLongerThanHalfAMinute() {
    var rate = SignInRate(perSecond: 1)
    _ = rate.acquire(at: 0, chance: 0)
    let waits = (0..<1000).compactMap { rate.acquire(at: 0, chance: Double($0 % 10) / 10) }
    #expect(waits.count == 1000 && waits.allSatisfy { (1...30_000).contains($0) })
    #expect(Set(waits.suffix(100)).count == 10, "chance spreads those whose place is too far ahead")
  }

  @Test func anInstantThatIsGivenOutOfOrderAdmitsNobodyMore() {
    var rate = SignInRate(perSecond: 1)
    #expect(rate.acquire(at: 10_000, chance: 0) == nil)
    for now in [0, 5000, 10_000] as [MonotonicInstant] { #expect(rate.acquire(at: now, chance: 0) != nil) }
  }
}

@Suite struct SignInLimiterTests {
  private func limiter(signIns: Int, requests: Int) -> (SignInLimiter, UserBudgets) {
    var configuration = GatewayConfiguration()
    configuration.signInsPerSecond = signIns
    configuration.requestsPerSecond = 0
    configuration.requestBurst = requests
    return (SignInLimiter(configuration), UserBudgets(configuration))
  }

  @Test func aUserWithAnEmptyBucketTakesNoPlace() {
    let (limiter, budgets) = limiter(signIns: 3, requests: 1)
    let now: MonotonicInstant = 5000
    let alice = budgets.budget(of: "alice", at: now)
    #expect(limiter.acquire(alice, at: now) == nil)
    for _ in 0..<10 { #expect(limiter.acquire(alice, at: now) != nil) }
    for user in ["bob", "carol"] as [UserID] {
      #expect(limiter.acquire(budgets.budget(of: user, at: now), at: now) == nil)
    }
    #expect(limiter.acquire(budgets.budget(of: "dora", at: now), at: now) != nil, "three places")
  }

  @Test func aRefusedSignInCostsNoRequest() {
    let (limiter, budgets) = limiter(signIns: 1, requests: 1)
    let now: MonotonicInstant = 5000
    #expect(limiter.acquire(budgets.budget(of: "alice", at: now), at: now) == nil)
    let bob = budgets.budget(of: "bob", at: now)
    #expect(limiter.acquire(bob, at: now) ?? 0 > 0)
    #expect(bob.requestWait(at: now) == nil)
  }

  @Test func zeroIsNoLimit() {
    let (limiter, budgets) = limiter(signIns: 0, requests: 100)
    let now: MonotonicInstant = 5000
    let alice = budgets.budget(of: "alice", at: now)
    for _ in 0..<100 { #expect(limiter.acquire(alice, at: now) == nil) }
  }
}

@Suite struct SignInQueueTests {
  /// A queue that `#expect` can ask to change.
  private final class Queue {
    private var queue = SignInQueue()

    func append() { queue.append {} }
    func schedule() -> Bool { queue.schedule() }
    func next() -> Bool { queue.next() != nil }
    func begin() { queue.begin() }
    func end() { queue.end() }
  }

  @Test func aTurnIsAskedForOnce() {
    let queue = Queue()
    #expect(!queue.schedule(), "nobody waits")
    for _ in 0..<2 { queue.append() }
    #expect(queue.schedule() && !queue.schedule())
    #expect(queue.next() && queue.schedule() && queue.next())
    #expect(!queue.schedule() && !queue.next())
  }

  @Test func whileTooManyAreUnderWayNobodyIsBegun() {
    let queue = Queue()
    for _ in 0..<100 { queue.append() }
    for _ in 0..<SignInQueue.maxInFlight {
      #expect(queue.schedule() && queue.next())
      queue.begin()
    }
    #expect(!queue.schedule())
    queue.end()
    #expect(queue.schedule())
  }
}

/// Many sign-ins at once, on real connections.
@Suite struct SignInStormTests {
  @Test func moreSignInsThanTheServerAdmitsAreToldToWait() async throws {
    try await LiveGateway.with {
      $0.signInsPerSecond = 1
    } _: { live in
      let first = try await live.signIn("user")
      for number in 0..<20 {
        let client = try await live.connect()
        let error = try await client.call("login", #"{"token":"u\#(number)"}"#)["error"]
        let wait = try #require(error["data"]["retryAfterMs"].integer)
        #expect(error["code"] == 7008 && (1...30_000).contains(wait))
        let end = try await client.closed()
        #expect(end.code == 4004 && end.reason == "7008 retry after \(wait) ms")
      }
      #expect(try await first.call("ping")["error"] == nil)
      await live.advance(by: 1000)
      _ = try await live.signIn("later")
    }
  }

  @Test func anUpgradeIsToldByTheReason() async throws {
    try await LiveGateway.with {
      $0.signInsPerSecond = 1
    } _: { live in
      _ = try await live.signIn("user")
      for number in 0..<20 {
        let client = try await Client.open(port: live.port, query: "token=u\(number)")
        let error = await #expect(throws: Client.Failed.self) { try await client.next() }
        let end = try #require(error).description
        #expect(end.wholeMatch(of: /closed with 4004 7008 retry after [1-9][0-9]* ms/) != nil, "\(end)")
      }
    }
  }

  /// The store keeps the first waiting; the others wait for their turn, and hold back nobody who is
  /// signed in.
  @Test func thoseWhoAreSignedInAreServedWhileOthersWaitForTheirTurn() async throws {
    try await LiveGateway.with { live in
      let alice = try await live.signIn("alice")
      live.store.hold()
      var others: [Client] = []
      for number in 0..<20 { others.append(try await Client.open(port: live.port, query: "token=u\(number)")) }
      try await others[19].leave()
      try await live.waitForReads(SignInQueue.maxInFlight)
      for _ in 0..<3 { #expect(try await alice.call("ping")["error"] == nil) }
      #expect(live.store.waitingCount == SignInQueue.maxInFlight)
      #expect(live.services.sessionCount == 1 + SignInQueue.maxInFlight)
      live.store.release()
      for other in others.dropLast() { #expect(try await other.next()["method"] == "onConnectSuccess") }
      #expect(live.services.sessionCount == 20)
    }
  }

  /// "4007 not signed in within 10 s" is about those who have not tried.
  @Test func aQueuedSignInIsNotLate() async throws {
    try await LiveGateway.with { live in
      live.store.hold()
      var others: [Client] = []
      for number in 0..<SignInQueue.maxInFlight {
        others.append(try await Client.open(port: live.port, query: "token=u\(number)"))
      }
      try await live.waitForReads(SignInQueue.maxInFlight)
      let late = try await live.connect()
      try await late.send(#"{"jsonrpc":"2.0","id":1,"method":"login","params":{"token":"late"}}"#)
      let loop = live.transport.loops[0]
      try await waitUntil("the late sign-in is queued") {
        await live.on(loop) { [live] in live.gateway.context(of: loop).signIns.count > 0 }
      }
      await live.on(loop) { [live] in
        for session in live.gateway.context(of: loop).open.values { session.runDeadlines(at: .distantFuture) }
      }
      live.store.release()
      #expect(try await late.next()["result"]["userID"] == "late")
    }
  }
}
