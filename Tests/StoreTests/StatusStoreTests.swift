import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// Users' statuses, on every store.
@Suite struct StatusStoreTests {
  private let dave = UserID("dave")!

  @Test(arguments: Backing.allCases)
  func statusesOfKnownUsersComeInTheOrderAskedFor(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.putStatus(alice, "away e\u{301}")]).get()
      store.remember([bob])
      store.notePresence(of: carol, offlineSince: 700)
      let wanted = [
        StoredStatus(userID: carol, offlineSince: 700), StoredStatus(userID: alice, customStatus: "away e\u{301}"),
        StoredStatus(userID: bob),
      ]
      // Before and behind the commit that makes the updates durable.
      #expect(try await store.statuses(of: [carol, dave, alice, bob]) == wanted, "the unknown left out")
      try await store.put([.create()]).get()
      #expect(try await store.statuses(of: [carol, dave, alice, bob]) == wanted)
      #expect(try await store.statuses(of: []) == [])
      #expect(try await store.statuses(of: [alice])[0].customStatus.bytes == "away e\u{301}".bytes)
    }
  }

  @Test(arguments: Backing.allCases)
  func theEndOfTheLastSessionIsToldWhileThereIsNone(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .putStatus(alice, "s")]).get()
      func offlineSince() async throws -> WallInstant? { try await store.statuses(of: [alice]).first?.offlineSince }
      #expect(try await offlineSince() == nil, "never online")
      for isDurable in [false, true] {
        store.notePresence(of: alice, offlineSince: nil)
        if isDurable { try await store.put([.putStatus(bob, "a")]).get() }
        #expect(try await offlineSince() == nil, "online")
        store.notePresence(of: alice, offlineSince: 900)
        if isDurable { try await store.put([.putStatus(bob, "b")]).get() }
        #expect(try await offlineSince() == 900)
      }
      #expect(try await store.statuses(of: [alice]).map(\.customStatus) == ["s"])
    }
  }

  /// A status and a profile are changed apart, and neither takes the other with it.
  @Test(arguments: Backing.allCases)
  func aStatusAndAProfileLeaveEachOther(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let info = UserInfo(userID: alice, nickName: "Al", customInfo: ["k": "v"])
      func expect(_ status: String, _ info: UserInfo) async throws {
        #expect(try await store.statuses(of: [alice]).map(\.customStatus) == [status])
        #expect(try await store.infos(of: [alice]) == [info])
        #expect(try await store.profiles(of: [alice])[alice] == info.profile)
        #expect(try await store.signInRecord(of: alice).profile == info.profile)
      }
      let empty = UserInfo(userID: alice)
      try await store.put([.putStatus(alice, "a")]).get()
      try await expect("a", empty)
      try await store.put([.putUserInfo(info)]).get()
      try await expect("a", info)
      try await store.put([.putStatus(alice, "b")]).get()
      try await expect("b", info)
      try await store.put([.putUserInfo(empty)]).get()
      try await expect("b", empty)
      try await store.put([.putUserInfo(info), .putStatus(alice, "")]).get()
      try await expect("", info)
      try await store.put([.putUserInfo(empty)]).get()
      try await expect("", empty)
      try await store.put([.putStatus(alice, "c"), .putStatus(alice, "")]).get()
      try await expect("", empty)
    }
  }

  /// SQLite: one query reads the rows of the users asked for, and no others.
  @Test func onlyTheRowsOfTheUsersAskedForAreRead() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let plan = try await store.pool.read { db in
          try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + UserInfoRows.statusesSQL, arguments: ["[]"]).map {
            $0["detail"] as String
          }
        }
        for table in ["k", "i"] {
          #expect(plan.contains { $0.hasPrefix("SEARCH \(table) USING PRIMARY KEY") }, "\(plan)")
          #expect(!plan.contains { $0.hasPrefix("SCAN \(table) ") || $0 == "SCAN \(table)" }, "\(plan)")
        }
      }
    }
  }

  /// SQLite: an empty row would stay for ever.
  @Test func aUserWithoutTextsHasNoRow() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let info = UserInfo(userID: alice, nickName: "Al", customInfo: ["k": "v"])
        func rows() async throws -> Int {
          try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM userInfo") ?? -1 }
        }
        try await store.put([.putStatus(alice, "a"), .putUserInfo(info)]).get()
        try await store.put([.putStatus(alice, ""), .putUserInfo(UserInfo(userID: alice))]).get()
        #expect(try await rows() == 0)
        try await store.put([.putStatus(alice, "a"), .putUserInfo(info)]).get()
        try await store.put([.putUserInfo(UserInfo(userID: alice)), .putStatus(alice, "")]).get()
        #expect(try await rows() == 0)
        #expect(try await store.known(among: [alice]) == [alice])
      }
    }
  }
}
