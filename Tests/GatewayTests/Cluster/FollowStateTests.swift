import Cluster
import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Gateway

/// What a node does with the units of a group's owners, by every rule and in each phase.
@Suite struct FollowStateTests {
  private static let one = NodeNumber(1)
  private static let two = NodeNumber(2)

  private static func stamp(_ seq: Int64, revision: Int64 = 0, epoch: String = "e") -> GroupStamp {
    GroupStamp(epoch: epoch, seq: seq, changeSeq: 0, revision: revision, board: 0)
  }

  private static func follow(_ seq: Int64, term: Int64 = 1, _ users: UserID...) -> TopicUnit {
    TopicUnit(.whole(stamp(seq)), [list(term, users)])
  }

  private static func list(_ term: Int64, _ users: [UserID]) -> TopicEvent {
    .follow(users.map { AttachedUser($0, .receive) }, term: term)
  }

  private static func message(_ seq: Int64) -> TopicUnit {
    TopicUnit(.change(StampChange(seq: seq)), [event(seq)])
  }

  private static func event(_ seq: Int64) -> TopicEvent {
    .publish(.storedChat(fromManager: false), except: nil, frame: [UInt8(seq)])
  }

  private static func replayed(_ seqs: Int64...) -> [ReplayedEvent] {
    seqs.map { ReplayedEvent(frame: [UInt8($0)], kind: .storedChat(fromManager: false)) }
  }

  /// A group that was followed at node one up to a message.
  private func current(_ seq: Int64 = 5) -> FollowState {
    var state = FollowState(owner: Self.one, shardOwner: Self.one, shardTerm: 1, at: 0)
    #expect(state.receive(Self.follow(seq, "mary"), from: Self.one, at: 0) == [.deliver([Self.list(1, ["mary"])])])
    #expect(state.phase == .current && state.stamp == Self.stamp(seq))
    return state
  }

  /// The same, whose owner has gone, and the next is known.
  private func unsure(_ seq: Int64 = 5) -> FollowState {
    var state = current(seq)
    state.ownerIsGone(Self.one, at: 100)
    state.ownerMoved(to: Self.two, term: 2, at: 200)
    #expect(state.phase == .unsure && !state.isSettled)
    return state
  }

  // MARK: Units in order

  @Test func unitsAreDeliveredInTheirOrder() {
    var state = current()
    for seq: Int64 in 6...8 {
      #expect(state.receive(Self.message(seq), from: Self.one, at: 0) == [.deliver([Self.event(seq)])])
    }
    #expect(state.stamp == Self.stamp(8) && state.phase == .current)
  }

  @Test func aUnitOfWhichNothingIsStoredIsDeliveredInItsPlace() {
    var state = current()
    let signal = TopicUnit(nil, [.publish(.signal, except: nil, frame: [1])])
    #expect(state.receive(signal, from: Self.one, at: 0) == [.deliver(signal.events)])
    #expect(state.stamp == Self.stamp(5))
  }

  @Test func aUnitWithoutEventsMovesTheStamp() {
    var state = current()
    let silent = TopicUnit(.change(StampChange(revision: 3)))
    #expect(state.receive(silent, from: Self.one, at: 0) == [.deliver([])])
    #expect(state.stamp == Self.stamp(5, revision: 3))
  }

  @Test func onlyTheOwnerIsHeard() {
    var state = current()
    #expect(state.receive(Self.message(6), from: Self.two, at: 0) == [])
    #expect(state.stamp == Self.stamp(5))
  }

  @Test func theEndOfAGroupEndsIt() {
    var state = current()
    #expect(state.receive(TopicUnit(nil, [.close]), from: Self.one, at: 0) == [.deliver([.close])])
    #expect(state.phase == .ended)
    #expect(state.receive(Self.follow(6, "mary"), from: Self.one, at: 0) == [])
  }

  // MARK: Another owner

  @Test func aNextOwnerWithTheSameStampIsFollowed() {
    var state = unsure()
    let actions = state.receive(Self.follow(5, term: 2, "mary", "olga"), from: Self.two, at: 300)
    #expect(actions == [.deliver([Self.list(2, ["mary", "olga"])])])
    #expect(state.phase == .current && state.owner == Self.two)
    #expect(state.receive(Self.message(6), from: Self.one, at: 300) == [], "a former owner's")
    #expect(state.receive(Self.message(6), from: Self.two, at: 300) == [.deliver([Self.event(6)])])
  }

