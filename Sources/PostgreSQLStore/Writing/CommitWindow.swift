/// How long the writer of a node waits for further commits behind a transaction. A value: `Writer` waits.
///
/// A node has a part of the commits only, so its transactions would be small, and each costs PostgreSQL as
/// much as ten commits. A commit that has had the writer for itself never waits.
struct CommitWindow: Sendable {
  /// It is as long as the last transaction, but no longer than this.
  static let longestNanoseconds: Int64 = 1_000_000
  /// So many commits are enough for a transaction.
  static let enough = 16

  /// When the next transaction begins at the latest; nil = at once.
  private var end: Int64?

  /// No transaction yet.
  init() {}

  /// A transaction has ended.
  /// - Parameters:
  ///   - start: by the monotonic clock, in nanoseconds, as the others.
  ///   - commits: those that it held.
  ///   - waiting: those that have come meanwhile.
  mutating func note(from start: Int64, to now: Int64, commits: Int, waiting: Int) {
    let isShared = commits > 1 || waiting > 0
    end = isShared ? now + min(max(now - start, 0), CommitWindow.longestNanoseconds) : nil
  }

  /// - Parameter waiting: the commits that are there.
  /// - Returns: how many nanoseconds to wait; 0 = not at all.
  func wait(for waiting: Int, at now: Int64) -> Int64 {
    guard let end, 1..<CommitWindow.enough ~= waiting else { return 0 }
    return min(max(end - now, 0), CommitWindow.longestNanoseconds)
  }
}
