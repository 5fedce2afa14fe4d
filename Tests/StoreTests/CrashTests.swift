import Foundation
import GroupModel
import GroupRuntime
import Synchronization
import Testing

@testable import SQLiteStore

@Suite("SQLite: kill -9")
struct CrashTests {
  @Test(arguments: SyncMode.allCases)
  func `no acknowledged commit is lost`(_ sync: SyncMode) async throws {
    try await withDirectory { directory in
      let mode = sync.rawValue
      await #expect(processExitsWith: .signal(SIGKILL)) { [directory = directory as String, mode = mode as String] in
        try await CrashingWriter(directory: directory, sync: SyncMode(rawValue: mode)!).run()
      }
      let acknowledged = try String(contentsOfFile: directory + "/acknowledged", encoding: .utf8).split(separator: "\n")
      #expect(acknowledged.count >= CrashingWriter.acknowledgements)
      let wal = try FileManager.default.attributesOfItem(atPath: directory + "/throng.db-wal")[.size] as? Int
      #expect(try #require(wal) > 0, "it was not closed")
      try await withSQLite(directory) { store in
        for line in acknowledged {
          let parts = line.split(separator: " ")
          let (group, seq) = (GroupID(String(parts[0]))!, Int64(parts[1])!)
          #expect(try await store.messages(of: group, in: seq...seq, newestFirst: false, limit: 1) == [.sample(seq, in: group)])
        }
        // And none has a gap, or goes on wrongly.
        for index in 0..<CrashingWriter.groups {
          let group = GroupID("g\(index)")!
          let seqs = try await store.messages(of: group, in: 1...10_000, newestFirst: false, limit: 10_000).compactMap(\.seq)
          #expect(seqs == Array(1...Int64(seqs.count)))
          try await store.put([.append(.sample(Int64(seqs.count + 1), in: group))]).get()
        }
      }
    }
  }
}

/// Writes into many groups at once, notes in a file what was acknowledged, and kills its process in the middle of it.
final class CrashingWriter: Sendable {
  static let groups = 20
  static let acknowledgements = 2_000

  private let store: SQLiteStore
  private let notes: Int32
  private let count = Atomic<Int>(0)

  init(directory: String, sync: SyncMode) throws {
    store = try openSQLite(directory, sync: sync)
    notes = open(directory + "/acknowledged", O_WRONLY | O_CREAT | O_APPEND, 0o600)
    precondition(notes >= 0)
  }

  /// Does not return.
  func run() async throws {
    for index in 0..<Self.groups {
      let group = GroupID("g\(index)")!
      try await store.put([.create(group)]).get()
      append(1, to: group, Lineage())
    }
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
  }

  private func append(_ seq: Int64, to group: GroupID, _ lineage: Lineage) {
    store.commit(
      Commit(changes: [.append(.sample(seq, in: group))], lineage: lineage) { result in
        precondition(result.failure == nil)
        let line = "\(group) \(seq)\n"
        precondition(write(self.notes, line, line.utf8.count) == line.utf8.count)
        if self.count.wrappingAdd(1, ordering: .relaxed).newValue == Self.acknowledgements { kill(getpid(), SIGKILL) }
        self.append(seq + 1, to: group, lineage)
      })
  }
}
