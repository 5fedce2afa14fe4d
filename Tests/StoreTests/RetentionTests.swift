import GRDB
import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

@Suite("SQLite: retention")
struct RetentionTests {
  private static let start: WallInstant = 1_700_000_000_000
  private static let hour: Int64 = 3_600_000

  /// A store with limits for Public groups, and the removals that it tells.
  private func withLimits(
    _ limits: HistoryLimits, clocks: any Clocks = ManualClocks(at: start), _ tune: (inout StoreOptions) -> Void = { _ in },
    _ body: (SQLiteStore, Removals) async throws -> Void
  ) async throws {
    try await withDirectory { directory in
      try await withSQLite(
        directory,
        {
          $0.clocks = clocks
          $0.history = [.public: limits]
          tune(&$0)
        }
      ) { store in
        let removals = Removals()
        store.onRemoval { removals.append($0) }
        try await body(store, removals)
      }
    }
  }

  private final class Removals: Sendable {
    private let all = Mutex<[HistoryRemoval]>([])

    func append(_ removal: HistoryRemoval) { all.withLock { $0.append(removal) } }

    /// Those since the last call.
    func popAll() -> [HistoryRemoval] {
      all.withLock { all in
        defer { all = [] }
        return all
      }
    }
  }

  private func seqs(_ store: SQLiteStore, of group: GroupID = club) async throws -> [Int64] {
    try await store.messages(of: group, in: 0...1_000_000, newestFirst: false, limit: 1_000_000).compactMap(\.seq)
  }

  private func messages(_ seqs: ClosedRange<Int64>, in group: GroupID = club, at time: WallInstant = start) -> [StoreChange] {
    seqs.map { .append(.sample($0, in: group, at: time)) }
  }

