import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

@Suite("SQLite: a refused commit never comes back, and one whose outcome is unknown has no answer")
struct FailedCommitTests {
  private static let syncFailed = SQLITE_IOERR | (4 << 8)
  private static let noRoomForTheIndex = SQLITE_IOERR | (19 << 8)

  // MARK: Refused

  @Test(arguments: [SQLITE_FULL, SQLITE_IOERR | (3 << 8), SQLITE_READONLY], [false, true])
  func `whichever write of a commit fails, a restart does not find it`(_ code: Int32, _ tears: Bool) async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create()]).get()
        let message = Message.sample(1, .text(String(repeating: "x", count: 9_000)))
        var writes = 0
        while true {
          disk.fail(.write, code, passing: writes, tears: tears)
          let answer = await store.put([.append(message)])
          disk.heal()
          guard let failure = answer.failure else { break }
          #expect(failure == .unavailable)
          // No tick: the process dies at once.
          try await expect(nil, of: directory)
          writes += 1
        }
        #expect(writes > 5, "two for each page")
        try await expect(message, of: directory)
        #expect(faults.all.isEmpty && store.canPersist)
      }
    }
  }

  // MARK: Unknown

  enum Way: CaseIterable {
    case sync, syncOfTheFirstTransaction, indexCannotGrow
  }

  @Test(arguments: Way.allCases)
  func `what failed behind its last frame is not answered, and nothing is after it`(_ way: Way) async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create(), .create(team)]).get()
        var changes: [StoreChange] = [.append(.sample(1))]
        switch way {
        case .sync: disk.fail(.sync, Self.syncFailed)
        case .syncOfTheFirstTransaction:
          // The log starts over: the frames lie behind no other.
          try await store.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
          disk.fail(.sync, Self.syncFailed)
        case .indexCannotGrow:
          // More than the 4,062 frames that the first page of the index has room for.
          let text = String(repeating: "x", count: 40_000)
          changes = (1...450).map { .append(.sample($0, .text(text))) }
          disk.fail(.share, Self.noRoomForTheIndex)
        }
        let answers = Answers(expected: 2)
        store.commit(Commit(changes: changes, generation: CommitGeneration()) { answers.came($0, 0) })
        await store.waitForWriter()
        #expect(faults.all.map(\.step) == [.commit])
        // What the disk does later makes nothing known.
        disk.heal()
        store.commit(Commit(changes: [.append(.sample(1, in: team))], generation: CommitGeneration()) { answers.came($0, 1) })
        await store.tick()
        #expect(answers.order.isEmpty && !store.canPersist)
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == nil, "reading goes on")
        #expect(faults.all.count == 1, "who ends the process is told once")
        try await withDirectory { copy in
          try copyDatabase(from: directory, to: copy)
          try await withSQLite(copy) { store in
            let found = try await store.group(club, sentSince: 0)?.lastMessage
            #expect(found?.seq == (way == .indexCannotGrow ? 450 : 1), "a restart finds it: the system has the frames")
            #expect(try await store.group(team, sentSince: 0)?.lastMessage == nil)
          }
        }
        store.close()
        #expect(answers.order.isEmpty)
      }
    }
  }

  @Test func `a power failure may take what had no answer, and nothing else`() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create(), .append(.sample(1))]).get()
        let log = directory + "/throng.db-wal"
        let synced = try #require(FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
        disk.fail(.sync, Self.syncFailed)
        store.commit(Commit(changes: [.append(.sample(2))], generation: CommitGeneration()) { _ in Issue.record("answered") })
        await store.waitForWriter()
        try await withDirectory { copy in
          try copyDatabase(from: directory, to: copy)
          try #require(truncate(copy + "/throng.db-wal", off_t(synced)) == 0)
          try await withSQLite(copy) { store in
            #expect(try await store.group(club, sentSince: 0)?.lastMessage == .sample(1))
            try await store.put([.append(.sample(2))]).get()
          }
        }
      }
    }
  }

  @Test func `users that nobody waits for end the answers too`() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create()]).get()
        store.remember([alice])
        disk.fail(.sync, Self.syncFailed)
        store.writer.tick()
        await store.waitForWriter()
        #expect(faults.all.map(\.step) == [.commit] && !store.canPersist)
      }
    }
  }

  @Test func `a checkpoint that cannot sync ends the answers`() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create()]).get()
        disk.fail(.sync, Self.syncFailed)
        await store.tick()
        #expect(faults.all.map(\.step) == [.checkpoint] && !store.canPersist)
        disk.heal()
        store.commit(
          Commit(changes: [.append(.sample(1))], generation: CommitGeneration()) { _ in Issue.record("answered") })
        await store.tick()
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == nil)
      }
    }
  }

  @Test func `a checkpoint that fails otherwise is done by the next one`() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create()]).get()
        disk.fail(.write, SQLITE_IOERR | (3 << 8))
        await store.tick()
        disk.heal()
        await store.tick()
        try await store.put([.append(.sample(1))]).get()
        #expect(faults.all.isEmpty && store.canPersist)
      }
    }
  }

  @Test func `a start whose first commit cannot be synced fails`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { try await $0.put([.create()]).get() }
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      disk.fail(.sync, Self.syncFailed)
      let error = #expect(throws: StoreOpenError.self) {
        try openSQLite(directory) { $0.onDurabilityFault = faults.record }
      }
      #expect(error?.kind == .unavailable && faults.all.map(\.step) == [.commit])
      disk.heal()
      try await withSQLite(directory) { (store) async throws in
        #expect(try await store.group(club, sentSince: 0)?.record.id == club)
      }
    }
  }

  // MARK: The log

  @Test func `a log is written again as it was`() throws {
    let directory = FileManager.default.temporaryDirectory.path + "/throng-log-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = directory + "/log"
    let logger = RecordedLog()
    try LogRewrite.perform(on: path, logger.logger)
    #expect(!FileManager.default.fileExists(atPath: path), "a missing one stays so")
    // More than one chunk.
    for count in [0, 1, 1 << 20, (2 << 20) + 77] {
      let bytes = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })
      try bytes.write(to: URL(filePath: path))
      let old = Date(timeIntervalSince1970: 1_000_000)
      try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: path)
      try LogRewrite.perform(on: path, logger.logger)
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
      let written = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
      #expect(count == 0 || written != old)
    }
    #expect(logger.lines.isEmpty)
    let error = #expect(throws: StoreOpenError.self) { try LogRewrite.perform(on: directory, logger.logger) }
    #expect(error?.kind == .unavailable && error?.description.contains(directory) == true)
  }

  @Test func `the log is read as SQLite reads it`() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        for seq in 1...20 { try await store.put([seq == 1 ? .create() : .append(.sample(Int64(seq - 1)))]).get() }
        let path = directory + "/throng.db-wal"
        let log = try Data(contentsOf: URL(filePath: path))
        let frames = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.passive).walFrameCount }
        func read(_ log: Data) -> WriteAheadLog.Read {
          { bytes, offset in
            guard Int(offset) + bytes.count <= log.count else { return false }
            log.copyBytes(to: bytes, from: Int(offset)..<Int(offset) + bytes.count)
            return true
          }
        }
        let header = try #require(try WriteAheadLog.Header(read(log)))
        #expect(WriteAheadLog.salt(of: path) == header.salt && WriteAheadLog.salt(of: directory + "/none") == nil)
        #expect(try WriteAheadLog.Position(header).afterCommits(read(log)).frames == frames)
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

/// Stands in for what ends the process.
private final class Faults: Sendable {
  private let kept = Mutex<[DurabilityFault]>([])

  var all: [DurabilityFault] { kept.withLock { $0 } }

  var record: @Sendable (DurabilityFault) -> Void { { [self] fault in kept.withLock { $0.append(fault) } } }
}
