import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Webhooks

private struct Gains: LaneOwnership {
  var isOwner = true
  var lastGain: Int64 = 0
  func gain(of _: WebhookEntry.Lane) -> Int64? { isOwner ? lastGain : nil }
}

/// The transitions of an outbox.
@Suite final class OutboxMachineTests {
  private var machine: OutboxMachine
  private var gains = Gains()
  private var clock: Int64 = 0
  private var lastNumber: Int64 = 0
  private var timers: [MonotonicInstant] = []

  init() { machine = OutboxMachineTests.machine() }

  private static func machine(
    pending: Int = 0, failures: Int = 0, retention: Duration = .seconds(3600), maxPending: Int = 1000, isShared: Bool = false,
    bounds: OutboxQueue.Bounds = OutboxQueue.Bounds()
  ) -> OutboxMachine {
    OutboxMachine(
      WebhookOutbox.Configuration(retention: retention, maxPending: maxPending, maxInFlight: 2),
      WebhookCounts(pending: pending, failures: failures), isShared: isShared, bounds: bounds)
  }

  private func handle(_ input: OutboxInput) -> [OutboxAction] {
    let now = ClockReading(wall: WallInstant(milliseconds: clock), monotonic: now)
    let actions = machine.handle(input, in: OutboxMachine.Context(now: now, ownership: gains))
    for case .setTimer(let due) in actions { timers.append(due) }
    return actions
  }

  private var now: MonotonicInstant { MonotonicInstant(nanoseconds: clock * 1_000_000) }

