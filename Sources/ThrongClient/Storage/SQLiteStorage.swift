import Dispatch

#if canImport(Glibc)
  import FoundationEssentials
  import Glibc
#else
  import Foundation
#endif

/// Keeps each store in a file of the system's SQLite. One process at a time may have a store open: a lock
/// on a file beside it says so.
///
/// The files hold messages in clear. They are readable to the process's user alone, and belong into a
/// directory of the app's own, such as Application Support: iOS ends an app that is stopped while it
/// holds a lock in a container that it shares with others.
public final class SQLiteStorage: Storage, @unchecked Sendable {
  // Unchecked: `store` is read and written by blocks of `queue` alone, which run one after the other.
  private let queue = DispatchQueue(label: "throng.storage")
  private let directory: URL
  private var store: OpenStore?

  /// - Parameter directory: of the files; it is made where there is none.
  public init(directory: URL) { self.directory = directory }

  /// On the queue, because SQLite blocks its thread.
  private func perform<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try work() }) }
    }
  }

  private var database: SQLiteDatabase {
    get throws {
      guard let store, let database = store.database else { throw StorageError(.failed, "no store is open") }
      return database
    }
  }

  public func open(_ name: String) async throws {
    try await perform { [self] in
      guard store == nil else { throw StorageError(.inUse, "a client has it open") }
      let files = try OpenStore(name, in: directory)
      do {
        try files.open()
      } catch let error as StorageError where error.reason == .corrupt {
        // It can be removed.
        store = files
        throw error
      }
      store = files
    }
  }

  public func value(for key: String) async throws -> String? { try await perform { [self] in try database.value(for: key) } }

  public func rows(from: String, to: String, limit: Int?, isDescending: Bool) async throws -> [StorageRow] {
    try await perform { [self] in try database.rows(from: from, to: to, limit: limit, isDescending: isDescending) }
  }

  public func update(
    _ keys: [String], _ decide: @escaping @Sendable ([String: String]) throws -> [StorageChange]
  ) async throws {
    // What waits to be sent must outlive a loss of power: nobody else has it.
    let isSynchronous = keys.contains { $0.hasPrefix("o/") }
    try await perform { [self] in try database.update(keys, isSynchronous: isSynchronous, decide) }
  }

  public func close() async throws { try await perform { [self] in store = nil } }

  public func destroy() async throws {
    try await perform { [self] in
      defer { store = nil }
      try store?.remove()
    }
  }
}

/// The files of one open store.
private final class OpenStore {
  /// File systems take names of 255 bytes; SQLite adds `-journal`.
  private static let longestName = 240

  private let path: String
  private let lock: FileLock
  /// Nil = it is damaged, or removed.
  private(set) var database: SQLiteDatabase?

  /// Locks the files.
  /// - Throws: a StorageError.
  init(_ name: String, in directory: URL) throws {
    let file = StoreKeys.part(name) + ".throng.sqlite3"
    guard file.utf8.count <= OpenStore.longestName else { throw StorageError(.refused, "the name of the store is too long") }
    do {
      try FileManager.default.createDirectory(
        at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw StorageError(.refused, "\(error)")
    }
    path = directory.path + "/" + file
    lock = try FileLock(path + ".lock")
  }

  deinit {
    // Before the lock is given up.
    database = nil
  }

  func open() throws {
    try OpenStore.makePrivate(path)
    database = try SQLiteDatabase(path: path)
  }

  /// SQLite takes over the rights of the file that it finds.
  private static func makePrivate(_ path: String) throws {
    let descriptor = openFile(path)
    guard descriptor >= 0 else { throw StorageError(systemError: errno, path) }
    closeFile(descriptor)
  }

  /// Removes everything; the store is closed then. The lock goes last, so that nobody opens what is being removed.
  func remove() throws {
    database = nil
    for suffix in ["", "-wal", "-shm", "-journal", ".lock"] {
      guard unlink(path + suffix) != 0, errno != ENOENT else { continue }
      throw StorageError(systemError: errno, path + suffix)
    }
  }
}

/// The lock on a file, until the end of the object or of the process.
private final class FileLock {
  /// How often the file is opened anew because somebody has removed it meanwhile.
  private static let tries = 10

  private let descriptor: Int32

  /// - Throws: a StorageError.
  init(_ path: String) throws {
    for _ in 0..<FileLock.tries {
      let descriptor = openFile(path)
      guard descriptor >= 0 else { throw StorageError(systemError: errno, path) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let reason = errno
        closeFile(descriptor)
        throw reason == EWOULDBLOCK
          ? StorageError(.inUse, "another client or process has it open") : StorageError(systemError: reason, path)
      }
      if FileLock.isFile(descriptor, at: path) {
        self.descriptor = descriptor
        return
      }
      closeFile(descriptor)
    }
    throw StorageError(.inUse, "others open and remove it")
  }

  deinit { closeFile(descriptor) }

  /// Whether the path still leads to the file: a lock on one that was removed keeps nobody out.
  private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
    var (own, there) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && stat(path, &there) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino
  }
}

/// Opens a file for reading and writing, and makes it where there is none; negative = `errno` says why not.
private func openFile(_ path: String) -> Int32 { open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }

/// A file that was not written through this descriptor has nothing to lose where this fails.
private func closeFile(_ descriptor: Int32) { _ = close(descriptor) }

extension StorageError {
  /// - Parameter systemError: `errno`.
  fileprivate init(systemError: Int32, _ path: String) {
    let reason: Reason = systemError == ENOSPC || systemError == EDQUOT ? .full : .refused
    self.init(reason, "\(path): \(String(cString: strerror(systemError)))")
  }
}
