import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreTables
import WireProtocol

/// Makes a database of an export (Operations.md, "Export").
public enum DatabaseImport {
  /// Reads an export to its end. The database gets its name when it is whole and sound.
  /// - Parameters:
  ///   - input: open for reading; a pipe will do.
  ///   - directory: the data directory.
  ///   - database: the path of the database, as `SQLiteStore.open` takes it; there must be none.
  ///   - now: counts as the instant at which the sessions of the export have ended.
  /// - Returns: how many rows were read.
  public static func read(
    _ input: FileHandle, directory: String, database: String?, now: WallInstant
  ) throws(StoreOpenError) -> Int {
    var rows = 0
    try VacantDatabase.fill(directory: directory, database: database, now: now) { unfinished throws(StoreOpenError) in
      do {
        var reader = try RowImporter(path: unfinished, lines: LineReader(input, maxBytes: ExportFormat.maxLineBytes))
        rows = try reader.run()
      } catch let error as StoreOpenError {
        throw error
      } catch {
        throw StoreOpenError(.corrupt, "cannot import: \(StoreError(describing: error))")
      }
      // Each value was compared with its line.
      let faults = try StoreCheck.faults(of: unfinished, .structure)
      guard let first = faults.first else { return }
      throw StoreOpenError(.corrupt, "the export contradicts itself in \(faults.count) ways; the first: \(first)")
    }
    return rows
  }
}

/// Inserts the rows of an export into a new database.
private struct RowImporter {
  private let connection: DatabaseQueue
  private var lines: LineReader
  private let parser = JSONParser()
  private var owners = GroupOwners()

  init(path: String, lines: LineReader) throws {
    self.lines = lines
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      // A failed import leaves no file, so it needs no journal. The file is synced at its end.
      try db.execute(sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    }
    connection = try DatabaseQueue(path: path, configuration: configuration)
  }

  mutating func run() throws -> Int {
    try connection.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = \(Schema.applicationID)")
    }
    let schema = try readHead()
    try Schema.migrator.migrate(connection, upTo: schema)
    let rows = try insertRows()
    try Schema.migrator.migrate(connection)
    try connection.close()
    return rows
  }

  private func fault(_ text: String) -> StoreOpenError { StoreOpenError(.corrupt, "line \(lines.number): \(text)") }

  private mutating func nextLine() throws -> JSONValue {
    guard let line = try lines.next() else {
      throw StoreOpenError(.corrupt, "the export ends after line \(lines.number), without its last line: it is a part of one")
    }
    guard let value = parser.parse(line), value.kind == .object else { throw fault("no JSON object") }
    return value
  }

  private mutating func readHead() throws -> String {
    let head = try nextLine()
    guard let version = head["throngExport"]?.integer, let schema = head["schema"]?.string else {
      throw fault("this is no export of Throng's")
    }
    guard version == ExportFormat.version, Schema.migrator.migrations.contains(schema) else {
      throw StoreOpenError(.newer, "the export was written by a newer version of Throng (\(version), \(schema)): use that one")
    }
    return schema
  }

  private mutating func insertRows() throws -> Int {
    let connection = connection
    let tables = try connection.read { db in
      Dictionary(uniqueKeysWithValues: try ExportFormat.tables(of: db).map { ($0.name, $0) })
    }
    return try connection.write { db in
      // The migrations have put rows into some.
      for name in tables.keys { try db.execute(sql: "DELETE FROM \(name)") }
      var rows = 0
      while true {
        let line = try nextLine()
        var inserted = false
        if let end = line["end"] {
          guard end["rows"]?.integer == Int64(rows) else { throw fault("the export has lost lines: it holds \(rows) rows") }
          guard try lines.next() == nil else { throw fault("something follows the end") }
          return rows
        }
        try line.forEachMember { name, row throws(StoreOpenError) in
          guard let table = tables[name], !inserted else { throw fault("no row of a table: \(name)") }
          if name == ExportFormat.sequences { try clearSequence(of: row, in: db) }
          try insert(row, into: table, db)
          inserted = true
        }
        guard inserted else { throw fault("an empty object") }
        rows += 1
      }
    }
  }

  /// Inserting the rows of a table has made an entry already.
  private func clearSequence(of row: JSONValue, in db: Database) throws(StoreOpenError) {
    guard let name = row["name"]?.string else { throw fault("no name") }
    do {
      try db.execute(sql: "DELETE FROM sqlite_sequence WHERE name = ?", arguments: [name])
    } catch {
      throw fault("\(StoreError(describing: error))")
    }
  }

  private mutating func insert(_ row: JSONValue, into table: ExportFormat.Table, _ db: Database) throws(StoreOpenError) {
    var values: [String: DatabaseValue] = [:]
    try row.forEachMember { column, value throws(StoreOpenError) in
      guard let value = databaseValue(value) else { throw fault("\(table.name).\(column) is no value of a column") }
      if let domain = StoredDomain.of(column, in: table.name), !domain.contains(StoredValue(value)) {
        throw fault("\(table.name).\(column) is not \(domain.description)")
      }
      values[column] = value
    }
    guard values.count == table.columns.count, table.columns.allSatisfy({ values[$0] != nil }) else {
      throw fault("\(table.name) has the columns \(table.columns.joined(separator: ", "))")
    }
    if let contradiction = owners.contradiction(in: values, of: table.name, line: lines.number) { throw fault(contradiction) }
    do {
      let arguments = StatementArguments(table.columns.map { values[$0] ?? .null })
      try db.cachedStatement(sql: table.insertion).execute(arguments: arguments)
    } catch {
      throw fault("\(StoreError(describing: error))")
    }
  }

  private func databaseValue(_ value: JSONValue) -> DatabaseValue? {
    switch value.kind {
    case .null: return .null
    case .integer: return value.integer?.databaseValue
    case .string: return value.string?.databaseValue
    case .object:
      guard value.count == 1, let text = value["base64"]?.string else { return nil }
      return Data(base64Encoded: text)?.databaseValue
    case .bool, .number, .array: return nil
    }
  }
}

/// The owners of the groups of an export: a group has one at most, which its row names.
private struct GroupOwners {
  private var named: [Int64: String] = [:]
  private var members: [Int64: (userID: String, line: Int)] = [:]

  /// What a row says against earlier ones, in words.
  mutating func contradiction(in row: [String: DatabaseValue], of table: String, line: Int) -> String? {
    guard let number = row["number"].flatMap(Int64.fromDatabaseValue) else { return nil }
    switch table {
    case "groupRecord":
      guard let owner = row["owner"].flatMap(String.fromDatabaseValue) else { return nil }
      named[number] = owner
      guard let member = members[number], member.userID != owner else { return nil }
      return "groupRecord.owner is not the member with the role Owner in line \(member.line)"
    case "member":
      guard row["role"].flatMap(String.fromDatabaseValue) == Role.owner.wireName,
        let user = row["userID"].flatMap(String.fromDatabaseValue)
      else { return nil }
      if let other = members[number] { return "member.role: line \(other.line) has given the group an owner already" }
      members[number] = (user, line)
      guard let owner = named[number], owner != user else { return nil }
      return "member.role is Owner, and groupRecord.owner is somebody else"
    default: return nil
    }
  }
}

extension StoredValue {
  /// A column's value, apart from SQLite.
  init(_ value: DatabaseValue) {
    switch value.storage {
    case .null: self = .null
    case .int64(let number): self = .integer(number)
    // No column holds such numbers: `StoredDomain` takes this for none.
    case .double: self = .flag(false)
    case .string(let text): self = .text(text)
    case .blob(let data): self = .bytes([UInt8](data))
    }
  }
}
