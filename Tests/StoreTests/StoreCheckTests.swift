import Foundation
import GRDB
import GroupModel
import GroupRuntime
import Testing

@testable import SQLiteStore

/// SQLite: checking a whole database.
@Suite struct StoreCheckTests {
  private func refusal(_ directory: String) -> StoreOpenError? {
    do {
      _ = try StoreCheck.faults(directory: directory, database: nil)
      return nil
    } catch {
      return error
    }
  }

  @Test func aSoundDatabaseHasNoFaultWhileItIsUsedAndAfter() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(bob), .append(.sample(1)), .append(.sample(2))]).get()
        #expect(try StoreCheck.faults(directory: directory, database: nil).isEmpty)
        try await store.put([.append(.sample(3))]).get()
      }
      let before = try Data(contentsOf: URL(filePath: directory + "/throng.db"))
      #expect(try StoreCheck.faults(directory: directory, database: "throng.db").isEmpty)
      #expect(try Data(contentsOf: URL(filePath: directory + "/throng.db")) == before)
    }
  }

  @Test func aDamagedPageIsFoundAtWhichTheOpeningDoesNotLook() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let text = String(repeating: "x", count: 900)
        try await store.put([.create()] + (1...2000).map { .append(.sample($0, .text(text))) }).get()
      }
      let path = directory + "/throng.db"
      let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64)
      try overwrite(path, from: size / 8192 * 4096)
      let faults = try StoreCheck.faults(directory: directory, database: nil)
      #expect(!faults.isEmpty && faults.allSatisfy { $0.hasPrefix("damaged: ") })
      try openSQLite(directory).close()
    }
  }

  @Test(arguments: [
    ("DELETE FROM message WHERE seq = 2", "the messages of group club have gaps: 2 of 3"),
    ("DELETE FROM groupRecord", "rows of 1 groups that are gone are left in message"),
    ("DELETE FROM knownUser", "the texts of 1 users are there, and the users are not known"),
    ("UPDATE messageExtras SET seq = 4", "extras of 1 messages that are gone are left"),
    ("UPDATE messageExtras SET number = 9", "rows of 1 groups that are gone are left in messageExtras"),
    (
      "UPDATE messageExtras SET isUncounted = 1",
      "1 messages contradict themselves about whether they count as unread"
    ),
    (
      "UPDATE messageExtras SET sender = 'bob'",
      "extras of 1 messages contradict these about the sender, or about a reply that is recalled"
    ),
    (
      "UPDATE messageExtras SET replyTo = 1",
      "extras of 1 messages contradict these about the sender, or about a reply that is recalled"
    ),
    (
      "UPDATE message SET isRevoked = 1 WHERE seq = 3; UPDATE messageExtras SET replyTo = 1, countedReplyTo = 1",
      "extras of 1 messages contradict these about the sender, or about a reply that is recalled"
    ),
    (
      "INSERT INTO userAccess VALUES ('eve', 1, 1, 0, 0, 5, '')",
      "1 decisions about users contradict themselves about whether they are in force"
    ),
    (
      "INSERT INTO userDeletion VALUES ('eve', 'Keep', 'done', 0, 0, 5, NULL, 0)",
      "1 deletions of users contradict themselves about whether they are done"
    ),
    (
      "UPDATE message SET needReadReceipt = 1; UPDATE messageExtras SET toUserIDs = 'bob', isUncounted = 1",
      "2 messages with read receipts have no list of members"
    ),
  ])
  func aContradictionIsFound(_ damage: String, _ fault: String) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        var last = Message.sample(3)
        last.extras = MessageExtras(extension: "data")
        try await store.put([
          .create(), .putUserInfo(UserInfo(userID: bob, nickName: "B")), .append(.sample(1)), .append(.sample(2)), .append(last),
        ]).get()
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: damage) }
      }
      let faults = try StoreCheck.faults(directory: directory, database: nil)
      #expect(faults.contains(fault.replacing("club", with: club.rawValue)), "\(faults)")
    }
  }

  @Test func whatIsNotThereIsNotMade() async throws {
    try await withDirectory { directory in
      #expect(refusal(directory)?.kind == .missing)
      #expect(!FileManager.default.fileExists(atPath: directory))
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      #expect(refusal(directory)?.description == "there is no database \(directory)/throng.db")
      try Data("junk".utf8).write(to: URL(filePath: directory + "/throng.db"))
      #expect(refusal(directory)?.kind == .foreign)
    }
  }
}
