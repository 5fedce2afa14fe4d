import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: what is old goes.
@Suite struct ExpiredRowCleanupTests {
  private static let day: Int64 = 86_400_000
  private static let start: WallInstant = 1_700_000_000_000

  /// A store with a clock, the clock at `start`.
  private func withClock(
    _ tune: @escaping (inout StoreOptions) -> Void = { _ in }, _ body: (SQLiteStore, ManualClocks) async throws -> Void
  ) async throws {
    let clocks = ManualClocks(at: Self.start)
    try await withDirectory { directory in
      try await withSQLite(
        directory,
        {
          $0.clocks = clocks
          tune(&$0)
        }
      ) { try await body($0, clocks) }
    }
  }

  private func applications(_ store: SQLiteStore) async throws -> [String] {
    try await store.pool.read { try String.fetchAll($0, sql: "SELECT id FROM application ORDER BY number") }
  }

  private func notificationTimes(_ store: SQLiteStore) async throws -> [WallInstant] {
    try await store.pool.read { try WallInstant.fetchAll($0, sql: "SELECT timestamp FROM notification ORDER BY number") }
  }

  @Test func notificationsGoAfterTheirLifetimeAboutHourly() async throws {
    try await withClock { store, clocks in
      let times = [Self.start, Self.start + Self.day, Self.start - SystemNotification.lifetime + 1]
      // A clock that was put back: the order of the numbers is not that of the times.
      try await store.put(times.map { .notify(.sample(at: $0), .users([alice, bob])) }).get()
      clocks.advance(by: 3_600_000 - 1)
      await store.tick()
      #expect(try await notificationTimes(store).count == 6, "the hour is not over")
      clocks.advance(by: 1)
      await store.tick()
      #expect(try await notificationTimes(store) == [times[0], times[0], times[1], times[1]])
      clocks.advance(for: SystemNotification.lifetime - .seconds(3600))
      await store.tick()
      #expect(try await notificationTimes(store).count == 4, "as old as may be")
      clocks.advance(by: 3_600_000)
      await store.tick()
      #expect(try await notificationTimes(store) == [times[1], times[1]])
      // Right after a clock was put back nothing goes; from then on an hour is an hour.
      try await store.put([.notify(.sample(at: 1), .users([alice]))]).get()
      clocks.moveWall(by: -3_600_000)
      await store.tick()
      #expect(try await notificationTimes(store) == [times[1], times[1], 1])
      clocks.advance(by: 3_600_000)
      await store.tick()
      #expect(try await notificationTimes(store) == [times[1], times[1]])
    }
  }

  @Test func applicationsGoAWeekAfterTheyWereHandledOrTheirGroupWasDisbanded() async throws {
    try await withClock { store, clocks in
      let time = Self.start
      try await store.put([
        .create(), .create(team), .apply(.sample("open", at: 1)), .apply(.sample("handled", at: 1).handled(at: time)),
        .apply(.sample("handled later", at: 1).handled(at: time + Self.day)), .apply(.sample("gone", to: team, at: 1)),
        .apply(.sample("gone and handled", to: team, at: 1).handled(at: time)),
        .apply(.sample("invited", .invite, at: 1)),
      ]).get()
      try await store.put([.dismiss(team, at: time + 2 * Self.day)]).get()
      await store.waitForWriter()
      func left(after days: Int64) async throws -> [String] {
        clocks.advance(by: (time + days * Self.day + 1).milliseconds(since: clocks.wall))
        await store.tick()
        return try await applications(store)
      }
      #expect(try await left(after: 6) == ["open", "handled", "handled later", "gone", "gone and handled", "invited"])
      #expect(try await left(after: 7) == ["open", "handled later", "gone", "invited"])
      #expect(try await store.application("gone")?.isGroupGone == true)
      #expect(try await left(after: 8) == ["open", "gone", "invited"])
      #expect(try await left(after: 9) == ["open", "invited"])
      #expect(try await left(after: 900) == ["open", "invited"])
      try await store.put([.apply(.sample("handled"))]).get()
    }
  }

  @Test func anApplicationThatWasHandledAndMadeAgainCountsFromItsNewEnd() async throws {
    try await withClock { store, clocks in
      let application = GroupApplication.sample("again")
      try await store.put([.create(), .apply(application.handled(at: Self.start)), .apply(application)]).get()
      clocks.advance(by: 30 * Self.day)
      await store.tick()
      #expect(try await applications(store) == ["again"])
      try await store.put([.putApplication(application.handled(at: clocks.wall), asNewest: false)]).get()
      clocks.advance(by: 6 * Self.day)
      await store.tick()
      #expect(try await applications(store) == ["again"])
      clocks.advance(by: 2 * Self.day)
      await store.tick()
      #expect(try await applications(store).isEmpty)
    }
  }

