import GRDB
import GroupRuntime

extension StoreError {
  /// The port's error for an SQLite error, by its primary result code; any other is
  /// `.inconsistent`.
  init(describing error: any Error) {
    switch error {
    case let error as StoreError:
      self = error
    case let error as DatabaseError:
      let kind: Kind = error.resultCode.isOfTheDisk ? .unavailable : .inconsistent
      self.init(kind, "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "no text")")
    default:
      self.init(.inconsistent, "\(error)")
    }
  }
}

extension ResultCode {
  /// Whether the environment failed (the disk, a lock, memory): the same write may succeed later.
  var isOfTheDisk: Bool {
    switch self {
    case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL,
      .SQLITE_NOMEM, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_NOLFS, .SQLITE_INTERRUPT, .SQLITE_ABORT:
      true
    // GRDB's answer on a closed connection; wrong arguments are SQLITE_ERROR or SQLITE_RANGE.
    case .SQLITE_MISUSE:
      true
    default:
      false
    }
  }
}
