import GroupModel
import Testing

/// What a member, and the record of one who has left, tell of themselves.
@Suite struct MemberRecordTests {
  private let ann: UserID
  private let instant = WallInstant(milliseconds: 1_000_000)

  init() throws { ann = try #require(UserID("ann")) }

  @Test func aMemberLooksTheSameUntilRoleCardFieldsOrMuteChange() {
    let member = Member(userID: ann, role: .member, joinTime: instant, ordinal: 1, receiveOption: .receive)
    #expect(member.infoTime == instant && member.clearedSeq == 0 && member.conversation.isEmpty)
    let others: [(inout Member) -> Void] = [
      { $0.readSeq = 5 }, { $0.changeTime = WallInstant(milliseconds: 2) }, { $0.clearedSeq = 3 },
      { $0.conversation.isPinned = true }, { $0.receiveOption = .notReceive },
    ]
    for change in others {
      var other = member
      change(&other)
      #expect(other.hasSameInfo(as: member) && other != member)
    }
    let shown: [(inout Member) -> Void] = [
      { $0.role = .admin }, { $0.nameCard = "card" }, { $0.customInfo = ["k": "v"] }, { $0.muteUntil = .distantFuture },
    ]
    for change in shown {
      var other = member
      change(&other)
      #expect(!other.hasSameInfo(as: member) && !member.hasSameInfo(as: other))
    }
    // Two texts to everybody but Swift.
    var (composed, decomposed) = (member, member)
    (composed.nameCard, decomposed.nameCard) = ("\u{e9}", "e\u{301}")
    #expect(!composed.hasSameInfo(as: decomposed))
    (composed.nameCard, decomposed.nameCard) = ("", "")
    (composed.customInfo, decomposed.customInfo) = (["k": "\u{e9}"], ["k": "e\u{301}"])
    #expect(!composed.hasSameInfo(as: decomposed))
  }

  @Test func aDepartureIsRememberedAsLongAsSomethingOfItIsOfUse() {
    let end = instant + FormerMember.lifetime
    var former = FormerMember(userID: ann, leftTime: instant)
    #expect(former.memorableUntil == .unset)
    former.isListed = true
    #expect(former.memorableUntil == end && !former.isRestricted(at: instant))
    former.bannedUntil = end + .seconds(1)
    #expect(former.memorableUntil == end + .seconds(1) && former.keptUntil == end + .seconds(1))
    former.clearedSeq = 4
    #expect(former.memorableUntil == .distantFuture && former.keptUntil == end + .seconds(1))
    (former.clearedSeq, former.role) = (0, .admin)
    #expect(former.memorableUntil == .distantFuture && former.keptUntil == .distantFuture)
    // Stores page by it, and know of bans and mutes only.
    #expect(former.restrictedUntil == end + .seconds(1))
  }

  @Test func visibleRangesLastThirtyDaysHoweverLongTheRecordIsKept() {
    let end = instant + FormerMember.lifetime
    var former = FormerMember(userID: ann, visibleRanges: [1...3], leftTime: instant)
    let reasons: [(inout FormerMember) -> Void] = [
      { _ in }, { $0.clearedSeq = 2 }, { $0.bannedUntil = .distantFuture }, { $0.role = .admin },
    ]
    for keep in reasons {
      keep(&former)
      #expect(former.visibleRanges(at: end - .milliseconds(1)) == [1...3])
      #expect(former.visibleRanges(at: end) == [] && former.visibleRanges == [1...3])
    }
  }
}
