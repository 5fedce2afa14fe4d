import GRDB
import GRDBSQLite
import GroupRuntime

/// A failure of the disk after which nobody can say what is durable: that of a sync. Nothing may be
/// answered or written any more, and the process has to end: the next start recovers the log, and
/// finds the transaction or not.
///
/// To try again would be wrong: Linux forgets what a failed sync could not write, and the next sync
/// succeeds without it.
package struct DurabilityFault: Error, Sendable, CustomStringConvertible {
  /// What failed.
  package enum Step: Sendable { case commit, checkpoint }

  package let step: Step
  /// SQLite's extended result code and words, for the log.
  package let description: String
  /// The system's error number (`errno`); nil where SQLite does not know it.
  package let systemError: Int32?

  /// - Parameters:
  ///   - description: for the log.
  ///   - systemError: an `errno`.
  package init(_ step: Step, _ description: String, systemError: Int32?) {
    (self.step, self.description, self.systemError) = (step, description, systemError)
  }

  /// The fault behind an error of SQLite. Call it before anything else uses the connection.
  init(_ step: Step, _ error: any Error, in db: Database) {
    self.init(step, "\(StoreError(describing: error))", systemError: Self.lastSystemError(db))
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
