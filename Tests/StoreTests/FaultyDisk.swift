import Dispatch
import Foundation
import GRDBSQLite
import Synchronization

/// A disk that fails, or is slow, on demand: a shim over SQLite's file system for one directory.
final class FaultyDisk: Sendable {
  enum Operation: Hashable, Sendable { case open, read, write, truncate, share, sync }

  fileprivate struct Fault {
    let code: Int32
    /// How often the operation succeeds before.
    var passing = 0
    /// Half of the bytes are written.
    var tears = false
    /// Nothing is written or synced from then on.
    var isLast = false
    /// The end of the names of the files.
    var suffix = ""
  }

  fileprivate struct State {
    var faults: [Operation: Fault] = [:]
    var logSyncs = 0
    var reads = 0
    var logSyncsBeforeHold: Int?
  }

  fileprivate let state = Mutex(State())
  private let held = DispatchSemaphore(value: 0)
  private let gate = DispatchSemaphore(value: 0)

  /// Installs the shim for every file that is opened below the directory from now on.
  init(directory: String) {
    FaultyDisk.register(self, for: directory)
  }

  /// From now on the operation fails with that SQLite code; nil heals it.
  /// - Parameters:
  ///   - suffix: of the files whose writes and syncs fail; all by default.
  ///   - passing: how often it succeeds before.
  ///   - tears: a write that fails has written half of its bytes.
  ///   - isLast: nothing is written or synced from then on.
  func fail(
    _ operation: Operation, _ code: Int32?, of suffix: String = "", passing: Int = 0, tears: Bool = false, isLast: Bool = false
  ) {
    state.withLock { state in
      state.faults[operation] = code.map { Fault(code: $0, passing: passing, tears: tears, isLast: isLast, suffix: suffix) }
    }
  }

  /// How often something was read.
  var reads: Int { state.withLock { $0.reads } }

  /// Heals everything.
  func heal() {
    state.withLock { $0.faults = [:] }
  }

  /// How often the log was synced, successfully.
  var logSyncs: Int { state.withLock { $0.logSyncs } }

  /// Stops the writer in a sync of the log.
  /// - Parameter passing: how many syncs go through before.
  func holdSync(passing: Int = 0) {
    state.withLock { $0.logSyncsBeforeHold = passing }
  }

  /// Returns when the writer stands in the sync.
  func writerIsHeld() async {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.held.wait()
        continuation.resume()
      }
    }
  }

  /// Lets the held writer go on.
  func release() { gate.signal() }

  /// Counts the operation.
  fileprivate func nextFault(_ operation: Operation, of path: String) -> Fault? {
    state.withLock { state in
      guard let fault = state.faults[operation], path.hasSuffix(fault.suffix) else { return nil }
      guard fault.passing == 0 else {
        state.faults[operation]?.passing -= 1
        return nil
      }
      if fault.isLast {
        state.faults[.write] = Fault(code: SQLITE_IOERR | (3 << 8))
        state.faults[.sync] = Fault(code: SQLITE_IOERR | (4 << 8))
      }
      return fault
    }
  }

  fileprivate func fault(_ operation: Operation, of path: String) -> Int32? { nextFault(operation, of: path)?.code }

  fileprivate func passSync(of path: String) {
    guard path.hasSuffix("-wal") else { return }
    let holds = state.withLock { state in
      state.logSyncs += 1
      guard let passing = state.logSyncsBeforeHold else { return false }
      state.logSyncsBeforeHold = passing == 0 ? nil : passing - 1
      return passing == 0
    }
    if holds {
      held.signal()
      gate.wait()
    }
  }
}

// MARK: - The shim, in SQLite's C interface

/// An open file of the shim.
private struct ShimFile: @unchecked Sendable {
  let path: String
  let disk: FaultyDisk
  /// SQLite's own table of functions: constant, and never freed.
  let methods: UnsafePointer<sqlite3_io_methods>
}

