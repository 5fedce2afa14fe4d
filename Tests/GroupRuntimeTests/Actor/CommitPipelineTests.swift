import GroupModel
import GroupPermissions
import Testing
import ThrongTestKit
import WireProtocol

@testable import GroupRuntime

/// The order of deliveries, and the decisions that a failed commit makes void.
@Suite final class CommitPipelineTests {
  private let clocks = ManualClocks()
  private var pipeline = CommitPipeline()
  private let box: Group.StateBox

  init() {
    let record = GroupRecord(
      id: "g", type: .avChatRoom, epoch: "e", createTime: 0, owner: "olga", name: "n", maxMemberNum: 0,
      policy: .defaults(for: .avChatRoom), nextOrdinal: 2)
    var limits = GroupLimits.standard
    limits.messagesPerSecond = [.avChatRoom: 1]
    let stored = StoredGroup(record: record, members: [], lastMessage: nil, recentlySent: [])
    box = Group.StateBox(GroupState(stored, at: clocks.now, rules: GroupRules(limits: limits)))
  }

  private static func change(_ user: UserID) -> StoreChange { .forgetFormer(user, in: "g") }

  /// A decision with a change for each user.
  private static func decision(_ users: UserID...) -> Decision {
    var decision = Decision(answer: .reply(.empty))
    decision.changes = users.map(change)
    return decision
  }

  private func append(_ decision: Decision) { pipeline.append(decision, from: box) { _ in } }

  /// The changes of the decisions that can be delivered.
  private func deliverable() -> [[StoreChange]] {
    var changes: [[StoreChange]] = []
    while let entry = pipeline.popDeliverable(from: box, at: clocks) { changes.append(entry.decision.changes) }
    return changes
  }

  private func returnFailedCorrections() -> Bool { pipeline.returnFailedCorrections(to: box) }

  private func acquire() -> Bool? { box.state.rateLimiter?.acquire(at: clocks.monotonic) }

  private static func message(_ id: String) -> WaitingMessage {
    let message = Message(
      msgID: id, groupID: "g", seq: nil, sender: "mary", nameCard: "", timestamp: 0, content: .text(id), priority: .normal,
      clientMsgID: nil, platform: .web)
    return WaitingMessage(message: message, senderProfile: nil, session: SessionKey(loop: 0, connection: 1), type: .avChatRoom)
  }

  @Test func decisionsAreDeliveredInOrderAsTheirCommitsBecomeDurable() {
    for decision in [Self.decision("a"), Self.decision(), Self.decision("b"), Self.decision()] { append(decision) }
    #expect(deliverable().isEmpty)
    pipeline.didCommit()
    #expect(deliverable() == [[Self.change("a")], []])
    #expect(!pipeline.isEmpty)
    pipeline.didCommit()
    #expect(deliverable() == [[Self.change("b")], []])
    #expect(pipeline.isEmpty)
  }

  /// The store answers with its after-events, and those of later decisions are not touched.
  @Test func afterEventsArePostedAsTheStoreHasThem() {
    func posts(_ names: String...) -> Decision {
      var decision = Self.decision("a")
      decision.effects = names.map { name in
        .post(WebhookEntry(id: name, .messageSent, data: [], in: .group("g"), at: 0, since: 0, number: 0))
      }
      return decision
    }
    func stored(_ decision: Decision, _ numbers: [Int64]) -> [WebhookEntry] {
      zip(decision.effects, numbers).compactMap { effect, number in
        if case .post(let entry) = effect { entry.stored(as: number) } else { nil }
      }
    }
    func numbers() -> [Int64] {
      var numbers: [Int64] = []
      while let entry = pipeline.popDeliverable(from: box, at: clocks) {
        for case .post(let entry) in entry.decision.effects { numbers.append(entry.storedNumber) }
      }
      return numbers
    }
    let (first, second) = (posts("1", "in memory only", "2"), posts("3"))
    for decision in [first, Self.decision(), second] { append(decision) }
    pipeline.didCommit([stored(first, [7, 8, 9])[2], stored(first, [7])[0]])
    #expect(numbers() == [7, 0, 9])
    pipeline.didCommit(stored(second, [10]))
    #expect(numbers() == [10])
    for decision in [first, second] { append(decision) }
    pipeline.didCommit()
    pipeline.didCommit(stored(second, [11]))
    #expect(numbers() == [0, 0, 0, 11])
  }

  @Test func failedCorrectionsReturnToTheState() {
    pipeline.append(corrections: [Self.change("a")])
    append(Self.decision())
    #expect(returnFailedCorrections())
    #expect(box.state.corrections.popAll() == [Self.change("a")])
    #expect(deliverable() == [[]])
  }

  @Test func changesBehindFailedCorrectionsMakeTheStateVoid() {
    pipeline.append(corrections: [Self.change("a")])
    append(Self.decision())
    append(Self.decision("b"))
    #expect(!returnFailedCorrections())
    #expect(deliverable() == [[]], "this decision depends on no commit")
    let discarded = pipeline.discard(with: box, at: 0)
    #expect(discarded.completions.count == 1)
  }

  @Test func otherFailedCommitsMakeTheStateVoid() {
    append(Self.decision("a"))
    #expect(!returnFailedCorrections())
    #expect(deliverable().isEmpty)
  }

  @Test func discardingDropsQueuedMessagesButNotThoseThatItsReplyRefuses() {
    var decision = Self.decision("a")
    decision.rateLimited.dequeued = [Self.message("1"), Self.message("2")]
    append(decision)
    decision.rateLimited = RateLimitedMessages(offeredID: "2")
    append(decision)
    pipeline.didCommit()
    let discarded = pipeline.discard(with: box, at: 0)
    #expect(discarded.completions.count == 2)
    #expect(discarded.drops.effects.count == 1 && discarded.drops.counts.map(\.steps) == [.dropped])
    append(Self.decision("b"))
    #expect(deliverable().isEmpty, "the durable commit was discarded, too")
  }

  /// They come late, when another decision waits for its own.
  @Test func profilesOfADiscardedDecisionAreNoOtherOnes() {
    let discarded = pipeline.append(Self.decision(), from: box, awaitsProfiles: true) { _ in }
    _ = pipeline.discard(with: box, at: 0)
    let waiting = pipeline.append(Self.decision(), from: box, awaitsProfiles: true) { _ in }
    pipeline.show([:], in: discarded)
    #expect(deliverable().isEmpty)
    pipeline.show([:], in: waiting)
    #expect(deliverable() == [[]])
  }

  @Test func postponedDeliveriesOccupyTheirSlotsFromTheirDeliveryOn() {
    let start = clocks.monotonic
    #expect(acquire() == true)
    var decision = Self.decision("a")
    decision.rateLimited.deliveries = 1
    append(decision)
    #expect(box.state.rateLimiter?.nextSlot == .distantFuture)
    clocks.advance(by: 5000)
    pipeline.didCommit()
    let delivered = pipeline.popDeliverable(from: box, at: clocks)
    #expect(delivered?.movesNextWake == true)
    #expect(box.state.rateLimiter?.nextSlot == start + 6000)
  }
}
