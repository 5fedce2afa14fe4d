import GRDB
import GroupRuntime

extension StoreError {
  /// The error in the words of the port: an SQLite error by its primary result code, anything else as `.inconsistent`.
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
  /// Whether the surroundings failed (the disk, a lock, memory), not what was asked: such a write may succeed later.
  var isOfTheDisk: Bool {
    switch self {
    case .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL,
      .SQLITE_NOMEM, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_NOLFS, .SQLITE_INTERRUPT, .SQLITE_ABORT:
      true
    // GRDB answers so on a closed connection; arguments that do not match a statement are SQLITE_ERROR or SQLITE_RANGE.
    case .SQLITE_MISUSE:
      true
    default:
      false
    }
  }
}
