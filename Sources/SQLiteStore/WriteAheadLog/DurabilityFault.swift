import GRDB
import GRDBSQLite
import GroupRuntime

/// A failure of the disk after which nobody can say what is durable: of a sync, or of a COMMIT whose
/// frames were written before. Nothing may be answered or written any more. The process has to end:
/// the next start recovers the log, and finds the transaction or not.
///
/// To try again would be wrong: Linux forgets what a failed sync could not write, and the next sync
/// succeeds without it.
public struct DurabilityFault: Error, Sendable, CustomStringConvertible {
  /// What failed.
  public enum Step: String, Sendable { case commit, checkpoint }

  public let step: Step
  /// SQLite's extended result code and words, for the log.
  public let description: String
  /// The system's error number (`errno`); nil where SQLite does not know it.
  public let systemError: Int32?

  /// - Parameters:
  ///   - description: for the log.
  ///   - systemError: an `errno`.
  public init(_ step: Step, _ description: String, systemError: Int32?) {
    (self.step, self.description, self.systemError) = (step, description, systemError)
  }

  private init(_ step: Step, _ error: DatabaseError, in db: Database) {
    self.init(step, "\(StoreError(describing: error))", systemError: Self.lastSystemError(db))
  }

  /// The fault behind a COMMIT that failed; nil where a restart surely does not find the transaction.
  /// Call it before anything else uses the connection.
  init?(ofCommit error: any Error, in db: Database) {
    guard let error = error as? DatabaseError, error.mayHaveCommitted else { return nil }
    self.init(.commit, error, in: db)
  }

  /// The fault behind a checkpoint that failed; nil where it was no sync: what was to be copied is
  /// copied by the next one.
  init?(ofCheckpoint error: DatabaseError, in db: Database) {
    guard error.extendedResultCode == .SQLITE_IOERR_FSYNC else { return nil }
    self.init(.checkpoint, error, in: db)
  }

  /// The number that the last failed call on the log, or on the database's file, has left. A failed
  /// COMMIT leaves none in `sqlite3_system_errno`.
  private static func lastSystemError(_ db: Database) -> Int32? {
    for which in [SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER] {
      var file: UnsafeMutablePointer<sqlite3_file>?
      var number: Int32 = 0
      guard sqlite3_file_control(db.sqliteConnection, "main", which, &file) == SQLITE_OK, let methods = file?.pointee.pMethods,
        methods.pointee.xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK, number != 0
      else { continue }
      return number
    }
    return nil
  }
}

extension DatabaseError {
  /// Whether a restart may find a transaction whose COMMIT failed so.
  ///
  /// In SQLite's log the frame that ends a transaction is written last, and checksums cover every
  /// frame (sqlite3WalFrames): where a write or a read fails, the transaction is not whole, and so
  /// not there. That holds for SQLITE_FULL too. Behind the last frame come the sync and the index in
  /// shared memory: where these fail (SQLITE_IOERR_FSYNC, _SHMSIZE, _SHMMAP, no memory), it is there,
  /// and may or may not be on the disk. What SQLite refuses for another reason (a lock, a constraint,
  /// SQLITE_READONLY) it refuses before it writes.
  fileprivate var mayHaveCommitted: Bool {
    switch extendedResultCode {
    case .SQLITE_IOERR_WRITE, .SQLITE_IOERR_READ, .SQLITE_IOERR_SHORT_READ: false
    case .SQLITE_IOERR, .SQLITE_NOMEM: true
    default: false
    }
  }
}
