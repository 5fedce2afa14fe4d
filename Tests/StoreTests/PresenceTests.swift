import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// Presence of users.
@Suite struct PresenceTests {
  @Test(arguments: Backing.allCases)
  func theLastThatWasNotedCountsAndWhoeverWasNotedIsKnown(_ backing: Backing) async throws {
    try await backing.withStore { store in
      store.remember([alice])
      #expect(try await store.offlineSince(of: alice) == nil)
      store.notePresence(of: alice, offlineSince: nil)
      store.notePresence(of: bob, offlineSince: 70)
      store.remember([bob])
      func expectAll() async throws {
        #expect(try await store.offlineSince(of: alice) == nil)
        #expect(try await store.offlineSince(of: bob) == 70)
        #expect(try await store.offlineSince(of: carol) == nil)
        #expect(try await store.known(among: [alice, bob, carol]) == [alice, bob])
        #expect(try await store.knownCount() == 2)
      }
      try await expectAll()
      try await store.put([.create()]).get()
      try await expectAll()
      store.notePresence(of: alice, offlineSince: 80)
      store.notePresence(of: bob, offlineSince: nil)
      #expect(try await store.offlineSince(of: alice) == 80)
      #expect(try await store.offlineSince(of: bob) == nil)
      try await store.put([.create(team)]).get()
      #expect(try await store.offlineSince(of: alice) == 80)
      #expect(try await store.offlineSince(of: bob) == nil)
      #expect(try await store.knownCount() == 2)
    }
  }

