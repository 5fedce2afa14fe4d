import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// The clock of nodes.
@Suite struct DatabaseClockTests {
  /// Reads 1 s at the database, `before` and `after` milliseconds of this machine away.
  private func correct(_ clocks: DatabaseClocks, _ machine: ManualClocks, before: Int64 = 0, after: Int64 = 0) {
    clocks.correct {
      machine.advance(by: before)
      defer { machine.advance(by: after) }
      return (1_000, ())
    }
  }

  @Test(arguments: [3_600_000, -3_600_000] as [Int64])
  func aMachineWhoseClockIsWrongShowsTheDatabasesTimeAndJumpsMoveNothing(_ error: Int64) {
    let machine = ManualClocks(at: 1_700_000_000_000)
    let clocks = DatabaseClocks(machine)
    #expect(clocks.wall == 1_700_000_000_000)
    correct(clocks, machine)
    #expect(abs(clocks.wall.milliseconds - 1_000) <= 1)
    let shown = clocks.wall
    machine.moveWall(by: error)
    #expect(clocks.wall == shown)
    machine.advance(by: 500)
    #expect(clocks.wall == shown + 500)
    #expect(clocks.monotonic == machine.monotonic)
    #expect(clocks.machineLead == machine.wall - clocks.wall)
  }

  @Test func aReadingThatTookLongMovesTheClockNoFurtherThanItProves() {
    let machine = ManualClocks(at: 0)
    let clocks = DatabaseClocks(machine)
    machine.advance(by: 800)
    // The database's clock was at 1,000 somewhere between 800 and 1,300 of this one, which may be right.
    correct(clocks, machine, before: 200, after: 300)
    #expect(clocks.wall == 1_300)
    // It was at 1,000 when this one was at 1,300.
    correct(clocks, machine)
    #expect(abs(clocks.wall.milliseconds - 1_000) <= 1)
  }

  @Test func aFailedReadingChangesNothing() {
    let machine = ManualClocks(at: 5_000)
    let clocks = DatabaseClocks(machine)
    #expect(throws: LeaseRefusal.self) { try clocks.correct { () throws -> (Int64, Void) in throw LeaseRefusal("away") } }
    #expect(clocks.wall == 5_000)
  }

  @Test func eachHeartbeatCorrectsTheClock() async throws {
    try await withDatabase { _, _, opener in
      let machine = ManualClocks(at: 0)
      let clocks = DatabaseClocks(machine)
      let lease = PostgreSQLLease(leaseDuration: .seconds(600), clocks: clocks, logger: quiet) {
        () throws(PostgreSQLError) in try opener.connect(for: .leasing)
      }
      defer { lease.close() }
      let node = try lease.join(NodeDescription(name: "one", address: "unix:/x", release: "0.1.0"))
      #expect(clocks.wall == 0)
      let connection = try opener.connect()
      func databaseTime() throws -> Int64 { Int64(try connection.count("SELECT \(DatabaseClocks.column)", [])) }
      let before = try databaseTime()
      #expect(try lease.renew(node) != nil)
      let after = try databaseTime()
      // This machine's clock stands still meanwhile.
      #expect((before - 1...after).contains(clocks.wall.milliseconds))
    }
  }
}
