import Cluster
import Foundation
import GroupModel
import Logging
import NATSBus
import Synchronization
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// The adapters of the bus, each with two nodes and a way to interrupt them.
enum Adapter: String, CaseIterable, Sendable {
  case inProcess, nats, postgreSQL
}

let quiet = Logger(label: "cluster-engine-tests") { _ in SwiftLogNoOpLogHandler() }

/// Two nodes on one bus.
struct Buses: Sendable {
  let first: any Bus
  let second: any Bus
  /// Takes the connections of both away.
  let cut: @Sendable () throws -> Void
  /// Lets them connect again.
  let mend: @Sendable () throws -> Void
  /// Another cluster on the same engine.
  let stranger: any Bus
}

/// - Parameter ownsEngine: a NATS server of the test's own, which it may kill.
func withBuses(_ adapter: Adapter, ownsEngine: Bool = false, _ body: (Buses) async throws -> Void) async throws {
  switch adapter {
  case .inProcess:
    let network = InProcessNetwork()
    let nodes = ["first", "second"]
    try await body(
      Buses(
        first: network.bus(nodes[0]), second: network.bus(nodes[1]), cut: { for node in nodes { network.cut(node) } },
        mend: { for node in nodes { network.mend(node) } }, stranger: InProcessNetwork().bus("stranger")))
  case .nats:
    let server = ownsEngine ? try NATSServer() : try NATSServer.shared.get()
    defer { if ownsEngine { server.kill() } }
    let cluster = "t\(UInt32.random(in: 0 ... .max))"
    let connect = { (cluster: String) in
      try NATSBus.connect(try NATSAddress(server.url), cluster: cluster, logger: quiet)
    }
    let buses = [try connect(cluster), try connect(cluster), try connect(cluster + "x")]
    try await closing(buses) {
      try await body(
        Buses(
          first: buses[0], second: buses[1], cut: { server.kill() }, mend: { try server.start() }, stranger: buses[2]))
    }
  case .postgreSQL:
    try await withDatabase { url, schema, opener in
      let buses = try [schema, schema, schema + "x"].map { scope in
        try PostgreSQLBus(scope: scope, logger: quiet) { () throws(PostgreSQLError) in try opener.connect() }
      }
      try await closing(buses) {
        try await body(
          Buses(
            first: buses[0], second: buses[1], cut: { try refuseConnections(true, schema, url) },
            mend: { try refuseConnections(false, schema, url) }, stranger: buses[2]))
      }
    }
  }
}

private func closing(_ buses: [any Bus], _ body: () async throws -> Void) async throws {
  let outcome: Result<Void, any Error>
  do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
  for bus in buses { await bus.close() }
  try outcome.get()
}

/// Tables in a schema and with a role of the test's own.
func withDatabase(
  leaseDuration: Duration = .seconds(3), _ body: (String, String, DatabaseOpener) async throws -> Void
) async throws {
  let server = try PostgreSQLServer.shared.get()
  let schema = "c" + UUID().uuidString.lowercased().replacing("-", with: "")
  let administrator = try PostgreSQLConnection(server.url, options: [], timeout: 60_000)
  try administrator.runScript("CREATE ROLE \(schema) LOGIN SUPERUSER")
  var options = PostgreSQLOptions()
  options.schema = schema
  options.leaseDuration = leaseDuration
  // No statement takes too long on a machine that is busy elsewhere.
  (options.statementTimeout, options.lockTimeout, options.commitTimeout) = (60_000, 60_000, 60_000)
  let opener = DatabaseOpener(url: server.url.replacing("user=throng", with: "user=\(schema)"), options: options)
  try opener.prepare(try opener.connect())
  let outcome: Result<Void, any Error>
  do { outcome = .success(try await body(server.url, schema, opener)) } catch { outcome = .failure(error) }
  try administrator.runScript("DROP SCHEMA \(schema) CASCADE; DROP ROLE \(schema)")
  try outcome.get()
}

/// Ends the connections of a schema's role, and lets it make none.
private func refuseConnections(_ isRefusing: Bool, _ schema: String, _ url: String) throws {
  let administrator = try PostgreSQLConnection(url, options: [], timeout: 60_000)
  try administrator.runScript("ALTER ROLE \(schema) \(isRefusing ? "NOLOGIN" : "LOGIN")")
  if isRefusing {
    try administrator.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [schema])
  }
}

/// The entries that a subscriber has got.
final class Received: Sendable {
  private let kept = Mutex<[BusDelivery]>([])

  var all: [BusDelivery] { kept.withLock { $0 } }
  var messages: [[UInt8]] {
    all.compactMap { if case .message(let bytes) = $0 { bytes } else { nil } }
  }
  var gaps: Int { all.count { $0 == .gap } }

  func add(_ delivery: BusDelivery) { kept.withLock { $0.append(delivery) } }
}

extension Bus {
  /// Subscribes a recorder.
  func record(_ subject: BusSubject) async throws -> (Received, any BusSubscription) {
    let received = Received()
    return (received, try await subscribe(to: subject) { received.add($0) })
  }
}

func subject(_ name: String) throws -> BusSubject { try #require(BusSubject(name)) }
