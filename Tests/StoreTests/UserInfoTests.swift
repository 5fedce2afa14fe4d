import Foundation
import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Synchronization
import Testing
import ThrongTestKit
import WireProtocol

@testable import SQLiteStore

/// Users' texts, on every store.
@Suite struct UserInfoTests {
  private static let texts = UserInfo(
    userID: alice, nickName: "é\0\"", faceURL: "https://f/\0", customInfo: ["k": "v\0", "l": "w"])

  @Test(arguments: Backing.allCases)
  func textsComeBackByteForByteAndMakeTheirUserKnown(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let other = UserInfo(userID: bob, nickName: "e\u{301}")
      try await store.put([.putUserInfo(Self.texts), .putUserInfo(other)]).get()
      store.remember([carol])
      let unknown = UserID("dave")!
      let infos = try await store.infos(of: [carol, bob, unknown, alice])
      #expect(infos == [UserInfo(userID: carol), other, Self.texts], "in the order asked for, the unknown left out")
      #expect(try await store.known(among: [alice, bob, carol, unknown]) == [alice, bob, carol])
      #expect(try await store.knownCount() == 3)
      let profiles = try await store.profiles(of: [alice, bob, carol, unknown])
      #expect(profiles == [alice: Self.texts.profile!, bob: other.profile!])
      #expect(try await store.profiles(of: []) == [:])
    }
  }

  @Test(arguments: Backing.allCases)
  func laterTextsReplaceEarlierOnesAndEmptyOnesLeaveAKnownUser(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.putUserInfo(Self.texts)]).get()
      let onlyCustom = UserInfo(userID: alice, customInfo: ["k": "v"])
      try await store.put([.putUserInfo(onlyCustom)]).get()
      #expect(try await store.infos(of: [alice]) == [onlyCustom])
      #expect(try await store.profiles(of: [alice]) == [:])
      try await store.put([.putUserInfo(UserInfo(userID: alice))]).get()
      #expect(try await store.infos(of: [alice]) == [UserInfo(userID: alice)])
    }
  }

  @Test(arguments: Backing.allCases)
  func aSignInGetsItsUsersProfile(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.putUserInfo(Self.texts)]).get()
      #expect(try await store.signInRecord(of: alice).profile == Self.texts.profile)
      #expect(try await store.signInRecord(of: bob).profile == nil)
    }
  }

  @Test(arguments: Backing.allCases)
  func presenceLeavesTextsAsTheyAre(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.putUserInfo(Self.texts)]).get()
      store.notePresence(of: alice, offlineSince: nil)
      store.notePresence(of: alice, offlineSince: 5)
      try await store.put([.create()]).get()
      #expect(try await store.infos(of: [alice]) == [Self.texts])
      #expect(try await store.offlineSince(of: alice) == 5)
    }
  }

  // MARK: Notifications

  private func notification(by user: UserID, at time: WallInstant) -> SystemNotification {
    SystemNotification(
      kind: .kickedOff, groupID: club, opUser: #"{"userID":"\#(user)","nameCard":"","role":"Owner"}"#, timestamp: time,
      platform: .iOS)
  }

  @Test(arguments: Backing.allCases)
  func aNotificationKeepsTheProfileOfWhenItWasMade(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(bob), .notify(notification(by: alice, at: 1), .users([bob]))]).get()
      let info = UserInfo(userID: alice, nickName: "Al")
      // In one transaction, the profile first.
      try await store.put([.putUserInfo(info), .notify(notification(by: alice, at: 2), .users([bob]))]).get()
      try await store.put([.putUserInfo(UserInfo(userID: alice, faceURL: "f"))]).get()
      try await store.put([.notify(notification(by: alice, at: 3), .users([bob]))]).get()
      try await store.put([.dismiss(club, at: 4, notifying: notification(by: alice, at: 4))]).get()
      try await store.put([.putUserInfo(UserInfo(userID: alice))]).get()
      let kept = try await store.notifications(of: bob, since: 0, before: 0, limit: 9).map(\.notification)
      let face = UserProfile.make(nickName: "", faceURL: "f")
      #expect(kept.map(\.operatorProfile) == [face, face, info.profile, nil])
      #expect(kept.allSatisfy { $0.platform == .iOS && $0.opUser == notification(by: alice, at: 0).opUser })
    }
  }

  // MARK: Search

  @Test(arguments: Backing.allCases)
  func joinedGroupsAreFoundByTheNicknamesOfTheirMembers(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice), .join(bob), .putUserInfo(UserInfo(userID: bob, nickName: "Queen\0"))]).get()
      func found(_ keyword: String, by reader: UserID?, ignoresCase: Bool = true) async throws -> [String] {
        let query = GroupSearch([keyword], in: [.memberNickName], ignoresCase: ignoresCase, by: reader)
        return try await store.search(query, after: 0, limit: 9).groups.map(\.groupID.rawValue)
      }
      #expect(try await found("queen", by: alice) == ["club"])
      #expect(try await found("n\0", by: alice) == ["club"])
      #expect(try await found("queen", by: nil) == ["club"])
      #expect(try await found("queen", by: carol) == [], "no member")
      #expect(try await found("queen", by: alice, ignoresCase: false) == [])
      #expect(try await found("bob", by: alice) == [], "a userID is no nickname")
      try await store.put([.putUserInfo(UserInfo(userID: bob, nickName: "King"))]).get()
      #expect(try await found("queen", by: alice) == [])
    }
  }
}

