import Foundation
import GRDB
import GroupModel
import GroupRuntime

/// Copies of a whole database (Operations.md, "Copies").
public enum DatabaseBackup {
  /// Pages of 4 KiB that are copied at a time.
  private static let pagesPerStep: Int32 = 1024

  /// Copies the database, also beside a running server, and reads all of the copy. It is the state
  /// of one instant. The server's write-ahead log grows meanwhile.
  /// - Parameters:
  ///   - directory: the data directory.
  ///   - database: the path of the database, as `SQLiteStore.open` takes it.
  ///   - path: the new file, which must not exist.
  ///   - secret: what the copy keeps as the secret for tokens; nil = nothing.
  /// - Returns: the bytes of the copy.
  public static func make(
    directory: String, database: String?, to path: String, secret: [UInt8]? = nil
  ) throws(StoreOpenError) -> Int {
    let opener = try DatabaseOpener(existing: database, dataDirectory: directory)
    try NewFile.make(path) { unfinished throws(StoreOpenError) in
      try copy(opener, to: unfinished, secret: secret)
      try requireSound(unfinished, .structure, "the copy")
    }
    return DatabaseFile.bytes(of: path)
  }

  /// The secret for tokens that a copy keeps; nil where it keeps none.
  /// - Parameter path: of a file that `make` has written.
  public static func secret(in path: String) throws(StoreOpenError) -> [UInt8]? {
    let opener = try DatabaseOpener(existing: URL(fileURLWithPath: path).path, dataDirectory: "")
    return try opener.attempt("read \(opener.databasePath)") {
      let connection = try opener.readOnly()
      let secret = try connection.read(CopiedSecret.read)
      try connection.close()
      return secret
    }
  }

  /// Puts a copy in the place of the database, which must be empty. Every group gets a new epoch,
  /// because clients may have seen more of its history than the copy has. The database does not have
  /// the secret of the copy (`secret(in:)`).
  /// - Parameters:
  ///   - path: of a file that `make` has written.
  ///   - now: counts as the instant at which the sessions of the copy have ended.
  public static func restore(
    from path: String, directory: String, database: String?, now: WallInstant
  ) throws(StoreOpenError) {
    let source = try DatabaseOpener(existing: URL(fileURLWithPath: path).path, dataDirectory: directory)
    try requireSound(source.databasePath, .contents, "the backup")
    try VacantDatabase.fill(directory: directory, database: database, now: now) { unfinished throws(StoreOpenError) in
      try copy(source, to: unfinished, secret: nil)
      try source.attempt("renew the epochs in \(unfinished)") {
        let connection = try DatabaseQueue(path: unfinished)
        try connection.write(renewEpochs)
        try connection.close()
      }
    }
  }

  private static func copy(_ source: DatabaseOpener, to path: String, secret: [UInt8]?) throws(StoreOpenError) {
    try source.attempt("copy \(source.databasePath) to \(path)") {
      let from = try source.readOnly()
      let to = try DatabaseQueue(path: path)
      try from.read { from in
        // The first read begins the snapshot, without which each commit of a server would begin the
        // copy anew.
        _ = try Int.fetchOne(from, sql: "SELECT count(*) FROM sqlite_master")
        try to.writeWithoutTransaction { to in
          try from.backup(to: to, pagesPerStep: pagesPerStep)
          // The copy is one file, without a log, and can be read on a read-only disk.
          try to.execute(sql: "PRAGMA journal_mode = DELETE")
          try CopiedSecret.replace(by: secret, in: to)
        }
      }
      try to.close()
      try from.close()
    }
  }

  private static func requireSound(_ path: String, _ depth: StoreCheck.Depth, _ what: String) throws(StoreOpenError) {
    let faults = try StoreCheck.faults(of: path, depth)
    guard let first = faults.first else { return }
    throw StoreOpenError(.corrupt, "\(what) has \(faults.count) faults, and was not taken; the first: \(first)")
  }

  /// A msgID begins with the epoch of its group.
  private static func renewEpochs(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TEMP TABLE renewed AS SELECT number, epoch AS old, lower(hex(randomblob(8))) AS new FROM groupRecord;
        CREATE UNIQUE INDEX temp.renewedByNumber ON renewed (number);
        UPDATE message SET msgID = r.new || substr(msgID, length(r.old) + 1) FROM renewed AS r
          WHERE r.number = message.number AND substr(msgID, 1, length(r.old) + 1) = r.old || '-';
        UPDATE application SET epoch = r.new FROM renewed AS r WHERE r.number = groupNumber AND application.epoch = r.old;
        UPDATE groupRecord SET epoch = r.new FROM renewed AS r WHERE r.number = groupRecord.number;
        """)
  }
}

/// The secret for tokens within a copy: a table that the database of a server does not have, and no
/// export names.
enum CopiedSecret {
  static let table = "authSecret"

  static func read(_ db: Database) throws -> [UInt8]? {
    guard try db.tableExists(table) else { return nil }
    return try Data.fetchOne(db, sql: "SELECT secret FROM \(table)").map { Array($0) }
  }

  /// Overwrites the pages of a former one: the file may be handed on without it.
  /// - Parameter secret: nil = none.
  static func replace(by secret: [UInt8]?, in db: Database) throws {
    try db.execute(sql: "PRAGMA secure_delete = ON")
    try db.execute(sql: "DROP TABLE IF EXISTS \(table)")
    guard let secret else { return }
    try db.execute(sql: "CREATE TABLE \(table) (secret BLOB NOT NULL) STRICT")
    try db.execute(sql: "INSERT INTO \(table) VALUES (?)", arguments: [Data(secret)])
  }
}

/// The place of a database that does not exist yet.
enum VacantDatabase {
  /// Fills the place while no server can start there.
  /// - Parameter fill: writes a whole database into a new file.
  /// - Throws: `StoreOpenError` `.exists` where there is a database, or the log of one.
  static func fill(
    directory: String, database: String?, now: WallInstant, _ fill: (_ unfinished: String) throws(StoreOpenError) -> Void
  ) throws(StoreOpenError) {
    let file = try DatabaseFile(database, dataDirectory: directory)
    let lock = try DatabaseLock(of: file, now: now)
    do throws(StoreOpenError) {
      for path in [file.path, file.logPath, file.indexPath] where NewFile.exists(path) {
        throw StoreOpenError(
          .exists, "\(path) exists: stop the server, and move \(file.path) with its -wal and -shm away, which belong together")
      }
      try NewFile.make(file.path, fill)
    } catch {
      lock.close()
      throw error
    }
    lock.release(at: now, isCheckpointed: true)
  }
}
