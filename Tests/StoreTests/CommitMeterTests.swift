import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import PostgreSQLStore
@testable import SQLiteStore

/// Commits are counted.
@Suite struct CommitMeterTests {
  @Test func aTransactionIsInTheBucketOfItsDurationAndSize() {
    let meter = CommitMeter()
    meter.record(nanoseconds: 100_000, commits: 1, failures: 0)
    meter.record(nanoseconds: 100_001, commits: 3, failures: 2)
    meter.record(nanoseconds: 11_000_000_000, commits: 2001, failures: 0)
    let counts = meter.counts
    #expect(counts.durations.first == 1 && counts.durations[1] == 1 && counts.durations.last == 1)
    #expect(counts.sizes.first == 1 && counts.sizes[2] == 1 && counts.sizes.last == 1)
    #expect(counts.nanoseconds == 11_000_200_001 && counts.commits == 2005 && counts.failures == 2)
  }

  @Test func commitsThatFailedWithoutATransactionAreInNoBucket() {
    let meter = CommitMeter()
    meter.record(nanoseconds: 1, commits: 2, failures: 1)
    meter.noteFailures(3)
    #expect(meter.counts.failures == 4 && meter.counts.commits == 2 && meter.counts.sizes.reduce(0, +) == 1)
  }

  @Test func theBucketsAscend() {
    #expect(CommitMeter.durationBounds == CommitMeter.durationBounds.sorted())
    #expect(CommitMeter.sizeBounds == CommitMeter.sizeBounds.sorted())
    #expect(CommitMeter().counts.durations.count == CommitMeter.durationBounds.count + 1)
    #expect(CommitMeter().counts.sizes.count == CommitMeter.sizeBounds.count + 1)
  }

  private func check(_ store: any AnyStore, _ meter: CommitMeter) async throws {
    let before = meter.counts
    try await store.put([.create(), .join(alice), .append(.sample(1))]).get()
    #expect(await store.put([.append(.sample(9))]).failure == .inconsistent)
    let counts = meter.counts
    #expect(counts.commits - before.commits == 2 && counts.failures - before.failures == 1)
    #expect(counts.durations.reduce(0, +) == counts.sizes.reduce(0, +))
  }

  @Test func bySQLite() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.clocks = SystemClocks() }) { store in
        try await check(store, store.commitMeter)
        #expect(store.commitMeter.counts.nanoseconds > 0 && store.pendingCommits == 0)
      }
    }
  }

  @Test func byPostgreSQL() async throws {
    try await withPostgreSQL { store in
      try await check(store, store.commitMeter)
      #expect(store.commitMeter.counts.nanoseconds > 0 && store.pendingCommits == 0)
    }
  }

  @Test func usersAloneAreNoCommit() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        store.notePresence(of: alice, offlineSince: nil)
        await store.tick()
        #expect(store.commitMeter.counts == CommitMeter.Counts())
      }
    }
  }
}
