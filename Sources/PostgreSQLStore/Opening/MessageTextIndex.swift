import Foundation
import GroupModel
import GroupRuntime
import Logging
import StoreTables

/// The index of messages' texts by trigrams (`search.messages`). PostgreSQL keeps it up to date
/// with each message; `PostgreSQLCleanup` merges what came lately, so that no commit has to.
enum MessageTextIndex {
  /// By the collation, whose folding the index holds.
  private static func name(_ folding: MessageFolding) -> String {
    folding.collation == "und-x-icu" ? "messageByFoldedText" : "messageByBuiltinFoldedText"
  }

  /// All that there may be; the last is that of earlier releases, which went by the database's
  /// collation.
  private static let names = ["messageByFoldedText", "messageByBuiltinFoldedText", "messageByText"]
  /// With fewer messages the index is made at once, which takes a second at most.
  private static let fewMessages = 20_000
  /// Only one process builds the index at a time. The number is arbitrary, and fixed.
  private static let buildLock: Int64 = 0x5468_7268
  /// Only one process decides at a time whether the index is made, at its start.
  private static let prepareLock: Int64 = 0x5468_7267

  /// Makes sure that the database can have the index.
  static func checkRequirements(_ connection: PostgreSQLConnection) throws {
    do throws(PostgreSQLError) {
      try connection.run("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    } catch {
      throw PostgreSQLOpenError(
        .unavailable, "search.messages needs the extension pg_trgm (CREATE EXTENSION pg_trgm): \(error.message)")
    }
  }

  private enum State { case missing, invalid, valid }

  private static func state(_ connection: PostgreSQLConnection, _ name: String) throws -> State {
    let valid = try connection.rows("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", [name]) {
      try $0.flag()
    }.first
    return valid.map { $0 ? .valid : .invalid } ?? .missing
  }

  /// Makes the index where it is missing, or drops one that is switched off or of another folding.
  /// - Parameter folding: nil = it is off.
  /// - Returns: whether it has to be built in the background.
  static func prepare(_ connection: PostgreSQLConnection, _ folding: MessageFolding?, _ logger: Logger) throws -> Bool {
    // A failure ends the connection, and the lock with it.
    try connection.run("SELECT pg_advisory_lock($1)", [prepareLock])
    let mustBuild = try prepareLocked(connection, folding, logger)
    try connection.run("SELECT pg_advisory_unlock($1)", [prepareLock])
    return mustBuild
  }

  private static func prepareLocked(
    _ connection: PostgreSQLConnection, _ folding: MessageFolding?, _ logger: Logger
  ) throws -> Bool {
    for other in names where other != folding.map(name) {
      if case .missing = try state(connection, other) { continue }
      logger.notice("an index of messages is dropped", metadata: ["index": "\(other)"])
      try connection.run("DROP INDEX IF EXISTS \(other)")
    }
    guard let folding else { return false }
    switch try state(connection, name(folding)) {
    case .valid: return false
    case .invalid: return true
    case .missing:
      logger.notice("messages are indexed from now on")
      let count = try connection.count("SELECT count(*) FROM (SELECT 1 FROM message LIMIT \(fewMessages)) AS found", [])
      guard count < fewMessages else { return true }
      try connection.run(creation(connection, folding, concurrently: false))
      return false
    }
  }

  /// The extension may be in any schema.
  static func extensionSchema(_ connection: PostgreSQLConnection) throws -> String {
    let schema = try connection.rows(
      "SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'pg_trgm'",
      []
    ) { try $0.text() }.first
    guard let schema else { throw StoreError(.inconsistent, "the extension pg_trgm is missing") }
    return schema
  }

  private static func creation(
    _ connection: PostgreSQLConnection, _ folding: MessageFolding, concurrently: Bool
  ) throws -> String {
    """
    CREATE INDEX \(concurrently ? "CONCURRENTLY" : "") \(name(folding)) ON message
    USING gin ((\(folding.folded("content"))) \(try extensionSchema(connection)).gin_trgm_ops)
    WHERE kind = 'Text' AND NOT isRevoked
    """
  }

  /// Builds the index beside everything else, on a thread of its own. An end of the process ends
  /// it, and the next start begins anew.
  static func build(
    _ folding: MessageFolding, _ logger: Logger, _ connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  ) {
    Thread.detachNewThread {
      do {
        let connection = try connect()
        try connection.run("SELECT pg_advisory_lock($1)", [buildLock])
        if try state(connection, name(folding)) == .valid { return }
        try connection.runScript("DROP INDEX IF EXISTS \(name(folding))")
        try connection.runScript(try creation(connection, folding, concurrently: true))
        logger.notice("all messages are indexed")
      } catch {
        logger.error(
          "messages could not be indexed: searches read them one by one",
          metadata: ["error": "\(StoreError(describing: error))"])
      }
    }
  }

  /// Moves what came lately into the index. Without this a commit does, when it is 4 MB.
  static func mergeRecent(_ connection: PostgreSQLConnection) throws {
    try connection.run(
      "SELECT gin_clean_pending_list(i.indexrelid) FROM pg_index AS i JOIN unnest($1) AS n (name) ON i.indexrelid = to_regclass(n.name)",
      [names])
  }
}
