import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// The lease in PostgreSQL.
@Suite struct PostgreSQLLeaseTests {
  private let description = NodeDescription(name: "one", address: "127.0.0.1:1", release: "0.1.0")
  private let shards = (0..<4).compactMap { Shard($0) }

  private func withLeases(
    _ duration: Duration = .seconds(600), _ body: (PostgreSQLLease, PostgreSQLLease, DatabaseOpener) async throws -> Void
  ) async throws {
    try await withDatabase(leaseDuration: duration) { _, _, opener in
      let leases = (0..<2).map { _ in
        PostgreSQLLease(leaseDuration: duration, clocks: DatabaseClocks(), logger: quiet) { () throws(PostgreSQLError) in
          try opener.connect(for: .leasing)
        }
      }
      defer { for lease in leases { lease.close() } }
      try await body(leases[0], leases[1], opener)
    }
  }

  /// As a heartbeat was noted by a clock that has stepped since.
  private func step(_ node: NodeNumber, by length: String, _ opener: DatabaseOpener) throws {
    try opener.connect().run("UPDATE node SET heartbeat = heartbeat - interval '\(length)' WHERE number = $1", [node.rawValue])
  }

  @Test(arguments: ["1 hour", "-1 hour"])
  func aStepOfTheDatabasesClockNeitherEndsANodeThatLivesNorKeepsOneThatDoesNot(_ length: String) async throws {
    try await withLeases { first, second, opener in
      let (one, two) = (try first.join(description), try second.join(description))
      try step(one, by: length, opener)
      var watch = LeaseWatch(duration: .seconds(3))
      func look(at seconds: Int64) throws -> [NodeNumber: LifeSign] {
        let now = MonotonicInstant(milliseconds: 1000 * seconds)
        watch.note(try #require(try second.renew(two)).signs, receivedAt: now)
        return watch.silentNodes(at: now)
      }
      #expect(try look(at: 1).isEmpty)
      #expect(try first.renew(one) != nil)
      try step(one, by: length, opener)
      #expect(try look(at: 4).isEmpty, "it has shown life")
      #expect(try look(at: 6).isEmpty)
      let silent = try look(at: 7)
      #expect(Array(silent.keys) == [one])
      #expect(try second.remove(silent) == [one])
    }
  }

  @Test func nodesJoinWithNewNumbersAndAllSeeThem() async throws {
    try await withLeases { first, second, _ in
      let one = try first.join(description)
      let two = try second.join(NodeDescription(name: "two", address: "unix:/x", release: "0.1.0"))
      #expect(two > one)
      let contents = try second.read()
      #expect(contents.nodes.map(\.number) == [one, two])
      #expect(
        contents.nodes[0]
          == NodeInfo(
            number: one, name: "one", address: "127.0.0.1:1", busVersion: BusVersion.current, release: "0.1.0"))
      #expect(contents.owners.count == Shard.count && contents.owners.allSatisfy { $0 == ShardOwner(node: nil, term: 0) })
      #expect(contents.heartbeatAges.keys.sorted() == [one, two])
      try first.noteBus(of: one, isConnected: false)
      #expect(try second.read().nodes.map(\.isOnBus) == [false, true])
      try first.leave(one)
      #expect(try second.read().nodes.map(\.number) == [two])
      #expect(try first.renew(one) == nil)
      #expect(try first.join(description) > two)
    }
  }

  @Test(arguments: [(1, 3), (3, 1)])
  func aNodeOfAVersionTooFarAwayIsRefusedAndLeavesNothing(_ there: Int, _ joining: Int) async throws {
    try await withLeases { first, second, _ in
      let node = { (name: String, version: Int) in
        NodeDescription(name: name, address: "", release: "0.\(version).0", busVersion: version)
      }
      let one = try first.join(node("one", there))
      let before = try first.read().nodes
      let refusal = #expect(throws: LeaseRefusal.self) { _ = try second.join(node("two", joining)) }
      let text = try #require(refusal).description
      #expect(text.contains("0.\(joining).0") && text.contains("0.\(there).0 (one)"), "\(text)")
      #expect(try first.read().nodes == before)
      // A cluster is renewed node by node: versions 1 and 2, then 2 and 3.
      let two = try second.join(node("two", 2))
      try first.leave(one)
      _ = try first.join(node("three", joining))
      #expect(try second.read().nodes.map(\.busVersion) == [2, joining])
      try second.leave(two)
    }
  }

  @Test func aShardIsClaimedOnceAndHasANewTermEachTime() async throws {
    try await withLeases { first, second, _ in
      let (one, two) = (try first.join(description), try second.join(description))
      #expect(try first.claim(Array(shards[..<2]), by: one) == [shards[0]: 1, shards[1]: 1])
      #expect(try second.claim(shards, by: two) == [shards[2]: 1, shards[3]: 1])
      try second.release(shards, by: two)
      #expect(try first.read().owners[2] == ShardOwner(node: nil, term: 1))
      #expect(try first.read().owners[0] == ShardOwner(node: one, term: 1))
      #expect(try first.claim(shards, by: one) == [shards[2]: 2, shards[3]: 2])
      try first.leave(one)
      #expect(try second.claim(shards, by: two).values.sorted() == [2, 2, 3, 3])
      #expect(try first.claim(shards, by: one) == [:])
    }
  }

