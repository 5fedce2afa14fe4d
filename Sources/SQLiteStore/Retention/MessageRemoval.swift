import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Removes the messages beyond the limits of their groups, inside a transaction that is open. It
/// stops at a deadline with every group whole: `firstSeq` is always the oldest row.
struct MessageRemoval {
  let bounds: HistoryBounds
  let clocks: any Clocks
  /// No further step begins after it.
  let deadline: MonotonicInstant

  /// The rows that one transaction has removed.
  struct Outcome {
    var removals: [HistoryRemoval] = []
    var messages = 0
    /// Users of reactions are left to be deleted.
    var hasGoneReactions = false
  }

  private(set) var outcome = Outcome()

  /// Messages of one step: with texts of the default limit they fill 32 pages.
  private static let rowsPerStep = 8

  init(_ bounds: HistoryBounds, clocks: any Clocks, deadline: MonotonicInstant) {
    self.bounds = bounds
    self.clocks = clocks
    self.deadline = deadline
  }

  var isOver: Bool { clocks.monotonic >= deadline }

  /// A group with a message that is too old; nil where there is none.
  func nextExpired(in db: Database) throws -> Int64? {
    for (type, oldest) in bounds.oldest {
      let found = try db.rows(
        """
        SELECT number FROM groupRecord INDEXED BY groupRecordByFirstTime
        WHERE type = ? AND firstTime < ? ORDER BY firstTime LIMIT 1
        """, [type.rawValue, oldest]
      ) { try $0.integer() }
      if let number = found.first { return number }
    }
    return nil
  }

  private struct Head {
    let removal: HistoryRemoval
    let type: GroupType
    let firstTime: WallInstant?
  }

  private static let head = "SELECT groupID, epoch, type, firstSeq, firstTime FROM groupRecord WHERE number = ?"
  private static let setHistory = """
    UPDATE groupRecord SET firstSeq = ?, firstTime = ?, removedTime = coalesce(?, removedTime) WHERE number = ?
    """
  /// The oldest messages, and whether each may be a last message.
  private static let oldest = """
    SELECT m.seq, m.timestamp, e.toUserIDs IS NULL AND coalesce(e.isExcludedFromLastMessage, 0) = 0
    FROM message AS m \(Message.joinedExtras) WHERE m.number = ? ORDER BY m.seq LIMIT ?
    """

  /// Removes what is beyond the limits of a group, oldest first.
  /// - Returns: false where the deadline has come before that.
  mutating func trim(_ number: Int64, in db: Database) throws -> Bool {
    let head = try db.rows(Self.head, [number]) { row in
      let id = try row.value(GroupID.self)
      let epoch = try row.text()
      let type = try row.value(GroupType.self)
      return Head(
        removal: HistoryRemoval(groupID: id, epoch: epoch, firstSeq: try row.integer()), type: type,
        firstTime: try row.value(WallInstant?.self))
    }.first
    guard let head, bounds.limits[head.type] != nil else { return true }
    let newest = try db.newestSeq(number: number)
    var isDone = true
    var last: Int64?
    var lastShown: WallInstant?
    var next: WallInstant?
    repeat {
      let rows = try db.rows(Self.oldest, [number, Self.rowsPerStep + 1]) {
        (message: (seq: try $0.integer(), time: try $0.instant()), isShown: try $0.flag())
      }
      let excess = bounds.excess(rows.map(\.message), of: head.type, newest: newest).prefix(Self.rowsPerStep)
      next = rows.dropFirst(excess.count).first?.message.time
      guard let end = excess.last else { break }
      let removed = try Self.remove(through: end.seq, of: head.removal.groupID, number: number, in: db)
      outcome.messages += removed.messages
      if removed.hasReactions { outcome.hasGoneReactions = true }
      last = end.seq
      lastShown = rows.prefix(excess.count).last { $0.isShown }?.message.time ?? lastShown
      isDone = excess.count < Self.rowsPerStep || next == nil
    } while !isDone && !isOver
    try note(last, lastShown, next: next, of: head, number, in: db)
    return isDone
  }

  /// Removes the messages of a group up to one, with what belongs to them.
  /// - Returns: their number, and whether users of reactions are left to be deleted.
  static func remove(
    through seq: Int64, of group: GroupID, number: Int64, in db: Database
  ) throws -> (messages: Int, hasReactions: Bool) {
    try WebhookRows.copyMessages(of: group, number: number, before: seq + 1, in: db)
    let messages = try db.run("DELETE FROM message WHERE number = ? AND seq <= ?", [number, seq])
    try db.run("DELETE FROM messageChange WHERE number = ? AND seq <= ?", [number, seq])
    try db.run("DELETE FROM messageExtras WHERE number = ? AND seq <= ?", [number, seq])
    let hasReactions = try ReactionRows.remove(through: seq, number: number, in: db)
    // The rest goes with the next messages: there are more of them than of these rows.
    _ = try ReadReceiptRows.remove(number: number, before: seq + 1, limit: 4 * rowsPerStep, in: db)
    return (messages, hasReactions)
  }

  /// - Parameters:
  ///   - last: the newest message that was removed; nil = none was.
  ///   - lastShown: when the newest of these was sent that may be a last message; nil = none may.
  ///   - next: when the oldest was sent that is left; nil = none is.
  private mutating func note(
    _ last: Int64?, _ lastShown: WallInstant?, next: WallInstant?, of head: Head, _ number: Int64, in db: Database
  ) throws {
    guard let last else {
      if next != head.firstTime { try db.run("UPDATE groupRecord SET firstTime = ? WHERE number = ?", [next, number]) }
      return
    }
    try db.run(Self.setHistory, [last + 1, next, lastShown, number])
    outcome.removals.append(HistoryRemoval(groupID: head.removal.groupID, epoch: head.removal.epoch, firstSeq: last + 1))
  }
}
