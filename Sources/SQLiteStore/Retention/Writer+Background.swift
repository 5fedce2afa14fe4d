import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Background work in small transactions: each holds the writer for a few milliseconds, and the
/// commits that came meanwhile go first (Operations.md, "Retention and the size of the files").
extension Writer {
  func performBriefly(_ task: MaintenanceTask, _ db: Database) {
    let start = options.clocks.monotonic
    var isMore = false
    do {
      isMore = try withoutSync(db) { try step(of: task, until: start + BackgroundWork.stepTime, db) }
    } catch {
      giveUp(task, after: StoreError(describing: error))
    }
    let goesOn = background.note(task, hold: options.clocks.monotonic - start, isMore: isMore)
    if !goesOn { queue.remove(task) }
  }

  private func step(of task: MaintenanceTask, until deadline: MonotonicInstant, _ db: Database) throws -> Bool {
    switch task {
    case .removeMessages: try removeMessages(until: deadline, db)
    case .indexMessages: try indexMessages(until: deadline, db)
    case .shrinkFile: try shrink(until: deadline, db)
    case .clearDisbandedGroups, .indexWebhooks, .clearReactions, .deleteExpiredRows: false
    }
  }

  /// Lets transactions commit without a sync, which would hold the writer for the time of the disk.
  /// A power failure may bring back what was removed, and it is removed again.
  private func withoutSync<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
    let level = try Int.fetchOne(db, sql: "PRAGMA synchronous") ?? 2
    try db.execute(sql: "PRAGMA synchronous = NORMAL")
    defer {
      do {
        try db.execute(sql: "PRAGMA synchronous = \(level)")
      } catch {
        // An acknowledged message must not be less durable than the operator wants.
        refuse(because: StoreError(.unavailable, "the durability of commits cannot be set again: \(error)"))
      }
    }
    return try body()
  }

  // MARK: Retention

  /// - Returns: whether more is to be removed.
  private func removeMessages(until deadline: MonotonicInstant, _ db: Database) throws -> Bool {
    let clocks = options.clocks
    var removal = MessageRemoval(
      HistoryBounds(options.history, at: clocks.wall, trustsClock: background.trusts(clocks.now)), clocks: clocks,
      deadline: deadline)
    var looked: [GroupID] = []
    var isDone = true
    let scanStart = background.removal.scanAfter
    do {
      _ = try transaction(db) {
        isDone = try self.removeMessages(by: &removal, looked: &looked, db)
      }
    } catch {
      background.removal.insert(looked)
      background.removal.continueScan(after: scanStart)
      throw error
    }
    background.didRemove(removal.outcome)
    if removal.outcome.hasGoneReactions { _ = queue.request([.clearReactions]) }
    return !isDone
  }

  private func removeMessages(by removal: inout MessageRemoval, looked: inout [GroupID], _ db: Database) throws -> Bool {
    while let after = background.removal.scanAfter {
      let next = try db.rows("SELECT number FROM groupRecord WHERE number > ? ORDER BY number LIMIT 1", [after]) {
        try $0.integer()
      }.first
      if let next, try !removal.trim(next, in: db) { return false }
      background.removal.continueScan(after: next)
      if removal.isOver { return false }
    }
    while let group = background.removal.popTouched(1).first {
      looked.append(group)
      if let number = try db.number(of: group), try !removal.trim(number, in: db) {
        background.removal.insert([group])
        return false
      }
      if removal.isOver { return false }
    }
    while let number = try removal.nextExpired(in: db) {
      if try !removal.trim(number, in: db) || removal.isOver { return false }
    }
    return true
  }

  // MARK: The index of messages

  /// - Returns: whether messages are to be indexed, or parts of the index to be merged.
  private func indexMessages(until deadline: MonotonicInstant, _ db: Database) throws -> Bool {
    // Each transaction adds a part. Merged at once they stay few: many parts make a search slow.
    if background.mustMerge {
      var isMore = true
      _ = try transaction(db) {
        while isMore, options.clocks.monotonic < deadline { isMore = try MessageIndex.merge(in: db) }
      }
      background.setMustMerge(isMore)
      return true
    }
    var looked: [GroupID] = []
    var hasIndexed = false
    var isStale = true
    let scanStart = background.indexing.scanAfter
    do {
      _ = try transaction(db) {
        hasIndexed = try self.indexGroups(until: deadline, looked: &looked, db)
        // New messages come first: a search reads them one by one.
        if hasIndexed { return }
        repeat {
          isStale = try MessageIndex.refreshMessage(in: db)
          if isStale { hasIndexed = true }
        } while isStale && options.clocks.monotonic < deadline
      }
    } catch {
      background.indexing.insert(looked)
      background.indexing.continueScan(after: scanStart)
      throw error
    }
    if hasIndexed { background.setMustMerge(true) }
    if !isStale { background.setMayBeStale(false) }
    return hasIndexed || isStale || !background.indexing.isEmpty
  }

  /// - Returns: whether any message was indexed.
  private func indexGroups(until deadline: MonotonicInstant, looked: inout [GroupID], _ db: Database) throws -> Bool {
    var hasIndexed = false
    /// Whether the group is finished.
    func index(_ number: Int64) throws -> Bool {
      repeat {
        guard try MessageIndex.addMessages(of: number, in: db) else { return true }
        hasIndexed = true
      } while options.clocks.monotonic < deadline
      return false
    }
    while let after = background.indexing.scanAfter {
      let next = try db.rows("SELECT number FROM groupRecord WHERE number > ? ORDER BY number LIMIT 1", [after]) {
        try $0.integer()
      }.first
      if let next, try !index(next) { return hasIndexed }
      background.indexing.continueScan(after: next)
      if options.clocks.monotonic >= deadline { return hasIndexed }
    }
    while let group = background.indexing.popTouched(1).first {
      looked.append(group)
      if let number = try db.number(of: group), try !index(number) {
        background.indexing.insert([group])
        return hasIndexed
      }
      if options.clocks.monotonic >= deadline { return hasIndexed }
    }
    return hasIndexed
  }

  // MARK: The size of the file

  /// Free pages that stay in the file for new rows: a tenth of it, or 256 KiB.
  static func slack(pages: Int) -> Int { max(64, pages / 10) }

  /// Moves pages from the end of the file into free ones, and shortens it by as many.
  /// - Returns: whether it can become shorter still.
  private func shrink(until deadline: MonotonicInstant, _ db: Database) throws -> Bool {
    var isMore = false
    _ = try transaction(db) {
      let reclaims = background.reclaims
      guard try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2 else {
        if reclaims { background.noteReclaimed() }
        return
      }
      let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
      let free = try Int.fetchOne(db, sql: "PRAGMA freelist_count") ?? 0
      var excess = free - (reclaims ? 0 : Writer.slack(pages: pages))
      guard excess > 0 else {
        if reclaims { background.noteReclaimed() }
        return
      }
      // A row for each page.
      let moves = try Row.fetchCursor(db, sql: "PRAGMA incremental_vacuum(\(excess))")
      while options.clocks.monotonic < deadline, excess > 0, try moves.next() != nil { excess -= 1 }
      isMore = excess > 0
      if reclaims, !isMore { background.noteReclaimed() }
      background.noteShrunk()
    }
    return isMore
  }
}
