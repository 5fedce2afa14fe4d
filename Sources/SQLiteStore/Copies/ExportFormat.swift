import GRDB

/// The lines of an export (Operations.md, "Export"): a head, a row of a table each, and an end.
enum ExportFormat {
  static let version: Int64 = 1
  /// The longest line: a row of texts at their limits is far shorter.
  static let maxLineBytes = 64 << 20
  /// The table of SQLite that keeps numbers from being used twice.
  static let sequences = "sqlite_sequence"

  /// Tables that every database has of its own: the migrations, the probe of the disk, the index of
  /// texts, and the secret of a copy.
  private static let left: Set<String> = [
    "grdb_migrations", "probe", "messageSearch", "messageIndexed", "messageStale", "messageSearch_data", "messageSearch_idx",
    "messageSearch_config", "messageSearch_docsize", "messageSearch_content", CopiedSecret.table,
  ]

  /// A table as it is exported.
  struct Table {
    let name: String
    let columns: [String]
    let order: [String]

    /// Ordered by the primary key, so that one state has one text.
    var query: String { "SELECT \(columns.joined(separator: ", ")) FROM \(name) ORDER BY \(order.joined(separator: ", "))" }

    var insertion: String {
      "INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
    }
  }

  /// The tables of a database, in the order in which migrations made them; SQLite's own is last.
  static func tables(of db: Database) throws -> [Table] {
    let names = try String.fetchAll(
      db, sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
    return try names.filter { !left.contains($0) }.map { name in
      // Generated columns are not among these.
      let columns = try Row.fetchAll(db, sql: "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", arguments: [name])
      let keys = columns.filter { $0["pk"] > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
      return Table(name: name, columns: columns.map { $0["name"] }, order: keys.map { $0["name"] })
    } + [Table(name: sequences, columns: ["name", "seq"], order: ["name"])]
  }
}
