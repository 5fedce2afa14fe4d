import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: opening and closing.
@Suite struct OpeningTests {
  private func refusalToOpen(_ directory: String) -> StoreOpenError? {
    do {
      try openSQLite(directory).close()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [(SyncMode.full, 2), (.normal, 1)])
  func theLogIsWriteAheadAndSyncedAsAsked(_ sync: SyncMode, _ level: Int) async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory, sync: sync) { store in
        let (mode, synchronous) = try await store.pool.writeWithoutTransaction { db in
          (try String.fetchOne(db, sql: "PRAGMA journal_mode"), try Int.fetchOne(db, sql: "PRAGMA synchronous"))
        }
        #expect(mode == "wal" && synchronous == level)
        // Not only set: done.
        try await store.put([.create()]).get()
        let before = disk.logSyncs
        for seq in 1...5 { try await store.put([.append(.sample(Int64(seq)))]).get() }
        #expect(disk.logSyncs - before == (sync == .full ? 5 : 0))
      }
    }
  }

  @Test func theDirectoryIsMadeForTheOwnerAlone() async throws {
    try await withDirectory { directory in
      let inner = directory + "/a/b"
      try await withSQLite(inner) { _ in
        for (name, mode) in [("", 0o700), ("/throng.db", 0o600), ("/throng.db-wal", 0o600), ("/lock", 0o600)] {
          let attributes = try FileManager.default.attributesOfItem(atPath: inner + name)
          #expect(attributes[.posixPermissions] as? Int == mode, "\(name)")
        }
      }
    }
  }

  @Test func whatWasCommittedIsThereAfterClosingAndOpeningAndTheLogIsEmpty() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        store.remember([carol])
        try await store.put([.create(), .join(bob), .append(.sample(1))]).get()
        store.remember([bob])
      }
      // An opening on a full disk could not make it.
      #expect(try Data(contentsOf: URL(filePath: directory + "/throng.db-wal")).isEmpty)
      try await withSQLite(directory) { store in
        let group = try #require(try await store.group(club, sentSince: 0))
        #expect(group.lastMessage == .sample(1) && group.members == [.sample(bob)])
        #expect(try await store.known(among: [alice, bob, carol]) == [bob, carol])
      }
    }
  }

  @Test func closingAnswersWhatWaitsThenRefuses() async throws {
    try await withDirectory { directory in
      let store = try openSQLite(directory)
      let answers = Answers(expected: 200)
      for index in 0..<200 {
        let changes = [StoreChange.create(GroupID("g\(index)")!)]
        store.commit(Commit(changes: changes, generation: CommitGeneration()) { answers.came($0, index) })
      }
      store.close()
      #expect(answers.order == Array(0..<200))
      store.close()
      let generation = CommitGeneration()
      #expect(await store.put([.create()], generation).failure == .unavailable)
      #expect(generation.isBroken)
      let failure = await failure { () async throws(StoreError) in try await store.groupCounts() }
      #expect(failure?.kind == .unavailable)
      let again = try openSQLite(directory)
      #expect(try await again.groupCounts() == [.public: 200])
      again.close()
    }
  }

  @Test func oneDirectoryHasOneStore() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { _ in
        let refusal = try #require(refusalToOpen(directory))
        #expect(refusal.kind == .locked)
        #expect(refusal.description.contains(directory) && refusal.description.contains("process \(getpid())"))
      }
      #expect(refusalToOpen(directory) == nil)
    }
  }

  @Test func aDirectoryThatCannotBeMadeIsNamed() async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      try Data("file".utf8).write(to: URL(filePath: directory + "/file"))
      let refusal = try #require(refusalToOpen(directory + "/file/data"))
      #expect(refusal.kind == .directory && refusal.description.contains(directory + "/file/data"))
    }
  }

  @Test func aDirectoryThatCannotBeWrittenToIsNamed() async throws {
    // The superuser may write anywhere but where there is no such thing as a file.
    let directory = getuid() == 0 ? "/proc/self" : "/"
    let refusal = try #require(refusalToOpen(directory))
    #expect(refusal.kind == .directory && refusal.description.contains(directory))
  }

  @Test(arguments: [Data(), Data("hello, world".utf8), Data(repeating: 0x20, count: 8192), Data("SQLite format 3\0".utf8)])
  func aFileThatIsNoDatabaseIsLeftAlone(_ content: Data) async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let file = URL(filePath: directory + "/throng.db")
      try content.write(to: file)
      let refusal = try #require(refusalToOpen(directory))
      #expect(refusal.kind == (content.isEmpty ? .corrupt : .foreign) && refusal.description.contains(file.path))
      #expect(try Data(contentsOf: file) == content)
    }
  }

  @Test func somebodyElsesDatabaseIsLeftAlone() async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let path = directory + "/throng.db"
      let other = try DatabaseQueue(path: path)
      try await other.write { try $0.execute(sql: "CREATE TABLE t (x)") }
      try other.close()
      let before = try Data(contentsOf: URL(filePath: path))
      #expect(refusalToOpen(directory)?.kind == .foreign)
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }

  @Test func aLogWithoutItsDatabaseIsNotThrownAway() async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let log = URL(filePath: directory + "/throng.db-wal")
      try Data("frames".utf8).write(to: log)
      #expect(refusalToOpen(directory)?.kind == .corrupt)
      #expect(try Data(contentsOf: log) == Data("frames".utf8))
    }
  }

  @Test func aDatabaseWhoseSchemaIsDamagedStaysAsItWasFoundAndSoDoesItsLog() async throws {
    try await withDirectory { copy in
      try await withDirectory { directory in
        try await withSQLite(directory) { store in
          try await store.put([.create()]).get()
          await store.tick()
          try copyDatabase(from: directory, to: copy)
        }
      }
      let files = ["/throng.db", "/throng.db-wal"].map { URL(filePath: copy + $0) }
      // All of it is in the database: nothing of the log hides the damage.
      try Data().write(to: files[1])
      var content = try Data(contentsOf: files[0])
      content.replaceSubrange(100..<4096, with: Data(repeating: 0xa5, count: 3996))
      try content.write(to: files[0])
      let refusal = try #require(refusalToOpen(copy))
      #expect(refusal.kind == .corrupt && refusal.description.contains(files[0].path))
      #expect(try Data(contentsOf: files[0]) == content)
      #expect(try Data(contentsOf: files[1]).isEmpty)
    }
  }

  @Test func anOpeningReadsNoMoreOfABigDatabaseThanOfASmallOne() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        for seq in 0..<2000 { store.notePresence(of: UserID("user\(seq)")!, offlineSince: 5) }
        let text = String(repeating: "x", count: 4000)
        try await store.put([.create()] + (1...2000).map { .append(.sample($0, .text(text))) }).get()
      }
      let disk = FaultyDisk(directory: directory)
      try openSQLite(directory).close()
      // 8 MB are 2,000 pages.
      #expect(disk.reads < 150)
    }
  }

  @Test func aDatabaseOfANewerVersionIsLeftAlone() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { try await $0.put([.create()]).get() }
      let path = directory + "/throng.db"
      let newer = try DatabaseQueue(path: path)
      try await newer.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('v1000')") }
      try newer.close()
      let before = try Data(contentsOf: URL(filePath: path))
      let refusal = try #require(refusalToOpen(directory))
      #expect(refusal.kind == .newer && refusal.description.contains("newer version"))
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
    }
  }
}
