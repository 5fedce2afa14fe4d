import Foundation
import GRDB
import GroupModel
import GroupRuntime
import Synchronization
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: copies.
/// Copies of a database: backup and restore, export and import.
@Suite struct CopyTests {
  private let team2 = GroupID("third")!

  /// Rows in every kind of column: texts with a NUL, numbers, nothing.
  private static let changes: [StoreChange] =
    [
      // The samples' msgIDs begin with the groupID, as others' do with the epoch.
      .create(epoch: "club"), .create(team, type: .work), .join(alice), .join(bob), .join(alice, team),
      .putAttributes(GroupAttributes([.init(key: "k", value: "v\u{0}w \u{1F600} \"\\\n")]), in: club),
      .putCounters([.init(key: "likes", value: 9_007_199_254_740_993)], in: club), .apply(.sample("a1", epoch: "club")),
      .notify(.sample(), .users([alice, bob])), .putUserInfo(UserInfo(userID: alice, nickName: "A\u{0}")),
      .putMember(listed, in: club, isKnown: true), .putFormer(former, in: club),
    ] + (1...50).map { (seq: Int64) in .append(message(seq)) }

  /// A member with settings of the own list of conversations.
  private static let listed: Member = {
    var member = Member.sample(bob)
    (member.infoTime, member.clearedSeq) = (2_000, 3)
    member.conversation.isMarkedUnread = true
    member.conversation.marks = ["star", "\u{0}\u{2028}"]
    return member
  }()

  private static let former: FormerMember = {
    var former = FormerMember(userID: carol, leftTime: 3_000)
    (former.isListed, former.role, former.clearedSeq) = (true, .custom(100), 4)
    return former
  }()

  /// One of them has everything that most have not.
  private static func message(_ seq: Int64) -> Message {
    var message = Message.sample(seq, .text("message \(seq) \u{0} \u{2028}"))
    if seq == 7 {
      message.extras = MessageExtras(
        extension: "data \u{0} \u{2028}", replyTo: ReplyReference(seq: 6, sender: alice), isExcludedFromUnreadCount: true,
        isExcludedFromLastMessage: true, toUserIDList: [bob])
    }
    return message
  }