  /// This node's view is older than the owner.
  @Test func aNextOwnerIsFollowedBeforeTheViewShowsIt() {
    var state = current()
    _ = state.receive(Self.follow(5, term: 2, "mary"), from: Self.two, at: 0)
    #expect(state.phase == .current && state.owner == Self.two)
    state.ownerMoved(to: nil, term: 1, at: 10)
    #expect(state.phase == .current)
    state.ownerMoved(to: Self.two, term: 2, at: 20)
    #expect(state.phase == .current)
  }

  @Test func aFormerOwnersFollowIsOld() {
    var state = unsure()
    _ = state.receive(Self.follow(5, term: 2, "mary"), from: Self.two, at: 300)
    for seq: Int64 in [4, 5, 6] { #expect(state.receive(Self.follow(seq, term: 1, "vera"), from: Self.one, at: 300) == []) }
    #expect(state.owner == Self.two && state.stamp == Self.stamp(5))
  }

  @Test func nothingIsAskedWhileNobodyOwnsTheShard() {
    var state = current()
    state.ownerMoved(to: nil, term: 1, at: 0)
    #expect(state.phase == .unsure && state.ask() == nil)
    #expect(state.tick(at: 60_000, canBeAsked: false) == [])
    state.ownerMoved(to: Self.two, term: 2, at: 60_000)
    #expect(state.ask() == .compare(Self.stamp(5)))
    #expect(state.phase == .comparing(Self.two, Self.stamp(5)) && state.ask() == nil)
    #expect(state.tick(at: 65_000, canBeAsked: true) == [], "from then on")
  }

  // MARK: Comparing

  @Test func nothingWasMissed() {
    var state = unsure()
    _ = state.ask()
    #expect(state.compared(.same, of: Self.stamp(5), by: Self.two, at: 300) == [])
    #expect(state.phase == .current && state.owner == Self.two && state.isUnknownToOwner)
    // It loads the group later.
    #expect(state.receive(Self.follow(5, term: 2, "mary"), from: Self.two, at: 400) == [.deliver([Self.list(2, ["mary"])])])
    #expect(!state.isUnknownToOwner)
  }

  @Test func somethingWasMissedAndIsToldAgain() {
    var state = unsure()
    _ = state.ask()
    #expect(state.compared(.different, of: Self.stamp(5), by: Self.two, at: 300) == [])
    let (from, through) = (Self.stamp(5), Self.stamp(7))
    let follow = Self.follow(7, term: 2, "mary")
    #expect(
      state.receive(follow, from: Self.two, at: 300) == [.askReplay(Self.two, from: from, through: through)])
    #expect(state.receive(Self.message(8), from: Self.two, at: 300) == [])
    #expect(state.phase == .catchingUp(Self.two, through: through) && state.stamp == from)
    let again = state.replayed(.events(Self.replayed(6, 7)), by: Self.two, from: from, through: through, at: 400)
    #expect(again == [.tellAgain(Self.replayed(6, 7)), .deliver(follow.events), .deliver([Self.event(8)])])
    #expect(state.phase == .current && state.stamp == Self.stamp(8))
  }

  /// The group may have left the owner's memory meanwhile.
  @Test func aFollowThatDoesNotComeIsAskedForAgain() {
    var state = unsure()
    _ = state.ask()
    #expect(state.compared(.different, of: Self.stamp(5), by: Self.two, at: 300) == [])
    #expect(state.tick(at: 1_299, canBeAsked: true) == [] && state.ask() == nil)
    #expect(state.tick(at: 1_300, canBeAsked: true) == [] && state.ask() == .compare(Self.stamp(5)))
    #expect(state.tick(at: 5_000, canBeAsked: true) == [] && state.ask() == nil, "it has not announced another")
  }