/// Finds the disk of a file: SQLite's callbacks know the file alone.
private struct ShimState: @unchecked Sendable {
  var disks: [String: FaultyDisk] = [:]
  var files: [UnsafeMutablePointer<sqlite3_file>: ShimFile] = [:]
  /// The shim's table for each table of SQLite's; never freed.
  var tables: [UnsafePointer<sqlite3_io_methods>: UnsafePointer<sqlite3_io_methods>] = [:]

  mutating func opened(_ file: UnsafeMutablePointer<sqlite3_file>, _ path: String, _ disk: FaultyDisk) {
    let methods = file.pointee.pMethods!
    files[file] = ShimFile(path: path, disk: disk, methods: methods)
    let table = tables[methods] ?? shimTable(before: methods)
    tables[methods] = table
    file.pointee.pMethods = table
  }
}

private let shimState = Mutex(ShimState())

// Both are written before the shim is registered, and then only read.
nonisolated(unsafe) private let real: UnsafeMutablePointer<sqlite3_vfs> = sqlite3_vfs_find("unix")
nonisolated(unsafe) private let shim = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)

extension FaultyDisk {
  private static func register(_ disk: FaultyDisk, for directory: String) {
    _ = installation
    shimState.withLock { $0.disks[directory] = disk }
  }

  private static let installation: Void = {
    shim.initialize(to: real.pointee)
    shim.pointee.zName = UnsafePointer(strdup("faulty"))
    shim.pointee.xOpen = { _, name, file, flags, outFlags in
      let path = name.map { String(cString: $0) } ?? ""
      let disk = shimState.withLock { shimState in shimState.disks.first { path.hasPrefix($0.key) }?.value }
      if let code = disk?.fault(.open, of: path) {
        file?.pointee.pMethods = nil
        return code
      }
      let code = real.pointee.xOpen(real, name, file, flags, outFlags)
      if code == SQLITE_OK, let disk, let file { shimState.withLock { $0.opened(file, path, disk) } }
      return code
    }
    precondition(sqlite3_vfs_register(shim, 1) == SQLITE_OK)
  }()
}

private func behind(_ file: UnsafeMutablePointer<sqlite3_file>?) -> ShimFile {
  shimState.withLock { $0.files[file!]! }
}

private func shimTable(before methods: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods> {
  let table = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
  table.initialize(to: methods.pointee)
  table.pointee.xClose = { file in
    let methods = behind(file).methods
    shimState.withLock { $0.files[file!] = nil }
    return methods.pointee.xClose(file)
  }
  table.pointee.xRead = { file, bytes, count, offset in
    let own = behind(file)
    own.disk.state.withLock { $0.reads += 1 }
    return own.disk.fault(.read, of: own.path) ?? own.methods.pointee.xRead(file, bytes, count, offset)
  }
  table.pointee.xWrite = { file, bytes, count, offset in
    let own = behind(file)
    guard let fault = own.disk.nextFault(.write, of: own.path) else {
      return own.methods.pointee.xWrite(file, bytes, count, offset)
    }
    if fault.tears { _ = own.methods.pointee.xWrite(file, bytes, count / 2, offset) }
    return fault.code
  }
  table.pointee.xTruncate = { file, size in
    let own = behind(file)
    return own.disk.fault(.truncate, of: own.path) ?? own.methods.pointee.xTruncate(file, size)
  }
  // The first page of the index is there as soon as the log is open.
  table.pointee.xShmMap = { file, page, size, extends, memory in
    let own = behind(file)
    if page > 0, let code = own.disk.fault(.share, of: own.path) { return code }
    return own.methods.pointee.xShmMap(file, page, size, extends, memory)
  }
  table.pointee.xSync = { file, flags in
    let own = behind(file)
    if let code = own.disk.fault(.sync, of: own.path) { return code }
    let code = own.methods.pointee.xSync(file, flags)
    if code == SQLITE_OK { own.disk.passSync(of: own.path) }
    return code
  }
  return UnsafePointer(table)
}
