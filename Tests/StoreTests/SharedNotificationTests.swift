import GRDB
import GroupModel
import GroupRuntime
import StoreEngine
import Testing
import ThrongTestKit

@testable import SQLiteStore

/// Notifications for managers, and of groups that go.
/// Notifications that are one row for many users, who are resolved when a list is read.
@Suite struct SharedNotificationTests {
  private func listed(_ user: UserID, _ store: any AnyStore) async throws -> [NumberedNotification] {
    try await store.notifications(of: user, since: 0, before: 0, limit: 1000)
  }

  private func times(_ user: UserID, _ store: any AnyStore) async throws -> [WallInstant] {
    try await listed(user, store).map(\.notification.timestamp)
  }

  private func about(_ id: String, _ kind: SystemNotification.Kind = .addGroupRequest, at time: WallInstant) -> SystemNotification
  {
    SystemNotification(kind: kind, groupID: club, opUser: "{}", applicationID: id, timestamp: time)
  }

  @Test func itIsOneRowAndOneNumberWhateverTheNumberOfManagers() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let admins = (0..<300).map { UserID("admin\($0)")! }
        try await store.put([.create(), .join(alice, as: .owner)] + admins.map { .join($0, as: .admin) }).get()
        try await store.put([.notify(.sample(at: 10), .managers(of: club))]).get()
        #expect(try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM notification") } == 1)
        let found = try await listed(alice, store)
        #expect(found.count == 1)
        for admin in admins { #expect(try await listed(admin, store) == found) }
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func whoeverManagesTheGroupWhenReadingFindsIt(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team), .join(alice, as: .owner), .join(bob), .join(carol, team, as: .owner)]).get()
      try await store.put([.notify(.sample(at: 10), .managers(of: club)), .notify(.sample(at: 20), .users([bob]))]).get()
      #expect(try await times(alice, store) == [10])
      #expect(try await times(bob, store) == [20])
      #expect(try await times(carol, store) == [])
      try await store.put([.join(bob, as: .admin), .join(carol, as: .custom(200))]).get()
      #expect(try await times(bob, store) == [20, 10])
      #expect(try await times(carol, store) == [])
      #expect(try await store.unreadNotifications(of: bob, since: 0) == 2)
      try await store.put([.join(alice)]).get()
      #expect(try await times(alice, store) == [])
      #expect(try await store.unreadNotifications(of: alice, since: 0) == 0)
      try await store.put([.removeMember(bob, from: club, at: 5)]).get()
      #expect(try await times(bob, store) == [20])
    }
  }

  @Test(arguments: Backing.allCases)
  func aRenewedApplicationRenewsItsNotificationAndNoOther(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice, as: .owner)]).get()
      for recipients in [NotificationRecipients.managers(of: club), .users([bob])] {
        try await store.put([
          .notify(about("a", at: 1), recipients), .notify(about("b", at: 2), recipients),
          .notify(about("a", .inviteRequest, at: 3), recipients), .notify(.sample(at: 4), recipients),
          .notify(.sample(at: 5), recipients),
        ]).get()
      }
      try await store.put([.notify(about("a", at: 6), .managers(of: club)), .notify(about("a", at: 7), .users([carol]))]).get()
      #expect(try await times(alice, store) == [6, 5, 4, 3, 2])
      #expect(try await times(bob, store) == [5, 4, 3, 2, 1], "what others have is not renewed")
      #expect(try await times(carol, store) == [7])
      let numbers = try await listed(alice, store).map(\.number)
      #expect(numbers == numbers.sorted(by: >))
    }
  }

  @Test(arguments: Backing.allCases)
  func aUserFindsTheNewestHundredOverEverything(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team), .join(alice, as: .owner), .join(alice, team, as: .admin)]).get()
      let kept = SystemNotification.kept
      let recipients: [NotificationRecipients] = [.users([alice]), .managers(of: club), .managers(of: team), .users([bob])]
      let changes = (1...(3 * kept)).map { StoreChange.notify(.sample(at: WallInstant($0)), recipients[$0 % 7 % 4]) }
      try await store.put(changes).get()
      let expected = (1...(3 * kept)).reversed().filter { $0 % 7 % 4 != 3 }.prefix(kept).map { WallInstant($0) }
      let found = try await listed(alice, store)
      #expect(found.map(\.notification.timestamp) == expected)
      #expect(try await store.unreadNotifications(of: alice, since: 0) == kept)
      try await store.put([.markNotificationsRead(alice, through: found[9].number)]).get()
      #expect(try await store.unreadNotifications(of: alice, since: 0) == 9)
      var (pages, next) = ([NumberedNotification](), Int64(0))
      repeat {
        let page = try await store.notifications(of: alice, since: 0, before: next, limit: 7)
        pages += page
        next = page.last?.number ?? 0
      } while next != 0
      #expect(pages == found)
    }
  }

  @Test(arguments: Backing.allCases)
  func theManagersGoWithTheGroupAndAnotherGroupOfThatNameHasNone(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice, as: .owner), .notify(.sample(at: 1), .managers(of: club))]).get()
      if let store = store as? SQLiteStore {
        // Past the writer, which would begin to clear away at once.
        try await store.pool.write { try $0.apply(.dismiss(club, at: 9)) }
        #expect(try await times(alice, store) == [])
        try await store.put([.create(team), .dismiss(team, at: 10)]).get()
        await store.waitForWriter()
        #expect(try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM notification") } == 0)
      } else {
        try await store.put([.dismiss(club, at: 9)]).get()
      }
      try await store.put([.create(epoch: "e2"), .join(alice, as: .owner)]).get()
      #expect(try await times(alice, store) == [])
    }
  }

  @Test func membersOfADisbandedGroupFindItsEndOnceUnderOneNumberWhateverHasBeenClearedAway() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let end = SystemNotification.sample(.groupDismissed, at: 40)
        let users = [alice, bob, carol] + (0..<5).map { UserID("user\($0)")! }
        try await store.put([.create(), .notify(.sample(at: 1), .users([bob]))] + users.map { .join($0) }).get()
        try await store.put([.removeMember(carol, from: club, at: 2)]).get()
        // Past the writer, which would begin to clear away at once.
        try await store.pool.write { try $0.apply(.dismiss(club, at: 40, notifying: end)) }
        #expect(try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM notification") } == 2)
        let number = try #require(try await listed(alice, store).first).number
        func check(_ when: String) async throws {
          for user in users where user != carol {
            let found = try await listed(user, store).filter { $0.notification == end }
            #expect(found.map(\.number) == [number], "\(user) \(when)")
            #expect(try await store.unreadNotifications(of: user, since: 0) == (user == bob ? 2 : 1), "\(user) \(when)")
          }
          #expect(try await times(carol, store) == [], "carol had left, \(when)")
        }
        try await check("before")
        // A few have come to another group of that ID meanwhile.
        try await store.pool.write { db in
          try db.apply(.create(epoch: "e2"))
          for user in [users[3], users[5], carol] { try db.apply(.join(user)) }
        }
        try await check("after some have come to another group")
        while try await store.pool.write({ try DisbandedGroupCleanup.chunk(of: 1, in: $0) }) {
          try await check("while it is cleared away")
        }
        try await check("after")
        #expect(try await store.group(club, sentSince: 0)?.members.count == 3)
      }
    }
  }

  @Test func whoHasAHundredAndComesToTheEndOfAGroupHasTheNewestHundred() async throws {
    try await withDirectory { directory in
      try await withSQLite(directory) { store in
        let kept = SystemNotification.kept
        try await store.put(
          [.create(), .join(alice)] + (1...kept).map { .notify(.sample(at: WallInstant($0)), .users([alice])) }
        )
        .get()
        let end = SystemNotification.sample(.groupDismissed, at: 1000)
        try await store.put([.dismiss(club, at: 1000, notifying: end), .notify(.sample(at: 1001), .users([alice]))]).get()
        await store.waitForWriter()
        #expect(try await times(alice, store) == [1001, 1000] + (3...kept).reversed().map { WallInstant($0) })
        #expect(try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM notification") } == kept)
      }
    }
  }
}
