import Cluster
import Foundation
import GroupModel
import GroupRuntime
import StoreTables

/// This process among the rows of `node` (Cluster.md, "The lease"). Without a cluster there is one at
/// a time.
struct NodeRegistration: Sendable {
  let number: Int64

  /// Removes processes that show no life, and adds this one. Waits for at most their lease.
  /// - Returns: the registration, and the last sign of life of a process that was removed.
  static func join(
    _ connection: PostgreSQLConnection, _ options: PostgreSQLOptions
  ) throws -> (NodeRegistration, lastAlive: WallInstant?) {
    let clocks = SystemClocks()
    var watch = LeaseWatch(duration: options.leaseDuration)
    let deadline = clocks.monotonic + options.leaseDuration + .milliseconds(500)
    while true {
      if let joined = try attempt(connection, &watch, clocks) { return joined }
      guard clocks.monotonic < deadline else {
        let name = try connection.rows("SELECT name FROM node ORDER BY heartbeat DESC LIMIT 1", []) { try $0.text() }.first
        throw PostgreSQLOpenError(.locked, "another Throng uses this database: \(name ?? "unknown")")
      }
      // The other's next heartbeat, or its end, is at most so far away.
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  private static func attempt(
    _ connection: PostgreSQLConnection, _ watch: inout LeaseWatch, _ clocks: SystemClocks
  ) throws -> (NodeRegistration, lastAlive: WallInstant?)? {
    try connection.run("BEGIN")
    do {
      try connection.run("LOCK TABLE node IN EXCLUSIVE MODE")
      let signs = try connection.rows("SELECT n.number, throng_sign(n) FROM node AS n", []) { row in
        (NodeNumber(try row.integer()), LifeSign(try row.text()))
      }
      watch.note(Dictionary(uniqueKeysWithValues: signs), receivedAt: clocks.monotonic)
      if watch.silentNodes(at: clocks.monotonic).count < signs.count {
        try connection.run("ROLLBACK")
        return nil
      }
      let last = try connection.rows(
        "DELETE FROM node RETURNING (extract(epoch FROM heartbeat) * 1000)::bigint", []
      ) { try $0.instant() }
      // The fence: this waits for a transaction that has passed it.
      try connection.run("UPDATE writer SET isGone = true WHERE NOT isGone")
      try connection.run("DELETE FROM writer WHERE isGone AND node < (SELECT max(node) - 100 FROM writer)")
      let name = "\(ProcessInfo.processInfo.hostName), process \(ProcessInfo.processInfo.processIdentifier)"
      let number = try connection.rows("INSERT INTO node (name) VALUES ($1) RETURNING number", [name]) { try $0.integer() }[0]
      try connection.run("INSERT INTO writer VALUES ($1, 0, false)", [number])
      try connection.run("COMMIT")
      return (NodeRegistration(number: number), last.max())
    } catch {
      _ = try? connection.run("ROLLBACK")
      throw error
    }
  }

  /// Shows life.
  /// - Returns: false where the node was removed: it can never write again.
  func renew(_ connection: PostgreSQLConnection) throws -> Bool {
    let sql = "UPDATE node SET heartbeat = clock_timestamp(), beat = beat + 1 WHERE number = $1"
    return try connection.run(sql, [number]).changedCount == 1
  }

  func leave(_ connection: PostgreSQLConnection) throws {
    try connection.run("DELETE FROM node WHERE number = $1", [number])
  }
}
