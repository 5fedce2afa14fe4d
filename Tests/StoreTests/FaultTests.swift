import Foundation
import GRDB
import GRDBSQLite
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: a failing or slow disk.
@Suite struct FaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let operation: FaultyDisk.Operation
    let code: Int32
    var testDescription: String { "\(operation) \(code)" }
  }

  static let faults: [Fault] = [
    Fault(operation: .write, code: SQLITE_FULL),
    Fault(operation: .write, code: SQLITE_IOERR | (3 << 8)),
    Fault(operation: .write, code: SQLITE_READONLY),
    Fault(operation: .read, code: SQLITE_IOERR | (1 << 8)),
  ]

  @Test(arguments: faults)
  func nothingIsAcknowledgedThatTheDiskRefusedAndTheStoreHealsByItself(_ fault: Fault) async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create(), .create(team)]).get()
        #expect(store.canPersist)
        // Hardly any memory, so that reading goes to the disk.
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA cache_size = 1; PRAGMA shrink_memory") }

        disk.fail(fault.operation, fault.code)
        let generation = CommitGeneration()
        let answers = await store.putTogether([
          ([.append(.sample(1))], generation), ([.append(.sample(2))], generation),
          ([.append(.sample(1, in: team))], CommitGeneration()),
        ])
        // Whether the second shared the first's transaction or came after it is a matter of speed.
        #expect(answers[0].failure == .unavailable)
        #expect(answers[1].failure == .unavailable || answers[1].failure == .abandoned)
        #expect(answers[2].failure == .unavailable)
        #expect(!store.canPersist)
        await store.tick()
        #expect(!store.canPersist, "the probe really writes")

        disk.fail(fault.operation, nil)
        #expect(await store.put([.append(.sample(3))], generation).failure == .abandoned)
        #expect(!store.canPersist, "nothing was written yet")
        await store.tick()
        #expect(store.canPersist)
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == nil)
        try await store.put([.append(.sample(1)), .append(.sample(1, in: team))]).get()
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == .sample(1))
      }
    }
  }

  @Test func aSuccessfulCommitHealsTheStoreWithoutAProbe() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        disk.fail(.write, SQLITE_FULL)
        #expect(await store.put([.create()]).failure == .unavailable)
        #expect(!store.canPersist)
        disk.fail(.write, nil)
        try await store.put([.create()]).get()
        #expect(store.canPersist)
      }
    }
  }

  @Test func aFullDatabaseRefusesAlsoTheProbeAndGoesOnWhenThereIsRoom() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create()]).get()
        let pages = try await store.pool.writeWithoutTransaction { db in
          // The probe at the opening has left pages free.
          try db.execute(sql: "VACUUM")
          let pages = try Int.fetchOne(db, sql: "PRAGMA page_count")!
          try db.execute(sql: "PRAGMA max_page_count = \(pages + 2)")
          return pages
        }
        let big = Message.sample(1, .text(String(repeating: "x", count: 40_000)))
        #expect(await store.put([.append(big)]).failure == .unavailable)
        await store.tick()
        #expect(!store.canPersist)
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(pages + 1000)") }
        await store.tick()
        #expect(store.canPersist)
        try await store.put([.append(big)]).get()
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == big)
      }
    }
  }

  @Test func whatWaitsWhileTheDiskWorksSharesOneTransactionAndReadingDoesNotWait() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        try await store.put([.create()]).get()
        let answers = Answers(expected: 501)
        let generation = CommitGeneration()
        disk.holdSync()
        store.commit(Commit(changes: [.append(.sample(1))], generation: generation) { answers.came($0, 0) })
        await disk.writerIsHeld()
        for index in 1...500 {
          store.commit(Commit(changes: [.append(.sample(Int64(index + 1)))], generation: generation) { answers.came($0, index) })
        }
        #expect(answers.order.isEmpty, "nothing is acknowledged before the sync")
        #expect(try await store.group(club, sentSince: 0)?.record.id == club)
        let syncs = disk.logSyncs
        disk.release()
        #expect(await answers.all().allSatisfy { $0.failure == nil })
        #expect(answers.order == Array(0...500))
        #expect(disk.logSyncs == syncs + 1)
      }
    }
  }

  @Test func usersAreKnownWhileTheyBecomeDurableAndTriedAgainWhenTheDiskRefuses() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory) { store in
        disk.holdSync()
        store.remember([alice])
        // The writer's part of a second alone: a checkpoint syncs the log too.
        store.writer.tick()
        await disk.writerIsHeld()
        let known = try await store.known(among: [alice, bob])
        #expect(known == [alice])
        #expect(try await store.knownCount() == 1)
        disk.release()
        await store.waitForWriter()

        disk.fail(.write, SQLITE_FULL)
        store.remember([bob])
        await store.tick()
        #expect(!store.canPersist)
        #expect(try await store.known(among: [alice, bob]) == [alice, bob])
        disk.fail(.write, nil)
        await store.tick()
        #expect(store.canPersist && store.writer.queue.pendingUpdates.isEmpty)
        #expect(try await store.known(among: [alice, bob]) == [alice, bob])
        #expect(try await store.knownCount() == 2)
      }
    }
  }

  @Test func beyondItsBoundTheQueueRefusesInOrderAndTheStoreSaysSo() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory, { $0.pendingCommits = 2 }) { store in
        try await store.put([.create(), .create(team)]).get()
        let answers = Answers(expected: 4)
        disk.holdSync()
        func append(_ seq: Int64, _ group: GroupID, _ index: Int, _ generation: CommitGeneration = CommitGeneration()) {
          store.commit(Commit(changes: [.append(.sample(seq, in: group))], generation: generation) { answers.came($0, index) })
        }
        append(1, club, 0)
        await disk.writerIsHeld()
        append(1, team, 1)
        append(2, team, 2)
        let late = CommitGeneration()
        append(2, club, 3, late)
        #expect(late.isBroken && !store.canPersist)
        disk.release()
        #expect(await answers.all().map(\.failure) == [nil, nil, nil, .abandoned])
        #expect(answers.order == [0, 1, 2, 3])
        await store.waitForWriter()
        #expect(store.canPersist)
        #expect(try await store.group(club, sentSince: 0)?.lastMessage?.seq == 1)
      }
    }
  }

  @Test func whatWaitsIsBoundedByItsBytesToo() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory, { ($0.pendingBytes, $0.commitsPerTransaction) = (1000, 2) }) { store in
        let text = String(repeating: "x", count: 600)
        let attributes = GroupAttributes([.init(key: "k", value: text)])
        try await store.put([.create(), .create(team)]).get()
        let answers = Answers(expected: 7)
        func commit(_ change: StoreChange, _ index: Int, _ generation: CommitGeneration = CommitGeneration()) {
          store.commit(Commit(changes: [change], generation: generation) { answers.came($0, index) })
        }
        disk.holdSync()
        commit(.append(.sample(1, .text(text))), 0)
        await disk.writerIsHeld()
        // Commits that the writer has taken out do not count.
        commit(.append(.sample(1, in: team, .custom(text))), 1)
        #expect(store.canPersist)
        commit(.putAttributes(attributes, in: team), 2)
        #expect(store.canPersist)
        let late = CommitGeneration()
        commit(.join(bob), 3, late)
        #expect(late.isBroken && !store.canPersist)
        disk.holdSync()
        disk.release()
        await disk.writerIsHeld()
        // Two of the three were taken since.
        commit(.append(.sample(2, .text(text))), 4)
        commit(.append(.sample(2, in: team, .text(text))), 5)
        let later = CommitGeneration()
        commit(.join(bob), 6, later)
        #expect(later.isBroken)
        disk.release()
        #expect(await answers.all().map(\.failure) == [nil, nil, nil, .abandoned, nil, nil, .abandoned])
        #expect(answers.order == Array(0...6))
      }
    }
  }

  @Test func aDamagedPageIsInconsistentWhenItIsRead() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let text = String(repeating: "x", count: 900)
        try await store.put([.create()] + (1...2000).map { .append(.sample($0, .text(text))) }).get()
      }
      try await withSQLite(directory) { store in
        try overwrite(directory + "/throng.db", from: 40_960)
        let reading = await failure { () async throws(StoreError) in
          try await store.messages(of: club, in: 1...2000, newestFirst: false, limit: 2000)
        }
        let counting = await failure { () async throws(StoreError) in
          try await store.unreadCount(of: club, after: 0, reader: bob, managersOnly: false)
        }
        #expect(reading?.kind == .inconsistent && counting?.kind == .inconsistent)
      }
    }
  }
}

/// Writes nonsense over a file from an offset to its end.
func overwrite(_ path: String, from offset: UInt64) throws {
  let file = try FileHandle(forUpdating: URL(filePath: path))
  defer { try? file.close() }
  let end = try file.seekToEnd()
  try #require(end > offset)
  try file.seek(toOffset: offset)
  try file.write(contentsOf: Data(repeating: 0xa5, count: Int(end - offset)))
}

/// Copies the database and its log, as a crash would leave them.
func copyDatabase(from directory: String, to copy: String) throws {
  try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
  for name in ["throng.db", "throng.db-wal"] {
    try FileManager.default.copyItem(atPath: "\(directory)/\(name)", toPath: "\(copy)/\(name)")
  }
}
