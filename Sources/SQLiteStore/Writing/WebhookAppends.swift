import GRDB
import GroupModel
import GroupRuntime
import Synchronization

/// The numbers of after-events. None is used twice while the process runs, because the outbox knows
/// by them which entries it has.
final class WebhookNumbers: Sendable {
  private let last = Atomic<Int64>(0)
  /// The last numbers of the last two ticks.
  private let ticks = Mutex<(earlier: Int64, later: Int64)>((0, 0))

  /// The next number is a larger one.
  func begin(after number: Int64) {
    last.store(number, ordering: .relaxed)
    ticks.withLock { $0 = (0, number) }
  }

  /// Numbers up to this one are a second old or more.
  var lastToIndex: Int64 { ticks.withLock { $0.earlier } }

  /// A second has passed.
  /// - Returns: whether more numbers are a second old.
  func tick() -> Bool {
    ticks.withLock { ticks in
      defer { ticks = (ticks.later, last.load(ordering: .relaxed)) }
      return ticks.later > ticks.earlier
    }
  }

  /// The first of so many numbers that follow each other.
  func take(_ count: Int64 = 1) -> Int64 {
    last.add(count, ordering: .relaxed).oldValue + 1
  }
}

/// The after-events that a transaction adds. Messages that follow each other in a group share a
/// row, which is written when the last of them is known.
struct WebhookAppends {
  /// Messages whose row is not written.
  private struct OpenRow {
    let number: Int64
    let firstSeq: Int64
    let trace: TraceContext?
    var count: Int64
  }

  private let numbers: WebhookNumbers
  private var open: [GroupID: OpenRow] = [:]

  init(_ numbers: WebhookNumbers) { self.numbers = numbers }

  /// Adds an entry with the profiles of this transaction, and numbers it.
  /// - Returns: the entry as it is stored.
  mutating func append(_ entry: WebhookEntry, in db: Database) throws -> WebhookEntry {
    if let seq = entry.messageSeq, case .group(let group) = entry.lane {
      return try append(entry, of: seq, in: group, db)
    }
    // Its number is larger than those kept free for more messages.
    try finish(entry.lane, in: db)
    let users = entry.shownUsers
    let shown = entry.encoded(showing: users.isEmpty ? [:] : try db.profiles(of: users))
    let number = numbers.take()
    try WebhookRows.insert(shown, as: number, in: db)
    return shown.stored(as: number)
  }

  private mutating func append(
    _ entry: WebhookEntry, of seq: Int64, in group: GroupID, _ db: Database
  ) throws -> WebhookEntry {
    if let row = open[group], row.firstSeq + row.count == seq, row.count < WebhookRows.messagesPerRow,
      row.trace == entry.trace
    {
      open[group]?.count += 1
      return entry.stored(as: row.number + row.count)
    }
    try finish(entry.lane, in: db)
    let number = numbers.take(WebhookRows.messagesPerRow)
    open[group] = OpenRow(number: number, firstSeq: seq, trace: entry.trace, count: 1)
    return entry.stored(as: number)
  }

  /// Writes the row of a lane; later entries of it get another.
  mutating func finish(_ lane: WebhookEntry.Lane, in db: Database) throws {
    guard case .group(let group) = lane, let row = open.removeValue(forKey: group) else { return }
    try write(row, of: group, in: db)
  }

  /// Writes all rows. Call it before the transaction ends.
  mutating func finish(in db: Database) throws {
    for (group, row) in open { try write(row, of: group, in: db) }
    open = [:]
  }

  private func write(_ row: OpenRow, of group: GroupID, in db: Database) throws {
    try WebhookRows.insertMessages(row.count, of: group, from: row.firstSeq, as: row.number, trace: row.trace, in: db)
  }
}
