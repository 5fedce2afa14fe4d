import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import PostgreSQLStore
@testable import SQLiteStore

@Suite("Commits are counted")
struct CommitMeterTests {
  private func check(_ store: any AnyStore, _ meter: CommitMeter) async throws {
    let before = meter.counts
    try await store.put([.create(), .join(alice), .append(.sample(1))]).get()
    #expect(await store.put([.append(.sample(9))]).failure == .inconsistent)
    let counts = meter.counts
    #expect(counts.commits - before.commits == 2 && counts.failures - before.failures == 1)
    #expect(counts.durations.reduce(0, +) == counts.sizes.reduce(0, +))
  }

  @Test func `by SQLite`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.clocks = SystemClocks() }) { store in
        try await check(store, store.commitMeter)
        #expect(store.commitMeter.counts.nanoseconds > 0 && store.pendingCommits == 0)
      }
    }
  }

  @Test func `by PostgreSQL`() async throws {
    try await withPostgreSQL { store in
      try await check(store, store.commitMeter)
      #expect(store.commitMeter.counts.nanoseconds > 0 && store.pendingCommits == 0)
    }
  }

  @Test func `users alone are no commit`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        store.notePresence(of: alice, offlineSince: nil)
        await store.tick()
        #expect(store.commitMeter.counts == CommitMeter.Counts())
      }
    }
  }
}
