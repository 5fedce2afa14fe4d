import Cluster
import Foundation
import GroupModel
import GroupRuntime
import Logging
import StoreTables

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
    try waitForObstacles(to: description, current)
    let number = try current.rows(
      "SELECT throng_join($1, $2, $3, $4)",
      [description.name, description.address, description.release, description.busVersion]
    ) { try $0.integer() }
    guard let number = number.first else { throw LeaseRefusal("the database has given no number") }
    listener.listen(to: ClusterSchema.channel)
    return NodeNumber(number)
  }

  /// Waits for the end of processes with which this one cannot share the database, and removes those
  /// that show no life.
  private func waitForObstacles(to description: NodeDescription, _ current: PostgreSQLConnection) throws {
    var watch = LeaseWatch(duration: leaseDuration)
    let deadline = clocks.monotonic + leaseDuration + .milliseconds(500)
    while true {
      let signs = try current.rows("SELECT n.number, throng_sign(n) FROM node AS n", []) { row in
        (NodeNumber(try row.integer()), LifeSign(try row.text()))
      }
      watch.note(Dictionary(uniqueKeysWithValues: signs), receivedAt: clocks.monotonic)
      let silent = watch.silentNodes(at: clocks.monotonic)
      if !silent.isEmpty { _ = try remove(silent) }
      guard let obstacle = try obstacle(to: description, current) else { return }
      guard obstacle.mayEnd, clocks.monotonic < deadline else { throw obstacle.refusal }
      // Its end, or the end of its lease, is at most so far away.
      Thread.sleep(forTimeInterval: 0.1)
    }
  }

  /// - Returns: the reason why a node may not join, and whether it is worth waiting. By its heartbeat's
  ///   age a node of another release lives as a rule: a wrong guess costs another start.
  private func obstacle(
    to description: NodeDescription, _ current: PostgreSQLConnection
  ) throws -> (refusal: LeaseRefusal, mayEnd: Bool)? {
    let alone = try current.rows("SELECT name FROM node WHERE isAlone LIMIT 1", []) { try $0.text() }
    if let name = alone.first { return (LeaseRefusal("a Throng without a cluster uses this database: \(name)"), true) }
    let contents = try read()
    guard let refusal = LeaseRefusal(description, among: contents.nodes) else { return nil }
    let living = contents.nodes.filter { contents.heartbeatAges[$0.number].map { $0 < leaseDuration } ?? false }
    return (refusal, mayEnd: LeaseRefusal(description, among: living) == nil)
  }

  func renew(_ node: NodeNumber) throws -> Renewal? {
    let current = try current()
    return try clocks.correct {
      let rows = try current.rows(
        """
        WITH alive AS (
          UPDATE node SET heartbeat = clock_timestamp(), beat = beat + 1 WHERE number = $1 RETURNING 1
        )
        SELECT (SELECT count(*) FROM alive), version,
          (SELECT string_agg(n.number || ' ' || throng_sign(n), ',') FROM node AS n WHERE n.number <> $1),
          \(DatabaseClocks.column)
        FROM clusterState
        """, [node.rawValue]
      ) { row in
        (
          alive: try row.integer(), version: try row.integer(), signs: Self.signs(try row.optionalText() ?? ""),
          time: try row.integer()
        )
      }
      guard let row = rows.first else { throw StoreError(.inconsistent, "the cluster has no state") }
      return (row.time, row.alive == 1 ? Renewal(version: row.version, signs: row.signs) : nil)
    }
  }

  /// The signs of life in a text of a renewal.
  private static func signs(_ text: String) -> [NodeNumber: LifeSign] {
    let pairs = text.split(separator: ",").compactMap { item -> (NodeNumber, LifeSign)? in
      let words = item.split(separator: " ")
      guard words.count == 2, let number = Int64(words[0]) else { return nil }
      return (NodeNumber(number), LifeSign(String(words[1])))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  func remove(_ silent: [NodeNumber: LifeSign]) throws -> [NodeNumber] {
    let wanted = silent.sorted { $0.key < $1.key }
    return try current().rows(
      "SELECT throng_remove($1, $2)", [wanted.map(\.key.rawValue), wanted.map(\.value.rawValue)]
    ) { NodeNumber(try $0.integer()) }
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
        ShardOwner(node: try row.optionalInteger().map { NodeNumber($0) }, term: try row.integer())
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
        heartbeatAges: Dictionary(uniqueKeysWithValues: found.map { ($0.number, .milliseconds(max(0, $0.age))) }), owners: owners)
    }
  }

  func claim(_ shards: [Shard], by node: NodeNumber) throws -> [Shard: Int64] {
    let rows = try current().rows(
      "SELECT claimed, claimedEpoch FROM throng_claim($1, $2)", [node.rawValue, shards.map { Int64($0.number) }]
    ) { (Shard(try $0.value(Int.self)), try $0.integer()) }
    return Dictionary(uniqueKeysWithValues: rows.compactMap { shard, term in shard.map { ($0, term) } })
  }

  func release(_ shards: [Shard], by node: NodeNumber) throws {
    try current().run("SELECT throng_release($1, $2)", [node.rawValue, shards.map { Int64($0.number) }])
  }

  func markDraining(_ node: NodeNumber) throws -> Bool {
    try current().count("SELECT throng_drain($1)", [node.rawValue]) == 1
  }

  /// The row's lock lets the later of two look at the version once more.
  func markDraining(_ node: NodeNumber, ifStill version: Int64) throws -> Bool {
    try current().count(
      """
      SELECT coalesce(sum(throng_drain($1)), 0)::bigint
      FROM (SELECT version FROM clusterState WHERE version = $2 FOR UPDATE) AS unchanged
      """, [node.rawValue, version]) == 1
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