  /// What the outbox does after some milliseconds, without the timers that it sets.
  private func wake(after milliseconds: Int64 = 0) -> [OutboxAction] {
    clock += milliseconds
    let due = timers.filter { $0 <= now }
    timers.removeAll { $0 <= now }
    for timer in due { #expect(handle(.timerFired(timer)).isEmpty) }
    return handle(.woken).filter { if case .setTimer = $0 { false } else { true } }
  }

  private func lane(_ number: Int) -> WebhookEntry.Lane { .group(GroupID("g\(number)")!) }  // A plain word.

  private func volatile(_ id: String, _ number: Int = 1) -> WebhookEntry {
    WebhookEntry(id: id, .messageSent, data: [], in: lane(number), at: 0, since: WallInstant(milliseconds: clock), number: 0)
  }

  private func stored(_ number: Int = 1) -> WebhookEntry {
    lastNumber += 1
    return volatile("\(lastNumber)", number).stored(as: lastNumber)
  }

  /// Posts stored entries in lanes of their own, and lets the receiver have them.
  @discardableResult
  private func deliver(_ count: Int) -> [OutboxAction] {
    var actions: [OutboxAction] = []
    for _ in 0..<count {
      let entry = stored()
      _ = handle(.posted([entry]))
      actions += handle(.woken)
      actions += handle(.attemptEnded(entry, .delivered, error: ""))
    }
    return actions
  }

  /// Lets an attempt end with an answer that is no success.
  private func refuse(_ entry: WebhookEntry) -> [OutboxAction] {
    handle(.attemptEnded(entry, .failed(isAnswered: true), error: "why"))
  }

  private var isReady: Bool { if case .ready = machine.state { true } else { false } }

  // MARK: Attempts

  @Test func asManyArePostedAsMayBeInFlight() {
    let entries = [stored(1), stored(1), stored(2), stored(3)]
    #expect(handle(.posted(entries)).isEmpty, "the client's thread does the work")
    #expect(wake() == [.post(entries[0]), .post(entries[2])])
    #expect(machine.isBlocked && wake().isEmpty && machine.pendingCount == 4)
    #expect(handle(.attemptEnded(entries[0], .delivered, error: "")).isEmpty)
    #expect(!machine.isBlocked && machine.pendingCount == 3)
    #expect(wake() == [.post(entries[3])], "lanes take turns")
  }

  @Test func anAttemptIsTriedAgainWhenItsTimerFires() {
    let entry = stored()
    _ = handle(.posted([entry]))
    #expect(handle(.woken) == [.post(entry)])
    #expect(refuse(entry).isEmpty)
    #expect(handle(.woken) == [.setTimer(1000)])
    #expect(handle(.woken).isEmpty, "it is set already")
    #expect(wake(after: 999).isEmpty)
    #expect(wake(after: 1) == [.post(entry)])
  }

  @Test func aTimerIsSetOnlyBeforeThoseThatAreSet() {
    let (early, late) = (stored(1), stored(2))
    _ = handle(.posted([early, late]))
    _ = wake()
    for delay in [1000, 2000] as [Int64] {
      _ = refuse(late)
      #expect(handle(.woken) == [.setTimer(now + delay)])
      #expect(wake(after: delay) == [.post(late)])
    }
    _ = refuse(late)
    #expect(handle(.woken) == [.setTimer(now + 4000)])
    _ = refuse(early)
    #expect(handle(.woken) == [.setTimer(now + 1000)], "one that is due before")
    #expect(wake(after: 1000) == [.post(early)])
    _ = refuse(early)
    #expect(handle(.woken) == [.setTimer(now + 2000)], "the one of the other is not known any more")
  }

  @Test func anEntryIsLostWhereMemoryIsFull() {
    var bounds = OutboxQueue.Bounds()
    bounds.entries = 1
    machine = OutboxMachineTests.machine(bounds: bounds)
    #expect(handle(.posted([volatile("a"), volatile("b")])) == [.tell(.lost(volatile("b")))])
    #expect(machine.pendingCount == 1)
  }

  @Test func itTellsOnceThatTheReceiverIsDownAndOnceThatItIsBack() throws {
    let entries = (0..<4).map { volatile("v\($0)", $0) }
    _ = handle(.posted(entries))
    var told: [OutboxAction] = []
    var inFlight: [WebhookEntry] = []
    for _ in 0..<3 {
      inFlight += wake().compactMap { if case .post(let entry) = $0 { entry } else { nil } }
      told += handle(.attemptEnded(inFlight.removeFirst(), .failed(isAnswered: false), error: "silence"))
    }
    #expect(told == [.tell(.receiverIsDown(error: "silence"))])
    _ = handle(.attemptEnded(inFlight.removeFirst(), .failed(isAnswered: false), error: "silence"))
    _ = handle(.woken)
    #expect(machine.isBlocked && wake(after: 999).isEmpty)
    guard case .post(let probe)? = wake(after: 1).first else { throw StoreError(.inconsistent, "no probe") }
    #expect(handle(.attemptEnded(probe, .delivered, error: "")) == [.tell(.receiverIsBack)])
  }

  // MARK: Commits

  @Test func deliveredEntriesLeaveTheStoreTogether() {
    let actions = deliver(3)
    #expect(actions.contains(.setTimer(250)))
    #expect(wake(after: 249).isEmpty)
    #expect(wake(after: 1) == [.commit([.removeWebhooks([1, 2, 3])])])
    deliver(1)
    #expect(wake(after: 1000).isEmpty, "one commit at a time")
    #expect(handle(.committed(isDurable: true)) == [.commit([.removeWebhooks([4])])])
    #expect(handle(.committed(isDurable: true)).isEmpty && isReady && machine.pendingCount == 0)
  }

  @Test func aThousandDoNotWait() {
    #expect(deliver(999).allSatisfy { if case .commit = $0 { false } else { true } })
    deliver(1)
    #expect(wake() == [.commit([.removeWebhooks(Array(1...1000))])])
  }

  @Test func aCommitThatFailsIsMadeAgainAfterASecond() {
    deliver(2)
    #expect(wake(after: 250).count == 1)
    #expect(handle(.committed(isDurable: false)) == [.setTimer(1250)])
    deliver(1)
    #expect(wake(after: 999).isEmpty)
    #expect(wake(after: 1) == [.commit([.removeWebhooks([1, 2, 3])])])
  }

  @Test func aDeadLetterIsStoredAtOnce() {
    machine = OutboxMachineTests.machine(retention: .zero)
    let (entry, other) = (stored(), volatile("v", 2))
    _ = handle(.posted([entry, other]))
    _ = wake()
    #expect(refuse(entry) == [.tell(.givenUp(DeadLetter(entry: entry, attempts: 1, error: "why")))])
    #expect(wake() == [.commit([.giveUpWebhook(entry, attempts: 1, lastError: "why")])])
    #expect(refuse(other) == [.tell(.givenUp(DeadLetter(entry: other, attempts: 1, error: "why")))])
    #expect(machine.pendingCount == 0)
  }

  @Test func moreDeadLettersThanAreKeptAreTrimmedAndTold() {
    machine = OutboxMachineTests.machine(failures: 3, retention: .zero, maxPending: 2)
    let entry = volatile("v")
    _ = handle(.posted([entry]))
    _ = wake()
    _ = refuse(entry)
    #expect(
      wake() == [.commit([.giveUpWebhook(entry, attempts: 1, lastError: "why"), .trimWebhookFailures(keeping: 2)])])
    #expect(handle(.committed(isDurable: true)) == [.tell(.deadLettersRemoved(2))])
  }

  // MARK: Reads

