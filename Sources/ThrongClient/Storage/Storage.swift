/// Where a client keeps what it knows: texts under keys, in the order of the keys' bytes. Each user of
/// each server has a store of its own, by name (Clients.md, "Memory").
///
/// `SQLiteStorage` keeps them in a file, `MemoryStorage` until the process ends. An application that
/// writes another one throws `StorageError` where an operation fails; any other error counts as
/// `StorageError.Reason.failed`. A storage has one store open at a time, for one client: two clients at
/// the same time have two storages.
public protocol Storage: Sendable {
  /// Opens the store of that name, and makes it where there is none.
  /// - Throws: `StorageError.Reason.inUse` while one is open. Behind `corrupt`, `destroy` removes it.
  func open(_ name: String) async throws

  /// The value under a key; nil = there is none.
  func value(for key: String) async throws -> String?

  /// The rows from `from` up to `to`, which is not among them, in the order of their keys.
  /// - Parameters:
  ///   - limit: the most rows; nil = all.
  ///   - isDescending: the last key first.
  func rows(from: String, to: String, limit: Int?, isDescending: Bool) async throws -> [StorageRow]

  /// One atomic change: reads the keys, asks `decide` once what to do, and does all of it or nothing.
  /// What was changed stays changed where the process is killed afterwards; a change of a key that
  /// begins with `o/` also where the power fails.
  /// - Parameters:
  ///   - keys: those whose values `decide` gets, where they have one. It changes no other key, but for
  ///     `StorageChange.deleteRange`.
  ///   - decide: what it throws is thrown on, and nothing is changed.
  func update(
    _ keys: [String], _ decide: @escaping @Sendable ([String: String]) throws -> [StorageChange]
  ) async throws

  /// Closes the store. Another client, or another process, may open it then.
  func close() async throws

  /// Removes the open store with everything in it, and closes it.
  func destroy() async throws
}

/// One text and its key.
public struct StorageRow: Hashable, Sendable {
  public let key: String
  public let value: String

  /// A row, as a storage of the application's own answers it.
  public init(key: String, value: String) {
    self.key = key
    self.value = value
  }
}

/// A part of a change.
public enum StorageChange: Hashable, Sendable {
  case put(String, value: String)
  /// The key may be unknown.
  case delete(String)
  /// All keys from `from` up to `to`, which is not among them.
  case deleteRange(from: String, to: String)
}

/// A store that could not be opened, read or written. A client goes on in memory, and tells of it with
/// `ClientEvent.storageFailed`.
public struct StorageError: Error, Hashable, Sendable {
  /// Why.
  public enum Reason: String, Sendable {
    /// There is no room.
    case full = "Full"
    /// The system does not let it be opened or written.
    case refused = "Refused"
    /// It holds what no client wrote.
    case corrupt = "Corrupt"
    /// Another client, or another process, has it open.
    case inUse = "InUse"
    /// A later version has written it; it stays as it is.
    case tooNew = "TooNew"
    /// Anything else.
    case failed = "Failed"
  }

  public let reason: Reason
  /// For developers.
  public let message: String

  /// An error, as a storage of the application's own throws it.
  public init(_ reason: Reason, _ message: String) {
    self.reason = reason
    self.message = message.shortened
  }

  /// - Parameter error: of a storage.
  init(_ error: any Error) { self = error as? StorageError ?? StorageError(.failed, "\(error)") }
}

extension StorageError: CustomStringConvertible {
  public var description: String { "\(reason.rawValue): \(message)" }
}
