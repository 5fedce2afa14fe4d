import GRDB
import GRDBSQLite
import GroupRuntime

/// The log of an open database, through SQLite's own file handles: opening and closing a descriptor
/// would lose SQLite's locks.
struct OpenWriteAheadLog {
  typealias File = UnsafeMutablePointer<sqlite3_file>

  private let database: File
  private let log: File

  /// nil where the connection has not opened the log yet. Valid only within the same turn of the
  /// connection's queue.
  init?(of db: Database) throws {
    guard let database = try Self.file(SQLITE_FCNTL_FILE_POINTER, db), let log = try Self.file(SQLITE_FCNTL_JOURNAL_POINTER, db)
    else { return nil }
    (self.database, self.log) = (database, log)
  }

  private static func file(_ code: Int32, _ db: Database) throws -> File? {
    var file: File?
    try check(sqlite3_file_control(db.sqliteConnection, "main", code, &file), "find the log")
    return file?.pointee.pMethods == nil ? nil : file
  }

  /// The content of the index, which all connections share.
  struct Index {
    /// The end of the log as every connection knows it; nil where the log has no frames yet.
    let end: WriteAheadLog.Position?
    /// The number of its frames that the database has.
    let checkpointed: Int
  }

  /// nil while another connection changes it: never with the write lock.
  func index() throws -> Index? {
    var region: UnsafeMutableRawPointer?
    // SQLite has mapped the pages of the index already, each of 32 KiB.
    try check(database.pointee.pMethods.pointee.xShmMap(database, 0, 32_768, 0, &region), "read the index of the log")
    guard let region else { return nil }
    // Two copies of 48 bytes, in the machine's byte order
    // (https://sqlite.org/walformat.html#the_wal_index_file_format).
    let bytes = UnsafeRawBufferPointer(start: region, count: 100)
    guard bytes[..<48].elementsEqual(bytes[48..<96]), bytes[12] == 1 else { return nil }
    let pageBytes = Int(bytes.load(fromByteOffset: 14, as: UInt16.self))
    let end = WriteAheadLog.Position(
      pageBytes: pageBytes == 1 ? 65_536 : pageBytes, salt: WriteAheadLog.salt(bytes, 32),
      isBigEndian: bytes[13] == 1, frames: Int(bytes.load(fromByteOffset: 16, as: UInt32.self)),
      checksum: WriteAheadLog.Checksum(
        bytes.load(fromByteOffset: 24, as: UInt32.self), bytes.load(fromByteOffset: 28, as: UInt32.self)))
    return Index(end: pageBytes == 0 ? nil : end, checkpointed: Int(bytes.load(fromByteOffset: 96, as: UInt32.self)))
  }

  /// The frames that a restart would recover beyond the known end; nil where there are none. Call
  /// it with the write lock.
  func unknownCommits() throws -> (start: WriteAheadLog.Position, end: WriteAheadLog.Position)? {
    guard let start = try unknownStart() else { return nil }
    let end = try start.afterCommits(read)
    return end == start ? nil : (start, end)
  }

  private func unknownStart() throws -> WriteAheadLog.Position? {
    guard let index = try index() else { throw StoreError(.unavailable, "the index of the log is not whole") }
    if let end = index.end, end.frames > 0 { return end }
    // The first transaction of a log: the file's header is newer than the index, or it belongs to
    // the log before, whose frames the database has.
    guard let header = try WriteAheadLog.Header(read) else { return nil }
    return index.end == nil || index.end?.salt == header.salt ? WriteAheadLog.Position(header) : nil
  }

  private func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Bool {
    let code = log.pointee.pMethods.pointee.xRead(log, bytes.baseAddress, Int32(bytes.count), offset)
    // SQLITE_IOERR_SHORT_READ, a macro that Swift does not see.
    if code == SQLITE_IOERR | (2 << 8) { return false }
    try check(code, "read the log")
    return true
  }

  /// Lengthens a log of no bytes by one without meaning. Call it with the write lock.
  func lengthenIfEmpty() throws {
    var size: sqlite3_int64 = 0
    let methods = log.pointee.pMethods.pointee
    try check(methods.xFileSize(log, &size), "measure the log")
    if size == 0 { _ = methods.xTruncate(log, 1) }
  }

  /// Truncates the file before a frame, or invalidates the frame: either is enough.
  func cut(at position: WriteAheadLog.Position) {
    let methods = log.pointee.pMethods.pointee
    if methods.xTruncate(log, position.offset) != SQLITE_OK {
      let nothing = [UInt8](repeating: 0, count: WriteAheadLog.frameHeaderBytes)
      _ = methods.xWrite(log, nothing, Int32(nothing.count), position.offset)
    }
    // The result does not matter: the caller reads again what a restart would find.
    _ = methods.xSync(log, SQLITE_SYNC_NORMAL)
  }
}

private func check(_ code: Int32, _ what: String) throws {
  guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "cannot \(what)") }
}