  @Test(arguments: [Comparison.moved, .same]) func anAnswerThatSaysNothingIsAskedForAgain(result: Comparison) {
    var state = unsure()
    _ = state.ask()
    let asked = result == .same ? nil : Self.stamp(5)
    #expect(state.compared(result, of: asked, by: Self.two, at: 300) == [])
    if result == .same {
      #expect(state.phase == .comparing(Self.two, Self.stamp(5)), "an answer to another question")
    } else {
      #expect(state.phase == .unsure && state.ask() == .compare(Self.stamp(5)))
    }
  }

  @Test func aGroupThatIsGoneEnds() {
    var state = unsure()
    _ = state.ask()
    #expect(state.compared(.gone, of: Self.stamp(5), by: Self.two, at: 300) == [.loseTouch(.gone, also: [])])
    #expect(state.phase == .ended)
  }

  @Test func aNodeThatIsAskedAndGoesAnswersNothing() {
    var state = unsure()
    _ = state.ask()
    state.ownerIsGone(Self.two, at: 300)
    #expect(state.phase == .unsure)
    #expect(state.compared(.same, of: Self.stamp(5), by: Self.two, at: 300) == [])
    #expect(state.phase == .unsure)
  }

  /// The end that an owner tells may have come before what another one told.
  @Test func anEndWithinADoubtIsCompared() {
    var state = current()
    state.ownerMoved(to: Self.two, term: 2, at: 0)
    #expect(state.receive(TopicUnit(nil, [.detach("mary"), .close]), from: Self.one, at: 0) == [.deliver([.detach("mary")])])
    #expect(state.phase == .unsure && state.ask() == .compare(Self.stamp(5)))
  }

  // MARK: Catching up

  /// A group that waits for messages six and seven, of node two.
  private func catchingUp() -> FollowState {
    var state = unsure()
    _ = state.receive(Self.follow(7, term: 2, "mary"), from: Self.two, at: 300)
    return state
  }

  @Test func whatIsHeldOutlivesTheNodeThatToldIt() {
    var state = catchingUp()
    _ = state.receive(Self.message(8), from: Self.two, at: 300)
    state.ownerIsGone(Self.two, at: 400)
    #expect(state.phase == .catchingUp(nil, through: Self.stamp(7)))
    #expect(state.replayed(.events([]), by: Self.two, from: Self.stamp(5), through: Self.stamp(7), at: 400) == [])
    state.ownerMoved(to: Self.one, term: 3, at: 500)
    #expect(state.ask() == .replay(from: Self.stamp(5), through: Self.stamp(7)))
    let again = state.replayed(
      .events(Self.replayed(6, 7)), by: Self.one, from: Self.stamp(5), through: Self.stamp(7), at: 600)
    #expect(again.count == 3 && again.last == .deliver([Self.event(8)]))
    #expect(state.phase == .unsure && state.stamp == Self.stamp(8))
    #expect(state.ask() == .compare(Self.stamp(8)))
  }

  @Test func aReplayThatIsLostIsAskedForAgain() {
    for replay in [nil, GroupReplay.impossible(.storeFailed)] {
      var state = catchingUp()
      #expect(state.replayed(replay, by: Self.two, from: Self.stamp(5), through: Self.stamp(7), at: 400) == [])
      #expect(state.ask() == .replay(from: Self.stamp(5), through: Self.stamp(7)))
    }
  }

  /// So metrics have every reason but that one.
  @Test func aStoreThatFailsForTooLongIsLate() {
    var state = catchingUp()
    #expect(state.replayed(.impossible(.storeFailed), by: Self.two, from: Self.stamp(5), through: Self.stamp(7), at: 400) == [])
    #expect(state.tick(at: 20_400, canBeAsked: true) == [.loseTouch(.late, also: [])])
    #expect(FollowLoss.allCases.count == 5 + GroupReplay.Reason.allCases.count - 1)
    #expect(!FollowLoss.allCases.contains(.replay(.storeFailed)))
  }

