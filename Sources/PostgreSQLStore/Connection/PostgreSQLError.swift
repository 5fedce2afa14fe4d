import GroupRuntime

/// A failure of a statement or a connection.
struct PostgreSQLError: Error, Sendable, CustomStringConvertible {
  /// The SQLSTATE; nil = the connection is lost.
  let state: String?
  let message: String

  /// `throng_fence` raises it.
  static let fencedState = "TH001"

  var isLost: Bool { state == nil }
  var isFenced: Bool { state == PostgreSQLError.fencedState }
  var isLockTimeout: Bool { state == "55P03" }
  /// The server is a standby now: another one takes writes.
  var isOnStandby: Bool { state == "25006" }

  var description: String { "PostgreSQL \(state ?? "connection"): \(message)" }

  /// Whether the same statement may succeed later: a lost connection, a server that ends or is short
  /// of something, a timeout, a standby, a deadlock.
  var isTemporary: Bool {
    guard let state else { return true }
    return isFenced || ["08", "40", "53", "55", "57", "58"].contains(String(state.prefix(2))) || isOnStandby
      || state == "XX000"
  }

  var storeError: StoreError { StoreError(isTemporary ? .unavailable : .inconsistent, description) }
}

extension StoreError {
  /// The port's error for any that a body of reading or writing throws.
  init(describing error: any Error) {
    switch error {
    case let error as StoreError: self = error
    case let error as PostgreSQLError: self = error.storeError
    default: self.init(.inconsistent, "\(error)")
    }
  }
}
