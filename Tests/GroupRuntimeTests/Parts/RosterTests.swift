import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit

@testable import GroupRuntime

/// The parts of a roster change together.
@Suite struct RosterTests {
  private func roster(_ type: GroupType, former: [FormerMember] = []) -> Roster {
    let record = GroupRecord(
      id: "g", type: type, epoch: "e", createTime: 1, owner: "olga", name: "n", maxMemberNum: 10,
      policy: .defaults(for: type), nextOrdinal: 3)
    let members = [
      Member(userID: "olga", role: .owner, joinTime: 1, ordinal: 1, receiveOption: .receive),
      Member(userID: "mary", role: .member, joinTime: 2, ordinal: 5, receiveOption: .receive),
    ]
    return Roster(
      StoredGroup(record: record, members: members, former: former, lastMessage: nil, recentlySent: []), at: 10)
  }

  @Test func aNewMemberHasTheNextOrdinalAndIsListed() {
    var roster = roster(.public)
    let added = roster.add("carl", role: .member, joinTime: 7, at: 10) { $0.inviter = "olga" }
    #expect(added.member.ordinal == 6 && added.member.inviter == "olga" && !added.wasFormer)
    #expect(roster["carl"] == added.member && roster.count == 3 && roster.nextOrdinal == 7)
    #expect(roster.page(rank: nil, after: 0, count: 9).members.map(\.userID) == ["olga", "mary", "carl"])
  }

  @Test func whoHasHiddenTheGroupAndReceivesMessagesIsKnown() {
    var roster = roster(.public)
    for user in ["olga", "mary"] as [UserID] { roster.update(user) { $0.conversation.isHidden = true } }
    #expect(roster.hidden == ["olga", "mary"] && roster.hiddenHearing == ["olga", "mary"])
    roster.update("mary") { $0.receiveOption = .notReceive }
    #expect(roster.hidden == ["olga", "mary"] && roster.hiddenHearing == ["olga"])
    roster.update("olga") { $0.conversation.isHidden = false }
    #expect(roster.hidden == ["mary"] && roster.hiddenHearing == [])
    roster.update("mary") { $0.receiveOption = .receiveFromManagers }
    #expect(roster.hiddenHearing == ["mary"])
    _ = roster.remove("mary", visibleRange: nil, bannedUntil: .unset, banReason: "", at: 20)
    #expect(roster.hidden == [] && roster.hiddenHearing == [])
    var meeting = self.roster(.meeting)
    meeting.update("mary") { $0.conversation.isHidden = true }
    #expect(meeting.hidden == ["mary"] && meeting.hiddenHearing == [], "nothing is unread there")
  }

  @Test func theNewestBeginningOfAMembershipIsKnown() {
    var roster = roster(.public)
    #expect(roster.firstVisibleMax == 1)
    _ = roster.add("carl", role: .member, joinTime: 7, at: 10) { $0.firstVisibleSeq = 8 }
    roster.update("mary") { $0.firstVisibleSeq = 3 }
    #expect(roster.firstVisibleMax == 8)
    _ = roster.remove("carl", visibleRange: nil, bannedUntil: .unset, banReason: "", at: 20)
    #expect(roster.firstVisibleMax == 8, "a bound, which loading makes exact")
  }

  @Test func rejoiningRestoresTheMuteAndTheRangesBelowTheFirstVisibleMessage() {
    let former = FormerMember(userID: "carl", visibleRanges: [1...3, 5...9, 12...14], muteUntil: 99, leftTime: 4)
    var roster = roster(.public, former: [former])
    let added = roster.add("carl", role: .member, joinTime: 7, at: 10) { $0.firstVisibleSeq = 8 }
    #expect(added.wasFormer && roster.former["carl"] == nil)
    #expect(added.member.earlierVisibleRanges == [1...3, 5...7] && added.member.muteUntil == 99)
    #expect(roster.mutedPage(at: 10, after: 0, count: 9).members.map(\.userID) == ["carl"])
  }

