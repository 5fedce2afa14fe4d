import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Applications, on every store.
@Suite struct ApplicationTests {
  @Test(arguments: Backing.allCases)
  func anApplicationComesBackWithEveryField(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create()]).get()
      for (index, text) in difficultTexts.enumerated() {
        var application = GroupApplication(
          id: "a\(index)", groupID: club, epoch: "e1", kind: index.isMultiple(of: 2) ? .join : .invite,
          fromUser: index == 1 ? .administrator : bob, toUser: index.isMultiple(of: 2) ? nil : carol,
          addTime: WallInstant(1 << 42),
          requestMsg: text, attach: index == 3 ? nil : text)
        try await store.put([.apply(application)]).get()
        #expect(try await store.application(application.id)?.application == application)
        application.handling = .init(
          isAgreed: index < 5, by: index == 2 ? .administrator : alice, time: WallInstant(1 << 43), message: text)
        try await store.put([.putApplication(application, asNewest: false)]).get()
        let stored = try #require(try await store.application(application.id))
        #expect(stored == StoredApplication(application: application, isGroupGone: false))
        #expect(stored.application.requestMsg.bytes == text.bytes)
        #expect(stored.application.attach?.bytes == application.attach?.bytes)
        #expect(stored.application.handling?.message.bytes == text.bytes)
      }
      #expect(try await store.application("unknown") == nil)
    }
  }

  @Test(arguments: Backing.allCases)
  func aUserDecidesInvitationsOfTheUserAndRequestsToGroupsTheUserManages(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let third = GroupID("third")!
      try await store.put([.create(), .create(team), .create(third)]).get()
      try await store.put([
        .join(alice, as: .owner), .join(bob, as: .admin), .join(carol), .join(alice, team, as: .custom(100)),
        .join(bob, team, as: .owner), .join(alice, third, as: .admin),
      ]).get()
      for application in [
        GroupApplication.sample("join club"), .sample("join team", to: team), .sample("join third", to: third),
        .sample("invite alice", to: team, .invite, inviting: alice), .sample("invite carol", .invite),
      ] { try await store.put([.apply(application)]).get() }
      func decidable(_ user: UserID?) async throws -> [String] {
        try await store.applications(decidableBy: user, before: 0, limit: 100).map(\.application.id)
      }
      #expect(try await decidable(alice) == ["invite alice", "join third", "join club"])
      #expect(try await decidable(bob) == ["join team", "join club"])
      #expect(try await decidable(carol) == ["invite carol"])
      #expect(try await decidable(nil) == ["join third", "join team", "join club"])
      try await store.put([.join(bob), .removeMember(alice, from: third, at: 5)]).get()
      try await store.put([.putApplication(.sample("join club").handled(), asNewest: false)]).get()
      #expect(try await decidable(alice) == ["invite alice", "join club"], "handled ones included")
      #expect(try await decidable(bob) == ["join team"], "no manager any more")
    }
  }

  @Test(arguments: Backing.allCases)
  func listsGoFromTheNewestToTheOldestPageByPageAndWhatIsMadeAgainIsTheNewest(
    _ backing: Backing
  ) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice, as: .owner)] + (1...7).map { .apply(.sample("\($0)")) }).get()
      try await store.put((8...9).map { .apply(.sample("\($0)", .invite, inviting: alice)) }).get()
      let before = try await store.applications(decidableBy: alice, before: 0, limit: 100)
      try await store.put([.apply(.sample("3", at: 50))]).get()
      for user in [alice, nil] {
        let all = try await store.applications(decidableBy: user, before: 0, limit: 100)
        #expect(all.map(\.number) == all.map(\.number).sorted(by: >))
        let ids = ["3", "9", "8", "7", "6", "5", "4", "2", "1"].filter { user != nil || $0 < "8" }
        #expect(all.map(\.application.id) == ids)
        #expect(all[0].number > before[0].number && all[0].application.addTime == 50)
        var (pages, next) = ([NumberedApplication](), Int64(0))
        repeat {
          let page = try await store.applications(decidableBy: user, before: next, limit: 2)
          pages += page
          next = page.last?.number ?? 0
        } while next != 0
        #expect(pages == all)
        #expect(try await store.applications(decidableBy: user, before: 0, limit: 0).isEmpty)
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func aUsersOwnAreRequestsAndInvitationsOfTheUserNewestFirst(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team), .join(alice, as: .owner), .join(bob, team, as: .owner)]).get()
      try await store.put([
        .apply(.sample("join", from: bob)), .apply(.sample("invite", .invite, from: bob)),
        .apply(.sample("carol's")), .apply(.sample("join team", to: team, from: bob)),
      ]).get()
      func sent(_ user: UserID, before: Int64 = 0, limit: Int = 9) async throws -> [NumberedApplication] {
        try await store.applications(sentBy: user, before: before, limit: limit)
      }
      #expect(try await sent(bob).map(\.application.id) == ["join team", "invite", "join"])
      #expect(try await sent(carol).map(\.application.id) == ["carol's"])
      for user in [alice, .administrator] { #expect(try await sent(user).isEmpty) }
      let first = try await sent(bob, limit: 1)
      #expect(try await sent(bob, before: first[0].number).map(\.application.id) == ["invite", "join"])
      #expect(try await sent(bob, limit: 0).isEmpty)
      // Handled it keeps its place; renewed it is the newest, of whoever renewed it.
      try await store.put([.putApplication(.sample("join", from: bob).handled(), asNewest: false)]).get()
      try await store.put([.apply(.sample("invite", .invite, from: alice, at: 30))]).get()
      #expect(try await sent(bob).map(\.application.id) == ["join team", "join"])
      #expect(try await sent(bob).last?.application.handling?.isAgreed == true)
      #expect(try await sent(alice).map(\.application.id) == ["invite"])
      try await store.put([.dismiss(club, at: 40)]).get()
      #expect(try await sent(bob).map(\.application.id) == ["join team"])
      #expect(try await sent(alice).isEmpty)
      // Another group of that ID does not bring them back.
      try await store.put([.create()]).get()
      #expect(try await sent(bob).map(\.application.id) == ["join team"])
      #expect(try await sent(carol).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func theMarksOfThoseWhoDecideAreFoundTogether(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([
        .create(), .join(alice, as: .owner), .join(bob, as: .admin), .join(carol), .markApplicationsRead(bob, through: 7),
        .markApplicationsRead(carol, through: 8), .markNotificationsRead(alice, through: 9),
      ]).get()
      let (request, invitation) = (GroupApplication.sample("join"), GroupApplication.sample("invite", .invite, inviting: carol))
      #expect(try await store.readMarks(ofDecidersOf: request) == [bob: 7], "no mark of its own, no manager")
      #expect(try await store.readMarks(ofDecidersOf: invitation) == [carol: 8])
      #expect(try await store.readMarks(ofDecidersOf: .sample("other", to: team)).isEmpty, "no such group")
      #expect(try await store.readMarks(ofDecidersOf: .sample("other", .invite, inviting: alice)).isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func aGroupKnowsItsOpenApplicationsInOrder(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team)]).get()
      let (first, second) = (GroupApplication.sample("1"), GroupApplication.sample("2", .invite))
      try await store.put([.apply(first), .apply(second), .apply(.sample("3")), .apply(.sample("4", to: team))]).get()
      #expect(try await store.group(club, sentSince: 0)?.openApplications == [first, second, .sample("3")])
      try await store.put([.putApplication(second.handled(), asNewest: false), .apply(first)]).get()
      #expect(try await store.group(club, sentSince: 0)?.openApplications == [.sample("3"), first])
    }
  }

  @Test(arguments: Backing.allCases)
  func anApplicationOutlivesItsGroupAndKnowsThatItIsGone(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let (request, invitation) = (GroupApplication.sample("join"), GroupApplication.sample("invite", .invite, inviting: alice))
      try await store.put([.create(), .join(alice, as: .owner), .apply(request), .apply(invitation)]).get()
      try await store.put([.dismiss(club, at: 10)]).get()
      for epoch in [nil, "e2", "e1"] {
        // Even under the same epoch it is another group.
        if let epoch { try await store.put([.create(epoch: epoch), .join(alice, as: .owner)]).get() }
        #expect(try await store.application("join") == StoredApplication(application: request, isGroupGone: true))
        #expect(try await store.application("invite") == StoredApplication(application: invitation, isGroupGone: true))
        for user in [alice, nil] {
          #expect(try await store.applications(decidableBy: user, before: 0, limit: 9).isEmpty)
          #expect(try await store.unreadApplications(of: user) == 0)
        }
        if epoch != nil {
          #expect(try await store.group(club, sentSince: 0)?.openApplications == [])
          try await store.put([.dismiss(club, at: 11)]).get()
        }
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func unreadAreThoseThatWereAddedAfterTheMarkWhichNeverGoesBack(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice, as: .owner)]).get()
      try await store.put([
        .apply(.sample("1", at: 10)), .apply(.sample("2", at: 20).handled()),
        .apply(.sample("3", .invite, inviting: alice, at: 30)),
      ]).get()
      #expect(try await store.unreadApplications(of: alice) == 3)
      #expect(try await store.applicationsReadThrough(by: alice) == 0)
      try await store.put([.markApplicationsRead(alice, through: 20)]).get()
      #expect(try await store.unreadApplications(of: alice) == 1)
      try await store.put([.markApplicationsRead(alice, through: 19)]).get()
      #expect(try await store.applicationsReadThrough(by: alice) == 20)
      #expect(try await store.unreadApplications(of: alice) == 1)
      #expect(try await store.unreadApplications(of: nil) == 2, "an administrator has no mark")
      #expect(try await store.unreadApplications(of: bob) == 0)
      try await store.put([.apply(.sample("1", at: 40))]).get()
      #expect(try await store.unreadApplications(of: alice) == 2)
      #expect(try await store.notificationsReadThrough(by: alice) == 0)
    }
  }
}
