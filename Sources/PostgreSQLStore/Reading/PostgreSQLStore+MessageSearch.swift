import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

extension PostgreSQLStore {
  package func messages(
    matching search: MessageSearch, after place: Int64, limit: Int
  ) async throws(StoreError) -> MessageSearch.Page {
    guard let folding else { throw StoreError(.unavailable, "messages are not indexed") }
    if limit <= 0 { return MessageSearch.Page(found: [], next: place) }
    let options = engineOptions
    return try await readForSearch(of: search.reader) { db in
      // PostgreSQL finds texts by the trigrams of the keywords, or reads the messages of a group one by
      // one: its planner knows which keywords are rare.
      let pattern = MessagePattern(search.keywords, folding)
      let text = folding.folded("m.content")
      var scan = MessageScan(search, limit: limit, options)
      return try scan.page(after: place, in: db) { try $0.ask(pattern, text, $1, $2, db) }
    }
  }
}

extension MessageScan {
  /// The work of a query, of a row that it finds, and of so many messages that a query with trigrams
  /// may have to pass by.
  private static let (queryWork, rowWork, passedPerWork): (Int, Int, Int64) = (20, 3, 64)
  /// Messages of one query with trigrams, and of one without.
  private static let (indexedSpan, readSpan): (Int64, Int64) = (65_536, 2_048)
  private static let rowsPerRead = 128

  /// Adds the messages of a range that are looked for, the newest first, as many as are read at
  /// once.
  /// - Parameter text: the folded text of message `m`.
  /// - Returns: the last message that it has not looked at.
  fileprivate mutating func ask(
    _ pattern: MessagePattern, _ text: String, _ group: Group, _ range: ClosedRange<Int64>, _ db: PostgreSQLConnection
  ) throws -> Int64 {
    let first = max(range.lowerBound, range.upperBound + 1 - (pattern.hasTrigrams ? Self.indexedSpan : Self.readSpan))
    let wanted = min(wanted, Self.rowsPerRead)
    let messages = try db.rows(
      """
      SELECT \(Message.allColumns) FROM \(Message.source)
      WHERE m.number = $1 AND m.seq BETWEEN $2 AND $3 AND m.kind = 'Text' AND NOT m.isRevoked
      AND \(text) LIKE ANY ($4) \(search.senders.isEmpty ? "" : "AND m.sender = ANY ($6)")
      ORDER BY m.seq DESC LIMIT $5
      """,
      [group.number, first, range.upperBound, pattern.alternatives, wanted]
        + (search.senders.isEmpty ? [] : [search.senders.map(\.rawValue)])
    ) { try Message.read(of: group.id, &$0) }
    for message in messages { add(message, of: group) }
    let last = messages.count == wanted ? messages.last?.seq ?? first : first
    let passed = range.upperBound - last + 1
    work -= Self.queryWork + messages.count * Self.rowWork + Int(pattern.hasTrigrams ? passed / Self.passedPerWork : passed)
    return last - 1
  }
}