  private func withFilledStore(_ body: (SQLiteStore, String) async throws -> Void) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory + "/data") { store in
        try await store.put(Self.changes).get()
        try await body(store, directory)
      }
    }
  }

  /// Every row of every table that is exported, as text.
  private func rows(_ path: String) throws -> [String] {
    var configuration = Configuration()
    configuration.readonly = true
    let connection = try DatabaseQueue(path: path, configuration: configuration)
    defer { try? connection.close() }
    return try connection.read { db in
      try ExportFormat.tables(of: db).flatMap { table in
        try Row.fetchAll(db, sql: table.query).map { "\(table.name) \($0)" }
      }
    }
  }

  private func backUp(_ directory: String, to file: String) throws -> Int {
    try DatabaseBackup.make(directory: directory, database: nil, to: file)
  }

  private func export(_ directory: String, to file: String) throws -> Int {
    try DatabaseExport.write(directory: directory, database: nil, to: file, or: .nullDevice, now: 7)
  }

  private func importFile(_ file: String, into directory: String) throws -> Int {
    try DatabaseImport.read(try #require(FileHandle(forReadingAtPath: file)), directory: directory, database: nil, now: 9)
  }

  private func failure(_ body: () throws -> Int) -> StoreOpenError? {
    do {
      _ = try body()
      return nil
    } catch {
      return error as? StoreOpenError
    }
  }

  // MARK: Backup

  @Test func aBackupBesideAnOpenStoreIsTheStoresStateInOneFile() async throws {
    try await withFilledStore { store, directory in
      let file = directory + "/backup.db"
      let before = try rows(directory + "/data/throng.db")
      let bytes = try backUp(directory + "/data", to: file)
      try await store.put([.append(.sample(51))]).get()
      #expect(try rows(file) == before && before.count > 60)
      #expect(bytes == DatabaseFile.bytes(of: file) && bytes > 0)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == ["backup.db", "data"])
      let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
      #expect(mode == 0o600)
    }
  }

  @Test func aBackupBesideCommitsIsOneInstantOfThem() async throws {
    try await withFilledStore { store, directory in
      let isDone = Flag()
      async let writing: Void = {
        var seq: Int64 = 51
        while !isDone.isSet {
          // Both or none of them.
          try await store.put([.append(.sample(seq)), .append(.sample(seq + 1))]).get()
          seq += 2
        }
      }()
      for number in 1...5 {
        let file = directory + "/backup\(number)"
        _ = try backUp(directory + "/data", to: file)
        #expect(try rows(file).filter { $0.hasPrefix("message ") }.count % 2 == 0)
        #expect(try StoreCheck.faults(directory: "", database: file).isEmpty)
      }
      isDone.set()
      try await writing
    }
  }

  @Test func aFileThatExistsIsKept() async throws {
    try await withFilledStore { _, directory in
      let file = directory + "/backup.db"
      try Data("mine".utf8).write(to: URL(filePath: file))
      #expect(failure { try backUp(directory + "/data", to: file) }?.kind == .exists)
      #expect(failure { try export(directory + "/data", to: file) }?.kind == .exists)
      #expect(failure { try backUp(directory + "/data", to: directory + "/data/throng.db") }?.kind == .exists)
      #expect(try Data(contentsOf: URL(filePath: file)) == Data("mine".utf8))
      #expect(failure { try backUp(directory + "/nothing", to: directory + "/other") }?.kind == .missing)
      #expect(failure { try backUp(directory + "/data", to: directory + "/no/such/place") }?.kind == .directory)
    }
  }

  @Test func aDamagedDatabaseGivesNoBackup() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory + "/data") { store in
        let text = String(repeating: "x", count: 900)
        try await store.put([.create()] + (1...2000).map { .append(.sample($0, .text(text))) }).get()
      }
      let path = directory + "/data/throng.db"
      try overwrite(path, from: UInt64(DatabaseFile.bytes(of: path)) / 8192 * 4096)
      #expect(failure { try backUp(directory + "/data", to: directory + "/backup") }?.kind == .corrupt)
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["data"])
    }
  }

  // MARK: Restore

  @Test func aRestoredDatabaseIsTheBackupWithNewEpochs() async throws {
    try await withFilledStore { store, directory in
      let file = directory + "/backup.db"
      _ = try backUp(directory + "/data", to: file)
      let place = directory + "/restored"
      try DatabaseBackup.restore(from: file, directory: place, database: nil, now: 2_000_000)
      let old = try #require(try await store.group(club, sentSince: 0))
      try await withSQLite(place) { restored in
        let new = try #require(try await restored.group(club, sentSince: 0))
        #expect(new.record.epoch != old.record.epoch && new.lastMessage?.seq == 50)
        #expect(new.lastMessage?.msgID.hasPrefix(new.record.epoch + "-") == true)
        #expect(new.lastMessage?.content == old.lastMessage?.content)
        // The stored rows can be used: an open application belongs to this life of the group.
        try await restored.put([
          .append(.sample(51)), .putApplication(.sample("a1", epoch: new.record.epoch).handled(), asNewest: false),
        ])
        .get()
      }
      #expect(try StoreCheck.faults(directory: place, database: nil).isEmpty)
    }
  }

  /// It is in the copy that was asked for it, and in no database, export or further copy.
  @Test func aCopyKeepsTheSecretWhereThatWasAskedFor() async throws {
    try await withFilledStore { _, directory in
      let (with, without) = (directory + "/with.db", directory + "/without.db")
      let secret = Array("the secret for tokens, of 32 bytes or more".utf8)
      _ = try DatabaseBackup.make(directory: directory + "/data", database: nil, to: with, secret: secret)
      _ = try backUp(directory + "/data", to: without)
      #expect(try DatabaseBackup.secret(in: with) == secret)
      #expect(try DatabaseBackup.secret(in: without) == nil)
      let mode = try FileManager.default.attributesOfItem(atPath: with)[.posixPermissions] as? Int
      #expect(mode == 0o600)
      #expect(try rows(with) == rows(without))
      #expect(try StoreCheck.faults(directory: "", database: with).isEmpty)
      func holdsSecret(_ file: String) throws -> Bool {
        try Data(contentsOf: URL(filePath: file)).range(of: Data(secret)) != nil
      }
      #expect(try holdsSecret(with))
      #expect(try !holdsSecret(without))
      let place = directory + "/restored"
      try DatabaseBackup.restore(from: with, directory: place, database: nil, now: 2_000_000)
      #expect(try !holdsSecret(place + "/throng.db"))
      // The copy in the place of a database, by hand.
      try FileManager.default.createDirectory(atPath: directory + "/by-hand", withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: with, toPath: directory + "/by-hand/throng.db")
      _ = try backUp(directory + "/by-hand", to: directory + "/again.db")
      _ = try export(directory + "/by-hand", to: directory + "/out")
      #expect(try !holdsSecret(directory + "/again.db"))
      let exported = try String(contentsOfFile: directory + "/out", encoding: .utf8)
      #expect(!exported.contains("authSecret"))
    }
  }

  @Test func aRestoreTakesNoPlaceThatIsTaken() async throws {
    try await withFilledStore { _, directory in
      let file = directory + "/backup.db"
      _ = try backUp(directory + "/data", to: file)
      func restore(_ place: String, _ file: String) -> StoreOpenError? {
        failure {
          try DatabaseBackup.restore(from: file, directory: place, database: nil, now: 1)
          return 0
        }
      }
      // A store has the database open.
      #expect(restore(directory + "/data", file)?.kind == .locked)
      try await withSQLite(directory + "/other") { _ in }
      #expect(restore(directory + "/other", file)?.kind == .exists)
      try FileManager.default.removeItem(atPath: directory + "/other/throng.db")
      #expect(restore(directory + "/other", file)?.kind == .exists, "a log of another database is left")
      #expect(restore(directory + "/new", directory + "/nothing")?.kind == .missing)
      try Data("no database".utf8).write(to: URL(filePath: directory + "/text"))
      #expect(restore(directory + "/new", directory + "/text")?.kind == .foreign)
      #expect(restore(directory + "/new", file) == nil)
    }
  }

  // MARK: Export and import

  @Test func anImportOfAnExportIsTheSameStateAndExportsTheSameText() async throws {
    try await withFilledStore { _, directory in
      let (first, second) = (directory + "/first.jsonl", directory + "/second.jsonl")
      let count = try export(directory + "/data", to: first)
      let before = try rows(directory + "/data/throng.db")
      #expect(count == before.count)
      #expect(try importFile(first, into: directory + "/copy") == count)
      #expect(try rows(directory + "/copy/throng.db") == before)
      #expect(try export(directory + "/copy", to: second) == count)
      #expect(try String(contentsOfFile: first, encoding: .utf8) == String(contentsOfFile: second, encoding: .utf8))
      try await withSQLite(directory + "/copy") { copy in
        try await copy.put([.append(.sample(51)), .create(team2)]).get()
        #expect(try await copy.group(club, sentSince: 0)?.lastMessage?.seq == 51)
      }
    }
  }

  @Test func everyLineIsJSONAndTheFirstAndTheLastSaySo() async throws {
    try await withFilledStore { _, directory in
      _ = try export(directory + "/data", to: directory + "/out")
      let lines = try String(contentsOfFile: directory + "/out", encoding: .utf8).split(separator: "\n")
      let objects = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
      #expect(objects.first??["throngExport"] as? Int == 1 && objects.first??["time"] as? Int == 7)
      #expect((objects.last??["end"] as? [String: Int]) == ["rows": lines.count - 2])
      let messages = objects.compactMap { $0?["message"] as? [String: Any] }
      let message = try #require(messages.first)
      #expect((message["content"] as? [String: String])?["base64"] != nil, "a text with a NUL")
    }
  }

  @Test func aPartOfAnExportLeavesNothing() async throws {
    try await withFilledStore { _, directory in
      _ = try export(directory + "/data", to: directory + "/out")
      let text = try Data(contentsOf: URL(filePath: directory + "/out"))
      let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { Data($0) }
      func joined(_ lines: [Data]) -> Data { Data(lines.joined(separator: [UInt8(ascii: "\n")])) }
      var parts: [Data] = [Data(), text.prefix(10), text.prefix(text.count / 2), joined(Array(lines.dropLast(2)))]
      parts.append(joined(Array(lines[..<20] + lines[21...])))
      parts.append(joined(lines + lines))
      parts.append(joined(Array(lines.dropFirst())))
      parts.append(joined([lines[0], Data("{\"group\":{}}".utf8)] + lines[1...]))
      parts.append(joined([lines[0], Data("{\"message\":{\"seq\":1}}".utf8)] + lines[1...]))
      parts.append(joined([lines[0], Data("{}".utf8)] + lines[1...]))
      parts.append(joined([lines[0], lines[1]] + lines[1...]))
      parts.append(joined([Data("{\"throngExport\":2,\"schema\":\"v10\"}".utf8)] + lines[1...]))
      parts.append(joined([Data("{\"throngExport\":1,\"schema\":\"v99\"}".utf8)] + lines[1...]))
      for (number, part) in parts.enumerated() {
        let file = directory + "/part\(number)"
        try part.write(to: URL(filePath: file))
        #expect(failure { try importFile(file, into: directory + "/copy") } != nil, "part \(number)")
        #expect(!NewFile.exists(directory + "/copy/throng.db") && !NewFile.exists(directory + "/copy/throng.db-new"))
      }
    }
  }

  @Test func anExportThatContradictsItselfIsRefused() async throws {
    try await withFilledStore { _, directory in
      _ = try export(directory + "/data", to: directory + "/out")
      var lines = try String(contentsOfFile: directory + "/out", encoding: .utf8).split(separator: "\n")
      let gap = try #require(lines.firstIndex { $0.hasPrefix("{\"message\":") && $0.contains("\"seq\":7,") })
      lines.remove(at: gap)
      lines[lines.count - 1] = "{\"end\":{\"rows\":\(lines.count - 2)}}"
      try lines.joined(separator: "\n").write(toFile: directory + "/gap", atomically: true, encoding: .utf8)
      let refusal = failure { try importFile(directory + "/gap", into: directory + "/copy") }
      #expect(refusal?.description.contains("have gaps") == true)
      #expect(!NewFile.exists(directory + "/copy/throng.db"))
    }
  }

  @Test func anImportTakesNoPlaceThatIsTaken() async throws {
    try await withFilledStore { _, directory in
      _ = try export(directory + "/data", to: directory + "/out")
      #expect(failure { try importFile(directory + "/out", into: directory + "/data") }?.kind == .locked)
    }
  }

  // MARK: Lines

  @Test(arguments: [("", []), ("a", ["a"]), ("a\n", ["a"]), ("\n", [""]), ("a\n\nb", ["a", "", "b"])])
  func linesAreReadWhole(_ text: String, _ lines: [String]) throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
    try pipe.fileHandleForWriting.close()
    var reader = LineReader(pipe.fileHandleForReading, maxBytes: 100)
    var read: [String] = []
    while let line = try reader.next() { read.append(String(decoding: line, as: UTF8.self)) }
    #expect(read == lines && reader.number == lines.count)
  }

  @Test func aLineThatNeverEndsIsRefused() throws {
    try withTemporaryFile(Data(repeating: 0x61, count: 5 << 20)) { file in
      var reader = LineReader(try #require(FileHandle(forReadingAtPath: file)), maxBytes: 1 << 20)
      #expect(throws: StoreOpenError.self) { try reader.next() }
    }
  }

  private func withTemporaryFile(_ data: Data, _ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.path + "/throng-lines-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    try data.write(to: URL(filePath: path))
    try body(path)
  }
}

private final class Flag: Sendable {
  private let value = Mutex(false)
  var isSet: Bool { value.withLock { $0 } }
  func set() { value.withLock { $0 = true } }
}