  @Test func `the newest messages of a group stay`() async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(HistoryLimits(count: 3), clocks: clocks) { store, removals in
      try await store.put([.create(), .create(team, type: .work)]).get()
      try await store.put(messages(1...3) + messages(1...9, in: team)).get()
      await store.tick()
      #expect(try await seqs(store) == [1, 2, 3] && removals.popAll().isEmpty)
      try await store.put(messages(4...50)).get()
      clocks.advance(by: 5_000)
      await store.tick()
      #expect(try await seqs(store) == [48, 49, 50])
      #expect(try await seqs(store, of: team).count == 9, "another type")
      #expect(removals.popAll() == [HistoryRemoval(groupID: club, epoch: "e1", firstSeq: 48)])
      #expect(store.writerHolds.removedMessages == 47)
      #expect(try await store.group(club, sentSince: 0)?.firstSeq == 48)
      try await store.put(messages(51...51)).get()
    }
  }

  @Test func `messages go when they are too old, tips and the last one too`() async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(HistoryLimits(age: .seconds(3600)), clocks: clocks) { store, removals in
      try await store.put([.create()]).get()
      for (seq, time) in [(1, 0), (2, 0), (3, 10), (4, 20)] as [(Int64, Int64)] {
        let message = Message.sample(seq, at: Self.start + time, seq == 2 ? .tips("{}") : .text("x"))
        try await store.put([.append(message)]).get()
      }
      func left(after milliseconds: Int64) async throws -> [Int64] {
        clocks.advance(by: (Self.start + milliseconds).milliseconds(since: clocks.wall))
        await store.tick()
        return try await seqs(store)
      }
      #expect(try await left(after: Self.hour) == [1, 2, 3, 4])
      #expect(try await left(after: Self.hour + 5_001) == [])
      let group = try #require(try await store.group(club, sentSince: 0))
      #expect(group.firstSeq == 5 && group.lastMessage == nil && group.removedTime == Self.start + 20)
      #expect(removals.popAll().map(\.firstSeq) == [5])
      // The next message is the oldest again.
      try await store.put(messages(5...5, at: clocks.wall)).get()
      #expect(try await left(after: 2 * Self.hour) == [5])
      #expect(try await left(after: 3 * Self.hour + 20_000) == [])
      #expect(await store.put(messages(6...6)).failure == nil)
      #expect(await store.put(messages(8...8)).failure == .inconsistent, "a gap is none of retention's")
    }
  }

  @Test func `what is beyond a limit when the store opens goes`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .create(team)] + messages(1...30) + messages(1...4, in: team)).get()
      }
      try await withSQLite(directory, { $0.history = [.public: HistoryLimits(count: 10)] }) { store in
        await store.tick()
        let (kept, others) = (try await seqs(store), try await seqs(store, of: team))
        #expect(kept == Array(21...30) && others.count == 4)
      }
      #expect(try StoreCheck.faults(directory: directory, database: nil).isEmpty)
      // Without limits nothing comes back, and nothing more goes.
      try await withSQLite(directory) { store in
        await store.tick()
        let (kept, group) = (try await seqs(store), try await store.group(club, sentSince: 0))
        #expect(kept == Array(21...30) && group?.firstSeq == 21)
      }
    }
  }

  @Test func `an old group whose last message was removed keeps its place and its time`() async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(HistoryLimits(age: .seconds(1)), clocks: clocks) { store, _ in
      try await store.put([.create(), .join(bob)] + messages(1...2, at: Self.start)).get()
      clocks.advance(by: 10_000)
      await store.tick()
      func listed(since: WallInstant) async throws -> Int {
        try await store.listedMemberships(of: bob, type: nil, changedSince: since, after: 0, limit: 9).count
      }
      #expect(try await listed(since: Self.start) == 1)
      #expect(try await listed(since: Self.start + 1) == 0)
      #expect(try await store.firstSeq(of: club, notBefore: 0) == nil)
    }
  }

  /// A clock that is read once for each step: time goes on by itself.
  private final class SteppingClocks: Clocks {
    let nanoseconds = Atomic<Int64>(0)
    let step = Atomic<Int64>(0)
    var wall: WallInstant { RetentionTests.start }
    var monotonic: MonotonicInstant {
      let step = step.load(ordering: .relaxed)
      return MonotonicInstant(nanoseconds: nanoseconds.wrappingAdd(step, ordering: .relaxed).newValue)
    }
  }

  @Test func `a transaction ends with the step that reaches its time`() async throws {
    let clocks = SteppingClocks()
    try await withLimits(HistoryLimits(count: 1), clocks: clocks) { store, removals in
      try await store.put([.create()] + messages(1...200)).get()
      clocks.nanoseconds.store(10_000_000_000, ordering: .relaxed)
      // Each look at the clock costs half a millisecond: a transaction has one or two steps of 8.
      clocks.step.store(500_000, ordering: .relaxed)
      await store.tick()
      let told = removals.popAll().map(\.firstSeq)
      #expect(told.first == 17 || told.first == 9, "\(told)")
      #expect(zip(told, told.dropFirst()).allSatisfy { $1 - $0 <= 16 }, "\(told)")
      #expect(told.last == 200)
      #expect(try await seqs(store) == [200])
    }
  }

  @Test func `work beyond the time of a tick goes on with the next`() async throws {
    let clocks = SteppingClocks()
    try await withLimits(HistoryLimits(count: 1), clocks: clocks) { store, removals in
      try await store.put([.create()] + messages(1...200)).get()
      clocks.nanoseconds.store(10_000_000_000, ordering: .relaxed)
      // A step takes longer than all of a tick's time.
      clocks.step.store(500_000_000, ordering: .relaxed)
      await store.tick()
      #expect(removals.popAll().map(\.firstSeq) == [9])
      await store.tick()
      #expect(removals.popAll().map(\.firstSeq) == [17])
    }
  }

  @Test func `a clock that jumps removes nothing for an hour`() async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(HistoryLimits(age: .seconds(60), count: 3), clocks: clocks) { store, _ in
      try await store.put([.create()] + messages(1...2)).get()
      await store.tick()
      clocks.moveWall(by: 365 * 24 * Self.hour)
      clocks.advance(by: 6_000)
      await store.tick()
      #expect(try await seqs(store) == [1, 2])
      try await store.put(messages(3...5)).get()
      clocks.advance(by: 6_000)
      await store.tick()
      #expect(try await seqs(store) == [3, 4, 5], "the number does not depend on the clock")
      clocks.advance(by: Self.hour)
      await store.tick()
      #expect(try await seqs(store) == [])
    }
  }

  @Test func `a clock that is put right again is believed at once`() async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(HistoryLimits(age: .seconds(60)), clocks: clocks) { store, _ in
      try await store.put([.create()] + messages(1...2)).get()
      await store.tick()
      for jump in [Self.hour, -Self.hour] {
        clocks.moveWall(by: jump)
        clocks.advance(by: 6_000)
        await store.tick()
        #expect(try await seqs(store) == [1, 2])
      }
      clocks.advance(by: 60_000)
      await store.tick()
      #expect(try await seqs(store) == [])
    }
  }

  @Test func `a recall of what has been removed is no contradiction`() async throws {
    try await withLimits(HistoryLimits(count: 1)) { store, _ in
      try await store.put([.create()] + messages(1...5)).get()
      await store.tick()
      var recalled = Message.sample(2)
      recalled.isRevoked = true
      #expect(await store.put([.revise(recalled)]).failure == nil)
      recalled = Message.sample(9)
      #expect(await store.put([.revise(recalled)]).failure == .inconsistent)
    }
  }

  @Test func `the file shrinks`() async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withLimits(HistoryLimits(count: 10), clocks: clocks) { store, _ in
      let text = String(repeating: "x", count: 3_000)
      try await store.put([.create()]).get()
      for start in stride(from: Int64(1), to: 3_000, by: 500) {
        try await store.put((start..<start + 500).map { .append(.sample($0, at: Self.start, .text(text))) }).get()
      }
      await store.tick()
      let before = store.fileBytes
      for _ in 0..<4 {
        clocks.advance(by: 5_000)
        await store.tick()
      }
      #expect(before > 9_000_000 && store.fileBytes < 2_000_000, "\(before) → \(store.fileBytes)")
      #expect(try await seqs(store).count == 10)
    }
  }

  @Test func `a database of an older version becomes able to shrink`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { try await $0.put([.create()] + messages(1...20)).get() }
      let connection = try DatabaseQueue(path: directory + "/throng.db")
      try await connection.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = NONE; VACUUM") }
      try connection.close()
      func kind(_ limits: [GroupType: HistoryLimits]) async throws -> Int? {
        let log = RecordedLog()
        let store = try openSQLite(directory, logger: log.logger) { $0.history = limits }
        defer { store.close() }
        #expect(log.contains("rewritten once") == (limits.isEmpty ? false : true))
        #expect(try await seqs(store).count == 20)
        return try await store.pool.read { try Int.fetchOne($0, sql: "PRAGMA auto_vacuum") }
      }
      #expect(try await kind([:]) == 0)
      #expect(try await kind([.public: HistoryLimits(count: 100)]) == 2)
    }
  }
}
