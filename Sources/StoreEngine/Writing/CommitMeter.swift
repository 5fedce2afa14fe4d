import Synchronization

/// Counts the transactions of a store that hold commits of groups: how long each took, and how many
/// commits shared it, and commits that failed. Only the store's writer records.
package final class CommitMeter: Sendable {
  /// Counts since the start. The last bucket of each has no bound.
  package struct Counts: Sendable, Equatable {
    /// Transactions by their duration.
    package var durations = [UInt64](repeating: 0, count: durationBounds.count + 1)
    /// The time that all transactions took.
    package var nanoseconds: Int64 = 0
    /// Transactions by the commits that shared them.
    package var sizes = [UInt64](repeating: 0, count: sizeBounds.count + 1)
    /// Commits of all transactions.
    package var commits = 0
    /// Commits that failed.
    package var failures = 0

    /// Nothing has been counted.
    package init() {}
  }

  /// The longest duration of each bucket but the last, in microseconds.
  package static let durationBounds: [Int64] = [
    100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000,
    10_000_000,
  ]
  /// The most commits of each bucket but the last.
  package static let sizeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000]

  private let state = Mutex(Counts())

  /// Nothing has been counted.
  package init() {}

  /// Counts since the start.
  package var counts: Counts { state.withLock { $0 } }

  /// Counts a transaction.
  /// - Parameters:
  ///   - nanoseconds: from its beginning until it was durable, or had failed.
  ///   - commits: how many commits it held.
  ///   - failures: how many of them failed.
  package func record(nanoseconds: Int64, commits: Int, failures: Int) {
    // No closures: each stored message may be a transaction of its own.
    var duration = 0
    while duration < CommitMeter.durationBounds.count, CommitMeter.durationBounds[duration] * 1000 < nanoseconds { duration += 1 }
    var size = 0
    while size < CommitMeter.sizeBounds.count, CommitMeter.sizeBounds[size] < commits { size += 1 }
    state.withLock { counts in
      counts.durations[duration] += 1
      counts.nanoseconds += nanoseconds
      counts.sizes[size] += 1
      counts.commits += commits
      counts.failures += failures
    }
  }

  /// Counts commits that failed without a transaction.
  package func noteFailures(_ count: Int) { state.withLock { $0.failures += count } }
}
