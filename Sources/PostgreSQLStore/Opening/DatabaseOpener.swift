import Foundation
import GroupModel
import GroupRuntime
import Logging
import StoreEngine
import StoreTables

/// Makes connections with the settings of the store, and the tables.
struct DatabaseOpener: Sendable {
  let url: String
  let options: PostgreSQLOptions

  /// The oldest PostgreSQL that is tested.
  private static let oldestVersion = 150_000

  /// The use of a connection, which decides its settings.
  enum Use {
    case reading, writing
    /// Keywords decide which index is right.
    case searching
    /// Statements that take as long as they take.
    case building
    /// The lease must hear of a failure before it ends.
    case leasing
  }

  /// Connects with the settings on which the store relies, whatever the URL says of them.
  func connect(for use: Use = .reading) throws(PostgreSQLError) -> PostgreSQLConnection {
    let isBuilding = use == .building
    let lease = Int(options.leaseDuration.wholeMilliseconds)
    let statementTimeout = isBuilding ? 0 : use == .leasing ? lease / 3 : options.statementTimeout
    let lockTimeout = isBuilding ? 0 : use == .leasing ? lease / 6 : options.lockTimeout
    var settings = [
      (name: "statement_timeout", value: "\(statementTimeout)"), (name: "lock_timeout", value: "\(lockTimeout)"),
      // A stopped process must not hold the lock of its row for longer than its lease.
      (name: "idle_in_transaction_session_timeout", value: "\(options.leaseDuration.wholeMilliseconds)"),
      // A statement's plan is made once: its arguments never change which index is right.
      (name: "plan_cache_mode", value: use == .searching ? "force_custom_plan" : "force_generic_plan"),
      (name: "jit", value: "off"), (name: "client_encoding", value: "UTF8"),
      // The fence waits for another's lock, and then sees what the other has written.
      (name: "default_transaction_isolation", value: "read committed"),
    ]
    if use == .writing, !options.syncsCommits { settings.append((name: "synchronous_commit", value: "off")) }
    if isBuilding { settings.append((name: "client_connection_check_interval", value: "2000")) }
    if let schema = options.schema {
      settings += [(name: "search_path", value: "\(schema),public"), (name: "application_name", value: schema)]
    }
    if isBuilding { return try PostgreSQLConnection(url, options: settings, timeout: .max) }
    let timeout = statementTimeout + min(2_000, statementTimeout)
    let connection = try PostgreSQLConnection(url, options: settings, timeout: timeout)
    if use == .writing, options.syncsCommits {
      // An operator's stricter setting stays.
      try connection.run(
        "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
    }
    return connection
  }

  /// A warning where the server itself does not keep what `store.sync=full` promises.
  func durabilityWarning(_ connection: PostgreSQLConnection) throws -> String? {
    guard options.syncsCommits, try connection.rows("SHOW fsync", [], { try $0.text() }).first == "off" else { return nil }
    return "PostgreSQL runs with fsync=off: a power failure may lose what was acknowledged, and damage the database"
  }

  /// Sets the wall clock of a node.
  func readClock(_ connection: PostgreSQLConnection, _ logger: Logger) throws {
    let clocks = options.databaseClocks
    try clocks.correct { (Int64(try connection.count("SELECT \(DatabaseClocks.column)", [])), ()) }
    let lead = clocks.machineLead
    guard abs(lead.wholeMilliseconds) >= 1_000 else { return }
    logger.warning(
      "this machine's clock is wrong, or the database's, which nodes go by",
      metadata: ["aheadBySeconds": .stringConvertible(lead.components.seconds)])
  }

  /// Checks what cannot be mended by a migration.
  func checkServer(_ connection: PostgreSQLConnection) throws {
    guard connection.serverVersion >= Self.oldestVersion else {
      throw PostgreSQLOpenError(.version, "PostgreSQL 15 or later is needed; the server is \(connection.serverVersion)")
    }
    let encoding = try connection.rows("SHOW server_encoding", []) { try $0.text() }.first
    guard encoding == "UTF8" else {
      throw PostgreSQLOpenError(.version, "the database's encoding must be UTF8; it is \(encoding ?? "unknown")")
    }
  }

  /// Checks that all connections of this process can be had. Those of one that was killed end
  /// within its lease.
  func checkConnections(_ connection: PostgreSQLConnection) throws {
    guard options.checksConnections else { return }
    let patience = options.leaseDuration + .milliseconds(500)
    try ConnectionCheck(opener: self, count: options.connectionCount, patience: patience).run(beside: connection)
  }

  /// Creates the tables, or migrates them.
  func prepare(_ connection: PostgreSQLConnection) throws {
    if let schema = options.schema { try connection.runScript("CREATE SCHEMA IF NOT EXISTS \(schema)") }
    try lockMigrations(connection)
    defer { _ = try? connection.run("SELECT pg_advisory_unlock($1)", [Schema.migrationLock]) }
    try connection.runScript("CREATE TABLE IF NOT EXISTS schemaVersion (version bigint NOT NULL)")
    let version = try connection.count("SELECT coalesce(max(version), 0) FROM schemaVersion", [])
    guard version <= Schema.migrations.count else {
      throw PostgreSQLOpenError(
        .version,
        "the database was made by a newer version of Throng: its schema is \(version), known is \(Schema.migrations.count)")
    }
    for (index, migration) in Schema.migrations.enumerated() where index >= version {
      try connection.runScript("BEGIN; \(migration); INSERT INTO schemaVersion VALUES (\(index + 1)); COMMIT;")
    }
    if options.indexesMessages { try MessageTextIndex.checkRequirements(connection) }
  }

  /// How long a start waits for another one that makes the tables.
  private static let migrationPatience = Duration.seconds(60)

  /// Waits until no other process makes or migrates tables: for longer than a statement may take.
  private func lockMigrations(_ connection: PostgreSQLConnection) throws {
    let deadline = SystemClocks().monotonic + Self.migrationPatience
    while try connection.count("SELECT pg_try_advisory_lock($1)::int::bigint", [Schema.migrationLock]) == 0 {
      guard SystemClocks().monotonic < deadline else {
        throw PostgreSQLOpenError(.locked, "another process has been making the tables for a minute")
      }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }
}
