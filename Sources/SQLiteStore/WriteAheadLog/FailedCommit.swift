import GRDB

/// What a COMMIT that failed has left in the log.
///
/// In SQLite's log the frame that ends a transaction is written last, and checksums cover every frame.
/// Behind it come the sync, and only then the pages of the index in shared memory, with the log's end
/// (sqlite3WalFrames).
enum FailedCommit: Equatable {
  /// No whole transaction: a write or a read has failed, or SQLite has refused before it wrote (a
  /// lock, a constraint, SQLITE_READONLY). SQLITE_FULL is a write.
  case partial
  /// A whole one, perhaps: it was written, and its sync failed.
  case unknown
  /// A whole one behind the log's end: it was synced, and the index could not grow, as on a full disk
  /// where the log lies in old bytes. The next transaction is written over it.
  case behindTheEnd

  init(_ error: any Error) {
    guard let error = error as? DatabaseError else {
      self = .partial
      return
    }
    switch error.extendedResultCode {
    case .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC: self = .unknown
    case .SQLITE_IOERR_WRITE, .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ: self = .partial
    // SQLITE_IOERR_SHMSIZE and _SHMMAP, no memory for the index; and what nobody knows.
    case .SQLITE_IOERR, .SQLITE_NOMEM: self = .behindTheEnd
    default: self = .partial
    }
  }

  /// Whether the error is that of a sync.
  static func isOfASync(_ error: any Error) -> Bool { FailedCommit(error) == .unknown }

  /// Whether the error is that of an index that cannot grow.
  static func isOfTheIndex(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return false }
    return error.extendedResultCode == .SQLITE_IOERR_SHMSIZE || error.extendedResultCode == .SQLITE_IOERR_SHMMAP
  }
}
