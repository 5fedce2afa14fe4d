import Foundation
import GRDB
import GroupModel
import GroupRuntime

/// Opens the files of a database. The order matters: nothing is written into a database before it is known to be Throng's
/// and sound.
struct Opening {
  let database: DatabaseFile
  let sync: SyncMode
  let options: StoreOptions

  var databasePath: String { database.path }
  private var directory: String { database.directory }

  /// Checks the database that is there, without changing it, or makes an empty one.
  func prepareDatabase() throws(StoreOpenError) {
    if FileManager.default.fileExists(atPath: databasePath) {
      try checkHeader()
      try checkContent()
    } else if FileManager.default.fileExists(atPath: databasePath + "-wal") {
      throw StoreOpenError(.corrupt, "\(databasePath) is missing, but its write-ahead log is there: restore it or remove the log")
    } else {
      try create()
    }
  }

  /// The writer and the readers, with every migration done.
  /// - Parameter sessionsEndedAt: when the process died that noted who is here.
  func pool(sessionsEndedAt: Instant) throws(StoreOpenError) -> DatabasePool {
    try attempt("open \(databasePath)") {
      let pool = try DatabasePool(path: databasePath, configuration: configuration())
      try Schema.migrator.migrate(pool)
      // After the opening, because GRDB sets NORMAL behind every `prepareDatabase`.
      try pool.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA synchronous = \(sync.rawValue)")
        try UserRows.endAllSessions(at: sessionsEndedAt, db)
      }
      return pool
    }
  }

  /// A connection for checkpoints alone. It never waits for a lock: the next tick comes soon.
  func checkpointConnection() throws(StoreOpenError) -> DatabaseQueue {
    try attempt("open \(databasePath)") {
      var configuration = Configuration()
      configuration.label = "throng.store.checkpoint"
      // With synchronous off or unset a checkpoint would not sync the database before the log is used again.
      configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = FULL") }
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
      return try DatabaseQueue(path: databasePath, configuration: configuration)
    }
  }

  private func configuration() -> Configuration {
    var configuration = Configuration()
    configuration.label = "throng.store"
    configuration.maximumReaderCount = options.readers
    configuration.busyMode = .timeout(5)
    configuration.foreignKeysEnabled = false
    let pages = options.autocheckpointPages
    configuration.prepareDatabase { db in
      if !db.configuration.readonly {
        // A passive checkpoint beside a busy writer never gets to the end of the log, and only then the log starts over. From
        // this length on the writer does the rest itself.
        try db.execute(sql: "PRAGMA wal_autocheckpoint = \(pages)")
        try db.execute(sql: "PRAGMA journal_size_limit = \(pages * 4096 * 2)")
      }
    }
    return configuration
  }
}

// MARK: - What is there already

extension Opening {
  private static let magic = Array("SQLite format 3\0".utf8)

  // Read as a file: SQLite would start to recover the log of whatever it is given.
  private func checkHeader() throws(StoreOpenError) {
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

  // Read-only: such a connection does not carry the log into the database when it closes, so a damaged one stays as it was found.
  private func checkContent() throws(StoreOpenError) {
    var configuration = Configuration()
    configuration.readonly = true
    let verdict = try attempt("check \(databasePath)") {
      let connection = try DatabaseQueue(path: databasePath, configuration: configuration)
      let verdict = try connection.read { db in
        (isNewer: try Schema.migrator.hasBeenSuperseded(db), check: try String.fetchOne(db, sql: "PRAGMA quick_check(1)"))
      }
      try connection.close()
      return verdict
    }
    if verdict.isNewer {
      throw StoreOpenError(.newer, "\(databasePath) was written by a newer version of Throng: use that one, or restore a backup")
    }
    guard verdict.check == "ok" else {
      throw StoreOpenError(.corrupt, "\(databasePath) is damaged: \(verdict.check ?? "no answer"); restore a backup")
    }
  }

  // Made aside and renamed, so that a crash leaves a whole database of Throng's or none. SQLite gives the log the mode of the
  // database.
  private func create() throws(StoreOpenError) {
    let unfinished = databasePath + "-new"
    unlink(unfinished)
    let file = open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else {
      throw StoreOpenError(.directory, "cannot write to the directory \(directory): \(lastSystemError())")
    }
    close(file)
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

  private func attempt<Value>(_ what: String, _ body: () throws -> Value) throws(StoreOpenError) -> Value {
    do {
      return try body()
    } catch {
      let failure = StoreError(describing: error)
      throw StoreOpenError(failure.kind == .unavailable ? .unavailable : .corrupt, "cannot \(what): \(failure)")
    }
  }
}
