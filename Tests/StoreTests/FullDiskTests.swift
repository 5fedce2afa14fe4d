import Foundation
import GRDBSQLite
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: opening on a disk without room.
@Suite struct FullDiskTests {
  enum End: CaseIterable { case closed, crashed }

  @Test(arguments: End.allCases)
  func theStoreOpensReadsRefusesAndWritesWhenThereIsRoom(_ end: End) async throws {
    try await withDirectory { directory in
      let clocks = ManualClocks(at: 5_000)
      let first = try openSQLite(directory + "/first") { $0.clocks = clocks }
      try await first.put([.create(type: .avChatRoom), .join(alice), .join(bob), .append(.sample(1))]).get()
      first.notePresence(of: alice, offlineSince: nil)
      clocks.advance(by: 1_000)
      await first.tick()
      var path = directory + "/first"
      if end == .crashed {
        path = directory + "/second"
        try copyDatabase(from: directory + "/first", to: path)
        try FileManager.default.copyItem(atPath: directory + "/first/lock", toPath: path + "/lock")
        try setTime(of: path + "/lock", like: directory + "/first/lock")
      }
      first.close()

      let disk = FaultyDisk(directory: path)
      disk.fail(.write, SQLITE_FULL)
      clocks.advance(by: 60_000)
      let store = try openSQLite(path) { $0.clocks = clocks }
      defer { store.close() }
      #expect(!store.canPersist, "before the first request")
      #expect(try await store.group(club, sentSince: 0)?.lastMessage == .sample(1))
      #expect(await store.put([.append(.sample(2))]).failure == .unavailable)
      // Users of the last run are offline, whether or not that could be written.
      func expectPresence() async throws {
        let ended: WallInstant = 6_000
        #expect(try await store.offlineSince(of: alice) == ended)
        #expect(try await store.group(club, sentSince: 0)?.offlineSince == [alice: ended])
      }
      try await expectPresence()
      await store.tick()
      #expect(!store.canPersist)
      try await expectPresence()

      disk.heal()
      await store.tick()
      #expect(store.canPersist && store.writer.queue.pendingUpdates.isEmpty)
      try await expectPresence()
      try await store.put([.append(.sample(2))]).get()
    }
  }

  @Test func noFileOfTheDatabaseMustBeMadeAgain() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { try await $0.put([.create()]).get() }
      let files = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
      #expect(files == ["lock", "throng.db", "throng.db-shm", "throng.db-wal"])
      let identities = files.map { FileIdentity(of: directory + "/" + $0) }
      try await withSQLite(directory) { store in
        let counts = try await store.groupCounts()
        #expect(counts == [.public: 1])
        #expect(files.map { FileIdentity(of: directory + "/" + $0) } == identities)
      }
    }
  }

  @Test func aDatabaseThatNeedsAMigrationSaysSo() async throws {
    try await withDirectory { directory in
      let database = try DatabaseFile(nil, dataDirectory: directory)
      let lock = try DatabaseLock(of: database, now: 1)
      try DatabaseOpener(database: database, sync: .full, options: StoreOptions()).prepareDatabase(lock)
      lock.close()
      let disk = FaultyDisk(directory: directory)
      disk.fail(.write, SQLITE_FULL)
      let error = #expect(throws: StoreOpenError.self) { try openSQLite(directory) }
      #expect(error?.kind == .unavailable && error?.description.contains("throng.db") == true)
    }
  }
}
