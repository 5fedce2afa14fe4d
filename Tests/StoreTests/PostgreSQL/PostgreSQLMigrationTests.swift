import GroupModel
import GroupRuntime
import StoreEngine
import StoreTables
import Testing
import ThrongTestKit

@testable import PostgreSQLStore

/// PostgreSQL: a database of an earlier release gets the tables of this one.
@Suite struct PostgreSQLMigrationTests {
  /// Of the sixth schema.
  private static let rows = """
    INSERT INTO groupRecord (groupID, type, epoch, createTime, owner, name, maxMemberNum, joinMode, inviteMode, beInviteMode,
      updateInfoMode, updateCustomMode, ownerQuitMode, memberChangeNotification, isSearchable, isMemberVisible, muteMode,
      lastInfoTime, changeTime, importedThroughSeq, nextOrdinal, mutedAt, changeSeq, introduction, notification, faceURL,
      serverCustomInfo)
      SELECT wanted.id, wanted.kind, 'e1', 1000, 'alice', 'Club', 6000, 'Auth', 'Nobody', 'None', 'Admin', 'Owner', 'Forbid',
        true, false, true, 'None', 1000, 1500, 0, 9, 0, 0, '', '', '', ''
      FROM (VALUES ('club', 'Public'), ('room', 'AVChatRoom')) AS wanted (id, kind);
    INSERT INTO member (number, userID, role, joinTime, ordinal, muteUntil, receiveOption, readSeq, unreadBase, firstVisibleSeq,
      changeTime, mutedAt, nameCard)
      SELECT number, 'alice', 'Owner', 1000, 1, 0, 'Receive', 0, 0, 0, 1000, 0, '' FROM groupRecord;
    INSERT INTO formerMember (number, userID, muteUntil, bannedUntil, leftTime, memorableUntil, mutedAt, banReason)
      SELECT number, 'carl', 0, 0, 1000, 4000000000000, 0, '' FROM groupRecord;
    INSERT INTO departure SELECT 'dora', groupID, type, 1200, number FROM groupRecord;
    INSERT INTO departure VALUES ('dora', 'gone', 'Public', 1200, 99);
    INSERT INTO knownUser VALUES ('alice', NULL);
    INSERT INTO userInfo (userID, nickName, faceURL) VALUES ('alice', 'Al', '');
    """

  @Test func theSixthSchemaBecomesTheSeventh() async throws {
    try await withSchema { url, schema in
      let connection = try PostgreSQLConnection(url, options: [(name: "search_path", value: schema)], timeout: 60_000)
      try connection.runScript("CREATE SCHEMA \(schema)")
      try connection.runScript("CREATE TABLE schemaVersion (version bigint NOT NULL)")
      for (index, migration) in Schema.migrations.prefix(6).enumerated() {
        try connection.runScript("BEGIN; \(migration); INSERT INTO schemaVersion VALUES (\(index + 1)); COMMIT;")
      }
      try connection.runScript(Self.rows)

      let store = try openPostgreSQL(url, schema)
      defer { store.close() }
      let record = try #require(try await store.group(club, sentSince: 0)).record
      let stamp = GroupStamp(epoch: "e1", seq: 0, changeSeq: 0, revision: 0, board: 0)
      #expect(try await store.stamps(of: [club]) == [club: stamp])
      #expect(record.policy.slowMode == 0 && record.policy.attributeMode == .any && !record.listsUsers)
      // Who was in a group of before is known as far as anything tells of it.
      let noted = try connection.rows(
        "SELECT g.groupID || ' ' || u.userID FROM groupOfUser AS u JOIN groupRecord AS g USING (number) ORDER BY 1", []
      ) { try $0.text() }
      #expect(noted == ["club alice", "club carl", "club dora"], "no live room, and no group that is gone")
      #expect(try connection.count("SELECT count(*) FROM groupOfUser", []) == 3)
      #expect(try await store.statuses(of: [alice]) == [StoredStatus(userID: alice)])
      #expect(try await store.infos(of: [alice]).map(\.nickName) == ["Al"])
      #expect(try await store.signInRecord(of: alice).access == .unlimited)

      try await store.put([.create(GroupID("other")!)]).get()
      #expect(try await store.group(GroupID("other")!, sentSince: 0)?.record.listsUsers == true)
    }
  }
}
