import GRDB
import GroupModel
import GroupRuntime
import Logging
import StoreTables

extension SQLiteStore {
  /// Messages that match a search, at most `limit` behind a place in its order. A page does a
  /// bounded amount of work, so it may be empty and still have a next one.
  /// - Throws: `.unavailable`, also where too many searches wait, or `.inconsistent` where a page is
  ///   damaged.
  public func messages(
    matching search: MessageSearch, after place: Int64, limit: Int
  ) async throws(StoreError) -> MessageSearch.Page {
    guard options.indexesMessages else { throw StoreError(.unavailable, "messages are not indexed") }
    if limit <= 0 { return MessageSearch.Page(found: [], next: place) }
    let (work, clocks) = (options.searchedMessages, options.clocks)
    guard searches.enter(search.reader) else { throw StoreError(.unavailable, "too many searches wait") }
    defer { searches.leave(search.reader) }
    do throws(StoreError) {
      return try await read(on: searches.connection) { db in
        var scan = MessageScan(search: search, limit: limit, work: work, clocks)
        return try scan.page(after: place, in: db)
      }
    } catch {
      if error.kind == .unavailable { logger.error("cannot search", metadata: ["error": "\(error)"]) }
      throw error
    }
  }
}

/// One pass over messages for one page of a search.
struct MessageScan {
  private let search: MessageSearch
  private let limit: Int
  private let query: String?
  /// The work that the page may still do, in rows that are read.
  private var work: Int
  private let clocks: any Clocks
  /// The page ends: long texts, and trigrams that are everywhere, take longer than the work tells.
  private let deadline: MonotonicInstant
  private static let time = Duration.milliseconds(100)
  /// Each page looks at a message at least.
  private var hasLooked = false
  private var found: [MessageSearch.Found] = []

  /// The work of looking up a group, of beginning a query of the index, of a row that it names, and
  /// of so many messages that the query may have to pass by.
  private static let (groupWork, queryWork, rowWork, passedPerWork): (Int, Int, Int, Int64) = (5, 20, 3, 64)
  /// Messages of one query of the index, and of one that reads them.
  private static let (indexedSpan, readSpan): (Int64, Int64) = (65_536, 512)
  private static let groupsPerRead = 64

  init(search: MessageSearch, limit: Int, work: Int, _ clocks: any Clocks) {
    self.search = search
    self.limit = limit
    self.work = work
    self.clocks = clocks
    deadline = clocks.monotonic + Self.time
    query = MessageIndex.query(for: search.keywords)
  }

  private var isLate: Bool { hasLooked && clocks.monotonic >= deadline }

  mutating func page(after place: Int64, in db: Database) throws -> MessageSearch.Page {
    let (first, below) = MessageSearch.position(at: place)
    let named = try search.groups.compactMap { try db.number(of: $0) }.filter { $0 >= first }.sorted()
    var next = first
    while true {
      let groups = search.groups.isEmpty ? try joinedGroups(from: next, in: db) : named
      for number in groups {
        let bound = number == first ? below ?? .max : .max
        if let stop = try searchGroup(number, below: bound, in: db) {
          return MessageSearch.Page(found: found, next: MessageSearch.place(group: number, seq: stop))
        }
      }
      guard search.groups.isEmpty, groups.count == Self.groupsPerRead, let last = groups.last else {
        return MessageSearch.Page(found: found, next: 0)
      }
      next = last + 1
    }
  }

  private func joinedGroups(from number: Int64, in db: Database) throws -> [Int64] {
    if let reader = search.reader {
      return try db.rows(
        "SELECT number FROM member INDEXED BY memberByUser WHERE userID = ? AND number >= ? ORDER BY number LIMIT ?",
        [reader.rawValue, number, Self.groupsPerRead]
      ) { try $0.integer() }
    }
    return try db.rows("SELECT number FROM groupRecord WHERE number >= ? ORDER BY number LIMIT ?", [number, Self.groupsPerRead]) {
      try $0.integer()
    }
  }

  private struct Group {
    let id: GroupID
    let number: Int64
    /// The messages to search, ascending.
    let ranges: [ClosedRange<Int64>]
    let indexedSeq: Int64
  }

