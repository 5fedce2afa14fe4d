import GRDB
import GroupModel
import GroupRuntime
import StoreTables

/// Finds values that the store cannot read, owners that contradict each other, and parts of a
/// database that are not Throng's. `throng backup` copies these as they are; nothing takes them in.
enum ContentCheck {
  static func faults(in connection: some DatabaseReader) throws -> [String] {
    try connection.read(foreignParts) + connection.read(values)
      + owners.flatMap { sql in try connection.read { try String.fetchAll($0, sql: sql) } }
  }

  private static let owners = [
    """
    SELECT 'group ' || g.groupID || ' has ' || count(*) || ' owners' FROM member AS m JOIN groupRecord AS g USING (number)
    WHERE m.role = 'Owner' GROUP BY g.number HAVING count(*) > 1 LIMIT 100
    """,
    """
    SELECT 'group ' || g.groupID || ': groupRecord.owner is not the member with the role Owner'
    FROM member AS m JOIN groupRecord AS g USING (number) WHERE m.role = 'Owner' AND m.userID <> g.owner LIMIT 100
    """,
  ]

  // MARK: Triggers

  /// Triggers and views would run within the server's own statements.
  private static func foreignParts(of db: Database) throws -> [String] {
    let own = try ownParts(withIndex: try db.tableExists("messageSearch"))
    return try parts(of: db).filter { own[$0.key] != $0.value }.map { "\($0.key) is not Throng's" }.sorted()
  }

  /// The definitions of triggers and views by their kinds and names.
  private static func parts(of db: Database) throws -> [String: String] {
    let rows = try Row.fetchAll(db, sql: "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
    return Dictionary(rows.map { ("the \($0["type"] as String) \($0["name"] as String)", $0["sql"] as String? ?? "") }) { $1 }
  }

  private static func ownParts(withIndex: Bool) throws -> [String: String] {
    let model = try DatabaseQueue()
    try Schema.migrator.migrate(model)
    return try model.write { db in
      if withIndex { try MessageIndex.create(in: db) }
      return try parts(of: db)
    }
  }

  // MARK: Values

  private static func values(of db: Database) throws -> [String] {
    try ExportFormat.tables(of: db).flatMap { table in
      try table.columns.compactMap { column -> String? in
        guard let domain = StoredDomain.of(column, in: table.name),
          let value = try firstForeign(column, of: table, domain, db)
        else { return nil }
        let count = try Int.fetchOne(
          db, sql: "SELECT count(*) FROM \(table.name) WHERE \"\(column)\" IS ?", arguments: [value])
        let row = try Row.fetchOne(
          db, sql: "SELECT \(table.order.joined(separator: ", ")) FROM \(table.name) WHERE \"\(column)\" IS ? LIMIT 1",
          arguments: [value])
        let key = row.map { $0.databaseValues.map(\.description).joined(separator: ", ") } ?? ""
        return "\(table.name).\(column) is not \(domain.description): \(count ?? 1) rows, the first \(key)"
      }
    }
  }

  /// SQLite compares what it can: texts of users are looked at only where they are no texts.
  private static func firstForeign(
    _ column: String, of table: ExportFormat.Table, _ domain: StoredDomain, _ db: Database
  ) throws -> DatabaseValue? {
    let name = "\"\(column)\""
    let condition = domain.takesEveryText ? "typeof(\(name)) NOT IN ('text', 'null')" : "\(name) IS NOT NULL"
    let sql =
      domain.isOfNumbers
      ? """
      SELECT min(\(name)) FROM \(table.name) UNION ALL SELECT max(\(name)) FROM \(table.name) UNION ALL
      SELECT max(\(name)) FROM \(table.name) WHERE \(name) < \(Int64.max)
      """
      : "SELECT DISTINCT \(name) FROM \(table.name) WHERE \(condition)"
    let values = try DatabaseValue.fetchCursor(db, sql: sql)
    while let value = try values.next() {
      if !domain.contains(StoredValue(value)) { return value }
    }
    return nil
  }
}

extension StoredDomain {
  /// The domain of a column; nil where there is no such column in a database of now.
  static func of(_ column: String, in table: String) -> StoredDomain? {
    (ofFile.first { $0.name == table } ?? StoredTable.all.first { $0.name == table })?
      .columns.first { $0.name == column }?.domain
  }

  /// Tables that only a file has, or has with other columns: events of messages that follow each other
  /// are one row.
  private static let ofFile = [
    StoredTable(
      "webhook", key: 1,
      WebhookRow.columns + [
        StoredColumn("count", Int64.self, within: .number("a number of 1 to 64") { 1...WebhookRows.messagesPerRow ~= $0 }),
        StoredColumn("isIndexed", Bool.self), StoredColumn("firstSeq", Int64?.self),
      ]),
    StoredTable("webhookIndexing", key: 1, [StoredColumn("id", Int64.self), StoredColumn("through", Int64.self)]),
    StoredTable("notificationNumber", key: 1, [StoredColumn("id", Int64.self), StoredColumn("last", Int64.self)]),
    StoredTable("userAccessNumber", key: 1, [StoredColumn("id", Int64.self), StoredColumn("last", Int64.self)]),
    StoredTable(ExportFormat.sequences, key: 1, [StoredColumn("name", String.self), StoredColumn("seq", Int64.self)]),
  ]
}
