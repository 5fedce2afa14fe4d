import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: schema, plans and clearing away.
@Suite struct SchemaTests {
  @Test func theMigrationsMakeTheseTables() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let (applied, tables, check) = try await store.pool.read { db in
          (
            try Schema.migrator.appliedMigrations(db),
            try String.fetchSet(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"),
            try String.fetchOne(db, sql: "PRAGMA integrity_check")
          )
        }
        #expect(applied == ["v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15"])
        #expect(
          tables == [
            "groupRecord", "groupAttributes", "groupCounter", "member", "formerMember", "message", "departure", "dismissedGroup",
            "application",
            "notification", "notificationNumber", "readMark", "knownUser", "userInfo", "probe", "grdb_migrations", "webhook",
            "webhookFailure", "webhookIndexing", "receiptMembers", "readReceipt", "messageChange", "reaction", "reactionUser",
            "goneReaction", "messageExtras", "groupOfUser", "userAccess", "userAccessNumber", "userDeletion", "report",
          ])
        #expect(check == "ok")
      }
    }
  }

  @Test func aDatabaseWithoutItsMigrationsGetsThemAtTheOpening() async throws {
    try await withDirectory { directory in
      // As a crash between the making of the file and the first migration leaves it.
      let database = try DatabaseFile(nil, dataDirectory: directory)
      let opener = DatabaseOpener(database: database, sync: .full, options: StoreOptions())
      let lock = try DatabaseLock(of: database, now: 1)
      try opener.prepareDatabase(lock)
      lock.close()
      try await withSQLite(directory) { try await $0.put([.create()]).get() }
    }
  }

  @Test(arguments: [
    "SELECT number FROM groupRecord WHERE groupID = 'g'",
    "SELECT seq, content FROM message WHERE number = 1 AND seq BETWEEN 5 AND 9 ORDER BY seq DESC LIMIT 3",
    "SELECT seq, content FROM message WHERE number = 1 ORDER BY seq DESC",
    "SELECT m.seq, c.changeSeq FROM message AS m LEFT JOIN messageChange AS c ON c.number = m.number AND c.seq = m.seq "
      + "WHERE m.number = 1 AND m.seq BETWEEN 5 AND 9 ORDER BY m.seq DESC LIMIT 3",
    "SELECT \(Message.allColumns) FROM \(Message.source) WHERE m.number = 1 AND m.seq > 5 ORDER BY m.seq DESC LIMIT 3",
    MessageExtrasRows.hiddenSQL(newestFirst: true).withNumbers, MessageExtrasRows.hiddenSQL(newestFirst: false).withNumbers,
    MessageExtrasRows.replySeqsSQL(condition(.user(alice))).withNumbers,
    MessageExtrasRows.replySeqsSQL(condition(.application)).withNumbers,
    "SELECT changeSeq, seq FROM messageChange INDEXED BY messageByChange WHERE number = 1 AND changeSeq > 4 ORDER BY changeSeq",
    "SELECT seq FROM messageChange INDEXED BY pinnedMessage WHERE number = 1 AND pinned > 0 ORDER BY pinned DESC",
    "SELECT kind, EXISTS (SELECT 1 FROM reactionUser AS u WHERE u.number = r.number AND u.kind = r.kind AND u.userID = 'u') "
      + "FROM reaction AS r WHERE number = 1 AND seq = 4 ORDER BY kind",
    "SELECT userID FROM reactionUser INDEXED BY reactionUserByTime WHERE number = 1 AND kind = 4 ORDER BY time LIMIT 3",
    "SELECT count(*) FROM message WHERE number = (SELECT number FROM groupRecord WHERE groupID = 'g') AND seq > 4",
    "SELECT groupID, type, number FROM member JOIN groupRecord USING (number) WHERE userID = 'u' ORDER BY number",
    "SELECT 1 FROM member JOIN groupRecord USING (number) WHERE userID = 'u' AND type IN ('Work') LIMIT 3",
    "SELECT 1 FROM groupRecord WHERE owner = 'u' AND type = 'AVChatRoom' LIMIT 3",
    "SELECT groupID, type, number FROM groupRecord WHERE type = 'Work' AND number > 5 ORDER BY number LIMIT 3",
    "SELECT groupNumber FROM departure INDEXED BY departureByNumber WHERE userID = 'u' AND groupNumber > 4 ORDER BY groupNumber LIMIT 3",
    "SELECT userID FROM departure INDEXED BY departureByTime WHERE time < 4 LIMIT 3",
    "SELECT userID FROM formerMember INDEXED BY formerMemberByEnd WHERE memorableUntil < 4 LIMIT 3",
    FormerMemberRows.restrictedSQL.withNumbers, FormerMemberRows.freeSQL.withNumbers,
    "SELECT id FROM application INDEXED BY applicationOpen WHERE groupNumber = 1 AND endTime IS NULL AND number > 3 ORDER BY number",
    "SELECT id FROM application INDEXED BY applicationOfKind WHERE kind = 'Join' AND isGroupGone = 0 AND number < 9 "
      + "ORDER BY number DESC LIMIT 3",
    "SELECT id FROM application INDEXED BY applicationOfGroup WHERE groupNumber = 1 AND kind = 'Join' AND isGroupGone = 0 "
      + "AND number < 9 ORDER BY number DESC LIMIT 1",
    "SELECT id FROM application INDEXED BY applicationOfInvited WHERE toUser = 'u' AND isGroupGone = 0 AND number < 9 "
      + "ORDER BY number DESC LIMIT 1",
    "SELECT id FROM application INDEXED BY applicationOfSender WHERE fromUser = 'u' AND isGroupGone = 0 AND number < 9 "
      + "ORDER BY number DESC LIMIT 3",
    "SELECT mark.userID FROM groupRecord AS g CROSS JOIN member AS m INDEXED BY managerOfGroup ON m.number = g.number "
      + "CROSS JOIN readMark AS mark ON mark.userID = m.userID WHERE g.groupID = 'g' AND m.role IN ('Owner', 'Admin')",
    SearchedGroups.sql(of: .joinedAndEverybodys).withNumbers,
    "SELECT count(*) FROM application INDEXED BY applicationOfInvitedByTime WHERE toUser = 'u' AND isGroupGone = 0 AND addTime > 4",
    "SELECT number FROM member INDEXED BY managerByUser WHERE userID = 'u' AND role IN ('Owner', 'Admin')",
    "SELECT number FROM application WHERE endTime < 4 LIMIT 3",
    "SELECT number FROM notification INDEXED BY notificationByTime WHERE timestamp < 4 LIMIT 3",
    "SELECT number FROM notification WHERE addressee = 'u' AND number < 4 ORDER BY number DESC LIMIT 1",
    "UPDATE knownUser SET offlineSince = 4 WHERE offlineSince = 0",
    "SELECT userID FROM knownUser WHERE offlineSince = 0",
    "SELECT userID, offlineSince FROM member JOIN knownUser USING (userID) WHERE number = 1 AND offlineSince > 0",
    "SELECT groupID, role FROM groupRecord AS g LEFT JOIN member AS m ON m.number = g.number AND m.userID = 'u' WHERE g.number > 5 "
      + "ORDER BY g.number",
    "SELECT member.userID, nickName FROM member LEFT JOIN userInfo ON userInfo.userID = member.userID WHERE number = 1",
    "SELECT number FROM webhook INDEXED BY webhookByLane WHERE isIndexed = 1 AND lane = 'g' AND number >= 4 ORDER BY number",
    "SELECT number FROM webhook WHERE isIndexed = 0 AND lane = 'g' AND number >= 4 ORDER BY number",
    "DELETE FROM member WHERE number IN (SELECT number FROM dismissedGroup WHERE groupID = 'g') AND userID = 'u'",
    "SELECT number FROM groupOfUser INDEXED BY groupOfUserByUser WHERE userID = 'u' AND number > 4 ORDER BY number LIMIT 3",
    "SELECT 1 FROM userAccess WHERE userID = 'u' UNION ALL SELECT 1 FROM userDeletion WHERE userID = 'u'",
    "SELECT userID FROM userAccess WHERE number = 4",
    "SELECT number, userID, blockedUntil FROM userAccess INDEXED BY userAccessBlocked WHERE isBlocked = 1 AND userID > 'u' "
      + "ORDER BY userID LIMIT 3",
    "SELECT userID FROM userAccess INDEXED BY userAccessFree WHERE freeTime < 4 LIMIT 3",
    "SELECT userID FROM userDeletion INDEXED BY userDeletionRunning WHERE endTime IS NULL AND userID > 'u' "
      + "ORDER BY userID LIMIT 3",
    "SELECT userID FROM userDeletion INDEXED BY userDeletionDone WHERE endTime < 4 LIMIT 3",
    "SELECT id FROM report INDEXED BY reportByState WHERE state = 'Open' AND number < 9 ORDER BY number DESC LIMIT 3",
    "SELECT id FROM report INDEXED BY reportByGroup WHERE groupID = 'g' AND state = 'Open' AND number < 9 "
      + "ORDER BY number DESC LIMIT 3",
    "SELECT number FROM report INDEXED BY reportByTime WHERE time < 4 LIMIT 3",
    "SELECT number FROM report WHERE id = 'r'", "SELECT number FROM report WHERE reporter = 'u'",
  ])
  func noQueryOfTheRunningServerScansATableOrSorts(_ sql: String) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let plan = try await store.pool.writeWithoutTransaction { db in
          try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql).map { $0["detail"] as String }
        }
        #expect(!plan.isEmpty && !plan.contains { $0.hasPrefix("SCAN") || $0.contains("TEMP B-TREE") }, "\(plan)")
      }
    }
  }

  /// Neither a message nor a row of its extras is read, however many replies are for others.
  @Test(arguments: [
    MessageExtrasRows.replySeqsSQL(condition(.user(alice))), MessageExtrasRows.replySeqsSQL(condition(.application)),
    MessageExtrasRows.replyCountsSQL(condition(.user(alice))), MessageExtrasRows.replyCountsSQL(condition(.application)),
  ])
  func repliesAreFoundInTheirIndexAlone(_ sql: String) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let plan = try await store.pool.writeWithoutTransaction { db in
          try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql.withNumbers).map { $0["detail"] as String }
        }
        let seek = "SEARCH e USING COVERING INDEX messageReply (number=? AND countedReplyTo=? AND seq>? AND seq<?)"
        #expect(plan.filter { $0.contains("SEARCH") } == [seek], "\(plan)")
        #expect(!plan.contains { $0.contains("TEMP B-TREE") }, "\(plan)")
      }
    }
  }

  @Test func aTickCarriesTheLogIntoTheDatabase() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create()] + (1...300).map { .append(.sample($0)) }).get()
        await store.tick()
        let state = try await store.pool.writeWithoutTransaction { try $0.checkpoint(.passive) }
        #expect(state.walFrameCount > 5 && state.checkpointedFrameCount == state.walFrameCount)
        let size = try FileManager.default.attributesOfItem(atPath: directory + "/throng.db")[.size] as? Int
        #expect(try #require(size) > 10 * 4096)
      }
    }
  }

  @Test func theLogStaysBoundedWhileTheWriterNeverRests() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, sync: .normal, { $0.autocheckpointPages = 20 }) { store in
        try await store.put([.create()]).get()
        for seq in 1...400 { try await store.put([.append(.sample(Int64(seq)))]).get() }
        let size = try FileManager.default.attributesOfItem(atPath: directory + "/throng.db-wal")[.size] as? Int
        #expect(try #require(size) < 40 * 4200)
      }
    }
  }

  @Test func aDisbandedGroupIsClearedAwayInBoundedChunks() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory, { $0.cleanupRows = 10 }) { store in
        let users = (0..<25).map { UserID("user\($0)")! }
        let messages = (1...95).map { StoreChange.append(.sample($0)) }
        try await store.put([.create(), .create(team), .append(.sample(1, in: team)), .join(bob, team)]).get()
        let applications = (1...12).map { StoreChange.apply(.sample("a\($0)")) } + [.apply(.sample("handled").handled())]
        let attributes = StoreChange.putAttributes(GroupAttributes([.init(key: "k", value: "v")]), in: club)
        let counters = StoreChange.putCounters([.init(key: "a", value: 1), .init(key: "b", value: 2)], in: club)
        try await store.put(users.map { .join($0) } + messages + applications + [attributes, counters]).get()
        // Without the writer, to see each step.
        let steps = try await store.pool.writeWithoutTransaction { db in
          try db.apply(.dismiss(club, at: 50))
          var steps: [Int] = []
          var before = try leftovers(db)
          while try DisbandedGroupCleanup.chunk(of: 10, in: db) {
            let after = try leftovers(db)
            steps.append(before - after)
            before = after
          }
          return steps
        }
        #expect(steps == [10, 10, 5] + Array(repeating: 10, count: 9) + [5] + [10, 2] + [4])
        #expect(try await store.departures(of: users[24], from: nil, since: 50) == [club])
        #expect(try await store.group(team, sentSince: 0)?.lastMessage?.seq == 1)
        #expect(try await store.group(team, sentSince: 0)?.members == [.sample(bob)])
      }
    }
  }

  @Test func whileMembersAreBeingClearedAwayTheyHaveDepartedAndWhoComesBackHasNot() async throws {
    try await withDirectory { directory in
      let disk = FaultyDisk(directory: directory)
      try await withSQLite(directory, { $0.cleanupRows = 1 }) { store in
        try await store.put([.create(), .join(alice), .join(bob), .append(.sample(1))]).get()
        disk.holdSync(passing: 1)
        try await store.put([.dismiss(club, at: 40)]).get()
        await disk.writerIsHeld()
        #expect(try await store.group(club, sentSince: 0) == nil)
        #expect(try await store.memberships(of: bob).isEmpty)
        #expect(try await store.departures(of: alice, from: nil, since: 40) == [club])
        #expect(try await store.departures(of: bob, from: nil, since: 40) == [club])
        let answers = Answers(expected: 1)
        store.commit(Commit(changes: [.create(epoch: "e2"), .join(bob)], generation: CommitGeneration()) { answers.came($0, 0) })
        disk.release()
        #expect(await answers.all().map(\.failure) == [nil])
        await store.waitForWriter()
        #expect(try await store.departures(of: bob, from: nil, since: 0).isEmpty)
        #expect(try await store.departures(of: alice, from: nil, since: 0) == [club])
        #expect(try await store.pool.read { try leftovers($0) } == 0)
        #expect(try await store.group(club, sentSince: 0)?.members == [.sample(bob)])
      }
    }
  }

  @Test func ofALiveRoomsMembersNoRowStaysBehind() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        for type in [GroupType.avChatRoom, .bChatRoom, .public] {
          try await store.put([.create(type: type), .join(alice), .join(bob), .removeMember(bob, from: club, at: 5)]).get()
          // Without the writer, which would begin to clear rows at once.
          try await store.pool.write { try $0.apply(.dismiss(club, at: 9)) }
          #expect(try await store.departures(of: alice, from: nil, since: 0) == (type == .public ? [club] : []))
          try await store.put([.create(team), .dismiss(team, at: 9)]).get()
          await store.waitForWriter()
          let (left, departures) = try await store.pool.read { db in
            (try leftovers(db), try Int.fetchOne(db, sql: "SELECT count(*) FROM departure"))
          }
          #expect(left == 0 && departures == (type == .public ? 2 : 0))
        }
      }
    }
  }

  @Test func clearingAwayGoesOnAfterARestart() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(bob)] + (1...50).map { .append(.sample($0)) }).get()
        // Past the writer, which would begin at once.
        try await store.pool.write { try $0.apply(.dismiss(club, at: 9)) }
      }
      try await withSQLite(directory, { $0.cleanupRows = 7 }) { store in
        await store.waitForWriter()
        let rows = try await store.pool.read { try leftovers($0) }
        #expect(rows == 0)
        #expect(try await store.departures(of: bob, from: nil, since: 0) == [club])
      }
    }
  }

  @Test func valuesThatMakeNoSenseAreInconsistentNotATrap() async throws {
    let damages = [
      "UPDATE groupRecord SET type = 'Circle'", "UPDATE groupRecord SET joinMode = ''", "UPDATE groupRecord SET customInfo = '{'",
      "UPDATE groupRecord SET muteRoles = '[\"King\"]'", "UPDATE groupRecord SET name = 3", "UPDATE groupRecord SET name = x'ff'",
      "UPDATE member SET role = 'King'", "UPDATE member SET inviter = ' '", "UPDATE message SET kind = 'Song'",
      "UPDATE message SET sender = ''", "UPDATE message SET content = 1.5", "UPDATE groupAttributes SET entries = '[[\"k\"]]'",
      "UPDATE groupAttributes SET entries = '[[\"k\",\"v\",\" \"]]'",
      "UPDATE groupAttributes SET entries = '[[\"k\",\"v\",\"a\",\"2\"]]'",
      "UPDATE groupAttributes SET entries = '[[\"k\",\"v\",\"a\",\"1\",\"x\"]]'",
      "UPDATE groupAttributes SET entries = '{}'", "UPDATE application SET kind = 'Song'", "UPDATE application SET toUser = ' '",
      "UPDATE application SET handledTime = 3",
    ]
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let attributes = StoreChange.putAttributes(GroupAttributes([.init(key: "k", value: "v")]), in: club)
        for (round, damage) in damages.enumerated() {
          try await store.put([.create(), .join(bob), .append(.sample(1)), attributes, .apply(.sample("a\(round)"))]).get()
          try await store.pool.writeWithoutTransaction { try $0.execute(sql: damage) }
          let failure = await failure { () async throws(StoreError) in try await store.group(club, sentSince: 0) }
          #expect(failure?.kind == .inconsistent, "\(damage)")
          #expect(failure?.description.hasPrefix("column ") == true, "\(damage)")
          try await store.put([.dismiss(club, at: 1)]).get()
        }
      }
    }
  }
}

extension String {
  /// SQL with a number for each parameter.
  fileprivate var withNumbers: String { (1...9).reduce(self) { $0.replacingOccurrences(of: "?\($1)", with: "4") } }
}

/// What statements about replies ask of each.
private func condition(_ reader: Visibility.Reader) -> VisibilityCondition {
  VisibilityCondition(reader, in: .sqlite, after: 5)
}

/// Rows of groups that are gone, applications of theirs that seem open, and the groups not yet
/// cleared away.
private func leftovers(_ db: Database) throws -> Int {
  try Int.fetchOne(
    db,
    sql: """
      SELECT (SELECT count(*) FROM member JOIN dismissedGroup USING (number))
      + (SELECT count(*) FROM message WHERE number NOT IN (SELECT number FROM groupRecord))
      + (SELECT count(*) FROM groupAttributes WHERE number NOT IN (SELECT number FROM groupRecord))
      + (SELECT count(*) FROM groupCounter WHERE number NOT IN (SELECT number FROM groupRecord))
      + (SELECT count(*) FROM application WHERE groupNumber NOT IN (SELECT number FROM groupRecord) AND endTime IS NULL)
      + (SELECT count(*) FROM dismissedGroup)
      """) ?? 0
}
