import Cluster
import Logging
import StoreTables

/// Who may connect to the database. By default each role of the server may: it cannot read a table, but
/// it hears notifications, and sends them (ThreatModel.md, "Nodes and the bus between them").
enum DatabaseAccess {
  enum Outcome: Equatable {
    /// It had been granted by name only.
    case wasClosed
    case closed
    case stillOpen(reason: String)
  }

  /// Takes the right to connect from those to whom it was not granted by name, where this role may.
  static func close(_ connection: PostgreSQLConnection) throws -> Outcome {
    guard try isOpen(connection) else { return .wasClosed }
    guard try ownsDatabase(connection) else { return .stillOpen(reason: "this role does not own the database") }
    var reason = "another role has granted it"
    do throws(PostgreSQLError) {
      try connection.runScript(
        "DO $body$ BEGIN EXECUTE format('REVOKE CONNECT ON DATABASE %I FROM PUBLIC', current_database()); END $body$")
    } catch {
      // Another node may do the same now.
      reason = error.message
    }
    return try isOpen(connection) ? .stillOpen(reason: reason) : .closed
  }

  /// Whether each role of the server may connect.
  static func isOpen(_ connection: PostgreSQLConnection) throws -> Bool {
    try connection.rows("SELECT has_database_privilege('public', current_database(), 'CONNECT')", []) { try $0.flag() }
      .first == true
  }

  private static func ownsDatabase(_ connection: PostgreSQLConnection) throws -> Bool {
    try connection.rows("SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()", []) {
      try $0.flag()
    }.first == true
  }
}

extension DatabaseAccess.Outcome {
  /// A sentence for the operator; nil = there is nothing to say.
  var sentence: String? {
    switch self {
    case .wasClosed: nil
    case .closed: "CONNECT was revoked from PUBLIC: other roles that use this database need a GRANT of their own"
    case .stillOpen(let reason):
      "every role of the PostgreSQL server may connect to this database (\(reason)): "
        + "REVOKE CONNECT ON DATABASE … FROM PUBLIC as its owner"
    }
  }

  func log(to logger: Logger) {
    guard let sentence else { return }
    logger.log(level: self == .closed ? .notice : .warning, "\(sentence)")
  }
}

extension PostgreSQLStore {
  /// Whether each role of the PostgreSQL server may connect to the database.
  public static func isOpenToAllRoles(_ url: String) throws(PostgreSQLOpenError) -> Bool {
    do {
      return try DatabaseAccess.isOpen(try DatabaseOpener(url: url, options: PostgreSQLOptions()).connect())
    } catch {
      throw PostgreSQLOpenError(.unavailable, "the database cannot be used: \(error)")
    }
  }

  /// The cluster's key in the database, which the first node makes.
  public func clusterKey() throws(PostgreSQLOpenError) -> ClusterKey {
    do {
      let connection = try opener.connect(for: .writing)
      try connection.run(
        "INSERT INTO clusterKey SELECT 1, $1 WHERE NOT EXISTS (SELECT 1 FROM clusterKey) ON CONFLICT DO NOTHING",
        [ClusterKey.makeSecret()])
      let found = try connection.rows("SELECT version, key FROM clusterKey ORDER BY version DESC LIMIT 1", []) { row in
        ClusterKey(number: UInt64(clamping: try row.integer()), secret: try row.value([UInt8].self))
      }
      if let key = found.first { return key }
      throw PostgreSQLOpenError(.unavailable, "the database has no key for the cluster")
    } catch let error as PostgreSQLOpenError {
      throw error
    } catch {
      throw PostgreSQLOpenError(.unavailable, "the database cannot be used: \(error)")
    }
  }
}
