import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: the contents of what is taken in.
/// What comes from outside is compared with what the store can read.
@Suite struct ContentCheckTests {
  private typealias Line = [String: [String: Any]]

  /// A store with a row in each table that an export has.
  private func withFilledStore(_ body: (SQLiteStore, String) async throws -> Void) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory + "/data") { store in
        var banned = FormerMember(userID: carol, visibleRanges: [1...2], muteUntil: 9, bannedUntil: .distantFuture, leftTime: 5)
        banned.banReason = "spam"
        var edited = Message.sample(2, .text("new"), needReadReceipt: false)
        (edited.changeSeq, edited.editTime, edited.isPinned) = (1, 70, true)
        var reply = Message.sample(3)
        reply.extras = MessageExtras(
          extension: "data", replyTo: ReplyReference(seq: 1, sender: alice), isExcludedFromUnreadCount: true,
          isExcludedFromLastMessage: true, toUserIDList: [bob])
        let given = ReactionUpdate(group: club, seq: 1, number: 2, reaction: "+1", user: bob, isAdded: true, changeSeq: 2)
        let entry = WebhookEntry(id: "a", .messageSent, data: [1], in: .user(bob), at: 5, since: 6, number: 0)
        let stored = try await store.store([
          .create(), .join(alice, as: .owner), .join(bob, as: .admin), .putFormer(banned, in: club),
          .append(.sample(1, needReadReceipt: true)), .append(.sample(2)), .append(reply),
          .putReceiptMembers([alice, bob], from: 1, in: club), .addReadReceipts([1], of: bob, in: club),
          .revise(edited), .updateReaction(given), .putChangeSeq(2, at: 90, in: club),
          .putAttributes(GroupAttributes([.init(key: "k", value: "v")]), in: club),
          .putCounters([.init(key: "likes", value: 3)], in: club), .apply(.sample("a1")), .notify(.sample(), .users([alice])),
          .putUserInfo(UserInfo(userID: alice, nickName: "A", customInfo: ["a": "b"])), .putStatus(alice, "away"),
          .noteGroup([alice, bob], in: club), .putBlock(bob, UserAccess.Block(until: 900, reason: "spam"), at: 5),
          .raiseTokensBefore(carol, 700, at: 5), .putBlock(carol, nil, at: 6),
          .putDeletion(UserDeletion(userID: bob, messages: .revoke, requestTime: 5)), .putReport(.sample(by: bob)),
          .appendWebhook(entry),
        ])
        try await store.put([.giveUpWebhook(stored[0], attempts: 3, lastError: "no")]).get()
        try await store.put([
          .appendWebhook(WebhookEntry(id: "b", .messageSent, data: [1], in: .user(bob), at: 5, since: 6, number: 0))
        ]).get()
        try await body(store, directory)
      }
    }
  }

  private func exported(_ directory: String) throws -> [String] {
    _ = try DatabaseExport.write(directory: directory + "/data", database: nil, to: directory + "/out", or: .nullDevice, now: 7)
    return try String(contentsOfFile: directory + "/out", encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private func refusal(of lines: [String], _ directory: String) throws -> String? {
    let file = directory + "/changed"
    try lines.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: directory + "/copy") }
    do throws(StoreOpenError) {
      let input = FileHandle(forReadingAtPath: file) ?? .nullDevice
      _ = try DatabaseImport.read(input, directory: directory + "/copy", database: nil, now: 9)
      return nil
    } catch {
      #expect(!NewFile.exists(directory + "/copy/throng.db") && !NewFile.exists(directory + "/copy/throng.db-new"))
      return error.description
    }
  }

  private func row(_ line: String) throws -> (table: String, values: [String: Any])? {
    let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
    guard let (table, values) = object?.first, object?.count == 1, table != "end" else { return nil }
    return (values as? [String: Any]).map { (table, $0) }
  }

  private func line(_ table: String, _ values: [String: Any]) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: [table: values]), as: UTF8.self)
  }

  // MARK: Import

  @Test func aValueThatNoStoreCanReadIsRefusedWithItsLineAndColumn() async throws {
    try await withFilledStore { _, directory in
      let lines = try exported(directory)
      #expect(try refusal(of: lines, directory) == nil)
      var (seen, tables): (Set<String>, Set<String>) = ([], [])
      for (index, text) in lines.enumerated().dropFirst() {
        guard let (table, values) = try row(text) else { continue }
        tables.insert(table)
        for (column, value) in values where table != "sqlite_sequence" && seen.insert("\(table).\(column)").inserted {
          #expect(StoredDomain.of(column, in: table) != nil, "\(table).\(column)")
          // A number where texts are, a text where numbers are; and for others what looks right at
          // first.
          let wrong: [Any] = value is String ? [5, "\u{7f}{[", "[1]", #"{"a":1}"#] : value is NSNumber ? ["x", 1 << 62] : [5]
          for wrong in wrong where !takes(wrong, column, table) {
            var changed = values
            changed[column] = wrong
            var copy = lines
            copy[index] = try line(table, changed)
            let refusal = try refusal(of: copy, directory)
            #expect(refusal?.contains("line \(index + 1): \(table).\(column) ") == true, "\(wrong): \(refusal ?? "taken")")
          }
        }
      }
      #expect(
        tables.isSuperset(
          of: StoredTable.all.map(\.name).filter { !["departure", "dismissedGroup", "goneReaction", "readMark"].contains($0) }))
    }
  }

  /// Texts of users may be anything, and what is absent may be there.
  private func takes(_ value: Any, _ column: String, _ table: String) -> Bool {
    let stored = (value as? String).map(StoredValue.text) ?? .integer((value as? Int).map(Int64.init) ?? 0)
    return StoredDomain.of(column, in: table)?.contains(stored) == true
  }

  @Test(arguments: ["[]", "{", #"{"a":1}"#, #"{"a":null}"#, #""a""#])
  func customInfoThatWouldMakeAGroupUnusableIsRefused(_ info: String) async throws {
    try await withFilledStore { _, directory in
      var lines = try exported(directory)
      for table in ["groupRecord", "member", "userInfo"] {
        let index = try #require(lines.firstIndex { $0.hasPrefix("{\"\(table)\":") })
        let before = lines[index]
        var values = try #require(try row(before)).values
        values["customInfo"] = info
        lines[index] = try line(table, values)
        #expect(try refusal(of: lines, directory)?.contains("line \(index + 1): \(table).customInfo ") == true)
        lines[index] = before
      }
    }
  }

  @Test(arguments: [true, false]) func twoOwnersOfAGroupAreRefused(_ isMember: Bool) async throws {
    try await withFilledStore { _, directory in
      var lines = try exported(directory)
      let table = isMember ? "member" : "groupRecord"
      let index = try #require(lines.firstIndex { $0.hasPrefix("{\"\(table)\":") && $0.contains(isMember ? "\"bob\"" : "club") })
      var values = try #require(try row(lines[index])).values
      values[isMember ? "role" : "owner"] = isMember ? "Owner" : "bob"
      lines[index] = try line(table, values)
      let refusal = try refusal(of: lines, directory)
      #expect(
        refusal?.contains("line ") == true && refusal?.contains(isMember ? "member.role" : "owner") == true, "\(refusal ?? "")")
    }
  }

  // MARK: Restore, migrate and throng store check

  @Test(arguments: [
    ("CREATE TRIGGER evil AFTER INSERT ON message BEGIN DELETE FROM member; END", "the trigger evil"),
    ("CREATE VIEW people AS SELECT * FROM member", "the view people"),
    ("UPDATE member SET customInfo = '[]' WHERE userID = 'bob'", "member.customInfo"),
    ("UPDATE groupRecord SET serverCustomInfo = 5", "groupRecord.serverCustomInfo"),
    ("UPDATE message SET content = x'ff' WHERE seq = 2", "message.content"),
    ("UPDATE groupRecord SET nextOrdinal = 9223372036854775807", "groupRecord.nextOrdinal"),
    ("UPDATE member SET joinTime = -5 WHERE userID = 'bob'", "member.joinTime"),
    ("UPDATE member SET role = 'Owner' WHERE userID = 'bob'", "2 owners"),
    ("UPDATE groupRecord SET owner = 'carol'", "groupRecord.owner"),
    ("UPDATE groupRecord SET historyVisibility = 'Some'", "groupRecord.historyVisibility"),
    ("UPDATE member SET marks = '{}'", "member.marks"),
    ("UPDATE messageExtras SET toUserIDs = 'bob  \u{7f}'", "messageExtras.toUserIDs"),
    ("UPDATE messageExtras SET replyTo = -1, countedReplyTo = -1", "messageExtras.countedReplyTo"),
  ])
  func aBackupWithForeignContentsIsNotRestoredAndNotCopiedToPostgreSQL(_ change: String, _ told: String)
    async throws
  {
    try await withFilledStore { _, directory in
      let file = directory + "/backup.db"
      _ = try DatabaseBackup.make(directory: directory + "/data", database: nil, to: file)
      try DatabaseBackup.restore(from: file, directory: directory + "/sound", database: nil, now: 1)
      let queue = try DatabaseQueue(path: file)
      try await queue.write { try $0.execute(sql: change) }
      try queue.close()
      let error = #expect(throws: StoreOpenError.self) {
        try DatabaseBackup.restore(from: file, directory: directory + "/restored", database: nil, now: 1)
      }
      #expect(error?.kind == .corrupt && error?.description.contains(told) == true, "\(String(describing: error))")
      #expect(!NewFile.exists(directory + "/restored/throng.db"))
      let faults = try StoreCheck.faults(directory: "", database: file)
      #expect(faults.contains { $0.contains(told) })
      let source = try SQLiteExport(directory: "", database: file)
      defer { source.close() }
      #expect(try source.faults() == faults)
    }
  }

  @Test func aDatabaseWithTheIndexOfMessagesIsSound() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.indexesMessages = true }) { store in
        try await store.put([.create(), .append(.sample(1))]).get()
        #expect(try StoreCheck.faults(directory: directory, database: nil).isEmpty)
      }
    }
  }
}
