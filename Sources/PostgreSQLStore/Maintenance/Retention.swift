import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization

/// Removes messages beyond the limits of their groups, a bounded number of rows in each transaction
/// (Operations.md, "Retention and the size of the files").
final class Retention: @unchecked Sendable {
  let backlog = GroupBacklog()
  private let options: PostgreSQLOptions
  private let handler = Mutex<(@Sendable (HistoryRemoval) -> Void)?>(nil)
  private let figures = Mutex(0)
  /// @unchecked: used by `runRound` only, which runs on one queue.
  private var trust: ClockTrust

  private static let groupsPerRead = 500
  /// A group costs a few statements besides its rows.
  private static let groupsPerTransaction = 64

  init(_ options: PostgreSQLOptions) {
    self.options = options
    trust = ClockTrust(options.clocks.now)
  }

  func onRemoval(_ body: @escaping @Sendable (HistoryRemoval) -> Void) { handler.withLock { $0 = body } }

  var removedMessages: Int { figures.withLock { $0 } }

  /// Looks at the clock, at least every few seconds.
  func checkClock() -> Bool { trust.isTrusted(options.clocks.now) }

  /// Looks at all groups that need it.
  func runRound(
    _ db: PostgreSQLConnection, _ writer: Writer, trustsClock: Bool, isStopped: () -> Bool
  ) throws {
    let excess = HistoryExcess(bounds: HistoryBounds(options.history, at: options.clocks.wall, trustsClock: trustsClock))
    while !isStopped(), let after = backlog.scanAfter {
      let heads = try HistoryExcess.heads(after: after, limit: Self.groupsPerRead, in: db)
      try trim(heads, excess, db, writer)
      backlog.continueScan(after: heads.count < Self.groupsPerRead ? nil : heads.last?.number)
    }
    while !isStopped(), case let groups = backlog.popTouched(Self.groupsPerRead), !groups.isEmpty {
      do {
        try trim(try HistoryExcess.heads(of: groups, in: db), excess, db, writer)
      } catch {
        backlog.insert(groups)
        throw error
      }
    }
    for type in excess.bounds.oldest.keys {
      var last: HistoryExcess.Head?
      repeat {
        let heads = try excess.expired(type, behind: last, limit: Self.groupsPerRead, in: db)
        try trim(heads, excess, db, writer)
        last = heads.count < Self.groupsPerRead ? nil : heads.last
      } while last != nil && !isStopped()
    }
  }

  private struct Step {
    let head: HistoryExcess.Head
    /// The first message that stays.
    let firstSeq: Int64
    let rows: Int
  }

  /// Removes what is beyond the limits of groups that this process leads.
  private func trim(_ heads: [HistoryExcess.Head], _ excess: HistoryExcess, _ db: PostgreSQLConnection, _ writer: Writer) throws {
    let heads = heads.filter { options.leadership.leads($0.id) }
    let untimed = heads.filter(excess.wantsFirstTime).map(\.number)
    if !untimed.isEmpty { try noteFirstTimes(untimed, writer) }
    var (steps, rows): ([Step], Int) = ([], 0)
    for head in heads {
      var seq = head.firstSeq
      while let last = try excess.lastExcess(of: head, from: seq, rows: options.cleanupRows - rows, in: db) {
        let removed = Int(last - seq + 1)
        steps.append(Step(head: head, firstSeq: last + 1, rows: removed))
        rows += removed
        let isWhole = rows < options.cleanupRows
        if !isWhole || steps.count >= Self.groupsPerTransaction {
          try perform(steps, writer)
          (steps, rows) = ([], 0)
        }
        if isWhole { break }
        seq = last + 1
      }
    }
    try perform(steps, writer)
  }

  private func noteFirstTimes(_ numbers: [Int64], _ writer: Writer) throws {
    try writer.performAndWait(.removeMessages) { transaction in
      try transaction.run(
        """
        UPDATE groupRecord AS g SET firstTime = (
          SELECT m.timestamp FROM message AS m WHERE m.number = g.number ORDER BY m.seq LIMIT 1)
        WHERE g.number = ANY ($1) AND g.firstTime IS NULL
        """, [numbers])
    }
  }

  private func perform(_ steps: [Step], _ writer: Writer) throws {
    if steps.isEmpty { return }
    let leadership = options.leadership
    let done = try writer.performAndWait(.removeMessages) { transaction in
      // A shard may have been given back since the groups were read.
      let led = steps.filter { leadership.leads($0.head.id) }
      for step in led { try MessageRemoval.remove(of: step.head.number, before: step.firstSeq, transaction) }
      return led
    }
    let handler = handler.withLock { $0 }
    figures.withLock { $0 += done.reduce(0) { $0 + $1.rows } }
    for step in done {
      handler?(HistoryRemoval(groupID: step.head.id, epoch: step.head.epoch, firstSeq: step.firstSeq))
    }
  }
}

extension PostgreSQLStore {
  public func onRemoval(_ handler: @escaping @Sendable (HistoryRemoval) -> Void) { retention.onRemoval(handler) }

  public var writerHolds: WriterHolds {
    var holds = writer.holds
    holds.removedMessages = retention.removedMessages
    return holds
  }

  /// Looks at the messages of all groups again: this process leads others than before.
  public func didChangeLeadership() { retention.backlog.scanAll() }
}
