import Foundation
import GroupRuntime
import PostgreSQLStore
import SQLiteStore
import StoreTables

/// `throng migrate`: copies a database in a file into a PostgreSQL database.
public struct Migration {
  private let source: SQLiteExport
  private let target: PostgreSQLImport
  private let report: (String) -> Void
  private let rowsPerPage: Int

  /// Opens both databases, and refuses those that a server uses.
  /// - Parameters:
  ///   - source: a `store.url` of a file.
  ///   - directory: the data directory.
  ///   - target: a `store.url` of PostgreSQL.
  ///   - report: gets lines about the progress.
  public init(
    from source: String, in directory: String, to target: String, rowsPerPage: Int = 2_000, report: @escaping (String) -> Void
  ) throws(StartError) {
    guard source.hasPrefix("sqlite:") else { throw StartError("--from takes sqlite: or sqlite:PATH") }
    guard ["postgres://", "postgresql://"].contains(where: target.hasPrefix) else {
      throw StartError("--to takes postgres://HOST/DATABASE")
    }
    let path = String(source.dropFirst("sqlite:".count))
    let export = try StartError.translating { () throws(StoreOpenError) in
      try SQLiteExport(directory: directory, database: path.isEmpty ? nil : path)
    }
    self.source = export
    do {
      let identity = try export.identity()
      self.target = try PostgreSQLImport(target, from: identity)
    } catch {
      export.close()
      throw StartError("\(error)")
    }
    self.report = report
    self.rowsPerPage = rowsPerPage
  }

  /// Copies everything that is not copied yet, compares all of it, and lets a server begin.
  /// - Throws: `StartError` with a sentence for the operator; the next run goes on behind the
  ///   last page.
  public func run() throws(StartError) {
    defer { source.close() }
    if let note = target.note { report(note) }
    var told = ContinuousClock.now
    let transfer = StoreTransfer(from: source, to: target, rowsPerPage: rowsPerPage) { [report] progress in
      switch progress {
      case .resumed(let table, let rows): report("\(table.name): goes on behind \(rows) rows")
      case .copying(let table, let rows, let total):
        guard ContinuousClock.now - told >= .seconds(1) else { return }
        told = .now
        report("\(table.name): \(rows) of \(total) rows")
      case .copied(let table, let checksum): if checksum.count > 0 { report("\(table.name): \(checksum.count) rows copied") }
      case .verified(let table, let checksum):
        if checksum.count > 0 { report("\(table.name): verified, checksum \(String(checksum.sum, radix: 16))") }
      }
    }
    try checkSource()
    do throws(StoreError) {
      try transfer.run()
    } catch {
      let advice = error.kind == .unavailable ? "run the same command again to go on" : "begin again with an empty database"
      throw StartError("\(error); \(advice)")
    }
    report("done: a server may begin with the new database")
  }

  /// Nothing is copied that no store can read.
  private func checkSource() throws(StartError) {
    report("reading the old database")
    let faults: [String]
    do throws(StoreError) { faults = try source.faults() } catch { throw StartError("\(error)") }
    guard let first = faults.first else { return }
    throw StartError("the old database has \(faults.count) faults, which throng store check tells; the first: \(first)")
  }
}
