import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import GroupRuntime
import Logging
import StoreEngine

/// Opens the files of a database. Nothing is written into a database before it is known to be
/// Throng's. The duration does not depend on the size of the database; `StoreCheck` reads all of
/// it.
///
/// An existing database opens on a full disk: its log and the log's index stay when it is closed
/// (SQLITE_FCNTL_PERSIST_WAL), so that no file must be created.
struct DatabaseOpener {
  let database: DatabaseFile
  let sync: SyncMode
  let options: StoreOptions

  var databasePath: String { database.path }
  private var directory: String { database.directory }

  /// Checks an existing database without changing it, or creates an empty one.
  func prepareDatabase(_ lock: DatabaseLock) throws(StoreOpenError) {
    if FileManager.default.fileExists(atPath: databasePath) {
      try checkHeader()
      try checkVersion()
    } else if Self.isNotEmpty(database.logPath) {
      throw StoreOpenError(.corrupt, "\(databasePath) is missing, but its write-ahead log is there: restore it or remove the log")
    } else {
      try create(lock)
    }
  }

  private static func isNotEmpty(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }

  /// Opens the writer and the readers, and runs the migrations.
  func pool() throws(StoreOpenError) -> DatabasePool {
    try attempt("open \(databasePath)") {
      let pool = try DatabasePool(path: databasePath, configuration: configuration())
      // Without a migration nothing is written.
      if try !pool.read(Schema.migrator.hasCompletedMigrations) { try Schema.migrator.migrate(pool) }
      // Last, because GRDB sets NORMAL after every `prepareDatabase`.
      try pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA synchronous = \(sync.rawValue)")
        // Zeroes what is deleted from pages that are written anyway. Pages that become free keep their
        // bytes: `Writer.shrink` takes them out of the file, where it can.
        let canShrink = try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 2
        _ = try Int.fetchOne(db, sql: "PRAGMA secure_delete = \(canShrink ? "FAST" : "ON")")
      }
      return pool
    }
  }

  /// Rewrites a database of an older version, once, so that its file can become smaller. It needs
  /// twice its size on the disk; without that much the file keeps its size.
  /// - Throws: `StoreOpenError` where a sync has failed.
  func makeShrinkable(_ pool: DatabasePool, _ logger: Logger) throws(StoreOpenError) {
    guard !isOnReadOnlyDisk else { return }
    do {
      try pool.writeWithoutTransaction { db in
        guard try Int.fetchOne(db, sql: "PRAGMA auto_vacuum") == 0 else { return }
        logger.notice(
          "the database is rewritten once, so that its file can become smaller",
          metadata: ["bytes": .stringConvertible(database.bytesOnDisk)])
        try db.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        try db.execute(sql: "VACUUM")
      }
    } catch {
      // Nobody can say what is durable. The next start writes the log once more.
      if FailedCommit.isOfASync(error) {
        throw StoreOpenError(.unavailable, "cannot rewrite \(databasePath): \(StoreError(describing: error))")
      }
      logger.warning(
        "the database was not rewritten: its file does not become smaller, and its free pages are used again",
        metadata: ["error": "\(StoreError(describing: error))"])
    }
  }

  /// Opens a connection for checkpoints. It never waits for a lock: the next tick comes soon.
  func checkpointConnection() throws(StoreOpenError) -> DatabaseQueue {
    try attempt("open \(databasePath)") {
      var configuration = Configuration()
      configuration.label = "throng.store.checkpoint"
      // Otherwise a checkpoint would not sync the database before the log is overwritten.
      configuration.prepareDatabase { db in
        try Self.keepLogFiles(db)
        try db.execute(sql: "PRAGMA synchronous = FULL")
      }
      return try DatabaseQueue(path: databasePath, configuration: configuration)
    }
  }

  /// Opens a read-only connection for one purpose.
  func readConnection(_ purpose: String) throws(StoreOpenError) -> DatabaseQueue {
    try attempt("open \(databasePath)") {
      var configuration = Configuration()
      configuration.label = "throng.store.\(purpose)"
      configuration.readonly = true
      configuration.busyMode = .timeout(5)
      configuration.prepareDatabase(Self.keepLogFiles)
      return try DatabaseQueue(path: databasePath, configuration: configuration)
    }
  }

  private func configuration() -> Configuration {
    var configuration = Configuration()
    configuration.label = "throng.store"
    configuration.maximumReaderCount = options.readers
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = false
    // Reads are served, until a restart finds a writable disk.
    configuration.readonly = isOnReadOnlyDisk
    let pages = options.autocheckpointPages
    configuration.prepareDatabase { db in
      try Self.keepLogFiles(db)
      if !db.configuration.readonly {
        // SQLite would tell nobody of a checkpoint of its own whose sync has failed (`LogLength`).
        try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
        try db.execute(sql: "PRAGMA journal_size_limit = \(pages * 4096 * 2)")
        try lengthenEmptyLog(db)
      }
    }
    return configuration
  }

  var isOnReadOnlyDisk: Bool { access(databasePath, W_OK) != 0 && errno == EROFS }

  /// Keeps the log and its index when the last connection closes: creating them needs a free disk.
  private static func keepLogFiles(_ db: Database) throws {
    var keeps: Int32 = 1
    let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// Lengthens an empty log by one byte, which needs no disk space and is still empty for SQLite.
  /// GRDB would write a table into a log of no bytes, which fails on a full disk.
  private func lengthenEmptyLog(_ db: Database) throws {
    // The write lock keeps others from writing to the log meanwhile.
    try db.inTransaction(.immediate) {
      // A log of which the length is not known may have commits: it is left alone.
      var status = stat()
      if stat(database.logPath, &status) == 0, status.st_size == 0 {
        // A failure leaves it empty: what GRDB then writes into it succeeds, or fails with the reason.
        _ = truncate(database.logPath, 1)
      }
      return .rollback
    }
  }
}

