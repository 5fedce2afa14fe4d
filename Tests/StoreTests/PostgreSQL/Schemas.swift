import Foundation
import GroupModel
import Logging
import StoreEngine
import ThrongTestKit

@testable import PostgreSQLStore

/// A schema of a test's own, which is dropped with the test.
func withSchema(_ body: (_ url: String, _ schema: String) async throws -> Void) async throws {
  let server = try PostgreSQLServer.shared.get()
  let schema = "t" + UUID().uuidString.lowercased().replacing("-", with: "")
  let outcome: Result<Void, any Error>
  do { outcome = .success(try await body(server.url, schema)) } catch { outcome = .failure(error) }
  let connection = try PostgreSQLConnection(server.url, options: [], timeout: 60_000)
  try connection.runScript("DROP SCHEMA IF EXISTS \(schema) CASCADE")
  try outcome.get()
}

/// A store with a stopped clock and without scheduled maintenance: tests call `runRound()`. No statement
/// takes too long on a machine that is busy elsewhere.
func openPostgreSQL(
  _ url: String, _ schema: String, logger: Logger? = nil, _ tune: (inout PostgreSQLOptions) -> Void = { _ in }
) throws(PostgreSQLOpenError) -> PostgreSQLStore {
  var options = PostgreSQLOptions()
  options.maintenanceInterval = nil
  options.clocks = ManualClocks(at: 1_000_000)
  options.alarms = ManualAlarms()
  (options.statementTimeout, options.lockTimeout, options.commitTimeout) = (60_000, 60_000, 60_000)
  options.readers = 2
  options.schema = schema
  tune(&options)
  return try PostgreSQLStore.open(url, logger: logger ?? RecordedLog().logger, options: options)
}

func withPostgreSQL(
  _ tune: (inout PostgreSQLOptions) -> Void = { _ in }, _ body: (PostgreSQLStore) async throws -> Void
) async throws {
  try await withSchema { url, schema in
    let store = try openPostgreSQL(url, schema, tune)
    defer { store.close() }
    try await body(store)
  }
}