/// SQLite: what users' texts cost.
@Suite struct UserInfoCostTests {
  /// How many statements a read runs.
  private func statements(_ body: @escaping @Sendable (Database) throws -> Void) async throws -> Int {
    let count = Mutex(0)
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let users = (0..<100).map { UserID("u\($0)")! }
        try await store.put(users.map { .putUserInfo(UserInfo(userID: $0, nickName: "N")) }).get()
        try await store.pool.read { db in
          db.trace(options: .statement) { _ in count.withLock { $0 += 1 } }
          try body(db)
          db.trace(options: [])
        }
      }
    }
    return count.withLock { $0 }
  }

  @Test func theProfilesOfAPageAreOneQuery() async throws {
    let users = (0..<120).map { UserID("u\($0)")! }
    let profiles = try await statements { db in
      let found = try db.profiles(of: users)
      #expect(found.count == 100)
    }
    #expect(profiles == 1)
    let infos = try await statements { db in
      let found = try db.infos(of: users, known: [])
      #expect(found.count == 100)
    }
    #expect(infos == 1)
  }

  @Test(arguments: [UserInfoRows.profilesSQL, UserInfoRows.infosSQL])
  func onlyTheRowsOfTheUsersAskedForAreRead(_ sql: String) async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let plan = try await store.pool.read { db in
          try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: ["[]"]).map { $0["detail"] as String }
        }
        #expect(plan.contains { $0.hasPrefix("SEARCH userInfo USING PRIMARY KEY") }, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN userInfo") || $0.hasPrefix("SCAN knownUser") }, "\(plan)")
      }
    }
  }

  @Test func aSearchThatAsksForNoNicknameReadsNone() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        try await store.put([.create(), .join(alice), .putUserInfo(UserInfo(userID: alice, nickName: "N"))]).get()
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "UPDATE userInfo SET nickName = 5") }
        func search(_ field: SearchGroups.Field) async throws {
          let query = GroupSearch(["x"], in: [field], ignoresCase: true, by: alice)
          _ = try await store.search(query, after: 0, limit: 9)
        }
        try await search(.memberUserID)
        try await search(.memberNameCard)
        await #expect(throws: StoreError.self) { try await search(.memberNickName) }
      }
    }
  }
}

/// SQLite: from the third schema to the fourth.
@Suite struct UserInfoMigrationTests {
  private static let rows = """
    INSERT INTO knownUser VALUES ('alice', NULL), ('bob', 900);
    INSERT INTO notification (addressee, number, timestamp, kind, groupID, opUser, applicationID, reason, data)
      VALUES ('alice', 3, 500, 'QuitGroup', 'live', '{"userID":"bob","nameCard":"","role":"NotMember"}', NULL, 'r', NULL);
    UPDATE notificationNumber SET last = 3;
    """

  @Test func usersAreKnownAsBeforeAndHaveNoTextsNotificationsHaveNoPlatform() async throws {
    try await withDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let queue = try DatabaseQueue(path: directory + "/throng.db")
      try await queue.writeWithoutTransaction { db in
        try db.execute(sql: "PRAGMA application_id = \(Schema.applicationID); PRAGMA journal_mode = WAL")
      }
      try Schema.migrator.migrate(queue, upTo: "v3")
      try await queue.write { try $0.execute(sql: Self.rows) }
      try queue.close()
      try await withSQLite(directory) { store in
        #expect(try await store.infos(of: [alice, bob, carol]) == [UserInfo(userID: alice), UserInfo(userID: bob)])
        #expect(try await store.offlineSince(of: bob) == 900)
        let kept = try #require(try await store.notifications(of: alice, since: 0, before: 0, limit: 9).first)
        #expect(kept.number == 3 && kept.notification.platform == nil && kept.notification.operatorProfile == nil)
        #expect(kept.notification.reason == "r")
        try await store.put([
          .putUserInfo(UserInfo(userID: bob, nickName: "B")),
          .notify(
            SystemNotification(
              kind: .custom, groupID: club, opUser: #"{"userID":"bob"}"#, timestamp: 600, platform: .web), .users([alice])),
        ]).get()
        let later = try await store.notifications(of: alice, since: 0, before: 0, limit: 9).map(\.notification)
        #expect(later.map { $0.operatorProfile?.nickName } == ["B", nil] && later.map(\.platform) == [.web, nil])
        let check = try await store.pool.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") }
        #expect(check == "ok")
      }
    }
  }
}
