import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

/// Readers of the store take turns.
@Suite(.timeLimit(.minutes(10))) struct ReadSchedulerTests {
  /// Holds reads until it is opened.
  private final class Gate: Sendable {
    private struct State {
      var isOpen = false
      var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func pass() async {
      await withCheckedContinuation { continuation in
        let isOpen = state.withLock { state in
          if !state.isOpen { state.waiting.append(continuation) }
          return state.isOpen
        }
        if isOpen { continuation.resume() }
      }
    }

    func open() {
      let waiting = state.withLock { state in
        state.isOpen = true
        defer { state.waiting = [] }
        return state.waiting
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  /// Reads of a scheduler, and which of them have begun.
  private final class Reads: Sendable {
    let scheduler: ReadScheduler
    private let begun = Mutex<[String]>([])

    init(readers: Int) { scheduler = ReadScheduler(readers: readers) }

    var order: [String] { begun.withLock { $0 } }

    /// Requests a read, and returns when it has begun or is queued.
    func ask(_ name: String, for requester: Requester?, _ gate: Gate? = nil) async throws -> Task<StoreError.Kind?, Never> {
      let before = (order.count, scheduler.waitingCount)
      let task = Task<StoreError.Kind?, Never> {
        do throws(StoreError) {
          try await scheduler.run(for: requester) { () async throws(StoreError) in
            self.begun.withLock { $0.append(name) }
            await gate?.pass()
          }
          return nil
        } catch {
          return error.kind
        }
      }
      try await waitUntil("\(name) has begun or is queued") { order.count + scheduler.waitingCount != before.0 + before.1 }
      return task
    }
  }

  @Test func usersTakeTurnsHoweverManyReadsEachAsksForAndEachHasItsOwnInOrder() async throws {
    let (reads, gate) = (Reads(readers: 1), Gate())
    var tasks = [try await reads.ask("first", for: Requester(alice), gate)]
    for number in 1...4 { tasks.append(try await reads.ask("alice \(number)", for: Requester(alice))) }
    for number in 1...2 { tasks.append(try await reads.ask("bob \(number)", for: Requester(bob))) }
    tasks.append(try await reads.ask("server 1", for: nil))
    tasks.append(try await reads.ask("administrator", for: Requester(nil)))
    #expect(reads.scheduler.waitingCount == 8)
    gate.open()
    for task in tasks { #expect(await task.value == nil) }
    #expect(
      reads.order == [
        "first", "alice 1", "bob 1", "server 1", "alice 2", "bob 2", "administrator", "alice 3", "alice 4",
      ])
    #expect(reads.scheduler.waitingCount == 0)
  }

  /// Reads that have begun without a task, in their order.
  private final class Turns: Sendable {
    private let begun = Mutex<[(name: String, turn: ReadScheduler.Turn)]>([])

    func add(_ name: String, _ turn: ReadScheduler.Turn) { begun.withLock { $0.append((name: name, turn: turn)) } }

    var names: [String] { begun.withLock { $0.map { $0.name } } }
    var last: ReadScheduler.Turn? { begun.withLock { $0.last?.turn } }
  }

  @Test func readsWithoutATaskBeginAtOnceOrInTurnWithTheOthers() async throws {
    let (scheduler, turns) = (ReadScheduler(readers: 1), Turns())
    func begin(_ name: String, for user: UserID) { scheduler.begin(for: user) { turns.add(name, $0) } }
    begin("alice 1", for: alice)
    #expect(turns.names == ["alice 1"])
    begin("alice 2", for: alice)
    begin("bob", for: bob)
    begin("alice 3", for: alice)
    let task = Task { try? await scheduler.run(for: Requester(carol)) { () async throws(StoreError) in 1 } }
    try await waitUntil("carol's read is queued") { scheduler.waitingCount == 4 }
    for count in 1...4 {
      if count == 4 { #expect(await task.value == 1, "she has her turn before alice's third") }
      #expect(turns.names.count == count)
      if let turn = turns.last { scheduler.end(turn) }
    }
    #expect(turns.names == ["alice 1", "alice 2", "bob", "alice 3"])
    #expect(scheduler.waitingCount == 0)
  }

  @Test func nobodyHasMoreThanHalfOfTheReadersAndOthersHaveTheRestAtOnce() async throws {
    let (reads, gate) = (Reads(readers: 4), Gate())
    var tasks: [Task<StoreError.Kind?, Never>] = []
    for number in 1...6 { tasks.append(try await reads.ask("alice \(number)", for: Requester(alice), gate)) }
    #expect(reads.order == ["alice 1", "alice 2"] && reads.scheduler.waitingCount == 4)
    #expect(try await reads.ask("bob", for: Requester(bob)).value == nil)
    #expect(try await reads.ask("server", for: nil).value == nil)
    #expect(reads.order == ["alice 1", "alice 2", "bob", "server"])
    gate.open()
    for task in tasks { #expect(await task.value == nil) }
    #expect(reads.order.suffix(4) == ["alice 3", "alice 4", "alice 5", "alice 6"])
  }

  @Test func whoseRequesterHasGoneIsNotRead() async throws {
    let (reads, gate) = (Reads(readers: 1), Gate())
    let gone = Requester(bob)
    gone.leave()
    let early = await failure { () async throws(StoreError) in
      try await reads.scheduler.run(for: gone) { () async throws(StoreError) in Issue.record("it was read") }
    }
    #expect(early?.kind == .cancelled)
    let running = try await reads.ask("alice", for: Requester(alice), gate)
    let (leaver, stayer) = (Requester(bob), Requester(bob))
    let waiting = try await [
      reads.ask("leaver", for: leaver), reads.ask("leaver", for: leaver), reads.ask("stayer", for: stayer),
    ]
    leaver.leave()
    gate.open()
    #expect(await running.value == nil)
    #expect(await [waiting[0].value, waiting[1].value, waiting[2].value] == [.cancelled, .cancelled, nil])
    #expect(reads.order == ["alice", "stayer"] && reads.scheduler.waitingCount == 0)
  }

  @Test func whoStandsBehindSomebodyWhoHasGoneHasTheReaderThatIsFree() async throws {
    let (reads, aliceGate, bobGate, otherGate) = (Reads(readers: 4), Gate(), Gate(), Gate())
    var tasks: [Task<StoreError.Kind?, Never>] = []
    for number in 1...2 { tasks.append(try await reads.ask("alice \(number)", for: Requester(alice), aliceGate)) }
    tasks.append(try await reads.ask("bob 1", for: Requester(bob), bobGate))
    tasks.append(try await reads.ask("bob 2", for: Requester(bob), otherGate))
    tasks.append(try await reads.ask("alice 3", for: Requester(alice)))
    let leaver = Requester(bob)
    let left = try await reads.ask("leaver", for: leaver)
    let behind = try await reads.ask("bob 3", for: Requester(bob))
    leaver.leave()
    bobGate.open()
    #expect(await left.value == .cancelled)
    // Alice has as many as she may have; the reader that bob gave back is his.
    #expect(reads.scheduler.waitingCount == 1)
    aliceGate.open()
    otherGate.open()
    for task in tasks + [behind] { #expect(await task.value == nil) }
  }

  /// How many reads run.
  private final class Tally: Sendable {
    private struct Running {
      var all = 0
      var byUser: [UserID?: Int] = [:]
      var most = 0
      var mostOfOne = 0
    }

    private let running = Mutex(Running())

    func begin(_ user: UserID?) {
      running.withLock { running in
        running.all += 1
        running.byUser[user, default: 0] += 1
        running.most = max(running.most, running.all)
        running.mostOfOne = max(running.mostOfOne, running.byUser[user, default: 0])
      }
    }

    func end(_ user: UserID?) {
      running.withLock { running in
        running.all -= 1
        running.byUser[user, default: 0] -= 1
      }
    }

    /// How many run now, how many at once at most, and of one party.
    var counts: [Int] { running.withLock { [$0.all, $0.most, $0.mostOfOne] } }
  }

  @Test(arguments: 1...5 as ClosedRange<UInt64>)
  func inAStormEverybodyIsAnsweredAndTheBoundsHold(_ seed: UInt64) async {
    let running = Tally()
    let scheduler = ReadScheduler(readers: 5)
    var random = SeededGenerator(seed: seed)
    let users = [alice, bob, carol, nil]
    let plan = (0..<400).map { _ in
      let index = Int.random(in: 0..<10, using: &random)
      return (user: users[max(0, index - 6)], yields: Int.random(in: 0...5, using: &random), leaves: index == 3)
    }
    let answered = await withTaskGroup(of: Bool.self) { group in
      for (user, yields, leaves) in plan {
        group.addTask {
          let requester = Requester(user)
          if leaves { Task { requester.leave() } }
          let failure = await failure { () async throws(StoreError) in
            try await scheduler.run(for: requester) { () async throws(StoreError) in
              running.begin(user)
              for _ in 0..<yields { await Task.yield() }
              running.end(user)
            }
          }
          return failure == nil || (leaves && failure?.kind == .cancelled)
        }
      }
      return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(answered == plan.count && scheduler.waitingCount == 0)
    let counts = running.counts
    #expect(counts[0] == 0 && counts[1] <= 5 && counts[2] <= 2, "seed \(seed)")
  }
}
