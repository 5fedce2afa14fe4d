import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: a refused commit never comes back, and one whose outcome is unknown has no answer.
@Suite struct FailedCommitTests {
  private static let syncFailed = SQLITE_IOERR | (4 << 8)
  private static let noRoomForTheIndex = SQLITE_IOERR | (19 << 8)
  /// The frames of the log that the first page of its index has room for.
  private static let framesOfAPage = 4_062

  // MARK: Refused

  @Test(arguments: [SQLITE_FULL, SQLITE_IOERR | (3 << 8), SQLITE_READONLY], [false, true])
  func whicheverWriteOfACommitFailsARestartDoesNotFindIt(_ code: Int32, _ tears: Bool) async throws {
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

  // More than SQLite's cache of pages takes: pages go into the log long before COMMIT.
  @Test func anIndexThatCannotGrowDuringATransactionRefusesIt() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create()]).get()
        let text = String(repeating: "x", count: 40_000)
        let messages = (1...450).map { StoreChange.append(.sample($0, .text(text))) }
        disk.fail(.share, Self.noRoomForTheIndex)
        #expect(await store.put(messages).failure == .unavailable)
        try await expect(nil, of: directory)
        disk.heal()
        await store.tick()
        try await store.put(messages).get()
        try await expect(.sample(450, .text(text)), of: directory)
        #expect(faults.all.isEmpty && store.canPersist)
      }
    }
  }

  /// A disk that is full, a log that lies in old bytes: the frames of a COMMIT are written and synced, and
  /// then the index in shared memory cannot grow. A restart would find them.
  @Test(arguments: [0, 1, 5])
  func aCommitBehindWhichTheIndexCannotGrowIsWrittenOverAndRefused(_ room: Int) async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create(), .create(team)]).get()
        try await lengthenLog(of: store, in: directory, to: Self.framesOfAPage - room)
        disk.fail(.share, Self.noRoomForTheIndex)
        let syncs = disk.logSyncs
        let message = Message.sample(1, .text(String(repeating: "x", count: 40_000)))
        #expect(await store.put([.append(message)]).failure == .unavailable)
        #expect(disk.logSyncs == syncs + 2, "it was synced, and so is what lies over it")
        try await expect(nil, of: directory)
        #expect(await store.put([.append(message)]).failure == .unavailable, "nor does one that follows bring it back")
        try await expect(nil, of: directory)
        disk.heal()
        await store.tick()
        try await store.put([.append(message)]).get()
        try await expect(message, of: directory)
        #expect(faults.all.isEmpty && store.canPersist)
      }
    }
  }

  /// A checkpoint lets the log start over, and its index has room again.
  @Test func aFullIndexRefusesUntilTheLogStartsOver() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create()]).get()
        try await lengthenLog(of: store, in: directory, to: Self.framesOfAPage)
        disk.fail(.share, Self.noRoomForTheIndex)
        #expect(await store.put([.append(.sample(1))]).failure == .unavailable)
        await store.tick()
        try await store.put([.append(.sample(1))]).get()
        #expect(store.canPersist)
        try await expect(.sample(1), of: directory)
      }
    }
  }

  // MARK: Unknown

  enum Way: CaseIterable {
    case sync, syncInANewLog, syncOfANewLogsHeader, indexAndWrite, indexAndSync
  }

  @Test(arguments: Way.allCases)
  func whatFailedBehindItsLastFrameIsNotAnsweredAndNothingIsAfterIt(_ way: Way) async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      try await withSQLite(directory, { $0.onDurabilityFault = faults.record }) { store in
        try await store.put([.create(), .create(team)]).get()
        let message = Message.sample(1, .text(String(repeating: "x", count: 40_000)))
        // The system has the frames, so a restart finds them.
        var found: Message? = message
        switch way {
        case .sync: disk.fail(.sync, Self.syncFailed)
        case .syncInANewLog:
          try await startLogOver(of: store)
          disk.fail(.sync, Self.syncFailed, passing: 1)
        case .syncOfANewLogsHeader:
          try await startLogOver(of: store)
          disk.fail(.sync, Self.syncFailed)
          found = nil
        case .indexAndWrite:
          try await lengthenLog(of: store, in: directory, to: Self.framesOfAPage - 1)
          disk.fail(.share, Self.noRoomForTheIndex, isLast: true)
        case .indexAndSync:
          try await lengthenLog(of: store, in: directory, to: Self.framesOfAPage - 1)
          disk.fail(.share, Self.noRoomForTheIndex)
          disk.fail(.sync, Self.syncFailed, passing: 1)
          // The system has what lies over it, and the disk perhaps what lies below.
          found = nil
        }
        let answers = Answers(expected: 2)
        store.commit(Commit(changes: [.append(message)], generation: CommitGeneration()) { answers.came($0, 0) })
        await store.waitForWriter()
        #expect(faults.all.map(\.step) == [.commit])
        // What the disk does later makes nothing known.
        disk.heal()
        store.commit(Commit(changes: [.append(.sample(1, in: team))], generation: CommitGeneration()) { answers.came($0, 1) })
        await store.tick()
        #expect(answers.order.isEmpty && !store.canPersist)
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == nil, "reading goes on")
        #expect(faults.all.count == 1, "who ends the process is told once")
        try await expect(found, of: directory)
        try await expect(nil, in: team, of: directory)
        store.close()
        #expect(answers.order.isEmpty)
      }
    }
  }

  @Test func aPowerFailureMayTakeWhatHadNoAnswerAndNothingElse() async throws {
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

  @Test func usersThatNobodyWaitsForEndTheAnswersToo() async throws {
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

  @Test func aCheckpointThatCannotSyncEndsTheAnswers() async throws {
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

  /// SQLite keeps it to itself where it begins the checkpoint by itself.
  @Test func aCheckpointOfTheWriterThatCannotSyncEndsTheAnswers() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      let faults = Faults()
      let tune = { (options: inout StoreOptions) in
        options.autocheckpointPages = 1
        options.onDurabilityFault = faults.record
      }
      try await withSQLite(directory, tune) { store in
        try await store.put([.create()]).get()
        disk.fail(.sync, Self.syncFailed, of: ".db")
        try await store.put([.append(.sample(1))]).get()
        await store.waitForWriter()
        #expect(faults.all.map(\.step) == [.checkpoint] && !store.canPersist)
        disk.heal()
        store.commit(
          Commit(changes: [.append(.sample(2))], generation: CommitGeneration()) { _ in Issue.record("answered") })
        await store.tick()
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == .sample(1), "it was durable before")
      }
    }
  }

  @Test func aCheckpointThatFailsOtherwiseIsDoneByTheNextOne() async throws {
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

  @Test func aStartWhoseFirstCommitCannotBeSyncedFails() async throws {
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

  @Test func aStartThatCannotSyncTheDatabaseThatItRewritesFails() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { try await $0.put([.create()]).get() }
      let connection = try DatabaseQueue(path: directory + "/throng.db")
      try await connection.writeWithoutTransaction { try $0.execute(sql: "PRAGMA auto_vacuum = NONE; VACUUM") }
      try connection.close()
      let disk = FaultyDisk(directory: directory)
      let limits = [GroupType.public: HistoryLimits(count: 100)]
      disk.fail(.sync, Self.syncFailed, of: "-wal")
      let error = #expect(throws: StoreOpenError.self) { try openSQLite(directory) { $0.history = limits } }
      #expect(error?.kind == .unavailable && error?.description.contains("cannot rewrite") == true)
      disk.heal()
      try await withSQLite(directory, { $0.history = limits }) { (store) async throws in
        #expect(try await store.group(club, sentSince: 0)?.record.id == club)
      }
    }
  }

  // MARK: The log

  @Test func aLogIsWrittenAgainAsItWas() throws {
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

  @Test func theLogIsReadAsSQLiteReadsIt() async throws {
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

  /// The last message that a new process would find now.
  private func expect(_ message: Message?, in group: GroupID = club, of directory: String) async throws {
    try await withDirectory { copy in
      try copyDatabase(from: directory, to: copy)
      try await withSQLite(copy) { store in
        let group = try #require(try await store.group(group, sentSince: 0))
        #expect(group.lastMessage == message)
      }
    }
  }

  /// Commits single pages until the log, which has not started over yet, has so many frames.
  private func lengthenLog(of store: SQLiteStore, in directory: String, to frames: Int) async throws {
    try await store.pool.writeWithoutTransaction { db in
      // The syncs of four thousand commits take long on some disks.
      try db.execute(sql: "PRAGMA synchronous = OFF")
      func length() -> Int {
        var status = stat()
        return stat(directory + "/throng.db-wal", &status) == 0 ? (Int(status.st_size) - 32) / 4_120 : 0
      }
      while length() < frames { try db.execute(sql: "UPDATE probe SET room = randomblob(16)") }
      try db.execute(sql: "PRAGMA synchronous = FULL")
      #expect(length() == frames)
    }
  }

  /// Lets the next frame be the first of a log.
  private func startLogOver(of store: SQLiteStore) async throws {
    let frames = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.truncate).walFrameCount }
    try #require(frames == 0)
  }
}

/// Stands in for what ends the process.
private final class Faults: Sendable {
  private let kept = Mutex<[DurabilityFault]>([])

  var all: [DurabilityFault] { kept.withLock { $0 } }

  var record: @Sendable (DurabilityFault) -> Void { { [self] fault in kept.withLock { $0.append(fault) } } }
}
