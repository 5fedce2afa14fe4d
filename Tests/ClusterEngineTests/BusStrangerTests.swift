import Cluster
import GroupModel
import Testing
import ThrongTestKit

@testable import NATSBus
@testable import PostgreSQLStore

/// Strangers on a bus.
/// Strangers on the engines: what they send does nothing, and what they hear says nothing.
@Suite(.serialized) struct BusStrangerTests {
  /// Two changes of a database's rights at once: PostgreSQL refuses one.
  private func change(_ administrator: PostgreSQLConnection, _ sql: String) async throws {
    try await waitUntil("the change is made: \(sql)") { (try? administrator.runScript(sql)) != nil }
  }

  /// A role that may connect, and nothing else.
  private func withStranger(_ body: (PostgreSQLBus, PostgreSQLConnection, String) async throws -> Void) async throws {
    try await withDatabase { url, schema, opener in
      let bus = try PostgreSQLBus(scope: schema, logger: quiet) { () throws(PostgreSQLError) in try opener.connect() }
      let administrator = try PostgreSQLConnection(url, options: [], timeout: 60_000)
      try administrator.runScript("CREATE ROLE \(schema)x LOGIN")
      try await change(administrator, "GRANT CONNECT ON DATABASE postgres TO \(schema)x")
      let stranger = try PostgreSQLConnection(
        url.replacing("user=throng", with: "user=\(schema)x"), options: [], timeout: 60_000)
      let outcome: Result<Void, any Error>
      do { outcome = .success(try await body(bus, stranger, schema)) } catch { outcome = .failure(error) }
      await bus.close()
      try await change(administrator, "DROP OWNED BY \(schema)x; DROP ROLE \(schema)x")
      try outcome.get()
    }
  }

