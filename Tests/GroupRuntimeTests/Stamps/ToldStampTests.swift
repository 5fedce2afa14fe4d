import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The members never know more than the store, what they know never goes back, and both meet when
/// nothing is pending.
@Suite final class ToldStampTests {
  private var state: GroupState
  private var told = ToldStamp()

  init() throws {
    state = try #require(try Scene(.public).state)
    told.begin(&state)
  }

  private func stored(_ revision: Int64, _ board: Int64) -> StoreChange { .putStamp(revision: revision, board: board, in: "g") }

  private func raise(_ visibility: DecisionVisibility) -> StoreChange? { told.raise(visibility, in: &state) }

  private func make(_ visibility: DecisionVisibility = []) -> DecisionStamp { told.note(visibility, of: &state) }

  @Test func aLoadedGroupIsToldAsItIs() {
    (state.record.revision, state.record.board, state.record.changeSeq) = (3, 4, 5)
    told.begin(&state)
    #expect(told.known == GroupStamp(epoch: "e", seq: 0, changeSeq: 5, revision: 3, board: 4))
  }

  @Test func aRevisionIsToldWithItsDecision() {
    let change = raise(.revision)
    #expect(change == stored(1, 0))
    let decision = make(.revision)
    #expect(told.known?.revision == 0)
    told.didDeliver(decision)
    #expect(told.known?.revision == 1)
  }

  @Test func messagesAndTheirChangesStoreNoStamp() {
    for visibility: DecisionVisibility in [.message, .change, [.message, .change], []] {
      let change = raise(visibility)
      #expect(change == nil, "\(visibility)")
    }
  }

  @Test func theBoardIsRaisedOnceUntilAllIsTold() {
    let (first, one) = (raise(.board), make(.board))
    let (second, two) = (raise(.board), make(.board))
    #expect(first == stored(0, 1) && second == nil, "the commit before has it")
    told.didDeliver(one)
    #expect(told.hasUndelivered && told.known?.board == 0)
    told.didDeliver(two)
    #expect(!told.hasUndelivered)
    told.didTellBoard(of: &state)
    #expect(told.known?.board == 1)
    let third = raise(.board)
    #expect(third == stored(0, 2))
  }

  @Test func aRemovalRaisesTheBoardByAStep() {
    _ = raise(.board)
    let removal = raise([.board, .removal])
    #expect(removal == stored(0, 1 + GroupStamp.removalStep) && told.known?.board == 0)
  }

  @Test func aDecisionIsToldAsItWasMade() {
    _ = raise(.revision)
    let first = make(.revision)
    _ = raise(.revision)
    _ = make(.revision)
    told.didDeliver(first)
    #expect(told.known?.revision == 1)
  }

  @Test func changesWhoseEventsWaitAreNotTold() {
    state.record.changeSeq = 3
    state.announcements.add(.onConversationRead(readSeq: 1), .modified(seq: 1), seq: 1, changeSeq: 2)
    state.announcements.add(.onConversationRead(readSeq: 1), .reactions(seq: 1), seq: 1, changeSeq: 3)
    told.didDeliver(make(.change))
    #expect(told.known?.changeSeq == 1)
    let left = state.announcements.popDue(at: .distantFuture)
    told.didDeliver(make())
    #expect(left?.changeSeq == 2 && told.known?.changeSeq == 2)
  }

  /// A failed commit discards the state: what it held was never told.
  @Test func whatMembersKnowNeverGoesBackBehindAFailure() {
    _ = raise([.revision, .board])
    told.didDeliver(make([.revision, .board]))
    told.didTellBoard(of: &state)
    var loaded = state
    // Attributes wait to be told, of a commit that has failed.
    _ = raise(.board)
    _ = make(.board)
    told.begin(&loaded, isBoardPending: true)
    #expect(told.known == GroupStamp(epoch: "e", seq: 0, changeSeq: 0, revision: 1, board: 1) && !told.hasUndelivered)
    // Of a commit that is durable, and whose event is still to come.
    loaded.record.board = 2
    told.begin(&loaded, isBoardPending: true)
    #expect(told.known?.board == 1)
    told.didTellBoard(of: &loaded)
    #expect(told.known?.board == 2)
  }

  @Test func changesThatWereLostAreToldWhenTheirEventsAreMadeAgain() {
    state.record.changeSeq = 7
    told.begin(&state, lostChanges: [6, 5])
    #expect(told.known?.changeSeq == 4)
    told.didDeliver(make())
    #expect(told.known?.changeSeq == 4)
    let beginning = told.beginnings
    told.didMakeLostChange(of: beginning - 1)
    told.didMakeLostChange(of: beginning)
    told.didDeliver(make())
    #expect(told.known?.changeSeq == 4, "one is still to be made")
    told.didMakeLostChange(of: beginning)
    told.didDeliver(make())
    #expect(told.known?.changeSeq == 7)
  }

  /// The topic is that of a former group until its end is delivered.
  @Test func aNewGroupIsToldWithItsFirstDecision() {
    let old = make()
    let record = GroupRecord(
      id: "g", type: .public, epoch: "f", createTime: 1, owner: "olga", name: "n", maxMemberNum: 9,
      policy: GroupPolicy.defaults(for: .public))
    state.record = record
    told.begin(new: &state)
    #expect(told.known == nil)
    told.didDeliver(old)
    #expect(told.known == nil)
    told.didDeliver(make())
    #expect(told.known?.epoch == "f")
    told.end()
    #expect(told.known == nil)
  }
}