  @Test func reportsGoAfterTheirRetentionFromWhenTheyWereLastMade() async throws {
    try await withClock({ $0.reportRetention = .seconds(3 * 86_400) }) { store, clocks in
      let time = Self.start
      try await store.put([
        .putReport(.sample(by: alice, at: time)), .putReport(.sample(by: bob, at: time)),
        .closeReport(MessageReport.id(of: "club-1", by: alice), note: nil, at: time + Self.day),
        .putReport(.sample(by: bob, at: time + Self.day)),
      ]).get()
      func left(after days: Int64) async throws -> [UserID] {
        clocks.advance(by: (time + days * Self.day + 1).milliseconds(since: clocks.wall))
        await store.tick()
        let all = [MessageReport.State.open, .closed]
        var reporters: [UserID] = []
        for state in all {
          reporters += try await store.reports(state: state, in: nil, before: 0, limit: 9).map(\.report.reporter)
        }
        return reporters
      }
      #expect(try await left(after: 2) == [bob, alice])
      #expect(try await left(after: 3) == [bob], "closing one does not keep it longer")
      #expect(try await left(after: 4) == [])
    }
  }

  @Test func decisionsAboutUsersGoADayAfterNothingOfThemIsInForce() async throws {
    try await withClock { store, clocks in
      let time = Self.start
      let block = UserAccess.Block(reason: "spam")
      try await store.put([
        .putBlock(alice, block, at: time), .putBlock(bob, block, at: time), .raiseTokensBefore(carol, time, at: time),
        .putBlock(bob, nil, at: time), .putBlock(carol, block, at: time), .putBlock(carol, nil, at: time),
      ]).get()
      func rows() async throws -> [String] {
        try await store.pool.read { try String.fetchAll($0, sql: "SELECT userID FROM userAccess ORDER BY userID") }
      }
      // Its cursor is good meanwhile.
      #expect(try await store.blockedUsers(after: 2, at: time, limit: 9) == BlockedPage(users: [], next: 0))
      clocks.advance(by: Self.day)
      await store.tick()
      #expect(try await rows() == ["alice", "bob", "carol"], "as old as may be")
      clocks.advance(by: 3_600_000)
      await store.tick()
      #expect(try await rows() == ["alice", "carol"], "a revocation stays for ever")
      #expect(try await store.blockedUsers(after: 2, at: time, limit: 9) == nil)
      #expect(try await store.access(of: carol) == UserAccess(tokensBefore: time))
      // A number is never used again: a list would go on at another place.
      try await store.put([.putBlock(bob, block, at: clocks.wall)]).get()
      #expect(try await store.blockedUsers(after: 2, at: time, limit: 9) == nil)
    }
  }

  /// As one that was lifted.
  @Test func aBlockGoesADayAfterItsEnd() async throws {
    try await withClock { store, clocks in
      let time = Self.start
      let block = UserAccess.Block(until: time + Self.day, reason: "spam")
      try await store.put([
        .putBlock(alice, block, at: time), .putBlock(bob, block, at: time), .putBlock(bob, UserAccess.Block(), at: time),
        .raiseTokensBefore(carol, time, at: time), .putBlock(carol, block, at: time),
      ]).get()
      func rows() async throws -> [String] {
        try await store.pool.read { try String.fetchAll($0, sql: "SELECT userID FROM userAccess ORDER BY userID") }
      }
      clocks.advance(by: 2 * Self.day)
      await store.tick()
      #expect(try await rows() == ["alice", "bob", "carol"], "as old as may be")
      clocks.advance(by: 3_600_000)
      await store.tick()
      #expect(try await rows() == ["bob", "carol"])
      #expect(try await store.access(of: carol) == UserAccess(block: block, tokensBefore: time))
    }
  }

  @Test func deletionsThatAreDoneGoAfterTheirLifetimeAndOthersStay() async throws {
    try await withClock { store, clocks in
      var done = UserDeletion(userID: alice, messages: .keep, requestTime: Self.start)
      (done.step, done.endTime) = (.done, Self.start)
      let running = UserDeletion(userID: bob, messages: .keep, requestTime: Self.start)
      try await store.put([.putDeletion(done), .putDeletion(running)]).get()
      clocks.advance(for: UserDeletion.lifetime)
      await store.tick()
      #expect(try await store.signInRecord(of: alice).hasDeletion, "as old as may be")
      clocks.advance(by: 3_600_000)
      await store.tick()
      #expect(try await !store.signInRecord(of: alice).hasDeletion)
      #expect(try await store.access(of: bob).isBeingDeleted)
    }
  }