// MARK: - Existing databases

extension DatabaseOpener {
  /// An opener of a database that is there, is Throng's and is not newer. It takes no lock, changes
  /// nothing, and may run beside a server.
  /// - Throws: `StoreOpenError`, `.missing` where there is no database.
  init(existing database: String?, dataDirectory: String) throws(StoreOpenError) {
    self.init(
      database: try DatabaseFile(database, dataDirectory: dataDirectory, makesDirectory: false), sync: .full,
      options: StoreOptions())
    guard FileManager.default.fileExists(atPath: databasePath) else {
      throw StoreOpenError(.missing, "there is no database \(databasePath)")
    }
    try checkHeader()
    try checkVersion()
  }

  /// A connection that only reads, beside a server too.
  func readOnly() throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    return try DatabaseQueue(path: databasePath, configuration: configuration)
  }

  private static let magic = Array("SQLite format 3\0".utf8)

  // Reads the plain file: SQLite would start to recover the log of a foreign database.
  func checkHeader() throws(StoreOpenError) {
    let header = try readHeader()
    guard !header.isEmpty else {
      throw StoreOpenError(.corrupt, "\(databasePath) is empty: restore it, or remove it to start with nothing")
    }
    guard header.count == 100, header.starts(with: DatabaseOpener.magic) else {
      throw StoreOpenError(.foreign, "\(databasePath) is not an SQLite database, or its beginning is damaged")
    }
    let applicationID = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard applicationID == UInt32(bitPattern: Schema.applicationID) else {
      throw StoreOpenError(.foreign, "\(databasePath) is an SQLite database, but not one of Throng")
    }
  }

  private func readHeader() throws(StoreOpenError) -> [UInt8] {
    let file = open(databasePath, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw StoreOpenError(.directory, "cannot read \(databasePath): \(lastSystemError())") }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: 100)
    let count = read(file, &header, header.count)
    guard count >= 0 else { throw StoreOpenError(.unavailable, "cannot read \(databasePath): \(lastSystemError())") }
    return Array(header.prefix(count))
  }

  // A read-only connection does not checkpoint when it closes: a newer database stays unchanged.
  func checkVersion() throws(StoreOpenError) {
    let isNewer = try attempt("read \(databasePath)") {
      var configuration = Configuration()
      configuration.readonly = true
      let connection = try DatabaseQueue(path: databasePath, configuration: configuration)
      let isNewer = try connection.read(Schema.migrator.hasBeenSuperseded)
      try connection.close()
      return isNewer
    }
    if isNewer {
      throw StoreOpenError(.newer, "\(databasePath) was written by a newer version of Throng: use that one, or restore a backup")
    }
  }

  // Creates a temporary file and renames it: a crash leaves a whole database or none. SQLite gives
  // the log the mode of the database.
  private func create(_ lock: DatabaseLock) throws(StoreOpenError) {
    let unfinished = databasePath + "-new"
    unlink(unfinished)
    let file = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreOpenError(.directory, "cannot write to the directory \(directory): \(lastSystemError())")
    }
    // Locked before it has its name. The lock keeps the file open.
    try lock.lockNewDatabase(file)
    try attempt("make \(databasePath)") {
      let connection = try DatabaseQueue(path: unfinished)
      try connection.writeWithoutTransaction {
        // Before the first page: free pages can leave the end of the file (`Writer.shrink`).
        try $0.execute(sql: "PRAGMA auto_vacuum = INCREMENTAL")
        try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)")
      }
      try connection.close()
    }
    guard rename(unfinished, databasePath) == 0 else {
      throw StoreOpenError(.unavailable, "cannot make \(databasePath): \(lastSystemError())")
    }
    try syncDirectory()
  }

  // SQLite syncs the directory for its log, but not for a renamed file.
  private func syncDirectory() throws(StoreOpenError) {
    let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw StoreOpenError(.unavailable, "cannot open \(directory): \(lastSystemError())") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw StoreOpenError(.unavailable, "cannot sync \(directory): \(lastSystemError())") }
  }

  func attempt<Value>(_ what: String, _ body: () throws -> Value) throws(StoreOpenError) -> Value {
    do {
      return try body()
    } catch {
      let failure = StoreError(describing: error)
      throw StoreOpenError(failure.kind == .unavailable ? .unavailable : .corrupt, "cannot \(what): \(failure)")
    }
  }
}
