import Foundation
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables

/// Finds out at the start whether a process gets as many connections as it needs, and whether each
/// keeps its backend: settings, prepared statements, locks and LISTEN belong to a session.
struct ConnectionCheck {
  let opener: DatabaseOpener
  /// How many connections have to be there at once.
  let count: Int
  /// How long those of a process that has just ended may stand in the way.
  let patience: Duration

  /// - Parameter first: one of the connections.
  /// - Throws: `PostgreSQLOpenError` with the limit or the pooler, and the way out.
  func run(beside first: PostgreSQLConnection) throws {
    var connections = [first]
    let deadline = SystemClocks().monotonic + patience
    while connections.count < count {
      do throws(PostgreSQLError) {
        connections.append(try opener.connect())
      } catch {
        if error.isOfSharedSession { throw PostgreSQLOpenError.pooler }
        guard error.isLost, SystemClocks().monotonic < deadline else { throw try shortage(error, connections.count, first) }
        Thread.sleep(forTimeInterval: 0.05)
      }
    }
    let backends = try compareBackends(connections)
    connections = []
    // Behind a pooler the backends stay.
    if first.backend == backends[0] { try waitForEnd(of: Array(backends.dropFirst()), first) }
  }

  /// A pooler that gives a backend for each transaction hands back the one that was released last,
  /// or the one that was released first: one of the two later orders gives some connection another.
  private func compareBackends(_ connections: [PostgreSQLConnection]) throws -> [Int64] {
    let before = try holdBackends(connections)
    guard try holdBackends(connections) == before, try holdBackends(connections.reversed()).reversed() == before else {
      throw PostgreSQLOpenError.pooler
    }
    return before
  }

  /// The backends of transactions that are all open at once.
  private func holdBackends(_ connections: [PostgreSQLConnection]) throws -> [Int64] {
    var backends: [Int64] = []
    for connection in connections {
      do throws(PostgreSQLError) {
        try connection.run("BEGIN")
      } catch {
        guard error.isLost else { throw error }
        throw PostgreSQLOpenError(
          .unavailable,
          "\(count) connections to PostgreSQL are needed at once, and only \(backends.count) were to be had: \(Self.poolIsSmall)")
      }
      backends.append(Int64(try connection.count("SELECT pg_backend_pid()::bigint", [])))
    }
    for connection in connections { try connection.run("COMMIT") }
    return backends
  }

  /// The next connections of this process must not be too many because these have not ended yet.
  private func waitForEnd(of backends: [Int64], _ first: PostgreSQLConnection) throws {
    let deadline = SystemClocks().monotonic + .seconds(1)
    let living = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY ($1)"
    while try first.count(living, [backends]) > 0, SystemClocks().monotonic < deadline {
      Thread.sleep(forTimeInterval: 0.01)
    }
  }

  // MARK: Too few connections

  private func shortage(
    _ error: PostgreSQLError, _ got: Int, _ first: PostgreSQLConnection
  ) throws -> PostgreSQLOpenError {
    let isPooled = try Int64(first.count("SELECT pg_backend_pid()::bigint", [])) != first.backend
    return PostgreSQLOpenError(
      .unavailable,
      "\(count) connections to PostgreSQL are needed at once, and only \(got) were to be had: "
        + (isPooled ? Self.poolIsSmall : try limit(first)) + "; its words: \(error.message)")
  }

  private static let poolIsSmall = "raise the pooler's pool (PgBouncer: default_pool_size, max_db_connections, max_client_conn)"

  private func limit(_ first: PostgreSQLConnection) throws -> String {
    let limits = try first.rows(
      """
      SELECT quote_ident(r.rolname), r.rolconnlimit::bigint, quote_ident(d.datname), d.datconnlimit::bigint,
      current_setting('max_connections')::bigint,
      (SELECT count(*) FROM pg_stat_activity AS a WHERE a.usesysid = r.oid),
      (SELECT count(*) FROM pg_stat_activity AS a WHERE a.datid = d.oid)
      FROM pg_roles AS r CROSS JOIN pg_database AS d WHERE r.rolname = current_user AND d.datname = current_database()
      """, []
    ) { row in
      let (role, ofRole) = (try row.text(), try row.integer())
      let (database, ofDatabase) = (try row.text(), try row.integer())
      let (ofServer, byRole, inDatabase) = (try row.integer(), try row.integer(), try row.integer())
      if ofRole >= 0, byRole >= ofRole {
        return "the role \(role) has CONNECTION LIMIT \(ofRole); ALTER ROLE \(role) CONNECTION LIMIT \(count), or more"
      }
      if ofDatabase >= 0, inDatabase >= ofDatabase {
        return "the database has CONNECTION LIMIT \(ofDatabase); ALTER DATABASE \(database) CONNECTION LIMIT \(count), or more"
      }
      return "max_connections is \(ofServer), of which some are for superusers: raise it, or let others use fewer"
    }
    return limits.first ?? "nobody knows which limit was met"
  }
}

extension PostgreSQLOpenError {
  fileprivate static let pooler = PostgreSQLOpenError(
    .unavailable,
    "a pooler stands before PostgreSQL that gives each transaction another session (PgBouncer: pool_mode=transaction or statement): "
      + "let it keep one for a connection (pool_mode=session), or give store.url the address of the server itself")

  /// The reason for an operator why the database cannot be used.
  init(describing error: any Error) {
    switch error {
    case let error as PostgreSQLOpenError: self = error
    case let error as PostgreSQLError where error.isOfSharedSession: self = .pooler
    default: self.init(.unavailable, "the database cannot be used: \(error)")
    }
  }
}

extension PostgreSQLError {
  /// A prepared statement is there already, or is gone, or the pooler takes no transactions: the
  /// session is another's, too.
  fileprivate var isOfSharedSession: Bool { state == "42P05" || state == "26000" || state == "08P01" }
}

extension PostgreSQLOptions {
  /// The connections that a process may have at once: it writes, shows life, clears away, signs
  /// users in, searches, reads; a node has its lease and hears of changes, and one answers
  /// operators.
  var connectionCount: Int {
    5 + engine.readers + (engine.indexesMessages ? 1 : 0) + (isShared ? 3 : 0) + (carriesBus ? 3 : 0)
  }
}