  @Test func itGoesInBoundedChunksAndCommitsComeBetweenThem() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let users = (0..<25).map { UserID("user\($0)")! }
        let handled = (1...12).map { StoreChange.apply(.sample("a\($0)").handled(at: 5)) }
        try await store.put([.create(), .notify(.sample(at: 1), .users(users))] + handled + [.apply(.sample("open"))]).get()
        let steps = try await store.pool.writeWithoutTransaction { db in
          try [5, 6].map { (time: WallInstant) in
            var steps: [Int] = []
            var before = db.totalChangesCount
            while try ExpiredRowCleanup.chunk(of: 10, at: time + ExpiredRows.applicationLifetime, in: db) {
              steps.append(db.totalChangesCount - before)
              before = db.totalChangesCount
            }
            return steps
          }
        }
        #expect(steps == [[10, 10, 5], [10, 2]])
        #expect(try await applications(store) == ["open"])
      }
    }
  }

  @Test func departuresGoAMonthAfterTheLeavingFormerMembersWhenNothingIsLeftToRemember() async throws {
    try await withClock { store, clocks in
      func former(_ user: UserID, visibleRanges: [ClosedRange<Int64>] = [], muted: WallInstant = 0, banned: WallInstant = 0)
        -> StoreChange
      {
        .putFormer(
          FormerMember(userID: user, visibleRanges: visibleRanges, muteUntil: muted, bannedUntil: banned, leftTime: Self.start),
          in: club)
      }
      try await store.put([
        .create(), .create(team), .join(alice), .join(bob), .join(bob, team), former(alice, visibleRanges: [1...1]),
        former(bob, muted: Self.start + Self.day), former(carol, visibleRanges: [1...2], banned: Self.start + 40 * Self.day),
        .removeMember(alice, from: club, at: Self.start), .removeMember(bob, from: club, at: Self.start + 2 * Self.day),
        .dismiss(team, at: Self.start + 3 * Self.day),
      ]).get()
      await store.waitForWriter()
      func left(after days: Int64) async throws -> [String] {
        clocks.advance(by: (Self.start + days * Self.day + 1).milliseconds(since: clocks.wall))
        await store.tick()
        let group = try #require(try await store.group(club, sentSince: 0))
        let departures = try await [alice, bob].asyncFlatMap { user in
          try await store.departures(of: user, from: nil, since: 0).map { "\(user) \($0)" }
        }
        return group.former.map(\.userID.rawValue).sorted() + departures
      }
      #expect(try await left(after: 0) == ["alice", "bob", "carol", "alice club", "bob club", "bob \(team)"])
      #expect(try await left(after: 1) == ["alice", "carol", "alice club", "bob club", "bob \(team)"])
      #expect(try await left(after: 29) == ["alice", "carol", "alice club", "bob club", "bob \(team)"])
      #expect(try await left(after: 30) == ["carol", "bob club", "bob \(team)"])
      #expect(try await left(after: 32) == ["carol", "bob \(team)"])
      #expect(try await left(after: 33) == ["carol"])
      #expect(try await left(after: 41) == [])
    }
  }

  @Test func whatBecameOldWhileTheStoreWasClosedGoesAtTheOpening() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { try await $0.put([.create(), .notify(.sample(at: 1), .users([alice]))]).get() }
      try await withSQLite(directory, { $0.clocks = ManualClocks(at: WallInstant(2) + SystemNotification.lifetime) }) { store in
        await store.waitForWriter()
        #expect(try await notificationTimes(store).isEmpty)
        // Its number is not used again.
        try await store.put([.notify(.sample(at: .unset + SystemNotification.lifetime), .users([alice]))]).get()
        #expect(try await store.notifications(of: alice, since: 0, before: 0, limit: 9).map(\.number) == [2])
      }
    }
  }
}

extension Sequence {
  /// The results of each, one after the other.
  fileprivate func asyncFlatMap<Value>(_ body: (Element) async throws -> [Value]) async throws -> [Value] {
    var all: [Value] = []
    for element in self { all += try await body(element) }
    return all
  }
}
