import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import SQLiteStore

@Suite("SQLite: a refused commit never comes back")
struct FailedCommitTests {
  private static let syncFailed = SQLITE_IOERR | (4 << 8)
  private static let noRoomForTheIndex = SQLITE_IOERR | (19 << 8)

  enum Way: CaseIterable {
    case syncFailsOnce, syncFails, truncationFailsToo, firstTransaction, indexCannotGrow
  }

  @Test(arguments: Way.allCases)
  func `a process that dies after the answer leaves nothing to recover`(_ way: Way) async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create()]).get()
        var changes: [StoreChange] = [.append(.sample(1, .text("refused")))]
        switch way {
        case .syncFailsOnce, .syncFails: disk.fail(.sync, Self.syncFailed)
        case .truncationFailsToo:
          disk.fail(.sync, Self.syncFailed)
          disk.fail(.truncate, SQLITE_IOERR | (6 << 8))
        case .firstTransaction:
          // The log starts over: the frames lie behind no other.
          try await store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
          disk.fail(.sync, Self.syncFailed)
        case .indexCannotGrow:
          // More than the 4,062 frames that the first page of the index has room for.
          let text = String(repeating: "x", count: 40_000)
          changes = (1...450).map { .append(.sample($0, .text(text))) }
          disk.fail(.share, Self.noRoomForTheIndex)
        }
        let answer = await store.put(changes)
        #expect(answer.failure == .unavailable)
        if way == .syncFailsOnce { disk.heal() }
        // No tick: the process dies at once.
        try await expectNothing(of: directory)
        disk.heal()
        await store.tick()
        #expect(store.canPersist)
        try await store.put([.append(.sample(1))]).get()
        try await expect(.sample(1), of: directory)
      }
    }
  }

  @Test func `what cannot be taken out of the log is not answered before it can`() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create(), .create(team)]).get()
        disk.breakDown(at: .sync, Self.syncFailed)
        let answers = Answers(expected: 2)
        store.commit(Commit(changes: [.append(.sample(1))], generation: CommitGeneration()) { answers.came($0, 0) })
        try await waitUntil("the undo is refused") { disk.refusals(of: .write) > 0 }
        store.commit(Commit(changes: [.append(.sample(1, in: team))], generation: CommitGeneration()) { answers.came($0, 1) })
        // A second try: an answer after the first would have come before it.
        let tries = disk.refusals(of: .write)
        try await waitUntil("the undo is refused again") {
          store.writer.tick()
          return disk.refusals(of: .write) > tries
        }
        #expect(answers.order.isEmpty && !store.canPersist)
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == nil, "reading goes on")
        disk.heal()
        try await waitUntil("both commits are answered") {
          store.writer.tick()
          return answers.order.count == 2
        }
        #expect(await answers.all().map(\.failure) == [.unavailable, nil])
        await store.tick()
        #expect(store.canPersist)
        try await expectNothing(of: directory)
      }
    }
  }

  @Test func `closing does not wait for a disk that never heals`() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let store = try openSQLite(directory)
      try await store.put([.create()]).get()
      disk.breakDown(at: .sync, Self.syncFailed)
      let answers = Answers(expected: 1)
      store.commit(Commit(changes: [.append(.sample(1))], generation: CommitGeneration()) { answers.came($0, 0) })
      try await waitUntil("the undo is refused") { disk.refusals(of: .write) > 0 }
      store.close()
      #expect(await answers.all().map(\.failure) == [.unavailable])
    }
  }

  @Test func `what nobody was told of may stay, and keeps no answer back`() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create()]).get()
        store.remember([alice])
        disk.breakDown(at: .sync, Self.syncFailed)
        store.writer.tick()
        await store.waitForWriter()
        #expect(!store.canPersist && disk.refusals(of: .write) > 0)
        #expect(await store.put([.append(.sample(1))]).failure == .unavailable)
        try await expectNothing(of: directory)
      }
    }
  }

  @Test func `the log is read as SQLite reads it`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        for seq in 1...20 { try await store.put([seq == 1 ? .create() : .append(.sample(Int64(seq - 1)))]).get() }
        let log = try Data(contentsOf: URL(filePath: directory + "/throng.db-wal"))
        let (known, unknown, frames) = try await store.pool.writeWithoutTransaction { db in
          let open = try #require(try OpenWriteAheadLog(of: db))
          return (try open.index()?.end, try open.unknownCommits()?.end, try db.checkpoint(.passive).walFrameCount)
        }
        func read(_ log: Data) -> WriteAheadLog.Read {
          { bytes, offset in
            guard Int(offset) + bytes.count <= log.count else { return false }
            log.copyBytes(to: bytes, from: Int(offset)..<Int(offset) + bytes.count)
            return true
          }
        }
        let header = try #require(try WriteAheadLog.Header(read(log)))
        let end = try WriteAheadLog.Position(header).afterCommits(read(log))
        #expect(end == known && unknown == nil && end.frames == frames)
        // One bit of the tenth frame, and the rest counts no more.
        var damaged = log
        damaged[32 + 9 * 4120 + 2000] ^= 1
        #expect(try WriteAheadLog.Position(header).afterCommits(read(damaged)).frames < 10)
        damaged = log
        damaged[9] ^= 1
        #expect(try WriteAheadLog.Header(read(damaged)) == nil)
      }
    }
  }

  private func expectNothing(of directory: String) async throws { try await expect(nil, of: directory) }

  /// The messages that a new process would find now.
  private func expect(_ message: Message?, of directory: String) async throws {
    try await withDirectory { copy in
      try copyDatabase(from: directory, to: copy)
      try await withSQLite(copy) { store in
        let group = try #require(try await store.group(club, sentSince: 0))
        #expect(group.lastMessage == message)
      }
    }
  }
}
