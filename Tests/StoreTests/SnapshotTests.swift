import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit
import WireProtocol

@testable import PostgreSQLStore
@testable import SQLiteStore

/// A read sees the database of one instant.
/// Commits of others fall between the statements of a read.
@Suite struct SnapshotTests {
  // MARK: PostgreSQL

  private func put(_ store: PostgreSQLStore) async throws {
    try await store.put([.create(), .join(alice)] + (1...3).map { .append(.sample($0)) }).get()
    for seq in 1...2 as ClosedRange<Int64> {
      var message = Message.sample(seq)
      message.changeSeq = seq
      try await store.put([.noteChange(message)]).get()
    }
  }

  /// Runs a read that comes as far as the table `message`, then a change, and then lets the read go
  /// on.
  private func read<Value: Sendable>(
    _ url: String, _ schema: String, changing change: String, _ body: @Sendable () async throws -> Value
  ) async throws -> Value {
    let other = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
    try other.run("BEGIN")
    try other.run("LOCK TABLE message IN ACCESS EXCLUSIVE MODE")
    async let value = body()
    try await waitUntil("the read has come to its messages") {
      try other.count("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'message'::regclass", []) == 1
    }
    try other.run(change)
    try other.run("COMMIT")
    return try await value
  }

  @Test func changesAscendAlsoWhereOneIsMadeMeanwhile() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      try await put(store)
      let edit = "UPDATE messageChange SET changeSeq = 3 WHERE seq = 1"
      let page = try await read(url, schema, changing: edit) {
        try await store.changedMessages(of: club, after: 0, in: [1...3], limit: 9)
      }
      #expect(page.messages.map(\.changeSeq) == [1, 2])
      let next = try await store.changedMessages(of: club, after: 2, in: [1...3], limit: 9)
      #expect(next.messages.map(\.changeSeq) == [3])
    }
  }

  @Test func anAfterEventHasItsMessageAlsoWhereRetentionRemovesItMeanwhile() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      try await put(store)
      let sent = WebhookContent.messageSent(MessageInfo(.sample(4), senderProfile: nil), isStored: true)
      let entry = WebhookEntry(.messageSent, sent, in: .group(club), at: 5)
      try await store.put([.append(.sample(4, .text("kept"))), .appendWebhook(entry)]).get()
      let removal = "WITH gone AS (DELETE FROM message) UPDATE webhook SET data = '', groupNumber = NULL, seq = NULL"
      let found = try await read(url, schema, changing: removal) {
        try await store.webhooks(in: nil, after: 0, limit: 9, bytes: .max)
      }
      #expect(found.count == 1)
      #expect(found.allSatisfy { String(decoding: $0.data, as: UTF8.self).contains("kept") })
    }
  }

  @Test func everyKindOfConnectionThatReadsHasOneSnapshotAndGoesOnAfterAFailure() async throws {
    try await withSchema { url, schema in
      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      try await put(store)
      let count = "SELECT count(*) FROM member WHERE userID = 'alice'"
      let body: @Sendable (PostgreSQLConnection) throws -> [Int] = { db in
        let before = try db.count(count, [])
        let other = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
        try other.run("UPDATE member SET userID = userID || 'x'")
        return [before, try db.count(count, [])]
      }
      let failing: @Sendable (PostgreSQLConnection) throws -> Int = { try $0.count("SELECT 1::bigint / 0", []) }
      #expect(try await store.read(.snapshot, body) == [1, 1])
      #expect(await failure { () async throws(StoreError) in try await store.read(.snapshot, failing) } != nil)
      try await store.put([.join(alice)]).get()
      for _ in 1...3 { #expect(try await store.read { try $0.count("SELECT count(*) FROM member", []) } == 2) }
      #expect(await failure { () async throws(StoreError) in try await store.readForSignIn(of: bob, failing) } != nil)
      #expect(try await store.readForSignIn(of: bob) { try $0.count("SELECT count(*) FROM member", []) } == 2)
      #expect(try await store.readForSearch(of: bob, body) == [1, 1])
      let isolation = try await store.readForSearch(of: bob) { db in
        try db.rows("SHOW transaction_isolation", []) { try $0.text() }
      }
      #expect(isolation == ["repeatable read"])
    }
  }

  // MARK: SQLite

  // A sign-in needs none: it is one statement (SignInRecordTests).
  @Test(arguments: ["shared", "search"])
  func soItIsWithSQLite(_ reader: String) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(alice)]).get()
        let body: @Sendable (Database) throws -> [Int] = { db in
          let before = try db.count("SELECT count(*) FROM member", [])
          let other = try DatabaseQueue(path: directory + "/throng.db")
          try other.write { try $0.execute(sql: "DELETE FROM member") }
          try other.close()
          return [before, try db.count("SELECT count(*) FROM member", [])]
        }
        let counts =
          switch reader {
          case "shared": try await store.read(.snapshot, body)
          default: try await store.readForSearch(of: alice, body)
          }
        #expect(counts == [1, 1])
        #expect(try await store.group(club, sentSince: 0)?.members.isEmpty == true)
      }
    }
  }
}
