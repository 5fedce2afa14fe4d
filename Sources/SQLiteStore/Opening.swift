import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import GroupRuntime

/// Opens the files of a database. The order matters: nothing is written into a database before it is known to be Throng's.
///
/// A database that is there opens on a disk without room: its log and the index of the log stay where they are when it is closed
/// (SQLITE_FCNTL_PERSIST_WAL), so that none of its files must be made. And what an opening does takes as long for a big database as for a
/// small one; `StoreCheck` reads all of it.
struct Opening {
  let database: DatabaseFile
  let sync: SyncMode
  let options: StoreOptions

  var databasePath: String { database.path }
  private var directory: String { database.directory }

  /// Checks the database that is there, without changing it, or makes an empty one.
  func prepareDatabase(_ lock: DatabaseLock) throws(StoreOpenError) {
    if FileManager.default.fileExists(atPath: databasePath) {
      try checkHeader()
      try checkVersion()
    } else if Self.holdsAnything(database.logPath) {
      throw StoreOpenError(.corrupt, "\(databasePath) is missing, but its write-ahead log is there: restore it or remove the log")
    } else {
      try create(lock)
    }
  }

  private static func holdsAnything(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_size > 0
  }

  /// The writer and the readers, with every migration done.
  func pool() throws(StoreOpenError) -> DatabasePool {
    try attempt("open \(databasePath)") {
      let pool = try DatabasePool(path: databasePath, configuration: configuration())
      // Where there is nothing to migrate, nothing is written.
      if try !pool.read(Schema.migrator.hasCompletedMigrations) { try Schema.migrator.migrate(pool) }
      // After the opening, because GRDB sets NORMAL behind every `prepareDatabase`.
      try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(sync.rawValue)") }
      return pool
    }
  }

  /// A connection for checkpoints alone. It never waits for a lock: the next tick comes soon.
  func checkpointConnection() throws(StoreOpenError) -> DatabaseQueue {
    try attempt("open \(databasePath)") {
      var configuration = Configuration()
      configuration.label = "throng.store.checkpoint"
      // With synchronous off or unset a checkpoint would not sync the database before the log is used again.
      configuration.prepareDatabase { db in
        try Self.keepLogFiles(db)
        try db.execute(sql: "PRAGMA synchronous = FULL")
      }
      return try DatabaseQueue(path: databasePath, configuration: configuration)
    }
  }

  /// A connection for one purpose alone, which cannot write.
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
    // Reads are served all the same, until a restart finds a disk that can be written to.
    configuration.readonly = isOnReadOnlyDisk
    let pages = options.autocheckpointPages
    configuration.prepareDatabase { db in
      try Self.keepLogFiles(db)
      if !db.configuration.readonly {
        // A passive checkpoint beside a busy writer never gets to the end of the log, and only then the log starts over. From
        // this length on the writer does the rest itself.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(pages)")
        try db.execute(sql: "PRAGMA journal_size_limit = \(pages * 4096 * 2)")
        try Self.lengthenEmptyLog(db)
      }
    }
    return configuration
  }

  var isOnReadOnlyDisk: Bool { access(databasePath, W_OK) != 0 && errno == EROFS }

  /// When the last connection closes the database, the log and its index stay: an opening that had to make them would need room.
  private static func keepLogFiles(_ db: Database) throws {
    var keeps: Int32 = 1
    let code = sqlite3_file_control(db.sqliteConnection, "main", SQLITE_FCNTL_PERSIST_WAL, &keeps)
    guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
  }

  /// GRDB writes a table into a log without any byte, which a full disk refuses. For SQLite a log without a whole header is as empty, and a
  /// file grows by one byte that nobody has written without taking room.
  private static func lengthenEmptyLog(_ db: Database) throws {
    // With the write lock, so that nobody else writes to the log meanwhile.
    try db.inTransaction(.immediate) {
      if let log = try OpenLog(of: db) { try log.lengthenIfEmpty() }
      return .rollback
    }
  }
}

// MARK: - What is there already

extension Opening {
  private static let magic = Array("SQLite format 3\0".utf8)

  // Read as a file: SQLite would start to recover the log of whatever it is given.
  func checkHeader() throws(StoreOpenError) {
    let header = try readHeader()
    guard !header.isEmpty else {
      throw StoreOpenError(.corrupt, "\(databasePath) is empty: restore it, or remove it to start with nothing")
    }
    guard header.count == 100, header.starts(with: Opening.magic) else {
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

  // Read-only: such a connection does not carry the log into the database when it closes, so a newer one stays as it was found.
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

  // Made aside and renamed, so that a crash leaves a whole database of Throng's or none. SQLite gives the log the mode of the
  // database.
  private func create(_ lock: DatabaseLock) throws(StoreOpenError) {
    let unfinished = databasePath + "-new"
    unlink(unfinished)
    let file = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreOpenError(.directory, "cannot write to the directory \(directory): \(lastSystemError())")
    }
    // Locked before anybody can find it. From here on the lock keeps it open.
    try lock.take(new: file)
    try attempt("make \(databasePath)") {
      let connection = try DatabaseQueue(path: unfinished)
      try connection.writeWithoutTransaction { try $0.execute(sql: "PRAGMA application_id = \(Schema.applicationID)") }
      try connection.close()
    }
    guard rename(unfinished, databasePath) == 0 else {
      throw StoreOpenError(.unavailable, "cannot make \(databasePath): \(lastSystemError())")
    }
    try syncDirectory()
  }

  // A name is durable when its directory is; SQLite does this for the log, not for a file that was renamed.
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