  /// The name of a subject's channel, which anybody can compute.
  private func channel(_ subject: String, _ scope: String) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in "\(scope).\(subject)".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "throng_" + String(hash, radix: 16)
  }

  @Test func notificationsOfAnotherRoleDoNothingAndThoseOfNodesNameRowsAlone() async throws {
    try await withStranger { bus, stranger, schema in
      let place = try subject("n1.link")
      let (received, _) = try await bus.record(place)
      let channel = channel("n1.link", schema)
      try stranger.run("LISTEN \"\(channel)\"")
      try bus.publish(Array("a secret text".utf8), to: place)
      try await waitUntil("the message has arrived") { received.messages.count == 1 }
      var heard: [String] = []
      try await waitUntil("the stranger has heard of it") {
        try stranger.run("SELECT 1")
        heard += stranger.notifications().map(\.payload)
        return !heard.isEmpty
      }
      #expect(heard.count == 1 && heard[0].allSatisfy { $0.isNumber || $0 == "." }, "\(heard)")
      #expect(throws: PostgreSQLError.self) { try stranger.run("SELECT data FROM \(schema).busMessage") }
      // Repeated in one transaction and in others, and what was never sent.
      for payload in [heard[0], "7.7", "", "bYSBzZWNyZXQgdGV4dA==", String(repeating: "9", count: 7_000)] {
        try stranger.run("SELECT pg_notify($1, $2)", [channel, payload])
      }
      try stranger.run("SELECT pg_notify($1, $2) FROM generate_series(1, 300)", [channel, heard[0]])
      try stranger.run("SELECT pg_notify($1, number::text || '.1') FROM generate_series(1, 300) AS number", [channel])
      try bus.publish([2], to: place)
      try await waitUntil("the next message has arrived") { received.messages.last == [2] }
      // The bus does not know who notifies: links ignore what comes again.
      #expect(received.gaps == 0 && Set(received.messages) == [Array("a secret text".utf8), [2]])
      #expect(bus.counters.strangeMessages >= 304 && bus.counters.gaps == 0)
    }
  }

  @Test func aStrangersPartsOnNATSDoNothing() async throws {
    let server = try NATSServer.shared.get()
    let cluster = "s\(UInt32.random(in: 0 ... .max))"
    let bus = try NATSBus.connect(try NATSAddress(server.url), cluster: cluster, logger: quiet)
    let stranger = try NATSClient(try NATSAddress(server.url), cluster: "stranger") { _ in }
    let place = try subject("n1.link")
    let (received, _) = try await bus.record(place)
    for reply in ["part.a.1.1.3", "part.a.1.x.3", "nonsense", "part.b.1.0.2"] {
      #expect(stranger.publish([1, 2, 3], to: "\(cluster).n1.link", reply: reply) == nil)
    }
    #expect(stranger.confirm())
    try bus.publish([1], to: place)
    try await waitUntil("the bus's own message has arrived") { received.messages == [[1]] }
    #expect(received.gaps == 0 && bus.counters.strangeMessages == 3 && bus.counters.gaps == 0)
    await bus.close()
  }

  @Test func theFirstNodeMakesTheKeyAndOnlyTheServersRoleReadsIt() async throws {
    try await withDatabase { url, schema, opener in
      let administrator = try PostgreSQLConnection(url, options: [], timeout: 60_000)
      try administrator.runScript(
        """
        CREATE ROLE \(schema)x LOGIN;
        CREATE SCHEMA \(schema)2;
        GRANT ALL ON SCHEMA \(schema)2 TO PUBLIC;
        ALTER DEFAULT PRIVILEGES FOR ROLE \(schema) IN SCHEMA \(schema)2 GRANT ALL ON TABLES TO \(schema)x, PUBLIC;
        """)
      var options = opener.options
      options.schema = "\(schema)2"
      options.isShared = true
      let stores = try (0..<2).map { _ in try PostgreSQLStore.open(opener.url, logger: quiet, options: options, isAlone: false) }
      let keys = try stores.map { try $0.clusterKey() }
      #expect(keys[0] == keys[1] && keys[0].number == 1 && keys[0].secret.count == 32 && Set(keys[0].secret).count > 8)
      try await change(administrator, "GRANT CONNECT ON DATABASE postgres TO \(schema)x")
      let stranger = try PostgreSQLConnection(
        url.replacing("user=throng", with: "user=\(schema)x"), options: [], timeout: 60_000)
      #expect(try stranger.count("SELECT count(*) FROM \(schema)2.node", []) == 0, "its default privileges")
      for query in ["SELECT count(*) FROM \(schema)2.clusterKey", "DELETE FROM \(schema)2.clusterKey"] {
        #expect(throws: PostgreSQLError.self) { try stranger.run(query) }
      }
      for store in stores { store.close() }
      try administrator.runScript("DROP SCHEMA \(schema)2 CASCADE")
      try await change(administrator, "DROP OWNED BY \(schema)x; DROP ROLE \(schema)x")
    }
  }

  @Test func theStartTakesTheRightToConnectFromThoseToWhomItWasNotGranted() async throws {
    let server = try PostgreSQLServer.shared.get()
    let name = "access\(UInt32.random(in: 0 ... .max))"
    let administrator = try PostgreSQLConnection(server.url, options: [], timeout: 60_000)
    try administrator.run("CREATE DATABASE \(name)")
    try administrator.run("CREATE ROLE \(name)x LOGIN")
    func connect(_ role: String) throws(PostgreSQLError) -> PostgreSQLConnection {
      try PostgreSQLConnection(
        server.url.replacing("user=throng", with: "user=\(role)").replacing("dbname=postgres", with: "dbname=\(name)"),
        options: [], timeout: 60_000)
    }
    do {
      let (owner, stranger) = (try connect("throng"), try connect("\(name)x"))
      #expect(try DatabaseAccess.close(stranger) == .stillOpen(reason: "this role does not own the database"))
      #expect(try DatabaseAccess.close(owner) == .closed)
      #expect(try DatabaseAccess.close(owner) == .wasClosed)
    }
    #expect(throws: PostgreSQLError.self) { _ = try connect("\(name)x") }
    try await waitUntil("nobody is connected") { (try? administrator.run("DROP DATABASE \(name)")) != nil }
    try administrator.run("DROP ROLE \(name)x")
  }
}
