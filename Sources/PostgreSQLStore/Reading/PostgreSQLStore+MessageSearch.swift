import GroupModel
import GroupRuntime
import Logging
import StoreTables

extension PostgreSQLStore {
  /// Messages that match a search, at most `limit` behind a place in its order. A page does a
  /// bounded amount of work, so it may be empty and still have a next one.
  /// - Throws: `.unavailable`, also where too many searches wait, or `.inconsistent` where a page
  ///   is damaged.
  public func messages(
    matching search: MessageSearch, after place: Int64, limit: Int
  ) async throws(StoreError) -> MessageSearch.Page {
    guard let folding else { throw StoreError(.unavailable, "messages are not indexed") }
    if limit <= 0 { return MessageSearch.Page(found: [], next: place) }
    let (work, clocks) = (options.searchedMessages, options.clocks)
    return try await readForSearch(of: search.reader) { db in
      var scan = MessageScan(search: search, folding, limit: limit, work: work, clocks)
      return try scan.page(after: place, in: db)
    }
  }
}

/// One pass over messages for one page of a search. PostgreSQL finds texts by the trigrams of the
/// keywords, or reads the messages of a group one by one: its planner knows which keywords are
/// rare. `MessageSearch.matches` has the last word.
private struct MessageScan {
  private let search: MessageSearch
  private let limit: Int
  private let pattern: MessagePattern
  /// The folded text of a message.
  private let text: String
  /// The work that the page may still do, in rows that are read.
  private var work: Int
  private let clocks: any Clocks
  /// The page ends: long texts, and trigrams that are everywhere, take longer than the work tells.
  private let deadline: MonotonicInstant
  private static let time = Duration.milliseconds(100)
  /// Each page looks at a message at least.
  private var hasLooked = false
  private var found: [MessageSearch.Found] = []

  /// The work of looking up a group, of a query, of a row that it finds, and of so many messages
  /// that a query with trigrams may have to pass by.
  private static let (groupWork, queryWork, rowWork, passedPerWork): (Int, Int, Int, Int64) = (5, 20, 3, 64)
  /// Messages of one query with trigrams, and of one without.
  private static let (indexedSpan, readSpan): (Int64, Int64) = (65_536, 2_048)
  private static let groupsPerRead = 64
  private static let rowsPerRead = 128

  init(search: MessageSearch, _ folding: MessageFolding, limit: Int, work: Int, _ clocks: any Clocks) {
    self.search = search
    self.limit = limit
    self.work = work
    self.clocks = clocks
    deadline = clocks.monotonic + Self.time
    pattern = MessagePattern(search.keywords, folding)
    text = folding.folded("m.content")
  }

  mutating func page(after place: Int64, in db: PostgreSQLConnection) throws -> MessageSearch.Page {
    let (first, below) = MessageSearch.position(at: place)
    let named =
      search.groups.isEmpty
      ? []
      : try db.rows(
        "SELECT number FROM groupRecord WHERE groupID = ANY ($1) AND number >= $2 ORDER BY number",
        [search.groups.map(\.rawValue), first]
      ) { try $0.integer() }
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

  private func joinedGroups(from number: Int64, in db: PostgreSQLConnection) throws -> [Int64] {
    if let reader = search.reader {
      return try db.rows(
        "SELECT number FROM member WHERE userID = $1 AND number >= $2 ORDER BY number LIMIT \(Self.groupsPerRead)",
        [reader.rawValue, number]
      ) { try $0.integer() }
    }
    return try db.rows(
      "SELECT number FROM groupRecord WHERE number >= $1 ORDER BY number LIMIT \(Self.groupsPerRead)", [number]
    ) { try $0.integer() }
  }

  private struct Group {
    let id: GroupID
    let number: Int64
    /// The messages to search, ascending.
    let ranges: [ClosedRange<Int64>]
  }

  private func group(_ number: Int64, below bound: Int64, in db: PostgreSQLConnection) throws -> Group? {
    let found = try db.rows(
      """
      SELECT g.groupID, g.type, m.userID IS NOT NULL, coalesce(m.firstVisibleSeq, 1), m.earlierStays
      FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = $1 WHERE g.number = $2
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
    return Group(id: found.id, number: number, ranges: ranges)
  }

  /// - Returns: the `seq` below which the next page goes on; nil where the group is finished.
  private mutating func searchGroup(_ number: Int64, below bound: Int64, in db: PostgreSQLConnection) throws -> Int64? {
    work -= Self.groupWork
    guard let group = try group(number, below: bound, in: db) else { return nil }
    for range in group.ranges.reversed() {
      var high = range.upperBound
      while high >= range.lowerBound {
        if found.count >= limit || hasLooked && (work <= 0 || clocks.monotonic >= deadline) { return high + 1 }
        let low = max(range.lowerBound, high + 1 - (pattern.hasTrigrams ? Self.indexedSpan : Self.readSpan))
        high = try ask(group, low...high, db)
        hasLooked = true
      }
    }
    return nil
  }

  /// Adds the messages of a range that are looked for, the newest first, as many as are read at
  /// once.
  /// - Returns: the last one to go on with.
  private mutating func ask(_ group: Group, _ range: ClosedRange<Int64>, _ db: PostgreSQLConnection) throws -> Int64 {
    let wanted = min(limit - found.count, Self.rowsPerRead)
    let messages = try db.rows(
      """
      SELECT \(Message.allColumns) FROM \(Message.source)
      WHERE m.number = $1 AND m.seq BETWEEN $2 AND $3 AND m.kind = 'Text' AND NOT m.isRevoked
      AND \(text) LIKE ANY ($4) \(search.senders.isEmpty ? "" : "AND m.sender = ANY ($6)")
      ORDER BY m.seq DESC LIMIT $5
      """,
      [group.number, range.lowerBound, range.upperBound, pattern.alternatives, wanted]
        + (search.senders.isEmpty ? [] : [search.senders.map(\.rawValue)])
    ) { try Message.read(of: group.id, &$0) }
    for message in messages where search.matches(message) {
      found.append(
        MessageSearch.Found(message: message, place: MessageSearch.place(group: group.number, seq: message.seq ?? 0)))
    }
    let last = messages.count == wanted ? messages.last?.seq ?? range.lowerBound : range.lowerBound
    let passed = range.upperBound - last + 1
    work -= Self.queryWork + messages.count * Self.rowWork + Int(pattern.hasTrigrams ? passed / Self.passedPerWork : passed)
    return last - 1
  }
}
