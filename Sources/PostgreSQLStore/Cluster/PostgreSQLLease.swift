import Cluster
import Foundation
import GroupModel
import GroupRuntime
import Logging

/// The tables of nodes and shards in PostgreSQL.
final class PostgreSQLLease: LeaseDatabase, @unchecked Sendable {
  private let connect: @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  private let leaseDuration: Duration
  private let clocks: DatabaseClocks
  private let listener: PostgreSQLListener
  /// @unchecked: the calls of the port come from one thread.
  private var connection: PostgreSQLConnection?

  /// - Parameter clocks: are corrected with each heartbeat.
  init(
    leaseDuration: Duration, clocks: DatabaseClocks, logger: Logger,
    connect: @escaping @Sendable () throws(PostgreSQLError) -> PostgreSQLConnection
  ) {
    self.connect = connect
    self.leaseDuration = leaseDuration
    self.clocks = clocks
    listener = PostgreSQLListener("lease", connect: connect, logger: logger)
  }

  private func current() throws(PostgreSQLError) -> PostgreSQLConnection {
    if let connection, connection.isOpen { return connection }
    let made = try connect()
    connection = made
    return made
  }

  func join(_ description: NodeDescription) throws -> NodeNumber {
    let current = try current()
    try removeUnclustered(current)
    if let refusal = LeaseRefusal(description, among: try read().nodes) { throw refusal }
    let number = try current.rows(
      "SELECT throng_join($1, $2, $3, $4)",
      [description.name, description.address, description.release, description.busVersion]
    ) { try $0.integer() }
    guard let number = number.first else { throw LeaseRefusal("the database has given no number") }
    listener.listen(to: ClusterSchema.channel)
    return NodeNumber(number)
  }

  /// Waits for the end of a process that uses the database alone.
  private func removeUnclustered(_ current: PostgreSQLConnection) throws {
    let deadline = clocks.monotonic + leaseDuration + .milliseconds(500)
    while true {
      _ = try removeExpired()
      let alone = try current.rows("SELECT name FROM node WHERE isAlone LIMIT 1", []) { try $0.text() }
      guard let name = alone.first else { return }
      guard clocks.monotonic < deadline else { throw LeaseRefusal("a Throng without a cluster uses this database: \(name)") }
      // Its end, or the end of its lease, is at most so far away.
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  func renew(_ node: NodeNumber) throws -> Renewal? {
    let current = try current()
    return try clocks.correct {
      let rows = try current.rows(
        """
        WITH alive AS (UPDATE node SET heartbeat = clock_timestamp() WHERE number = $1 RETURNING 1)
        SELECT (SELECT count(*) FROM alive), version, (SELECT count(*) FROM node
          WHERE number <> $1 AND heartbeat < clock_timestamp() - $2 * interval '1 millisecond'), \(DatabaseClocks.column)
        FROM clusterState
        """, [node.rawValue, leaseDuration.wholeMilliseconds]
      ) { row in (alive: try row.integer(), version: try row.integer(), expired: try row.integer(), time: try row.integer()) }
      guard let row = rows.first else { throw StoreError(.inconsistent, "the cluster has no state") }
      return (row.time, row.alive == 1 ? Renewal(version: row.version, hasExpiredNodes: row.expired > 0) : nil)
    }
  }

  func removeExpired() throws -> [NodeNumber] {
    try current().rows("SELECT throng_expire($1)", [leaseDuration.wholeMilliseconds]) { NodeNumber(try $0.integer()) }
  }

  func read() throws -> LeaseContents {
    let current = try current()
    // One statement is one snapshot: the version is that of the rows.
    let nodes =
      "SELECT number, name, address, release, busVersion, isDraining, isOnBus, "
      + "(extract(epoch FROM clock_timestamp() - heartbeat) * 1000)::bigint FROM node ORDER BY number"
    while true {
      let version = try current.count("SELECT version FROM clusterState", [])
      let found = try current.rows(nodes, []) { row in
        (
          number: NodeNumber(try row.integer()), name: try row.text(), address: try row.text(), release: try row.text(),
          busVersion: Int(try row.integer()), isDraining: try row.flag(), isOnBus: try row.flag(), age: try row.integer()
        )
      }
      let owners = try current.rows("SELECT owner, epoch FROM shard ORDER BY number", []) { row in
        ShardOwner(node: try row.optionalInteger().map { NodeNumber($0) }, epoch: try row.integer())
      }
      // A change in between: the three answers belong to different versions.
      guard try current.count("SELECT version FROM clusterState", []) == version else { continue }
      return LeaseContents(
        version: Int64(version),
        nodes: found.map {
          NodeInfo(
            number: $0.number, name: $0.name, address: $0.address, busVersion: $0.busVersion, release: $0.release,
            isDraining: $0.isDraining, isOnBus: $0.isOnBus)
        },
        heartbeatAges: Dictionary(uniqueKeysWithValues: found.map { ($0.number, .milliseconds($0.age)) }), owners: owners)
    }
  }

  func claim(_ shards: [Shard], by node: NodeNumber) throws -> [Shard: Int64] {
    let rows = try current().rows(
      "SELECT claimed, claimedEpoch FROM throng_claim($1, $2)", [node.rawValue, shards.map { Int64($0.number) }]
    ) { (Shard(Int(try $0.integer())), try $0.integer()) }
    return Dictionary(uniqueKeysWithValues: rows.compactMap { shard, epoch in shard.map { ($0, epoch) } })
  }

  func release(_ shards: [Shard], by node: NodeNumber) throws {
    try current().run("SELECT throng_release($1, $2)", [node.rawValue, shards.map { Int64($0.number) }])
  }

  func markDraining(_ node: NodeNumber) throws -> Bool {
    try current().count("SELECT throng_drain($1)", [node.rawValue]) == 1
  }

  func noteBus(of node: NodeNumber, isConnected: Bool) throws {
    try current().run("SELECT throng_bus($1, $2)", [node.rawValue, isConnected])
  }

  func leave(_ node: NodeNumber) throws { try current().run("SELECT throng_leave($1)", [node.rawValue]) }

  func onChange(_ body: @escaping @Sendable () -> Void) {
    listener.onNotifications { _ in body() }
    listener.onReconnect(body)
  }

  func disconnect() { connection = nil }

  /// Ends the thread that waits for changes.
  func close() { listener.close() }
}
