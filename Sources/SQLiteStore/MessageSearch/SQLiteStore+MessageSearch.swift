import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension SQLiteStore {
  package func messages(
    matching search: MessageSearch, after place: Int64, limit: Int
  ) async throws(StoreError) -> MessageSearch.Page {
    guard options.indexesMessages else { throw StoreError(.unavailable, "messages are not indexed") }
    if limit <= 0 { return MessageSearch.Page(found: [], next: place) }
    let options = engineOptions
    return try await readForSearch(of: search.reader) { db in
      let query = MessageIndex.query(for: search.keywords)
      var scan = MessageScan(search, limit: limit, options)
      return try scan.page(after: place, in: db) { scan, group, range in
        let indexed = try MessageIndex.indexedSeq(of: group.number, in: db)
        // Messages behind the indexed ones are read one by one.
        guard let query, range.upperBound <= indexed else {
          let first = query == nil ? range.lowerBound : max(range.lowerBound, indexed + 1)
          return try scan.readMessages(of: group, range.newest(MessageScan.readSpan, from: first), db)
        }
        return try scan.ask(query, group, range.newest(MessageScan.indexedSpan, from: range.lowerBound), db)
      }
    }
  }
}

extension ClosedRange<Int64> {
  /// As many of the last ones, and none before one.
  fileprivate func newest(_ count: Int64, from first: Int64) -> ClosedRange<Int64> {
    Swift.max(first, upperBound + 1 - count)...upperBound
  }
}

extension MessageScan {
  /// The work of beginning a query of the index, of a row that it names, and of so many messages that
  /// the query may have to pass by.
  private static let (queryWork, rowWork, passedPerWork): (Int, Int, Int64) = (20, 3, 64)
  /// Messages of one query of the index, and of one that reads them.
  fileprivate static let (indexedSpan, readSpan): (Int64, Int64) = (65_536, 512)

  /// - Returns: the last message that it has not looked at.
  fileprivate mutating func readMessages(of group: Group, _ range: ClosedRange<Int64>, _ db: Database) throws -> Int64 {
    work -= range.count
    var last = range.lowerBound
    try db.visit(
      """
      SELECT seq, sender, content FROM message
      WHERE number = ? AND seq BETWEEN ? AND ? AND kind = 'Text' AND NOT isRevoked ORDER BY seq DESC
      """, [group.number, range.lowerBound, range.upperBound]
    ) { row in
      let (seq, sender) = (try row.integer(), try row.value(UserID.self))
      if search.matches(try row.text(), from: sender) { try add(seq, of: group, db) }
      hasLooked = true
      let stops = isFullOrLate
      if stops { last = seq }
      return !stops
    }
    return last - 1
  }

  /// - Returns: the last message that it has not looked at.
  fileprivate mutating func ask(_ query: String, _ group: Group, _ range: ClosedRange<Int64>, _ db: Database) throws -> Int64 {
    work -= Self.queryWork + Int(Int64(range.count) / Self.passedPerWork)
    var last = range.lowerBound
    try db.visit(
      """
      SELECT rowid FROM messageSearch WHERE messageSearch MATCH ?1 AND rowid BETWEEN ?2 AND ?3
      UNION SELECT id FROM messageStale WHERE id BETWEEN ?2 AND ?3 ORDER BY 1 DESC
      """,
      [query, MessageIndex.rowID(group.number, range.lowerBound), MessageIndex.rowID(group.number, range.upperBound)]
    ) { row in
      let seq = MessageIndex.seq(ofRow: try row.integer())
      work -= Self.rowWork
      try add(seq, of: group, db)
      hasLooked = true
      let stops = isOver
      if stops { last = seq }
      return !stops
    }
    return last - 1
  }

  /// Adds a message that is there and is looked for.
  private mutating func add(_ seq: Int64, of group: Group, _ db: Database) throws {
    for message in try db.messages(of: group.id, number: group.number, seqs: [seq]) { add(message, of: group) }
  }
}