  /// What keeps the record longer applies again, and an imported membership may begin long ago.
  @Test(arguments: [1, 7] as [WallInstant])
  func theRangesApplyAgainForThirtyDaysWhateverKeepsTheRecord(joinTime: WallInstant) {
    let end = WallInstant(4) + FormerMember.lifetime
    for (now, ranges) in [(end - 1, [1...3, 5...7]), (end, [])] as [(WallInstant, [ClosedRange<Int64>])] {
      var former = FormerMember(userID: "carl", visibleRanges: [1...3, 5...9], muteUntil: end + 99, leftTime: 4)
      former.clearedSeq = 2
      var roster = roster(.public, former: [former])
      let added = roster.add("carl", role: .member, joinTime: joinTime, at: now) { $0.firstVisibleSeq = 8 }
      #expect(added.wasFormer && added.member.earlierVisibleRanges == ranges, "\(now)")
      #expect(added.member.clearedSeq == 2 && added.member.muteUntil == end + 99)
      // They are not there for the next membership either.
      let left = roster.remove("carl", visibleRange: 8...8, bannedUntil: .unset, banReason: "", at: now)
      #expect(left.former?.visibleRanges == ranges + [8...8])
    }
  }

  @Test func aRemovedMemberIsNeitherOnlineNorAbsentNorListed() {
    var roster = roster(.avChatRoom)
    roster.setOnline("mary")
    let removal = roster.remove("mary", visibleRange: 2...4, bannedUntil: 50, banReason: "r", at: 20)
    #expect(removal.former == roster.former["mary"] && removal.forgotten.isEmpty)
    #expect(roster.former["mary"]?.visibleRanges == [2...4] && roster.isBanned("mary", at: 49))
    #expect(roster["mary"] == nil && !roster.isOnline("mary") && roster.onlineCount(usersSignedIn: 7) == 0)
    #expect(roster.page(rank: nil, after: 0, count: 9).members.map(\.userID) == ["olga"])
    roster.setOffline("mary", since: 30)
    #expect(roster.absentSince("mary") == nil && roster.firstGraceEnd(afterMilliseconds: 5) == nil)
  }

  @Test func membersOfALiveRoomAreAbsentWithoutASessionExceptTheOwner() {
    var roster = roster(.avChatRoom)
    for user in ["olga", "mary"] as [UserID] {
      roster.setOnline(user)
      roster.setOffline(user, since: 30)
    }
    #expect(roster.absentSince("mary") == 30 && roster.absentSince("olga") == nil)
    #expect(roster.popAbsent(forMilliseconds: 5, at: 35, atMost: 9).map(\.userID) == ["mary"])
    #expect(roster.firstGraceEnd(afterMilliseconds: 5) == nil, "the caller removes the member")
  }

  @Test func otherTypesRecordNoAbsence() {
    var roster = roster(.public)
    roster.setOffline("mary", since: 30)
    roster.setAbsent(except: [], since: 30)
    #expect(roster.absentSince("mary") == nil)
  }

  @Test func aRoleOutlivesLeavingALiveRoomAndIsThereAgain() {
    for (type, keepsRole, held) in [
      (GroupType.avChatRoom, true, Role.custom(7)), (.avChatRoom, false, .member), (.public, true, .member),
    ] {
      var roster = roster(type)
      roster.update("mary") { $0.role = .custom(7) }
      let removal = roster.remove(
        "mary", visibleRange: nil, bannedUntil: .unset, banReason: "", keepsRole: keepsRole, at: 20)
      #expect((removal.former?.role == .custom(7)) == (held != .member) && roster.roleOfAbsent("mary") == held)
      #expect(roster.add("mary", role: .member, joinTime: 30, at: 30) { _ in }.member.role == held)
      #expect(roster.former["mary"] == nil)
    }
  }

  @Test func neitherTheOwnerNorAMemberLeavesARole() {
    var roster = roster(.avChatRoom)
    for user in ["olga", "mary"] as [UserID] {
      #expect(roster.remove(user, visibleRange: nil, bannedUntil: .unset, banReason: "", at: 20).former == nil)
    }
  }

  @Test func aRoleIsGivenToSomebodyAbsentAndEnds() {
    var roster = roster(.avChatRoom)
    let given = roster.setRole(ofAbsent: "carl", to: .admin, at: 20)
    #expect(given.former?.role == .admin && given.former == roster.former["carl"] && given.forgotten.isEmpty)
    #expect(roster["carl"] == nil && roster.roleOfAbsent("carl") == .admin && roster.managers == ["olga"])
    let ended = roster.setRole(ofAbsent: "carl", to: .member, at: 30)
    #expect(ended.former == nil && ended.forgotten == ["carl"] && roster.former["carl"] == nil)
    // A ban stays when a role ends.
    _ = roster.remove("mary", visibleRange: nil, bannedUntil: 500, banReason: "r", at: 40)
    _ = roster.setRole(ofAbsent: "mary", to: .admin, at: 50)
    #expect(roster.setRole(ofAbsent: "mary", to: .member, at: 60).former?.bannedUntil == 500 && roster.isBanned("mary", at: 70))
  }