  @Test(arguments: Backing.allCases)
  func aLiveRoomComesWithItsMembersThatAreGoneOtherGroupsWithout(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let dave = UserID("dave")!
      try await store.put([.create(type: .avChatRoom), .create(team, type: .meeting)]).get()
      for user in [alice, bob, carol] { try await store.put([.join(user), .join(user, team)]).get() }
      store.notePresence(of: alice, offlineSince: 10)
      store.notePresence(of: bob, offlineSince: 20)
      store.remember([carol])
      store.notePresence(of: dave, offlineSince: 40)
      #expect(try await store.group(club, sentSince: 0)?.offlineSince == [alice: 10, bob: 20])
      try await store.put([.append(.sample(1, in: team))]).get()
      #expect(try await store.group(club, sentSince: 0)?.offlineSince == [alice: 10, bob: 20])
      #expect(try await store.group(team, sentSince: 0)?.offlineSince == [:])
      // Waiting updates win over stored rows, in both directions.
      store.notePresence(of: alice, offlineSince: nil)
      store.notePresence(of: bob, offlineSince: 21)
      store.remember([bob])
      store.notePresence(of: carol, offlineSince: 30)
      #expect(try await store.group(club, sentSince: 0)?.offlineSince == [bob: 21, carol: 30])
      try await store.put([.append(.sample(2, in: team))]).get()
      #expect(try await store.group(club, sentSince: 0)?.offlineSince == [bob: 21, carol: 30])
    }
  }

  @Test func presenceIsDurableAfterATickAndWhoWasHereIsGoneSinceTheStoreLastLived() async throws {
    try await withDirectory { directory in
      let clocks = ManualClocks(at: 5_000)
      let store = try openSQLite(directory) { $0.clocks = clocks }
      store.notePresence(of: alice, offlineSince: nil)
      store.notePresence(of: bob, offlineSince: 4_000)
      store.remember([carol])
      clocks.advance(by: 2_000)
      await store.tick()
      #expect(store.writer.queue.pendingUpdates.isEmpty)
      clocks.advance(by: 500)
      try await withDirectory { copy in
        // As the end of the process leaves it: nothing is closed.
        try copyDatabase(from: directory, to: copy)
        try FileManager.default.copyItem(atPath: directory + "/lock", toPath: copy + "/lock")
        try setTime(of: copy + "/lock", like: directory + "/lock")
        clocks.advance(by: 100_000)
        try await withSQLite(copy, { $0.clocks = clocks }) { store in
          let (first, second) = (try await store.offlineSince(of: alice), try await store.offlineSince(of: bob))
          #expect(first == 7_000 && second == 4_000)
          #expect(try await store.offlineSince(of: carol) == nil)
        }
      }
      store.close()
    }
  }

  @Test func whoIsHereAtTheClosingIsGoneSinceThen() async throws {
    try await withDirectory { directory in
      let clocks = ManualClocks(at: 5_000)
      try await withSQLite(directory, { $0.clocks = clocks }) { store in
        store.notePresence(of: alice, offlineSince: nil)
        clocks.advance(by: 1_234)
      }
      clocks.advance(by: 60_000)
      for _ in 1...2 {
        try await withSQLite(directory, { $0.clocks = clocks }) { store in
          let since = try await store.offlineSince(of: alice)
          #expect(since == 6_234)
        }
        clocks.advance(by: 60_000)
      }
    }
  }

  @Test func anOpeningThatFailsIsNoSignOfLifeAndAClockPutBackMakesNoTimeToCome() async throws {
    try await withDirectory { directory in
      let clocks = ManualClocks(at: 5_000)
      try await withSQLite(directory, { $0.clocks = clocks }) { $0.notePresence(of: alice, offlineSince: nil) }
      let (database, aside) = (directory + "/throng.db", directory + "/aside")
      try FileManager.default.moveItem(atPath: database, toPath: aside)
      try Data("not a database".utf8).write(to: URL(filePath: database))
      clocks.advance(by: 10_000)
      #expect(throws: StoreOpenError.self) { try openSQLite(directory) { $0.clocks = clocks } }
      try FileManager.default.removeItem(atPath: database)
      try FileManager.default.moveItem(atPath: aside, toPath: database)
      try await withSQLite(directory, { $0.clocks = clocks }) { store in
        let since = try await store.offlineSince(of: alice)
        #expect(since == 5_000)
        store.notePresence(of: alice, offlineSince: nil)
      }
      clocks.moveWall(by: -12_000)
      try await withSQLite(directory, { $0.clocks = clocks }) { store in
        let since = try await store.offlineSince(of: alice)
        #expect(since == 3_000)
      }
    }
  }

  @Test func withoutALockFileSessionsEndedNow() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { $0.notePresence(of: alice, offlineSince: nil) }
      try FileManager.default.removeItem(atPath: directory + "/lock")
      try await withSQLite(directory, { $0.clocks = ManualClocks(at: 77_000) }) { store in
        let since = try await store.offlineSince(of: alice)
        #expect(since == 77_000)
      }
    }
  }

  @Test func aPresenceThatChangesNothingWritesNothing() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let users = (0..<100).map { UserID("user\($0)")! }
        func written(_ note: @escaping @Sendable (UserID) -> Void) async throws -> Int {
          let before = try await store.pool.writeWithoutTransaction { $0.totalChangesCount }
          users.forEach(note)
          await store.tick()
          #expect(store.writer.queue.pendingUpdates.isEmpty)
          return try await store.pool.writeWithoutTransaction { $0.totalChangesCount } - before
        }
        let first = try await written { store.notePresence(of: $0, offlineSince: nil) }
        #expect(first == 100)
        #expect(try await written { store.notePresence(of: $0, offlineSince: nil) } == 0)
        #expect(try await written { store.remember([$0]) } == 0)
        #expect(try await written { store.notePresence(of: $0, offlineSince: 9) } == 100)
        #expect(try await written { store.notePresence(of: $0, offlineSince: 9) } == 0)
      }
    }
  }

  @Test func whatIsNotedWhileTheDiskWorksStillWaitsWhenItIsDone() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create(type: .avChatRoom), .join(alice)]).get()
        store.notePresence(of: alice, offlineSince: 10)
        disk.holdSync()
        store.writer.tick()
        await disk.writerIsHeld()
        store.notePresence(of: alice, offlineSince: nil)
        #expect(try await store.offlineSince(of: alice) == nil)
        disk.release()
        await store.waitForWriter()
        #expect(store.writer.queue.pendingUpdates == [alice: .online])
        #expect(try await store.offlineSince(of: alice) == nil)
        #expect(try await store.group(club, sentSince: 0)?.offlineSince == [:])
        await store.tick()
        #expect(store.writer.queue.pendingUpdates.isEmpty)
        #expect(try await store.offlineSince(of: alice) == nil)
      }
    }
  }
}

func setTime(of path: String, like other: String) throws {
  let time = try #require(try FileManager.default.attributesOfItem(atPath: other)[.modificationDate] as? Date)
  try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: path)
}
