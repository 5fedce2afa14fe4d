import Foundation
import GroupModel
import SQLiteStore
import ServerConfiguration

// Copies of the store (Operations.md, "Copies" and "Export").

extension Settings {
  /// Copies the database into a new file, also beside a running server.
  /// - Returns: the bytes of the copy.
  public func backUp(to path: String) throws(StartError) -> Int {
    try requireFile("back it up with pg_dump, which also works beside a running server")
    return try StartError.translating { () throws(StoreOpenError) in
      try DatabaseBackup.make(directory: dataDir, database: store.databasePath, to: path)
    }
  }

  /// Makes the database of a copy. There must be none, and no server may run.
  public func restore(from path: String) throws(StartError) {
    try requireFile("restore it with pg_restore into an empty database")
    try StartError.translating { () throws(StoreOpenError) in
      try DatabaseBackup.restore(from: path, directory: dataDir, database: store.databasePath, now: SystemClocks().wall)
    }
  }

  /// Writes everything in the database as JSON Lines, also beside a running server.
  /// - Parameter path: a new file; nil = standard output.
  /// - Returns: how many rows were written.
  public func export(to path: String?) throws(StartError) -> Int {
    try requireFile("export it with PostgreSQL's own means, such as COPY")
    return try StartError.translating { () throws(StoreOpenError) in
      try DatabaseExport.write(
        directory: dataDir, database: store.databasePath, to: path, or: .standardOutput, now: SystemClocks().wall)
    }
  }

  /// Makes the database of an export. There must be none, and no server may run.
  /// - Parameter path: nil = standard input.
  /// - Returns: how many rows were read.
  public func importAll(from path: String?) throws(StartError) -> Int {
    try requireFile("import into a file, and move from there")
    let input: FileHandle
    do {
      input = try path.map { try FileHandle(forReadingFrom: URL(fileURLWithPath: $0)) } ?? .standardInput
    } catch {
      throw StartError("cannot read \(path ?? "standard input"): \(error.localizedDescription)")
    }
    do throws(StoreOpenError) {
      return try DatabaseImport.read(input, directory: dataDir, database: store.databasePath, now: SystemClocks().wall)
    } catch {
      let isOfInput = error.kind == .corrupt || error.kind == .newer
      throw StartError(isOfInput ? "\(path ?? "standard input"): \(error.description)" : error.description)
    }
  }

  private func requireFile(_ otherwise: String) throws(StartError) {
    if store.postgreSQL != nil { throw StartError("only a database in a file; that of store.url is in PostgreSQL: \(otherwise)") }
  }
}
