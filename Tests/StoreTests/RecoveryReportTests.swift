import Foundation
import GRDB
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: what the log tells of the last run.
@Suite struct RecoveryReportTests {
  /// A change of the files that a crash has left, and the report of the next start.
  struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let lines: [String]
    let apply: @Sendable (_ log: inout Data?) -> Void
  }

  static let crashed = "notice: the last run did not end cleanly: its log is recovered"
  static let lost = "acknowledged writes are lost"
  private static let frame = 4096 + 24

  static let damages: [Damage] = [
    Damage(testDescription: "none", lines: [crashed]) { _ in },
    Damage(testDescription: "the log is missing", lines: ["warning: the write-ahead log is missing: \(lost)"]) { $0 = nil },
    Damage(testDescription: "the log is empty", lines: ["warning: the write-ahead log is empty: \(lost)"]) { $0 = Data() },
    Damage(testDescription: "a damaged header", lines: ["warning: the write-ahead log has a damaged beginning"]) { $0?[20] ^= 1 },
    Damage(
      testDescription: "cut off",
      lines: [
        crashed, "warning: the write-ahead log ends early: \(lost)", "info: the end of the write-ahead log belongs to no whole",
      ]
    ) { log in
      log = log.map { $0.prefix(32 + 4 * frame) }
    },
    Damage(
      testDescription: "a damaged frame",
      lines: [
        crashed, "warning: the write-ahead log ends early: \(lost)", "warning: the write-ahead log is damaged in the middle",
      ]
    ) { $0?[32 + 2 * frame + 500] ^= 1 },
    Damage(
      testDescription: "half a transaction behind it",
      lines: [crashed, "info: the end of the write-ahead log belongs to no whole"]
    ) {
      log in
      // A frame of this log that ends no transaction.
      guard let whole = log else { return }
      var frame = whole[32..<32 + frame]
      frame.replaceSubrange(frame.startIndex + 4..<frame.startIndex + 8, with: Data(count: 4))
      log = whole + frame
    },
    Damage(
      testDescription: "a torn transaction",
      lines: [crashed, "warning: the last transaction of the write-ahead log is not whole"]
    ) {
      log in
      guard let whole = log else { return }
      var frame = whole[32..<32 + frame]
      frame.replaceSubrange(frame.startIndex + 4..<frame.startIndex + 8, with: Data([0, 0, 0, 9]))
      log = whole + frame
    },
    Damage(testDescription: "another log", lines: [crashed, "warning: the write-ahead log is not that of the last run"]) { _ in },
  ]

  @Test(arguments: damages)
  func aStartSaysWhatACrashHasLeft(_ damage: Damage) async throws {
    try await withDirectory { directory in
      try await leaveCrash(in: directory + "/crash", from: directory + "/first")
      let path = directory + "/crash/throng.db-wal"
      if damage.testDescription == "another log" {
        try await leaveCrash(in: directory + "/other", from: directory + "/second")
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: directory + "/other/throng.db-wal", toPath: path)
      }
      var log: Data? = try Data(contentsOf: URL(filePath: path))
      damage.apply(&log)
      unlink(path)
      try log?.write(to: URL(filePath: path))
      let recorded = RecordedLog()
      try openSQLite(directory + "/crash", logger: recorded.logger).close()
      let lines = recorded.lines.filter { $0.contains("log") }
      #expect(lines.count == damage.lines.count && zip(lines, damage.lines).allSatisfy { $0.hasPrefix($1) }, "\(lines)")
      // The report of one end is not repeated for the next.
      let again = RecordedLog()
      try openSQLite(directory + "/crash", logger: again.logger).close()
      #expect(again.lines.isEmpty)
    }
  }

  @Test func ofADatabaseWithoutALastRunNothingIsSaid() async throws {
    try await withDirectory { directory in
      let log = RecordedLog()
      try openSQLite(directory, logger: log.logger).close()
      // Written by a version that notes its process only.
      try Data("4711\n".utf8).write(to: URL(filePath: directory + "/lock"))
      unlink(directory + "/throng.db-wal")
      try openSQLite(directory, logger: log.logger).close()
      #expect(log.lines.isEmpty)
    }
  }

  @Test func whatTheDatabaseHasIsNotCalledLost() async throws {
    try await withDirectory { directory in
      try await leaveCrash(in: directory + "/crash", from: directory + "/first", readsMeanwhile: false)
      unlink(directory + "/crash/throng.db-wal")
      let log = RecordedLog()
      try await withRecordedSQLite(directory + "/crash", log) { (store) async throws in
        #expect(try await store.group(club, sentSince: 0)?.lastMessage == .sample(10))
      }
      #expect(log.contains("warning: the write-ahead log is missing: the last acknowledged writes may be lost"))
    }
  }

  @Test func ofALogThatWasShortenedNothingIsMissing() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory + "/first") { store in
        try await store.put([.create(), .append(.sample(1))]).get()
        await store.tick()
        store.writer.background.noteShrunk()
        await store.tick()
        try copyDatabase(from: directory + "/first", to: directory + "/crash")
        try FileManager.default.copyItem(atPath: directory + "/first/lock", toPath: directory + "/crash/lock")
      }
      let log = RecordedLog()
      try openSQLite(directory + "/crash", logger: log.logger).close()
      #expect(!log.contains("lost"), "\(log.lines)")
    }
  }

  private func withRecordedSQLite(
    _ directory: String, _ log: RecordedLog, _ body: (SQLiteStore) async throws -> Void
  ) async throws {
    let store = try openSQLite(directory, logger: log.logger)
    defer { store.close() }
    try await body(store)
  }

  /// Files as `kill -9` leaves them.
  /// - Parameter readsMeanwhile: a reader keeps the checkpoint from copying the messages, so that only the
  ///   log has them.
  private func leaveCrash(in copy: String, from directory: String, readsMeanwhile: Bool = true) async throws {
    try await withSQLite(directory) { store in
      try await store.put([.create()]).get()
      let reader = readsMeanwhile ? try store.pool.makeSnapshot() : nil
      for seq in 1...10 { try await store.put([.append(.sample(Int64(seq)))]).get() }
      await store.tick()
      try copyDatabase(from: directory, to: copy)
      try FileManager.default.copyItem(atPath: directory + "/lock", toPath: copy + "/lock")
      try reader?.close()
    }
  }
}
