import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Notifications, on every store.
@Suite struct NotificationTests {
  @Test(arguments: Backing.allCases)
  func aNotificationComesBackWithEveryField(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var sent: [SystemNotification] = []
      for (index, kind) in SystemNotification.Kind.allCases.enumerated() {
        let text = difficultTexts[index % difficultTexts.count]
        sent.append(
          SystemNotification(
            kind: kind, groupID: team, groupName: index == 3 ? nil : text, opUser: text, reason: index == 1 ? nil : text,
            data: index == 2 ? nil : text,
            timestamp: WallInstant(1 << 42)))
      }
      try await store.put(sent.map { .notify($0, .users([alice])) }).get()
      let stored = try await store.notifications(of: alice, since: 0, before: 0, limit: 100).map(\.notification)
      #expect(stored == sent.reversed())
      for (stored, sent) in zip(stored.reversed(), sent) {
        #expect(stored.opUser.bytes == sent.opUser.bytes && stored.reason?.bytes == sent.reason?.bytes)
        #expect(stored.data?.bytes == sent.data?.bytes && stored.groupName?.bytes == sent.groupName?.bytes)
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func eachNamedUserHasOneAndListsGoFromTheNewestToTheOldest(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([
        .notify(.sample(at: 10), .users([alice, bob, alice])), .notify(.sample(.kickedOff, at: 20), .users([bob])),
        .notify(.sample(at: 30), .users([])),
        .notify(.sample(.custom, at: 30), .users([bob])),
      ]).get()
      func times(_ user: UserID, since: WallInstant = 0, before: Int64 = 0, limit: Int = 9) async throws -> [WallInstant] {
        try await store.notifications(of: user, since: since, before: before, limit: limit).map(\.notification.timestamp)
      }
      #expect(try await times(alice) == [10])
      #expect(try await times(bob) == [30, 20, 10])
      #expect(try await times(carol).isEmpty)
      #expect(try await times(bob, since: 20) == [30, 20])
      #expect(try await times(bob, limit: 1) == [30])
      #expect(try await times(bob, limit: 0).isEmpty)
      let numbers = try await store.notifications(of: bob, since: 0, before: 0, limit: 9).map(\.number)
      #expect(numbers == numbers.sorted(by: >))
      #expect(try await times(bob, before: numbers[0]) == [20, 10])
      #expect(try await times(bob, since: 20, before: numbers[1]).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func aUserKeepsTheNewestHundred(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let kept = SystemNotification.kept
      try await store.put((1...kept).map { .notify(.sample(at: WallInstant($0)), .users([alice])) }).get()
      try await store.put((1...3).map { .notify(.sample(at: WallInstant(1000 + $0)), .users([bob])) }).get()
      let full = try await store.notifications(of: alice, since: 0, before: 0, limit: 1000)
      #expect(full.count == kept && full.last?.notification.timestamp == 1)
      // Over the bound by one, by two in one change, and beside somebody who is not.
      try await store.put([.notify(.sample(at: 2000), .users([alice, bob]))]).get()
      try await store.put([.notify(.sample(at: 2001), .users([bob, alice])), .notify(.sample(at: 2002), .users([alice]))]).get()
      let after = try await store.notifications(of: alice, since: 0, before: 0, limit: 1000).map(\.notification.timestamp)
      #expect(after == [2002, 2001, 2000] + (4...kept).reversed().map(WallInstant.init))
      #expect(try await store.notifications(of: bob, since: 0, before: 0, limit: 1000).count == 5)
    }
  }

  @Test(arguments: Backing.allCases)
  func unreadAreThoseBehindTheMarkThatAreNotTooOldAndTheMarkNeverGoesBack(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put((1...5).map { .notify(.sample(at: WallInstant($0 * 10)), .users([alice])) }).get()
      let numbers = try await store.notifications(of: alice, since: 0, before: 0, limit: 9).map(\.number)
      #expect(try await store.unreadNotifications(of: alice, since: 0) == 5)
      #expect(try await store.unreadNotifications(of: alice, since: 30) == 3)
      try await store.put([.markNotificationsRead(alice, through: numbers[1])]).get()
      #expect(try await store.unreadNotifications(of: alice, since: 0) == 1)
      #expect(try await store.unreadNotifications(of: alice, since: 51) == 0)
      try await store.put([.markNotificationsRead(alice, through: numbers[4])]).get()
      #expect(try await store.notificationsReadThrough(by: alice) == numbers[1])
      #expect(try await store.notificationsReadThrough(by: bob) == 0)
      #expect(try await store.applicationsReadThrough(by: alice) == 0)
      #expect(try await store.unreadNotifications(of: alice, since: 0) == 1)
    }
  }
}