  @Test func theVersionGrowsWithEachChangeAndAHeartbeatIsNone() async throws {
    try await withLeases { first, second, _ in
      let (one, two) = (try first.join(description), try second.join(description))
      let version = try first.read().version
      let renewal = try #require(try first.renew(one))
      #expect(renewal.version == version && Array(renewal.signs.keys) == [two])
      #expect(try second.renew(two)?.version == version)
      _ = try second.claim(shards, by: two)
      #expect(try first.renew(one)?.version == version + 1)
      #expect(try first.markDraining(two))
      #expect(try !first.markDraining(NodeNumber(999_999)))
      let contents = try first.read()
      #expect(contents.nodes.map(\.isDraining) == [false, true] && contents.version == version + 3)
    }
  }

  @Test func ofTwoDrainsAtTheSameInstantTheLaterOneIsRefusedWhereItWouldTakeTheLastNode() async throws {
    try await withLeases { first, second, opener in
      let one = try first.join(description)
      let two = try second.join(NodeDescription(name: "two", address: "", release: "0.1.0"))
      let earlier = try opener.connect()
      try earlier.run("SET idle_in_transaction_session_timeout = 0")
      try earlier.run("BEGIN")
      try earlier.run("SELECT throng_drain($1)", [one.rawValue])
      // It has read the tables, and waits for the end of the other one.
      let later = Task.detached { try second.requestDrain(of: "two", evenLast: false) }
      let waits = "SELECT count(*) FROM pg_stat_activity WHERE usename = current_user AND wait_event_type = 'Lock'"
      let observer = try opener.connect()
      try await waitUntil("the later one waits") { try observer.count(waits, []) == 1 }
      try earlier.run("COMMIT")
      #expect(try await later.value == .lastNode)
      #expect(try first.read().nodes.map(\.isDraining) == [true, false])
      #expect(try first.requestDrain(of: "two", evenLast: true).node?.number == two)
      #expect(try first.read().nodes.map(\.isDraining) == [true, true])
    }
  }

  @Test func aNodeWithoutHeartbeatsIsRemovedAndCanWriteNothing() async throws {
    try await withLeases { first, second, opener in
      let (one, two) = (try first.join(description), try second.join(description))
      #expect(try first.claim(shards, by: one).count == 4)
      let old = try #require(try second.renew(two)).signs
      #expect(try first.renew(one) != nil)
      #expect(try second.remove(old) == [], "it has shown life since")
      let last = try #require(try second.renew(two)).signs
      #expect(last[one] != nil && last != old)
      #expect(try second.remove(last) == [one])
      #expect(try second.remove(last) == [])
      #expect(try first.renew(one) == nil)
      #expect(try second.claim(shards, by: two).values.sorted() == [2, 2, 2, 2])
      let connection = try opener.connect()
      #expect(throws: PostgreSQLError.self) { try connection.run("SELECT throng_fence($1, $2)", [one.rawValue, Int64(1)]) }
      try connection.run("SELECT throng_fence($1, $2)", [two.rawValue, Int64(1)])
    }
  }

  @Test func aNodeWithAnOpenCommitIsRemovedBehindIt() async throws {
    try await withLeases { first, second, opener in
      let (one, two) = (try first.join(description), try second.join(description))
      let writer = try opener.connect()
      try writer.run("SET idle_in_transaction_session_timeout = 0")
      try writer.run("BEGIN")
      try writer.run("SELECT throng_fence($1, $2)", [one.rawValue, Int64(1)])
      let last = try #require(try second.renew(two)).signs
      #expect(try !second.remove(last).contains(one))
      // The server ends a transaction that stands still for so long.
      try writer.run("SET LOCAL idle_in_transaction_session_timeout = '1ms'")
      try await waitUntil("its transaction was ended") { try second.remove(last).contains(one) }
      #expect(throws: PostgreSQLError.self) { try writer.run("COMMIT") }
    }
  }

  @Test func changesWakeTheOtherNodes() async throws {
    try await withLeases { first, second, _ in
      let woken = Received()
      first.onChange { woken.add(.gap) }
      let one = try first.join(description)
      _ = try second.join(description)
      try await waitUntil("the join is heard") {
        _ = try second.claim(shards, by: one)
        return woken.gaps > 0
      }
    }
  }

  @Test func aProcessWithoutAClusterKeepsOthersAwayAndIsWaitedFor() async throws {
    try await withLeases(.seconds(3)) { first, _, opener in
      let connection = try opener.connect()
      try connection.run("INSERT INTO node (name) VALUES ('alone')")
      try connection.run("INSERT INTO writer SELECT number, 0, false FROM node")
      // It shows life at each look.
      let sign = "CREATE OR REPLACE FUNCTION throng_sign(n node) RETURNS text VOLATILE LANGUAGE sql AS $body$ SELECT %@ $body$"
      try connection.runScript(sign.replacing("%@", with: "random()::text"))
      let refusal = #expect(throws: LeaseRefusal.self) { _ = try first.join(description) }
      #expect(refusal?.description.contains("alone") == true)
      try connection.runScript(sign.replacing("%@", with: "n.beat::text"))
      _ = try first.join(description)
      #expect(try first.read().nodes.map(\.name) == ["one"])
    }
  }
}
