import GroupModel
import Testing

/// Who may sign in (Protocol.md, "Blocked users").
@Suite struct UserAccessTests {
  private func at(_ milliseconds: Int64) -> WallInstant { WallInstant(milliseconds: milliseconds) }

  @Test func nothingDecidedRefusesNobody() {
    for issued in [nil, at(0), at(5)] {
      #expect(UserAccess.unlimited.refusal(ofTokenIssued: issued, now: at(10)) == nil)
    }
  }

  @Test func aBlockHoldsToItsEnd() {
    let ending = UserAccess(block: UserAccess.Block(until: at(10), reason: "spam"))
    #expect(ending.refusal(ofTokenIssued: at(5), now: at(9)) == .blocked(isTemporary: false))
    #expect(ending.refusal(ofTokenIssued: at(5), now: at(10)) == nil)
    #expect(ending.refusal(ofTokenIssued: nil, now: at(10)) == nil)
    let endless = UserAccess(block: UserAccess.Block())
    #expect(endless.refusal(ofTokenIssued: nil, now: .distantFuture) == .blocked(isTemporary: false))
  }

  /// "Tokens whose iat is before it, or missing."
  @Test func aRevocationConcernsTokensOfBeforeAndThoseThatDoNotSayWhen() {
    let access = UserAccess(tokensBefore: at(5))
    for issued in [nil, at(-1), at(0), at(4)] {
      #expect(access.refusal(ofTokenIssued: issued, now: at(3)) == .tokenRevoked)
    }
    for issued in [at(5), at(6)] { #expect(access.refusal(ofTokenIssued: issued, now: at(3)) == nil) }
  }

  /// "70021, then 70020."
  @Test(arguments: [true, false], [true, false]) func aRevocationComesBeforeABlockAndADeletion(
    isBlocked: Bool, isBeingDeleted: Bool
  ) {
    let block = isBlocked ? UserAccess.Block() : nil
    let access = UserAccess(block: block, tokensBefore: at(5), isBeingDeleted: isBeingDeleted)
    #expect(access.refusal(ofTokenIssued: at(4), now: at(9)) == .tokenRevoked)
    let other = access.refusal(ofTokenIssued: at(5), now: at(9))
    // "While a deletion runs, signing in is 70020 with temporary:true."
    #expect(other == (isBlocked || isBeingDeleted ? .blocked(isTemporary: isBeingDeleted) : nil))
  }
}