  @Test(arguments: GroupReplay.Reason.allCases.filter { $0 != .storeFailed })
  func aReplayThatCannotBeClosesWhoWasAttachedAndBeginsAnew(reason: GroupReplay.Reason) {
    var state = catchingUp()
    let attach = TopicUnit(nil, [.attach(AttachedUser("nora", .receive))])
    _ = state.receive(attach, from: Self.two, at: 300)
    let actions = state.replayed(
      .impossible(reason), by: Self.two, from: Self.stamp(5), through: Self.stamp(7), at: 400)
    #expect(
      actions == [
        .loseTouch(.replay(reason), also: []), .deliver([Self.list(2, ["mary"])]), .deliver(attach.events),
      ])
    #expect(state.phase == .current && state.stamp == Self.stamp(7) && !state.isLost)
  }

  @Test func whoIsAttachedWithinAGapThatCannotBeFilledLosesTouchToo() {
    var state = current()
    state.ownerIsGone(Self.one, at: 0)
    _ = state.receive(Self.follow(5, "mary"), from: Self.one, at: 0)
    var lost = FollowState(owner: Self.one, shardOwner: Self.one, shardTerm: 1, isLost: true, at: 0)
    let attach = TopicUnit(nil, [.attach(AttachedUser("nora", .receive))])
    #expect(lost.receive(attach, from: Self.one, at: 0) == [.loseTouchOnly(["nora"])])
    #expect(lost.ask() == .compare(FollowState.unknownStamp))
    #expect(lost.receive(Self.follow(6, "mary"), from: Self.one, at: 0) == [.deliver([Self.list(1, ["mary"])])])
    #expect(lost.phase == .current && lost.stamp == Self.stamp(6) && state.phase == .current)
  }

  @Test func tooMuchIsNotHeld() {
    var state = catchingUp()
    var actions: [FollowState.Action] = []
    for seq in 0..<FollowState.maxHeld where actions.isEmpty {
      actions = state.receive(TopicUnit(.change(StampChange(seq: Int64(seq) + 8))), from: Self.two, at: 300)
    }
    #expect(actions.first == .loseTouch(.overflow, also: []))
    #expect(state.phase == .current && state.stamp == Self.stamp(Int64(FollowState.maxHeld) + 7))
    var large = catchingUp()
    let frame = [UInt8](repeating: 0, count: FollowState.maxHeldBytes)
    let unit = TopicUnit(.change(StampChange(seq: 8)), [.publish(.control, except: nil, frame: frame)])
    #expect(large.receive(unit, from: Self.two, at: 300).first == .loseTouch(.overflow, also: []))
  }

  /// The next owner's first `follow` was lost: the later one says nothing of what came since the attachment.
  @Test func whoIsAttachedByAnOwnerThatIsNotFollowedYetLosesTouch() {
    var state = unsure()
    let attach = TopicUnit(nil, [.attach(AttachedUser("nora", .receive))])
    #expect(state.receive(attach, from: Self.two, at: 300) == [.loseTouchOnly(["nora"])])
    #expect(state.receive(attach, from: Self.one, at: 300) == [.loseTouchOnly(["nora"])], "it was the owner")
    #expect(state.receive(attach, from: NodeNumber(9), at: 300) == [], "it never was")
  }

  /// The first `follow` was lost, and with it what was told behind it.
  @Test func aRepeatedFollowOfANodeThatDoesNotFollowLosesItsUsers() {
    var state = FollowState(owner: Self.one, shardOwner: Self.one, shardTerm: 1, at: 0)
    let again = TopicUnit(.whole(Self.stamp(7)), [.follow([AttachedUser("mary", .receive)], term: 1, isRepeated: true)])
    #expect(state.receive(again, from: Self.one, at: 0) == [.loseTouchOnly(["mary"]), .deliver(again.events)])
    #expect(state.phase == .current && state.stamp == Self.stamp(7))
    #expect(state.receive(again, from: Self.one, at: 0) == [.deliver(again.events)], "it follows")
  }

  /// Their attachment was lost with what is told again.
  @Test func usersOfARepeatedFollowGetWhatIsToldAgain() {
    var state = current()
    state.ownerIsGone(Self.one, at: 0)
    let nora = AttachedUser("nora", .receive)
    let again = TopicUnit(.whole(Self.stamp(7)), [.follow([nora], term: 1, isRepeated: true)])
    #expect(
      state.receive(again, from: Self.one, at: 0) == [
        .deliver([.attach(nora)]), .askReplay(Self.one, from: Self.stamp(5), through: Self.stamp(7)),
      ])
  }

  /// Another node may have owned the shard between two terms of one.
  @Test func anotherTermOfTheNodeThatWasAskedIsAskedAgain() {
    var state = unsure()
    _ = state.ask()
    state.ownerMoved(to: Self.two, term: 4, at: 300)
    #expect(state.phase == .unsure && state.ask() == .compare(Self.stamp(5)))
  }

  /// The view that shows a former owner is older than the owner.
  @Test func whoIsAttachedLateByAFormerOwnerStays() {
    var state = current()
    _ = state.receive(Self.follow(5, term: 2, "mary"), from: Self.two, at: 0)
    let attach = TopicUnit(nil, [.attach(AttachedUser("nora", .receive))])
    #expect(state.receive(attach, from: Self.one, at: 0) == [])
  }

  // MARK: More than the store has

  @Test func aStoreThatHasLostDecisionsClosesWhoKnowsThem() {
    var state = unsure()
    let actions = state.receive(Self.follow(4, term: 2, "mary"), from: Self.two, at: 300)
    #expect(actions == [.loseTouch(.replay(.ahead), also: []), .deliver([Self.list(2, ["mary"])])])
    #expect(state.phase == .current && state.stamp == Self.stamp(4))
  }

  @Test func anotherGroupOfTheNameClosesWhoKnewTheFirst() {
    var state = unsure()
    let unit = TopicUnit(.whole(Self.stamp(9, epoch: "f")), [Self.list(2, ["mary"])])
    #expect(
      state.receive(unit, from: Self.two, at: 300) == [.loseTouch(.replay(.epoch), also: []), .deliver(unit.events)])
    #expect(state.stamp == Self.stamp(9, epoch: "f") && state.phase == .current)
  }

  // MARK: Live rooms

  @Test func aLiveRoomIsAdoptedAndAsksForItsLastState() {
    var state = FollowState(owner: Self.one, shardOwner: Self.one, shardTerm: 1, at: 0)
    let first = TopicUnit(nil, [Self.list(1, ["mary"])])
    #expect(state.receive(first, from: Self.one, at: 0) == [.deliver(first.events)])
    state.ownerIsGone(Self.one, at: 0)
    state.ownerMoved(to: Self.two, term: 2, at: 0)
    #expect(state.ask() == .compare(nil))
    #expect(state.compared(.same, of: nil, by: Self.two, at: 0) == [])
    #expect(state.phase == .current)
    let next = TopicUnit(nil, [Self.list(2, ["mary"])])
    #expect(
      state.receive(next, from: Self.two, at: 0)
        == [.deliver(next.events), .askReplay(Self.two, from: nil, through: FollowState.unknownStamp)])
    let last = state.replayed(
      .events(Self.replayed(1)), by: Self.two, from: nil, through: FollowState.unknownStamp, at: 0)
    #expect(last == [.tellAgain(Self.replayed(1))])
    #expect(state.receive(next, from: Self.two, at: 0) == [.deliver(next.events)], "it is told once")
  }

  // MARK: Time

  @Test func patienceEndsWhereTheOwnerSaysNothing() {
    var state = unsure()
    #expect(state.tick(at: 10_099, canBeAsked: true) == [])
    #expect(state.tick(at: 10_100, canBeAsked: true) == [.loseTouch(.late, also: [])])
    #expect(state.phase == .ended && state.tick(at: 20_000, canBeAsked: true) == [])
  }

  @Test func aLinkThatWasSilentForLongHasLessPatience() {
    var state = current()
    state.ownerIsGone(Self.one, at: 0, patience: FollowState.shortPatience)
    #expect(state.tick(at: 1_999, canBeAsked: true) == [])
    #expect(state.tick(at: 2_000, canBeAsked: true) == [.loseTouch(.late, also: [])])
  }

  @Test func usersWhoNeedNotBeMembersAreToldByAnybodyWhoMay() {
    var state = unsure()
    let news = TopicUnit(nil, [.send(["vera"], except: nil, frame: [1])])
    #expect(state.receive(news, from: Self.two, at: 300) == [.deliver(news.events)])
    #expect(state.receive(news, from: NodeNumber(9), at: 300) == [])
  }
}
