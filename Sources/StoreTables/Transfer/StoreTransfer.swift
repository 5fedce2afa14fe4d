import GroupRuntime

/// A store whose rows are read, in the order of their keys. Nothing else uses it meanwhile.
public protocol RowSource {
  /// The number of rows of a table.
  func count(of table: StoredTable) throws(StoreError) -> Int
  /// The next rows behind one; fewer than `limit` are the last.
  func rows(of table: StoredTable, behind last: StoredTable.Row?, limit: Int) throws(StoreError) -> [StoredTable.Row]
  /// The last numbers that were given.
  func numbers() throws(StoreError) -> StoredNumbers
}

/// How far a table is copied.
public struct TransferProgress: Sendable, Equatable {
  public var checksum: RowChecksum
  /// The key of the last row that was written; nil = none was.
  public var last: StoredTable.Row?
  public var isComplete: Bool

  /// With everything given.
  public init(checksum: RowChecksum = RowChecksum(), last: StoredTable.Row? = nil, isComplete: Bool = false) {
    self.checksum = checksum
    self.last = last
    self.isComplete = isComplete
  }
}

/// A store that is filled with rows. Rows and the note of them become durable together.
public protocol RowTarget {
  /// How far a table is, also after an interruption.
  func progress(of table: StoredTable) throws(StoreError) -> TransferProgress
  /// Writes rows behind those that were written before.
  func write(_ rows: [StoredTable.Row], to table: StoredTable, _ progress: TransferProgress) throws(StoreError)
  /// The rows that were written, in the order of their keys.
  func rows(of table: StoredTable, behind last: StoredTable.Row?, limit: Int) throws(StoreError) -> [StoredTable.Row]
  /// Lets a server use the store, with numbers behind those that were given.
  func finish(_ numbers: StoredNumbers) throws(StoreError)
}

/// Copies all rows of a store into an empty one, and compares them. It can be interrupted at any
/// point, and goes on behind the last page.
public struct StoreTransfer {
  /// The state of a table.
  public enum Report: Sendable, Equatable {
    case resumed(StoredTable, rows: Int64)
    case copying(StoredTable, rows: Int64, of: Int)
    case copied(StoredTable, RowChecksum)
    case verified(StoredTable, RowChecksum)
  }

  private let source: any RowSource
  private let target: any RowTarget
  private let rowsPerPage: Int
  private let report: (Report) -> Void

  /// - Parameter report: gets the progress, after each page.
  public init(from source: any RowSource, to target: any RowTarget, rowsPerPage: Int, report: @escaping (Report) -> Void) {
    self.source = source
    self.target = target
    self.rowsPerPage = rowsPerPage
    self.report = report
  }

  /// Copies what is not copied yet, reads everything back, and finishes.
  /// - Throws: `.inconsistent` where the copy differs, or as the stores do.
  public func run() throws(StoreError) {
    var copied: [(table: StoredTable, checksum: RowChecksum)] = []
    for table in StoredTable.all { copied.append((table, try copy(table))) }
    for (table, expected) in copied {
      let found = try checksum(of: table)
      guard found == expected else {
        throw StoreError(.inconsistent, "\(table.name): the copy differs (\(found.count) rows of \(expected.count))")
      }
      report(.verified(table, found))
    }
    try target.finish(try source.numbers())
  }

  private func copy(_ table: StoredTable) throws(StoreError) -> RowChecksum {
    var progress = try target.progress(of: table)
    if progress.isComplete { return progress.checksum }
    let total = try source.count(of: table)
    if progress.checksum.count > 0 { report(.resumed(table, rows: progress.checksum.count)) }
    repeat {
      let rows = try source.rows(of: table, behind: progress.last, limit: rowsPerPage)
      for row in rows { progress.checksum.add(row) }
      progress.last = rows.last.map { Array($0.prefix(table.keyCount)) } ?? progress.last
      progress.isComplete = rows.count < rowsPerPage
      try target.write(rows, to: table, progress)
      report(.copying(table, rows: progress.checksum.count, of: total))
    } while !progress.isComplete
    guard progress.checksum.count == total else {
      throw StoreError(.inconsistent, "\(table.name): \(progress.checksum.count) rows were copied of \(total)")
    }
    report(.copied(table, progress.checksum))
    return progress.checksum
  }

  private func checksum(of table: StoredTable) throws(StoreError) -> RowChecksum {
    var checksum = RowChecksum()
    var last: StoredTable.Row?
    repeat {
      let rows = try target.rows(of: table, behind: last, limit: rowsPerPage)
      for row in rows { checksum.add(row) }
      last = rows.count < rowsPerPage ? nil : rows.last
    } while last != nil
    return checksum
  }
}
