import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// SQLite: from the first schema to the second.
/// A database of the first schema with its rows, and the store's answers after the migrations.
@Suite struct MigrationTests {
  private static let live = GroupID("live")!
  private static let going = GroupID("going")!

  // Groups: 3 is live, 5 is being cleared away, 4 went long ago.
  private static let rows = """
    INSERT INTO groupRecord VALUES (3, 'live', 'Public', 'e3', 1000, 'alice', 'Club', 6000, 'Auth', 'Nobody', 'None', 'Admin',
      'Owner', 'Forbid', 1, 0, 1, 'None', NULL, NULL, 1000, 1500, 0, 9, 'intro', '', '', NULL);
    INSERT INTO dismissedGroup VALUES (5, 'going', 'Work', 7000);
    INSERT INTO groupAttributes VALUES (3, '[["k","v"]]');
    INSERT INTO member VALUES
      (3, 'alice', 'Owner', 1000, 1, 0, 'Receive', 1, 0, NULL, 0, NULL, 1000, NULL, 'Al', NULL),
      (3, 'bob', 'Admin', 1001, 2, 5000, 'Receive', 0, 3, 1, 1, 'alice', 1200, '[[1,1]]', '', '{"a":"b"}'),
      (5, 'bob', 'Owner', 1001, 1, 0, 'Receive', 0, 0, NULL, 0, NULL, 1001, NULL, '', NULL);
    INSERT INTO formerMember VALUES
      (3, 'seen', 0, 0, '[[1,2]]'), (3, 'banned', 0, 4000000000000, NULL), (3, 'muted', 3000000000000, 0, '[[1,1]]'),
      (3, 'free', 0, 500, NULL);
    INSERT INTO message VALUES
      (3, 1, 2000, 'alice', 'Text', 0, 1, 'Normal', 'Web', 'e3-1', 'c1', 'Al', NULL, 'one'),
      (3, 2, 2100, 'bob', 'Text', 0, 0, 'Normal', 'Web', 'e3-2', NULL, '', NULL, 'two');
    INSERT INTO departure VALUES
      ('carol', 'live', 'Public', 6000), ('carol', 'going', 'Work', 6100), ('carol', 'old-b', 'Public', 6200),
      ('carol', 'old-a', 'Public', 6200), ('carol', 'older', 'Meeting', 6150), ('bob', 'older', 'Meeting', 6300);
    INSERT INTO application VALUES
      (1, 'request', 3, 'live', 'e3', 'Join', 'carol', NULL, 10, NULL, NULL, NULL, NULL, 'please', NULL, NULL),
      (2, 'of one long gone', 4, 'live', 'e1', 'Join', 'carol', NULL, 11, NULL, NULL, NULL, 12, 'please', NULL, NULL),
      (3, 'of one going', 5, 'going', 'e5', 'Join', 'carol', NULL, 12, NULL, NULL, NULL, NULL, 'please', NULL, NULL),
      (4, 'handled', 3, 'live', 'e3', 'Join', 'dave', NULL, 13, 14, 1, 'alice', 14, '', NULL, 'yes'),
      (5, 'invitation', 3, 'live', 'e3', 'Invite', 'bob', 'carol', 15, NULL, NULL, NULL, NULL, '', 'x', NULL),
      (6, 'invitation of one going', 5, 'going', 'e5', 'Invite', 'bob', 'carol', 16, NULL, NULL, NULL, NULL, '', NULL, NULL);
    INSERT INTO notification VALUES
      (1, 'alice', 100, 'QuitGroup', 'live', '{}', NULL, NULL), (2, 'bob', 100, 'QuitGroup', 'live', '{}', 'r', 'd'),
      (5, 'alice', 300, 'Custom', 'live', '{"a":1}', NULL, 'data'), (7, 'carol', 400, 'KickedOff', 'live', '{}', NULL, NULL);
    INSERT INTO readMark VALUES ('alice', 11, 1), ('bob', 0, 2);
    INSERT INTO knownUser VALUES ('alice', NULL), ('bob', 900), ('carol', 0);
    """

