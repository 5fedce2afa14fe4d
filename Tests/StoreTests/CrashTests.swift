import Foundation
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: kill -9.
@Suite struct CrashTests {
  @Test(arguments: SyncMode.allCases)
  func noAcknowledgedCommitIsLost(_ sync: SyncMode) async throws {
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
          try await expectWhole(group, through: Int64(seqs.count), in: store)
          try await store.put([.append(.sample(Int64(seqs.count + 1), in: group))]).get()
        }
        // Users whose session ended with the process are offline.
        let since = try await store.offlineSince(of: alice)
        #expect(since != nil)
      }
    }
  }

  // The changes of one commit stand or fall together.
  private func expectWhole(_ group: GroupID, through seq: Int64, in store: SQLiteStore) async throws {
    let stored = try #require(try await store.group(group, sentSince: 0))
    #expect(stored.attributes["seq"] == "\(seq)" && stored.counters["seq"] == seq)
    #expect(stored.openApplications.map(\.addTime) == [WallInstant(seq)])
    let reader = CrashingWriter.reader(of: group)
    let notifications = try await store.notifications(of: reader, since: 0, before: 0, limit: 1000)
    let kept = max(1, seq - Int64(SystemNotification.kept) + 1)
    #expect(notifications.map(\.notification.timestamp) == (kept...seq).reversed().map { WallInstant($0) })
    #expect(try await store.applicationsReadThrough(by: reader) == WallInstant(seq))
  }
}

/// Writes into many groups at once, notes in a file what was acknowledged, and kills its process in
/// the middle of it.
final class CrashingWriter: Sendable {
  static let groups = 20
  static let acknowledgements = 2_000

  /// A user whom only one group's changes concern.
  static func reader(of group: GroupID) -> UserID { UserID("reader-of-\(group)")! }

  /// The changes of one commit.
  private static func changes(_ seq: Int64, to group: GroupID) -> [StoreChange] {
    let reader = reader(of: group)
    return [
      .append(.sample(seq, in: group)), .putAttributes(GroupAttributes([.init(key: "seq", value: "\(seq)")]), in: group),
      .putCounters([.init(key: "seq", value: seq)], in: group),
      .apply(.sample("of \(group)", to: group, at: WallInstant(seq))),
      .notify(.sample(at: WallInstant(seq)), .users([reader])),
      .markApplicationsRead(reader, through: WallInstant(seq)),
    ]
  }

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
    store.notePresence(of: alice, offlineSince: nil)
    for index in 0..<Self.groups {
      let group = GroupID("g\(index)")!
      try await store.put([.create(group)]).get()
      append(1, to: group, CommitGeneration())
    }
    await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in }
  }

  private func append(_ seq: Int64, to group: GroupID, _ generation: CommitGeneration) {
    store.commit(
      Commit(changes: Self.changes(seq, to: group), generation: generation) { result in
        precondition(result.failure == nil)
        let line = "\(group) \(seq)\n"
        precondition(write(self.notes, line, line.utf8.count) == line.utf8.count)
        if self.count.wrappingAdd(1, ordering: .relaxed).newValue == Self.acknowledgements { kill(getpid(), SIGKILL) }
        self.append(seq + 1, to: group, generation)
      })
  }
}
