import GroupModel
import Testing

/// Single cases; GroupRuntimeTests compares random histories with an oracle.
@Suite struct VisibilityTests {
  private let ann: UserID
  private let bob: UserID
  private let cat: UserID

  init() throws {
    ann = try #require(UserID("ann"))
    bob = try #require(UserID("bob"))
    cat = try #require(UserID("cat"))
  }

  private func ranges(
    from first: Int64, earlier: [ClosedRange<Int64>] = [], cleared: Int64 = 0, newest: Int64, _ policy: HistoryVisibility
  ) -> [ClosedRange<Int64>] {
    Visibility(of: ann, from: first, earlier: earlier, clearedThrough: cleared, through: newest, under: policy).ranges
  }

  private func message(_ seq: Int64?, from sender: UserID, to targets: [UserID] = []) throws -> Message {
    var message = Message(
      msgID: "m", groupID: try #require(GroupID("g")), seq: seq, sender: sender, nameCard: "", timestamp: .unset,
      content: .text("t"), priority: .normal, clientMsgID: nil, platform: .web)
    message.extras = MessageExtras(toUserIDList: targets)
    return message
  }

  @Test func joinedShowsTheMemberships() {
    #expect(ranges(from: 5, newest: 9, .joined) == [5...9])
    #expect(ranges(from: 8, earlier: [1...2, 4...5], newest: 9, .joined) == [1...2, 4...5, 8...9])
    #expect(ranges(from: 10, earlier: [1...2], newest: 9, .joined) == [1...2], "nothing has come since")
    #expect(ranges(from: 1, newest: 0, .joined) == [])
  }

  @Test func allShowsWhatWasBefore() {
    #expect(ranges(from: 8, earlier: [1...2], newest: 9, .all) == [1...9])
    #expect(ranges(from: 1, newest: 0, .all) == [])
  }

  @Test func clearingHidesUnderEitherPolicy() {
    #expect(ranges(from: 8, earlier: [1...2, 4...6], cleared: 5, newest: 9, .joined) == [6...6, 8...9])
    #expect(ranges(from: 8, earlier: [1...2], cleared: 9, newest: 9, .joined) == [])
    #expect(ranges(from: 8, cleared: 5, newest: 9, .all) == [6...9])
    #expect(ranges(from: 8, cleared: 9, newest: 9, .all) == [])
  }

  @Test func aTargetedMessageIsForItsSenderThoseNamedAndTheApplication() throws {
    let targeted = try message(3, from: ann, to: [bob])
    for (user, sees) in [(ann, true), (bob, true), (cat, false)] {
      #expect(Visibility(of: user, from: 1, through: 5, under: .joined).contains(targeted) == sees)
      #expect(Visibility(of: user, from: 4, through: 5, under: .joined).contains(targeted) == false, "before joining")
      #expect(Visibility(of: user, from: 1, through: 5, under: .joined).contains(try message(3, from: ann)))
    }
    #expect(Visibility(ofApplicationThrough: 5).contains(targeted))
    #expect(!Visibility(ofApplicationThrough: 2).contains(targeted))
    #expect(!Visibility(ofApplicationThrough: 5).contains(try message(nil, from: ann)), "no history holds it")
  }

  @Test func placesAreFoundInEveryRange() {
    let earlier = [1...1, 3...5, 7...7, 9...20] as [ClosedRange<Int64>]
    let visible = Visibility(of: ann, from: 22, earlier: earlier, through: 25, under: .joined)
    for seq in 0...27 as ClosedRange<Int64> {
      #expect(visible.contains(seq: seq) == (earlier + [22...25]).contains { $0.contains(seq) }, "\(seq)")
    }
  }

  @Test func singleMessagesAreTakenOut() {
    let visible = Visibility(of: ann, from: 6, earlier: [1...3], through: 9, under: .joined)
    #expect(visible.without([]) == visible)
    #expect(visible.without([1, 2, 3]).ranges == [6...9])
    #expect(visible.without([2, 4, 6, 9]).ranges == [1...1, 3...3, 7...8])
    #expect(visible.without([5, 7, 8, 12]).ranges == [1...3, 6...6, 9...9])
    #expect(visible.without(Array(1...9)).ranges == [])
  }
}