  private func withMigrated(
    _ rows: String, _ body: (SQLiteStore) async throws -> Void
  ) async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let queue = try DatabaseQueue(path: directory + "/throng.db")
      try await queue.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID); PRAGMA journal_mode = WAL")
      }
      try Schema.migrator.migrate(queue, upTo: "v1")
      try await queue.write { try $0.execute(sql: rows) }
      try queue.close()
      try await withSQLite(directory, { $0.clocks = ManualClocks(at: 8000) }) { store in
        await store.waitForWriter()
        try await body(store)
        let (applied, check) = try await store.pool.read { db in
          (try Schema.migrator.appliedMigrations(db), try String.fetchOne(db, sql: "PRAGMA integrity_check"))
        }
        #expect(applied.count >= 2 && check == "ok")
      }
    }
  }

  @Test func notificationsKeepTheirOrderAndTheirNumbersAndNoneIsUsedAgain() async throws {
    // The last notification was deleted.
    let rows =
      Self.rows + "INSERT INTO notification VALUES (40, 'bob', 500, 'Custom', 'live', '{}', NULL, NULL);"
      + "DELETE FROM notification WHERE number = 40;"
    try await withMigrated(rows) { (store) async throws in
      func numbers(_ user: UserID) async throws -> [Int64] {
        try await store.notifications(of: user, since: 0, before: 0, limit: 9).map(\.number)
      }
      #expect(try await numbers(alice) == [5, 1])
      #expect(try await numbers(bob) == [2])
      #expect(try await numbers(carol) == [7])
      let ofBob = try await store.notifications(of: bob, since: 0, before: 0, limit: 9).first?.notification
      #expect(
        ofBob
          == SystemNotification(kind: .quitGroup, groupID: Self.live, opUser: "{}", reason: "r", data: "d", timestamp: 100))
      #expect(ofBob?.groupName == nil)
      #expect(try await store.unreadNotifications(of: alice, since: 0) == 1)
      #expect(try await store.unreadNotifications(of: bob, since: 0) == 0)
      try await store.put([.notify(.sample(at: 600), .users([bob])), .notify(.sample(at: 601), .managers(of: Self.live))]).get()
      #expect(try await numbers(bob) == [42, 41, 2])
      #expect(try await numbers(alice) == [42, 5, 1])
    }
  }

  @Test func theGroupIsWhatItWas() async throws {
    try await withMigrated(Self.rows) { (store) async throws in
      let group = try #require(try await store.group(Self.live, sentSince: 0))
      #expect(group.record.owner == alice && group.record.epoch == "e3" && group.record.changeTime == 1500)
      #expect(group.members.map(\.userID) == [alice, bob] && group.members.map(\.role) == [.owner, .admin])
      #expect(group.members[1].unreadBase == 3 && group.members[1].customInfo == ["a": "b"] && group.members[1].muteUntil == 5000)
      #expect(group.members[1].unheardRanges.isEmpty && group.members[1].earlierVisibleRanges == [1...1])
      #expect(group.members[0].nameCard == "Al")
      #expect(group.record.serverCustomInfo.isEmpty)
      #expect(group.record.mutedAt == 0 && group.members.allSatisfy { $0.mutedAt == 0 })
      #expect(group.lastMessage?.seq == 2 && group.recentlySent.map(\.clientMsgID) == ["c1"])
      #expect(group.openApplications.map(\.id) == ["request", "invitation"])
      #expect(group.attributes.entries.map(\.value) == ["v"])
      #expect(group.lastMessage?.needReadReceipt == false && group.lastMessage?.extras == nil)
      #expect(group.members.allSatisfy { $0.infoTime == $0.changeTime && $0.clearedSeq == 0 && $0.conversation.isEmpty })
      #expect(group.record.messageFeatures == [] && group.record.departuresSince == nil)
      #expect(group.record.policy.slowMode == 0 && group.record.policy.attributeMode == .any && !group.record.listsUsers)
      #expect(group.attributes.entries.allSatisfy { $0.holder == nil && !$0.isDeletedAfterHolderLeft })
      let stamp = GroupStamp(epoch: "e3", seq: 2, changeSeq: 0, revision: 0, board: 0)
      #expect(try await store.stamps(of: [Self.live, Self.going]) == [Self.live: stamp])
      #expect(try await store.access(of: bob) == .unlimited)
      #expect(try await store.openReports() == 0)
      #expect(try await store.readers(of: 2, in: Self.live, epoch: "e3")?.members == nil)
      #expect(try await store.ownedCount(of: alice, type: .public, limit: 9) == 1)
      #expect(try await store.membershipCounts(of: [alice, bob], limit: 9) == [alice: 1, bob: 1])
      #expect(try await store.memberships(of: bob).map(\.groupNumber) == [3])
      #expect(try await store.group(Self.going, sentSince: 0) == nil)
    }
  }

  /// Who was in a group of before is known as far as anything tells of it.
  @Test func membersFormerOnesAndThoseWhoHaveLeftAreNotedInTheirGroups() async throws {
    try await withMigrated(
      Self.rows + """
        INSERT INTO groupRecord VALUES (9, 'room', 'AVChatRoom', 'e9', 1000, 'alice', 'Room', 0, 'Any', 'Nobody', 'None', 'Owner',
          'Owner', 'Forbid', 1, 0, 1, 'None', NULL, NULL, 1000, 1500, 0, 9, '', '', '', NULL);
        INSERT INTO member VALUES (9, 'alice', 'Owner', 1000, 1, 0, 'Receive', 0, 0, NULL, 0, NULL, 1000, NULL, '', NULL);
        """
    ) { (store) async throws in
      let noted = try await store.pool.read { db in
        try Row.fetchAll(db, sql: "SELECT number, userID FROM groupOfUser ORDER BY number, userID").map {
          "\($0["number"] as Int64) \($0["userID"] as String)"
        }
      }
      #expect(noted == ["alice", "banned", "bob", "carol", "free", "muted", "seen"].map { "3 \($0)" }, "no live room")
      var known = try #require(try await store.group(Self.live, sentSince: 0)).record
      known.changeTime = 1600
      try await store.put([.putGroup(known, isNew: false), .create()]).get()
      #expect(try await store.group(Self.live, sentSince: 0)?.record.listsUsers == false, "it never becomes whole")
      #expect(try await store.group(club, sentSince: 0)?.record.listsUsers == true)
    }
  }

  @Test func formerMembersAreRememberedForAMonthFromNowAndBansToTheirEnd() async throws {
    try await withMigrated(Self.rows) { (store) async throws in
      let group = try #require(try await store.group(Self.live, sentSince: 0))
      let former = Dictionary(uniqueKeysWithValues: group.former.map { ($0.userID.rawValue, $0) })
      let now = SystemClocks().wall
      let leftTime = try #require(former["seen"]).leftTime
      #expect(abs(leftTime.milliseconds(since: now)) < 3_600_000 && former["seen"]?.visibleRanges == [1...2])
      #expect(former["seen"]?.memorableUntil == leftTime + FormerMember.lifetime)
      #expect(former["banned"]?.banReason.isEmpty == true)
      #expect(former["banned"]?.bannedUntil == 4_000_000_000_000 && former["muted"]?.muteUntil == 3_000_000_000_000)
      let ends = try await store.pool.read { db in
        try Row.fetchAll(db, sql: "SELECT userID, memorableUntil FROM formerMember").map { row in
          (row["userID"] as String, row["memorableUntil"] as WallInstant)
        }
      }
      for (user, end) in ends { #expect(former[user]?.memorableUntil == end, "\(user)") }
    }
  }

  @Test func departuresComeInPagesEachOnceThoseOfLongGoneGroupsInTheOrderOfLeaving() async throws {
    try await withMigrated(Self.rows) { (store) async throws in
      func departed(_ user: UserID, _ since: WallInstant = 0, limit: Int) async throws -> [GroupID] {
        var (found, after): ([GroupID], Int64) = ([], 0)
        repeat {
          let page = try await store.departures(of: user, type: nil, since: since, after: after, limit: limit)
          found += page.map(\.groupID)
          after = page.last?.groupNumber ?? 0
        } while after != 0
        return found
      }
      for limit in [1, 2, 9] {
        #expect(try await departed(carol, limit: limit).map(\.rawValue) == ["live", "going", "older", "old-a", "old-b"])
        #expect(try await departed(carol, 6150, limit: limit).map(\.rawValue) == ["older", "old-a", "old-b"])
        #expect(try await departed(bob, limit: limit).map(\.rawValue) == ["going", "older"])
      }
      // A member who has come back has not left.
      try await store.put([.putMember(.sample(carol), in: Self.live)]).get()
      #expect(try await departed(carol, limit: 9).map(\.rawValue) == ["going", "older", "old-a", "old-b"])
    }
  }

  @Test func applicationsOfGroupsThatAreGoneAreLeftOutAndKnownByTheirId() async throws {
    try await withMigrated(Self.rows) { (store) async throws in
      func decidable(_ user: UserID?) async throws -> [String] {
        try await store.applications(decidableBy: user, before: 0, limit: 9).map(\.application.id)
      }
      #expect(try await decidable(alice) == ["handled", "request"])
      #expect(try await decidable(carol) == ["invitation"])
      #expect(try await decidable(bob) == ["handled", "request"])
      #expect(try await decidable(nil) == ["handled", "request"])
      #expect(try await store.applications(sentBy: carol, before: 0, limit: 9).map(\.application.id) == ["request"])
      #expect(try await store.applications(sentBy: bob, before: 0, limit: 9).map(\.application.id) == ["invitation"])
      #expect(try await store.unreadApplications(of: alice) == 1)
      #expect(try await store.unreadApplications(of: carol) == 1)
      #expect(try await store.unreadApplications(of: nil) == 2)
      for (id, isGone) in [("of one long gone", true), ("of one going", true), ("request", false), ("handled", false)] {
        #expect(try await store.application(id)?.isGroupGone == isGone, "\(id)")
      }
      try await store.put([
        .apply(.sample("new", to: Self.live, epoch: "e3", at: 20)),
        .apply(.sample("request", to: Self.live, epoch: "e3", at: 21)),
      ]).get()
      #expect(try await decidable(alice) == ["request", "new", "handled"])
    }
  }

  @Test func usersAreKnownAndWhoWasHereWhenTheServerStoppedHasGoneSince() async throws {
    try await withMigrated(Self.rows) { (store) async throws in
      #expect(try await store.known(among: [alice, bob, carol, UserID("dave")!]) == [alice, bob, carol])
      #expect(try await store.offlineSince(of: alice) == nil)
      #expect(try await store.offlineSince(of: bob) == 900)
      #expect(try await store.offlineSince(of: carol) != nil)
    }
  }

  @Test func aDatabaseWithoutARowMigrates() async throws {
    try await withMigrated("") { (store) async throws in
      try await store.put([.create(), .join(alice), .notify(.sample(at: 1), .users([alice]))]).get()
      #expect(try await store.notifications(of: alice, since: 0, before: 0, limit: 9).map(\.number) == [1])
    }
  }
}
