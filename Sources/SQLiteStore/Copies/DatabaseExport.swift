import Foundation
import GRDB
import GroupModel
import GroupRuntime
import WireProtocol

/// Writes a whole database as JSON Lines (Operations.md, "Export").
public enum DatabaseExport {
  /// Bytes that are collected before they are written.
  private static let bufferBytes = 256 << 10

  /// Writes one snapshot, also beside a running server, whose write-ahead log grows meanwhile.
  /// - Parameters:
  ///   - directory: the data directory.
  ///   - database: the path of the database, as `SQLiteStore.open` takes it.
  ///   - path: the new file, which must not exist; nil = `output` gets the text.
  ///   - output: open for writing.
  /// - Returns: how many rows were written.
  public static func write(
    directory: String, database: String?, to path: String?, or output: FileHandle, now: WallInstant
  ) throws(StoreOpenError) -> Int {
    let opener = try DatabaseOpener(existing: database, dataDirectory: directory)
    guard let path else { return try write(opener, to: output, now) }
    var rows = 0
    try NewFile.make(path) { unfinished throws(StoreOpenError) in
      guard let file = FileHandle(forWritingAtPath: unfinished) else {
        throw StoreOpenError(.directory, "cannot write \(unfinished): \(lastSystemError())")
      }
      rows = try write(opener, to: file, now)
      do { try file.close() } catch { throw StoreOpenError(.unavailable, "cannot write \(unfinished): \(error)") }
    }
    return rows
  }

  private static func write(_ opener: DatabaseOpener, to output: FileHandle, _ now: WallInstant) throws(StoreOpenError) -> Int {
    try opener.attempt("export \(opener.databasePath)") {
      let connection = try opener.readOnly()
      let rows = try connection.read { db in
        var lines = LineWriter(output)
        try lines.append(head(of: db, now))
        var rows = 0
        for table in try ExportFormat.tables(of: db) {
          let cursor = try Row.fetchCursor(db, sql: table.query)
          while let row = try cursor.next() {
            try lines.append(line(of: row, in: table))
            rows += 1
          }
        }
        try lines.append(
          JSONWriter.text { end in
            end.object {
              $0.key("end")
              $0.object {
                $0.key("rows")
                $0.value(rows)
              }
            }
          })
        try lines.flush()
        return rows
      }
      try connection.close()
      return rows
    }
  }

  private static func head(of db: Database, _ now: WallInstant) throws -> [UInt8] {
    guard let schema = try Schema.migrator.appliedMigrations(db).last else {
      throw StoreError(.inconsistent, "the database has no tables of Throng's")
    }
    return JSONWriter.text { head in
      head.object {
        $0.key("throngExport")
        $0.value(ExportFormat.version)
        $0.key("schema")
        $0.value(schema)
        $0.key("time")
        $0.value(now.milliseconds)
      }
    }
  }

  private static func line(of row: Row, in table: ExportFormat.Table) -> [UInt8] {
    JSONWriter.text(capacity: 512) { line in
      line.object {
        $0.key(named: table.name)
        $0.object { object in
          for (index, column) in table.columns.enumerated() {
            object.key(named: column)
            object.value(of: row, at: index)
          }
        }
      }
    }
  }

  /// Collects lines.
  private struct LineWriter {
    private let output: FileHandle
    private var buffer = Data(capacity: bufferBytes + 4096)

    init(_ output: FileHandle) { self.output = output }

    mutating func append(_ line: [UInt8]) throws {
      buffer.append(contentsOf: line)
      buffer.append(UInt8(ascii: "\n"))
      if buffer.count >= bufferBytes { try flush() }
    }

    mutating func flush() throws {
      do { try output.write(contentsOf: buffer) } catch { throw StoreError(.unavailable, "cannot write: \(error)") }
      buffer.removeAll(keepingCapacity: true)
    }
  }
}

extension JSONWriter {
  fileprivate mutating func value(of row: Row, at index: Int) {
    let found: DatabaseValue = row[index]
    switch found.storage {
    case .null: null()
    case .int64(let number): value(number)
    case .double(let number): raw("\(number)")
    case .string(let text): value(text)
    case .blob(let data):
      // Texts of users that hold a NUL are among these.
      object {
        $0.key("base64")
        $0.value(data.base64EncodedString())
      }
    }
  }
}
