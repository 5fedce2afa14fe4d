import Foundation
import GroupModel
import GroupRuntime
import StoreEngine
import Testing

@testable import SQLiteStore

/// SQLite: one process has the database, whatever becomes of its names.
@Suite struct LockTests {
  private func refusal(_ directory: String, _ database: String? = nil) -> StoreOpenError? {
    do {
      try openSQLite(directory, database: database).close()
      return nil
    } catch {
      return error
    }
  }

  @Test func aDeletedLockFileLetsNobodyInAndIsMadeAgain() async throws {
    try await withDirectory { directory in
      let log = RecordedLog()
      let store = try openSQLite(directory, logger: log.logger)
      defer { store.close() }
      unlink(directory + "/lock")
      #expect(refusal(directory)?.kind == .locked)
      await store.tick()
      #expect(log.contains("the lock file was removed or replaced: it was made again"))
      #expect(store.canPersist)
      let second = try #require(refusal(directory))
      #expect(second.kind == .locked && second.description.contains("process \(getpid())"))
      try await store.put([.create()]).get()
    }
  }

  @Test func aHardLinkIsTheSameDatabase() async throws {
    try await withDirectory { directory in
      let store = try openSQLite(directory + "/a")
      defer { store.close() }
      try FileManager.default.createDirectory(atPath: directory + "/b", withIntermediateDirectories: true)
      #expect(link(directory + "/a/throng.db", directory + "/b/throng.db") == 0)
      #expect(link(directory + "/a/throng.db", directory + "/a/other.db") == 0)
      #expect(refusal(directory + "/b")?.kind == .locked)
      #expect(refusal(directory + "/a", "other.db")?.kind == .locked)
      try await store.put([.create()]).get()
    }
  }

  @Test func aSecondProcessIsKeptOutWithAndWithoutTheLockFile() async throws {
    try await withDirectory { directory in
      let store = try openSQLite(directory)
      defer { store.close() }
      for _ in 0..<2 {
        await #expect(processExitsWith: .exitCode(7)) { [directory = directory as String] in
          do throws(StoreOpenError) {
            try openSQLite(directory).close()
          } catch {
            exit(error.kind == .locked ? 7 : 8)
          }
        }
        unlink(directory + "/lock")
      }
    }
  }

  @Test func whileSomebodyElseHoldsTheLockFileNothingIsWritten() async throws {
    try await withDirectory { directory in
      let log = RecordedLog()
      let store = try openSQLite(directory, logger: log.logger)
      defer { store.close() }
      try await store.put([.create()]).get()
      // As a version does that knows no other lock.
      unlink(directory + "/lock")
      let other = open(directory + "/lock", O_RDWR | O_CREAT, 0o600)
      #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
      await store.tick()
      #expect(!store.canPersist && log.contains("error: writes are refused"))
      #expect(await store.put([.append(.sample(1))]).failure == .unavailable)
      #expect(try await store.groupCounts() == [.public: 1])
      await store.tick()
      #expect(!store.canPersist)
      close(other)
      await store.tick()
      await store.tick()
      #expect(store.canPersist && log.contains("in their places again"))
      try await store.put([.append(.sample(1))]).get()
    }
  }

  @Test(arguments: ["throng.db", "throng.db-wal", "throng.db-shm"])
  func whatWouldBeLostWithAReplacedFileIsNotAccepted(_ name: String) async throws {
    try await withDirectory { directory in
      let log = RecordedLog()
      let store = try openSQLite(directory, logger: log.logger)
      defer { store.close() }
      try await store.put([.create()]).get()
      let path = directory + "/" + name
      try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
      await store.tick()
      #expect(!store.canPersist && log.contains("reason=\(path) was removed or replaced"))
      #expect(await store.put([.append(.sample(1))]).failure == .unavailable)
      try FileManager.default.copyItem(atPath: path + ".away", toPath: path)
      await store.tick()
      #expect(await store.put([.append(.sample(1))]).failure == .unavailable)
      unlink(path)
      try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
      await store.tick()
      await store.tick()
      #expect(store.canPersist)
      try await store.put([.append(.sample(1))]).get()
    }
  }

  @Test func aRefusedOpeningLeavesTheNoteOfTheLastRunAsItWas() async throws {
    try await withDirectory { directory in
      try openSQLite(directory).close()
      func note() throws -> [Substring] {
        try String(contentsOfFile: directory + "/lock", encoding: .utf8).split(separator: "\n")
      }
      #expect(try note().last == "ended")
      try Data("junk".utf8).write(to: URL(filePath: directory + "/throng.db"))
      #expect(refusal(directory)?.kind == .foreign)
      #expect(try note() == ["\(getpid())", "ended"])
    }
  }
}