  @Test func itGoesOnWithWhatTheStoreHas() {
    machine = OutboxMachineTests.machine(pending: 1)
    let read = StoreRead.next(OutboxQueue.Read(lane: nil, after: 0, limit: 256), bytes: 4 << 20)
    #expect(wake() == [.read(read)])
    #expect(wake().isEmpty, "one read at a time")
    #expect(
      handle(.readFailed(read, StoreError(.unavailable, "full"))) == [.tell(.readFailed(error: "full")), .setTimer(1000)])
    #expect(wake(after: 999).isEmpty)
    #expect(wake(after: 1) == [.read(read)])
    let entry = stored()
    #expect(handle(.entriesRead([entry], isWhole: true)) == [.post(entry)])
    #expect(machine.pendingCount == 1)
  }

  // MARK: Trims

  /// Three wait, two may, and one of them is posted.
  private func exceed() -> [WebhookEntry] {
    machine = OutboxMachineTests.machine(maxPending: 2)
    let entries = (0..<3).map { _ in stored() }
    _ = handle(.posted(entries))
    return entries
  }

  private func letter(_ entry: WebhookEntry) -> DeadLetter {
    DeadLetter(entry: entry, attempts: 0, error: "more than 2 requests wait")
  }

  @Test func theOldestAreGivenUpWhereTooManyWait() {
    let entries = exceed()
    #expect(wake() == [.post(entries[0]), .read(.oldest(limit: 3))])
    #expect(wake(after: 1000).isEmpty)
    let commit = OutboxAction.commit([.giveUpWebhook(entries[1], attempts: 0, lastError: "more than 2 requests wait")])
    #expect(handle(.oldestRead(entries)) == [.tell(.givenUp(letter(entries[1]))), commit])
    #expect(machine.pendingCount == 2)
    #expect(handle(.committed(isDurable: true)).isEmpty && isReady)
  }

  @Test func aTrimWaitsForACommitAndOthersWaitForIt() {
    machine = OutboxMachineTests.machine(maxPending: 2)
    deliver(1)
    #expect(wake(after: 250) == [.commit([.removeWebhooks([1])])])
    let entries = (0..<4).map { _ in stored() }
    _ = handle(.posted(entries))
    #expect(wake() == [.post(entries[0])])
    _ = handle(.attemptEnded(entries[0], .delivered, error: ""))
    #expect(wake(after: 250) == [.post(entries[1])], "no commit either")
    #expect(handle(.committed(isDurable: true)) == [.read(.oldest(limit: 4))])
    #expect(wake(after: 250).isEmpty, "the removal waits")
    let commit = OutboxAction.commit([
      .giveUpWebhook(entries[2], attempts: 0, lastError: "more than 2 requests wait"), .removeWebhooks([2]),
    ])
    #expect(handle(.oldestRead(entries)) == [.tell(.givenUp(letter(entries[2]))), commit])
  }

  @Test func aTrimWaitsForARead() {
    machine = OutboxMachineTests.machine(pending: 3, maxPending: 2)
    let entries = (0..<3).map { _ in stored() }
    // Nothing is read before the first trim: as many wait as the store says.
    #expect(wake() == [.read(.oldest(limit: 3))])
    let actions = handle(.oldestRead(entries))
    #expect(actions.count == 3 && actions[0] == .tell(.givenUp(letter(entries[0]))))
    guard case .read(.next) = actions[1], case .commit = actions[2] else { return #expect(Bool(false), "\(actions)") }
    _ = handle(.posted([stored(), stored()]))
    #expect(handle(.committed(isDurable: true)).isEmpty, "the read is under way")
    let next = handle(.entriesRead(Array(entries[1...]), isWhole: true))
    #expect(next.contains(.read(.oldest(limit: 4))), "\(next)")
  }

  @Test func whereAllOfTheOldestArePostedATrimWaitsForASecond() {
    let entries = exceed()
    _ = wake()
    #expect(handle(.oldestRead([entries[0]])) == [.setTimer(1000)])
    #expect(wake(after: 999).isEmpty)
    #expect(wake(after: 1) == [.read(.oldest(limit: 3))])
  }

  @Test func aTrimThatFailsIsTriedAgain() {
    _ = exceed()
    _ = wake()
    _ = handle(.readFailed(.oldest(limit: 3), StoreError(.unavailable, "full")))
    #expect(isReady && wake(after: 999).isEmpty)
    #expect(wake(after: 1) == [.read(.oldest(limit: 3))])
  }

  /// Entries of lanes that others post are theirs to give up.
  @Test func entriesOfOthersAreNotGivenUp() {
    let entries = exceed()
    _ = wake()
    gains.isOwner = false
    #expect(handle(.oldestRead(entries)) == [.setTimer(1000)])
  }

  // MARK: Several processes

  @Test func aProcessWithNothingToDoCountsWhatWaits() {
    machine = OutboxMachineTests.machine(isShared: true)
    #expect(handle(.woken) == [.setTimer(60_000)])
    #expect(wake(after: 59_999).isEmpty)
    #expect(wake(after: 1) == [.read(.counts)])
    #expect(wake(after: 60_000).isEmpty, "one count at a time")
    #expect(handle(.counted(WebhookCounts(pending: 0, failures: 0))) == [.read(.counts)], "a minute has passed since")
    _ = handle(.readFailed(.counts, StoreError(.unavailable, "full")))
    #expect(wake(after: 1000) == [.read(.counts)])
  }

  @Test func whatTheCountFindsIsSearchedFor() {
    machine = OutboxMachineTests.machine(isShared: true)
    _ = wake()
    #expect(wake(after: 60_000) == [.read(.counts)])
    let actions = handle(.counted(WebhookCounts(pending: 1, failures: 4)))
    #expect(actions.contains(.read(.next(OutboxQueue.Read(lane: nil, after: 0, limit: 256), bytes: 4 << 20))))
    #expect(machine.pendingCount == 1 && machine.beginRetry() == 4)
    // It was another's: the count is made again after a second.
    _ = handle(.entriesRead([], isWhole: true))
    #expect(wake(after: 999).isEmpty)
    #expect(wake(after: 1) == [.read(.counts)])
  }

  @Test func lanesThatHaveChangedAreSearchedForAndCounted() {
    machine = OutboxMachineTests.machine(isShared: true)
    _ = wake()
    #expect(handle(.lanesChanged).isEmpty)
    let search = OutboxAction.read(.next(OutboxQueue.Read(lane: nil, after: 0, limit: 256), bytes: 4 << 20))
    #expect(wake() == [.read(.counts), search])
    _ = handle(.lanesChanged)
    #expect(wake().isEmpty)
    #expect(handle(.counted(WebhookCounts(pending: 0, failures: 0))) == [.read(.counts)], "once more")
    #expect(handle(.entriesRead([], isWhole: true)) == [search], "it began before the change")
  }

  @Test func aProcessThatIsAloneNeverCounts() {
    #expect(handle(.lanesChanged).isEmpty)
    #expect(handle(.woken).isEmpty && wake(after: 100_000).isEmpty)
  }

  @Test func anEntryOfALaneThatIsLostIsNotPosted() {
    machine = OutboxMachineTests.machine(isShared: true)
    _ = handle(.posted([stored()]))
    gains.isOwner = false
    #expect(wake().isEmpty)
  }

  // MARK: Administration

  @Test func oneCallRetriesAtATime() {
    machine = OutboxMachineTests.machine(failures: 5)
    #expect(machine.beginRetry() == 5 && machine.beginRetry() == nil)
    machine.didRetry(3)
    machine.endRetry()
    #expect(machine.beginRetry() == 2)
    machine.endRetry()
    _ = handle(.stop)
    #expect(machine.beginRetry() == nil)
  }

  // MARK: The end

  @Test func nothingBeginsOnceItStops() {
    machine = OutboxMachineTests.machine(pending: 9, maxPending: 1, isShared: true)
    _ = handle(.posted([stored(), volatile("v", 2)]))
    #expect(handle(.stop).isEmpty)
    #expect(handle(.woken).isEmpty)
    #expect(wake(after: 100_000).isEmpty && timers.isEmpty)
    #expect(machine.end() == [.appendWebhook(volatile("v", 2))])
  }

  @Test func whatIsLeftIsHandedOut() {
    machine = OutboxMachineTests.machine(retention: .seconds(1))
    let (delivered, refused, abandoned) = (stored(1), stored(2), volatile("v", 3))
    _ = handle(.posted([delivered, refused]))
    _ = wake()
    _ = handle(.attemptEnded(delivered, .delivered, error: ""))
    _ = handle(.posted([abandoned]))
    #expect(wake() == [.post(abandoned)])
    clock = 2000
    _ = handle(.stop)
    _ = refuse(refused)
    #expect(
      machine.end() == [
        .giveUpWebhook(refused, attempts: 1, lastError: "why"), .removeWebhooks([1]), .appendWebhook(abandoned),
      ])
  }

  @Test(arguments: [true, false])
  func aCommitInFlightIsHandedOutOnlyWhereItHasFailed(isDurable: Bool) {
    deliver(2)
    #expect(wake(after: 250) == [.commit([.removeWebhooks([1, 2])])])
    _ = handle(.stop)
    #expect(handle(.committed(isDurable: isDurable)).isEmpty)
    #expect(machine.end() == (isDurable ? [] : [.removeWebhooks([1, 2])]))
  }

  @Test func aTrimThatIsOverGivesNothingUp() {
    let entries = exceed()
    _ = wake()
    _ = handle(.stop)
    #expect(handle(.oldestRead(entries)).isEmpty && machine.pendingCount == 3)
  }
}
