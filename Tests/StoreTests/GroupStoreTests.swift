import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

/// Groups and members, on every store.
@Suite struct GroupStoreTests {
  @Test(arguments: Backing.allCases)
  func anUnusedGroupIDHasNoGroup(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let group = try await store.group(club, sentSince: 0)
      #expect(group == nil)
      #expect(try await store.memberships(of: alice).isEmpty)
      #expect(try await store.departures(of: alice, from: nil, since: 0).isEmpty)
      #expect(try await store.groupCounts().isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func aGroupComesBackWithEveryField(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var record = GroupRecord.sample()
      record.name = "Fußball \u{1f3c0}"
      record.introduction = "intro\0duction"
      record.notification = "Hinweis"
      record.faceURL = "https://example.org/ä.png"
      record.maxMemberNum = 17
      record.customInfo = ["level": "3\0", "tag": "é"]
      record.serverCustomInfo = "e\u{301}\0"
      record.mute = GroupMute(mode: .custom, roles: [.admin, .custom(Int32.max)], muteUntil: 99)
      record.lastInfoTime = 7
      record.changeTime = 8
      record.importedThroughSeq = 9
      record.nextOrdinal = 1 << 40
      try await store.put([.putGroup(record, isNew: true)]).get()
      let stored = try #require(try await store.group(club, sentSince: 0))
      #expect(stored.record == record)
      #expect(stored.record.introduction.bytes == record.introduction.bytes)
      #expect(stored.record.serverCustomInfo.bytes == record.serverCustomInfo.bytes)
      #expect(stored.members.isEmpty && stored.lastMessage == nil && stored.recentlySent.isEmpty)
    }
  }

  @Test(arguments: Backing.allCases)
  func everyValueOfEveryPolicyFieldComesBack(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var record = GroupRecord.sample()
      try await store.put([.putGroup(record, isNew: true)]).get()
      for field in PolicyField.allCases {
        let values: [PolicyValue] =
          switch field.kind {
          case .words(let words): words.map(PolicyValue.word)
          case .flag: [.flag(true), .flag(false)]
          case .number(let range): [.number(range.upperBound), .number(1), .number(range.lowerBound)]
          }
        for value in values {
          let isSet = record.policy.set(field, to: value)
          #expect(isSet)
          try await store.put([.putGroup(record, isNew: false)]).get()
          #expect(try await store.group(club, sentSince: 0)?.record.policy == record.policy)
        }
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func membersComeBackWithEveryFieldByUserID(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var first = Member.sample(bob, ordinal: 5, at: 12)
      first.role = .custom(100)
      first.nameCard = "Käpt'n"
      first.customInfo = ["k": "v\0w"]
      first.muteUntil = 77
      first.receiveOption = .receiveFromManagers
      first.readSeq = 3
      first.unreadBase = 4
      first.unreadSinceSeq = 1
      first.earlierVisibleRanges = [1...1]
      first.setUnheardRanges([2...2, 4...Member.noEnd])
      first.firstVisibleSeq = 2
      first.inviter = .administrator
      first.changeTime = 13
      let second = Member.sample(alice, ordinal: 6)
      try await store.put([.create(), .putMember(first, in: club), .putMember(second, in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.members == [second, first])
      first.readSeq = 4
      first.inviter = nil
      first.customInfo = [:]
      first.setUnheardRanges([])
      try await store.put([.putMember(first, in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.members == [second, first])
    }
  }

  @Test(arguments: Backing.allCases)
  func groupsOfUsersAndOfOwnersAreCountedUpToALimit(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let types: [(String, GroupType)] = [
        ("w", .work), ("p", .public), ("m", .meeting), ("r", .avChatRoom), ("s", .avChatRoom), ("b", .bChatRoom),
      ]
      for (name, type) in types {
        let id = try #require(GroupID(name))
        try await store.put([.create(id, type: type), .join(bob, id)]).get()
      }
      #expect(try await store.membershipCounts(of: [bob, alice], limit: 10) == [bob: 3, alice: 0])
      #expect(try await store.membershipCounts(of: [bob, bob], limit: 2) == [bob: 2])
      #expect(try await store.ownedCount(of: alice, type: .avChatRoom, limit: 10) == 2)
      #expect(try await store.ownedCount(of: alice, type: .avChatRoom, limit: 1) == 1)
      #expect(try await store.ownedCount(of: bob, type: .avChatRoom, limit: 10) == 0)
    }
  }

  @Test(arguments: Backing.allCases)
  func membershipsComeByGroupNumberAndNumbersAreNeverUsedAgain(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(team, type: .work), .join(bob, team)]).get()
      try await store.put([.create(), .join(bob)]).get()
      let before = try await store.memberships(of: bob)
      #expect(before.map(\.groupID) == [team, club])
      #expect(before.map(\.type) == [.work, .public])
      #expect(before[0].groupNumber < before[1].groupNumber)
      try await store.put([.dismiss(club, at: 5)]).get()
      try await store.put([.create(epoch: "e2"), .join(bob)]).get()
      let after = try await store.memberships(of: bob)
      #expect(after.map(\.groupID) == [team, club])
      #expect(after[1].groupNumber > before[1].groupNumber)
    }
  }

  @Test(arguments: Backing.allCases)
  func departuresAreThoseWhoLeftFromAnInstantOnAndNotThoseWhoCameBack(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team), .join(alice), .join(bob), .join(bob, team)]).get()
      try await store.put([.removeMember(bob, from: team, at: 20)]).get()
      try await store.put([.removeMember(bob, from: club, at: 10)]).get()
      #expect(try await store.departures(of: bob, from: nil, since: 0) == [club, team])
      #expect(try await store.departures(of: bob, from: nil, since: 11) == [team])
      #expect(try await store.departures(of: bob, from: nil, since: 20) == [team])
      #expect(try await store.departures(of: bob, from: nil, since: 21).isEmpty)
      #expect(try await store.departures(of: alice, from: nil, since: 0).isEmpty)
      #expect(try await store.memberships(of: bob).isEmpty)
      try await store.put([.join(bob)]).get()
      #expect(try await store.departures(of: bob, from: nil, since: 0) == [team])
    }
  }

  @Test(arguments: Backing.allCases)
  func departuresAreToldByTypeAndLiveRoomsLeaveNone(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let room = GroupID("room")!
      let broadcast = GroupID("broadcast")!
      try await store.put([
        .create(), .create(team, type: .work), .create(room, type: .avChatRoom), .create(broadcast, type: .bChatRoom),
      ]).get()
      for group in [club, team, room, broadcast] { try await store.put([.join(bob, group), .join(carol, group)]).get() }
      for group in [club, team, room, broadcast] { try await store.put([.removeMember(bob, from: group, at: 10)]).get() }
      for group in [club, team, room, broadcast] { try await store.put([.dismiss(group, at: 20)]).get() }
      for user in [bob, carol] {
        #expect(try await store.departures(of: user, from: nil, since: 0) == [club, team])
        #expect(try await store.departures(of: user, from: .public, since: 0) == [club])
        #expect(try await store.departures(of: user, from: .work, since: 0) == [team])
        for type in [GroupType.meeting, .avChatRoom, .bChatRoom] {
          #expect(try await store.departures(of: user, from: type, since: 0).isEmpty)
        }
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func membersFindAGroupAgainThatTheyHaveHidden(_ backing: Backing) async throws {
    try await backing.withStore { store in
      func hidden(_ user: UserID) -> Member {
        var member = Member.sample(user)
        member.conversation.isHidden = true
        member.conversation.isPinned = true
        member.conversation.marks = ["later"]
        return member
      }
      // JSON and arrays of PostgreSQL escape both.
      let odd = UserID(#"a"b\c,{}"#)!
      let users = [alice, bob, carol, odd]
      try await store.put([.create(), .create(team)] + users.map { .putMember(hidden($0), in: club) }).get()
      try await store.put([.putMember(hidden(alice), in: team)]).get()
      func members(_ group: GroupID = club) async throws -> [UserID: Member] {
        let stored = try #require(try await store.group(group, sentSince: 0))
        return Dictionary(uniqueKeysWithValues: stored.members.map { ($0.userID, $0) })
      }
      func check() async throws {
        for (user, member) in try await members() {
          var expected = hidden(user)
          if [alice, odd].contains(user) { (expected.conversation.isHidden, expected.changeTime) = (false, 7000) }
          #expect(member == expected, "\(user)")
        }
        #expect(try await members(team) == [alice: hidden(alice)])
      }
      try await store.put([.endHidden([alice, odd], at: 7000, in: club)]).get()
      try await check()
      #expect(await store.put([.endHidden([bob, UserID("nobody")!], at: 8000, in: club)]).failure == .inconsistent)
      #expect(await store.put([.endHidden([bob], at: 8000, in: GroupID("none")!)]).failure == .inconsistent)
      try await check()
    }
  }

  @Test(arguments: Backing.allCases)
  func countersComeBackEachWriteChangesThoseItNames(_ backing: Backing) async throws {
    try await backing.withStore { store in
      func counters(_ group: GroupID) async throws -> [GroupCounters.Entry]? {
        try await store.group(group, sentSince: 0)?.counters.entries
      }
      try await store.put([.create(), .create(team)]).get()
      #expect(try await counters(club) == [])
      let (largest, smallest) = (GroupCounters.values.upperBound, GroupCounters.values.lowerBound)
      try await store.put([
        .putCounters([.init(key: "b", value: smallest), .init(key: "a", value: largest), .init(key: "c", value: nil)], in: club)
      ]).get()
      #expect(try await counters(club) == [.init(key: "a", value: largest), .init(key: "b", value: smallest)])
      #expect(try await counters(team) == [])
      try await store.put([
        .putCounters([.init(key: "a", value: nil), .init(key: "A", value: 0)], in: club),
        .putCounters([.init(key: "A", value: 7)], in: club), .putCounters([.init(key: "a", value: 1)], in: team),
      ]).get()
      #expect(try await counters(club) == [.init(key: "A", value: 7), .init(key: "b", value: smallest)])
      try await store.put([.dismiss(club, at: 1), .create(epoch: "e2")]).get()
      #expect(try await counters(club) == [])
      #expect(try await counters(team) == [.init(key: "a", value: 1)])
    }
  }

  @Test(arguments: Backing.allCases)
  func attributesComeBackByteByByteAndEachWriteReplacesThemAll(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .create(team)]).get()
      // Two keys that Unicode takes for one.
      var attributes = GroupAttributes([.init(key: "e\u{301}", value: "two"), .init(key: "\u{e9}", value: "one")])
      for (index, text) in difficultTexts.enumerated() where index < 13 { attributes["k\(index)\0"] = text }
      try await store.put([.putAttributes(attributes, in: club)]).get()
      let stored = try #require(try await store.group(club, sentSince: 0)?.attributes)
      #expect(stored == attributes && stored.entries == attributes.entries && stored.count == 15)
      #expect(try await store.group(team, sentSince: 0)?.attributes.count == 0)
      let fewer = GroupAttributes([.init(key: "k", value: "v")])
      try await store.put([.putAttributes(fewer, in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.attributes == fewer)
      try await store.put([.putAttributes(GroupAttributes(), in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.attributes.count == 0)
      try await store.put([.putAttributes(fewer, in: club), .dismiss(club, at: 1), .create(epoch: "e2")]).get()
      #expect(try await store.group(club, sentSince: 0)?.attributes.count == 0)
    }
  }

  @Test(arguments: Backing.allCases)
  func holdersOfAttributesComeBackAndWhetherTheirKeysGo(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create()]).get()
      let longest = try #require(UserID(String(repeating: "!", count: 32)))
      let attributes = GroupAttributes([
        .init(key: "free", value: "1"), .init(key: "held", value: "bob", holder: bob),
        .init(key: "seat", value: "", holder: alice, isDeletedAfterHolderLeft: true),
        .init(key: "1", value: "1", holder: longest, isDeletedAfterHolderLeft: true),
      ])
      try await store.put([.putAttributes(attributes, in: club)]).get()
      let stored = try #require(try await store.group(club, sentSince: 0)?.attributes)
      #expect(stored == attributes && stored.entries == attributes.entries)
      #expect(stored.holders.map { $0.key } == ["1", "held", "seat"])
      #expect(stored.holders.map { $0.holder } == [longest, bob, alice])
      #expect(stored.entries.filter(\.isDeletedAfterHolderLeft).map(\.key) == ["1", "seat"])
    }
  }

  @Test(arguments: Backing.allCases)
  func whenMutesWereDecidedComesBackWithTheGroup(_ backing: Backing) async throws {
    try await backing.withStore { store in
      var record = GroupRecord.sample()
      record.mute = GroupMute(mode: .all, muteUntil: WallInstant(1 << 43))
      record.mutedAt = WallInstant(1 << 42)
      var member = Member.sample(alice)
      (member.muteUntil, member.mutedAt) = (WallInstant(1 << 41), WallInstant(1 << 40))
      var former = FormerMember(userID: bob, muteUntil: WallInstant(1 << 39), leftTime: WallInstant(1 << 37))
      former.mutedAt = WallInstant(1 << 36)
      former.quitTime = WallInstant(1 << 35)
      try await store.put([.putGroup(record, isNew: true), .putMember(member, in: club), .putFormer(former, in: club)]).get()
      for time in [WallInstant(1 << 35), .unset] {
        let group = try #require(try await store.group(club, sentSince: 0))
        #expect(group.record == record && group.members == [member] && group.former == [former])
        (record.mutedAt, member.mutedAt, former.mutedAt) = (time, time, time)
        try await store.put([.putGroup(record, isNew: false), .putMember(member, in: club), .putFormer(former, in: club)]).get()
      }
      #expect(try await store.group(club, sentSince: 0)?.members == [member])
    }
  }

  @Test(arguments: Backing.allCases)
  func whatIsRememberedOfFormerMembersComesBackWithTheGroupUntilItIsForgotten(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice)]).get()
      let known = FormerMember(userID: bob, visibleRanges: [1...4, 9...9])
      try await store.put([.putFormer(FormerMember(userID: bob, visibleRanges: [1...4]), in: club)]).get()
      try await store.put([.putFormer(known, in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.former == [known])
      var banned = FormerMember(userID: alice, muteUntil: WallInstant(1 << 42), bannedUntil: WallInstant(1 << 43))
      banned.banReason = "a\0 reason"
      try await store.put([.putFormer(banned, in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.former == [banned, known])
      try await store.put([.forgetFormer(bob, in: club), .forgetFormer(alice, in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.former == [])
      var back = Member(userID: bob, role: .member, joinTime: 5, ordinal: 7, receiveOption: .receive, firstVisibleSeq: 12)
      back.earlierVisibleRanges = known.visibleRanges
      try await store.put([.putMember(back, in: club)]).get()
      #expect(try await store.group(club, sentSince: 0)?.members.last == back)
    }
  }

  @Test(arguments: Backing.allCases)
  func ofFormerMembersSoManyComeAsAreAskedForThoseWithABanOrMuteFirst(_ backing: Backing) async throws {
    func gone(
      _ user: String, _ visibleRanges: [ClosedRange<Int64>] = [1...2], muted: WallInstant = 0, banned: WallInstant = 0,
      at time: WallInstant
    ) throws -> FormerMember {
      FormerMember(
        userID: try #require(UserID(user)), visibleRanges: visibleRanges, muteUntil: muted, bannedUntil: banned, leftTime: time)
    }
    let end = WallInstant(50) + FormerMember.lifetime
    try await backing.withStore { store in
      let former = try [
        gone("long-ban", banned: end + 9, at: 1), gone("mute", [], muted: end + 5, at: 2), gone("b-ban", banned: end + 1, at: 3),
        gone("a-ban", banned: end + 1, at: 49), gone("last", at: 90), gone("z", at: 70), gone("a", banned: 60, at: 70),
        gone("first", at: 60),
        // Nothing is to be remembered of this one then.
        gone("old", at: 50), gone("saw-nothing", [], at: 90), gone("ended", [], muted: end, at: 90),
      ]
      try await store.put([.create(), .create(team)] + former.shuffled().map { .putFormer($0, in: club) }).get()
      try await store.put([.putFormer(try gone("elsewhere", banned: end + 99, at: 99), in: team)]).get()
      for most in [0, 1, 3, 4, 5, 7, 8, 100, Int.max] {
        let group = try #require(try await store.group(club, sentSince: 0, at: end, mostFormer: most))
        #expect(group.former == Array(former.prefix(min(most, 8))), "at most \(most)")
      }
    }
  }

  @Test(arguments: Backing.allCases)
  func disbandingFreesTheGroupIDAtOnceAndEveryMemberHasDeparted(_ backing: Backing) async throws {
    try await backing.withStore { store in
      try await store.put([.create(), .join(alice), .join(bob), .append(.sample(1)), .append(.sample(2))]).get()
      try await store.put([.dismiss(club, at: 30)]).get()
      #expect(try await store.group(club, sentSince: 0) == nil)
      #expect(try await store.departures(of: alice, from: nil, since: 30) == [club])
      #expect(try await store.departures(of: bob, from: nil, since: 30) == [club])
      #expect(try await store.messages(of: club, in: 1...9, newestFirst: false, limit: 9).isEmpty)
      try await store.put([.create(epoch: "e2"), .join(bob)]).get()
      let again = try #require(try await store.group(club, sentSince: 0))
      #expect(again.record.epoch == "e2" && again.lastMessage == nil && again.members.map(\.userID) == [bob])
      #expect(try await store.departures(of: bob, from: nil, since: 0).isEmpty)
      #expect(try await store.departures(of: alice, from: nil, since: 0) == [club])
    }
  }

  @Test(arguments: Backing.allCases)
  func groupsAreListedByTypeAndNumberAndCounted(_ backing: Backing) async throws {
    try await backing.withStore { store in
      let ids = (1...5).map { GroupID("g\($0)")! }
      for (index, id) in ids.enumerated() { try await store.put([.create(id, type: index < 3 ? .meeting : .work)]).get() }
      let all = try await store.groups(ofType: nil, after: 0, limit: 10)
      #expect(all.map(\.groupID) == ids)
      #expect(try await store.groups(ofType: nil, after: all[1].groupNumber, limit: 2).map(\.groupID) == [ids[2], ids[3]])
      #expect(try await store.groups(ofType: .meeting, after: all[0].groupNumber, limit: 10).map(\.groupID) == [ids[1], ids[2]])
      #expect(try await store.groups(ofType: .public, after: 0, limit: 10).isEmpty)
      #expect(try await store.groups(ofType: nil, after: 0, limit: 0).isEmpty)
      #expect(try await store.groupCounts() == [.meeting: 3, .work: 2])
    }
  }
}

extension StoredGroup: Equatable {
  /// Whether both hold the same.
  public static func == (a: StoredGroup, b: StoredGroup) -> Bool {
    a.record == b.record && a.members == b.members && a.former == b.former && a.lastMessage == b.lastMessage
      && a.recentlySent == b.recentlySent && a.attributes == b.attributes && a.counters == b.counters
      && a.openApplications == b.openApplications && a.offlineSince == b.offlineSince && a.firstSeq == b.firstSeq
      && a.removedTime == b.removedTime && a.pinned == b.pinned && a.lastSeq == b.lastSeq && a.newestTime == b.newestTime
      && a.lastTime == b.lastTime
  }
}
