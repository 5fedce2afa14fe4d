import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: retention.
@Suite struct RetentionTests {
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

  private func seqs(_ store: SQLiteStore, of group: GroupID = club) async throws -> [Int64] {
    try await store.messages(of: group, in: 0...1_000_000, newestFirst: false, limit: 1_000_000).compactMap(\.seq)
  }

  private func messages(_ seqs: ClosedRange<Int64>, in group: GroupID = club, at time: WallInstant = start) -> [StoreChange] {
    seqs.map { .append(.sample($0, in: group, at: time)) }
  }

  @Test func whatIsBeyondALimitWhenTheStoreOpensGoes() async throws {
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

  @Test func aTransactionEndsWithTheStepThatReachesItsTime() async throws {
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

  @Test func workBeyondTheTimeOfATickGoesOnWithTheNext() async throws {
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

  @Test func theFileShrinks() async throws {
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

  @Test func aDatabaseOfAnOlderVersionBecomesAbleToShrink() async throws {
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