  /// The owner is the owner, whatever a record says.
  @Test func onlyTheRoleMemberGivesWayToOneThatWasKept() {
    var roster = roster(.avChatRoom)
    _ = roster.setRole(ofAbsent: "carl", to: .admin, at: 20)
    #expect(roster.add("carl", role: .owner, joinTime: 30, at: 30) { _ in }.member.role == .owner)
    #expect(roster.managers == ["carl", "olga"])
  }

  @Test func changingAUserOfABChatRoomCreatesARecord() {
    var (open, closed) = (roster(.bChatRoom), roster(.public))
    #expect(open.isMember("carl") && open["carl"] == nil && open.member("carl")?.role == .member)
    #expect(open.update("carl") { $0.role = .admin }?.role == .admin)
    #expect(open["carl"]?.role == .admin && open.memberCount(usersSignedIn: 7) == 7)
    #expect(closed.update("carl") { $0.role = .admin } == nil && closed["carl"] == nil)
  }
}

/// The changes that correct the stored ends of mutes and bans.
@Suite struct ClockCorrectionsTests {
  private static let start: ClockReading = 1_700_000_000_000

  /// The shift that a wall clock shows which is ahead by milliseconds, or behind.
  private func shift(_ corrections: inout ClockCorrections, ahead: Int64, after passed: Int64 = 0) -> Duration? {
    let now = ClockCorrectionsTests.start + passed
    return corrections.nextShift(at: ClockReading(wall: now.wall + ahead, monotonic: now.monotonic))
  }

  @Test func everySecondSetBackIsCorrectedOnce() {
    var corrections = ClockCorrections()
    #expect(shift(&corrections, ahead: 0) == nil)
    #expect(shift(&corrections, ahead: -999) == nil)
    #expect(shift(&corrections, ahead: -1500) == .milliseconds(1500))
    #expect(shift(&corrections, ahead: -2400) == nil)
    #expect(shift(&corrections, ahead: -2500) == .milliseconds(1000))
  }

  @Test func theTimeUntilAGroupLooksDoesNotHideHowFarTheClockWasSetBack() {
    var corrections = ClockCorrections()
    #expect(shift(&corrections, ahead: 0) == nil)
    #expect(shift(&corrections, ahead: 0, after: 600_000) == nil, "time that passes is no shift")
    #expect(shift(&corrections, ahead: -3_600_000, after: 9_000_000) == .milliseconds(3_600_000))
  }

  @Test func aClockThatIsSetAheadIsCorrectedWhenItIsSetBack() {
    var corrections = ClockCorrections()
    #expect(shift(&corrections, ahead: 0) == nil)
    #expect(shift(&corrections, ahead: 60_000, after: 1) == nil)
    #expect(shift(&corrections, ahead: 0, after: 2) == .milliseconds(60_000))
    #expect(shift(&corrections, ahead: 0, after: 3) == nil)
  }

  @Test func failedChangesComeBeforeLaterOnes() {
    var corrections = ClockCorrections()
    corrections.append(.forgetFormer("mary", in: "g"))
    let failed = corrections.popAll()
    #expect(corrections.isEmpty)
    corrections.append(.forgetFormer("carl", in: "g"))
    corrections.restore(failed)
    #expect(corrections.popAll() == [.forgetFormer("mary", in: "g"), .forgetFormer("carl", in: "g")])
  }

  @Test func onlyDecisionsThatLieAheadAreMovedBack() {
    let (known, unknown) = (ClockCorrection(now: 100, shift: .milliseconds(30)), ClockCorrection(now: 100, shift: nil))
    #expect(known.lead(of: 100) == .zero && known.lead(of: 101) == .milliseconds(30))
    #expect(unknown.lead(of: 100) == .zero && unknown.lead(of: 140) == .milliseconds(40))
  }
}