  private func group(_ number: Int64, below bound: Int64, in db: Database) throws -> Group? {
    let found = try db.rows(
      """
      SELECT g.groupID, g.type, m.userID IS NOT NULL, coalesce(m.firstVisibleSeq, 1), m.earlierStays
      FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = ? WHERE g.number = ?
      """, [search.reader?.rawValue, number]
    ) { row in
      (
        id: try row.value(GroupID.self), type: try row.value(GroupType.self), isMember: try row.flag(),
        firstVisible: try row.integer(), earlier: try row.value([ClosedRange<Int64>].self)
      )
    }.first
    guard let found, found.type.storesMessages, search.reader == nil || found.isMember,
      let newest = try MessageRows.newestSeq(number: number, in: db)
    else { return nil }
    var (first, last) = (Int64(1), min(newest, bound - 1))
    if let from = search.from {
      guard let seq = try MessageRows.firstSeq(number: number, notBefore: from, in: db) else { return nil }
      first = seq
    }
    if let to = search.to, let seq = try MessageRows.firstSeq(number: number, notBefore: to + .milliseconds(1), in: db) {
      last = min(last, seq - 1)
    }
    let visible =
      search.reader == nil
      ? [1...newest] : found.type.visibleRanges(from: found.firstVisible, earlier: found.earlier, through: newest)
    let ranges = visible.compactMap { range in
      max(range.lowerBound, first) <= min(range.upperBound, last)
        ? max(range.lowerBound, first)...min(range.upperBound, last) : nil
    }
    return Group(
      id: found.id, number: number, ranges: ranges, indexedSeq: try MessageIndex.indexedSeq(of: number, in: db))
  }

  /// - Returns: the `seq` below which the next page goes on; nil where the group is finished.
  private mutating func searchGroup(_ number: Int64, below bound: Int64, in db: Database) throws -> Int64? {
    work -= Self.groupWork
    guard let group = try group(number, below: bound, in: db) else { return nil }
    for range in group.ranges.reversed() {
      var high = range.upperBound
      while high >= range.lowerBound {
        if work <= 0 || found.count >= limit || isLate { return high + 1 }
        let query = high <= group.indexedSeq ? query : nil
        var low = max(range.lowerBound, high + 1 - (query == nil ? Self.readSpan : Self.indexedSpan))
        if query == nil, self.query != nil { low = max(low, group.indexedSeq + 1) }
        let stop =
          if let query { try ask(query, group, low...high, db) } else { try readMessages(of: group, low...high, db) }
        if let stop { return stop }
        hasLooked = true
        high = low - 1
      }
    }
    return nil
  }

  private mutating func readMessages(of group: Group, _ range: ClosedRange<Int64>, _ db: Database) throws -> Int64? {
    work -= range.count
    let rows = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT seq, sender, content FROM message
          WHERE number = ? AND seq BETWEEN ? AND ? AND kind = 'Text' AND NOT isRevoked ORDER BY seq DESC
          """), arguments: [group.number, range.lowerBound, range.upperBound])
    while let row = try rows.next() {
      var columns = RowReader(row)
      let seq = try columns.integer()
      let sender = try columns.value(UserID.self)
      if search.matches(try columns.text(), from: sender) { try add(seq, of: group, db) }
      hasLooked = true
      if found.count >= limit || isLate { return seq }
    }
    return nil
  }

  private mutating func ask(_ query: String, _ group: Group, _ range: ClosedRange<Int64>, _ db: Database) throws -> Int64? {
    work -= Self.queryWork + Int(Int64(range.count) / Self.passedPerWork)
    let rows = try Row.fetchCursor(
      db.cachedStatement(
        sql: """
          SELECT rowid FROM messageSearch WHERE messageSearch MATCH ?1 AND rowid BETWEEN ?2 AND ?3
          UNION SELECT id FROM messageStale WHERE id BETWEEN ?2 AND ?3 ORDER BY 1 DESC
          """),
      arguments: [
        query, MessageIndex.rowID(group.number, range.lowerBound), MessageIndex.rowID(group.number, range.upperBound),
      ])
    while let row = try rows.next() {
      var columns = RowReader(row)
      let seq = MessageIndex.seq(ofRow: try columns.integer())
      work -= Self.rowWork
      try add(seq, of: group, db)
      hasLooked = true
      if found.count >= limit || work <= 0 || isLate { return seq }
    }
    return nil
  }

  /// Adds a message that is there and is looked for.
  private mutating func add(_ seq: Int64, of group: Group, _ db: Database) throws {
    let message = try MessageRows.messages(of: group.id, number: group.number, seq: seq, in: db).first
    guard let message, search.matches(message) else { return }
    found.append(
      MessageSearch.Found(message: message, place: MessageSearch.place(group: group.number, seq: seq)))
  }
}
