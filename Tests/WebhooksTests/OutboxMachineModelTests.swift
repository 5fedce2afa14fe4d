import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Webhooks

/// Processes with an outbox each, the store that they share, and a receiver, all at random.
///
/// The oracle knows what was handed in, in which order, and what the receiver has acknowledged and
/// refused; of the outbox it knows what it tells: what was lost and what was given up.
private final class OutboxModel {
  typealias Lane = WebhookEntry.Lane

  private struct Gains: LaneOwnership {
    var gains: [Lane: Int64] = [:]
    var lastGain: Int64 = 0
    func gain(of lane: Lane) -> Int64? { gains[lane] }
  }

  /// A read under way: the rows of the moment at which it began, of which each is looked at when
  /// its owner may have changed meanwhile.
  private struct PendingRead {
    let read: StoreRead
    let lane: Lane?
    let limit: Int
    var rows: ArraySlice<WebhookEntry>
    var found: [WebhookEntry] = []
  }

  private struct Process {
    var machine: OutboxMachine
    var gains = Gains()
    /// By lane, because the groups of a process do not wait for each other.
    var undelivered: [Lane: [WebhookEntry]] = [:]
    var arriving: [WebhookEntry] = []
    var isBlocked = false
    var mustWake = true
    var timers: [MonotonicInstant] = []
    var inFlight: [WebhookEntry] = []
    var commit: [StoreChange]?
    var reads: [PendingRead] = []
    /// The end of the process has begun.
    var isStopping = false

    var isQuiet: Bool {
      !mustWake && inFlight.isEmpty && commit == nil && reads.isEmpty && undelivered.isEmpty && (isBlocked || arriving.isEmpty)
    }
  }

  private static let lanes = (0..<5).map { Lane.group(GroupID("g\($0)")!) }  // Plain words.
  private static let maxInFlight = 3

  private var random: SeededGenerator
  private let isShared: Bool
  /// One of so many chances to move a lane, or to end a process, is taken.
  private let calm: Int
  private let configuration: WebhookOutbox.Configuration
  private var processes: [Process] = []
  private var owners: [Lane: Int] = [:]
  private var clock: Int64 = 0
  private var isReceiverDown = false
  /// The store.
  private var rows: [WebhookEntry] = []
  private var lastNumber: Int64 = 0
  private var letters: [(number: Int64, entry: WebhookEntry)] = []
  private var lastLetter: Int64 = 0

  // What the oracle knows.
  private var madeCount = 0
  private var handedIn: [Lane: [String]] = [:]
  private var all: Set<String> = []
  private var accepted: Set<String> = []
  private var givenUp: Set<String> = []
  /// The processes that have entries in memory only.
  private var holders: [String: Int] = [:]
  private(set) var faults: [String] = []
  /// What has happened at least once.
  private(set) var happened: Set<Happening> = []

  enum Happening: CaseIterable {
    case takeover, end, kill, trim, count, failedCommit, failedRead, givenUp, lost, deadLettersRemoved, receiverIsDown, retry
  }

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    isShared = seed % 3 > 0
    calm = [1, 8, 64][Int(seed / 3 % 3)]
    let isTight = seed / 9 % 3 == 0
    configuration = WebhookOutbox.Configuration(
      retention: seed / 9 % 3 == 1 ? .seconds(40) : .seconds(100_000), maxPending: isTight ? 6 : 1000,
      maxInFlight: OutboxModel.maxInFlight)
    // An earlier run has left some.
    for _ in 0..<number(0...12) { handIn(lane()) }
    for _ in 0..<(isShared ? 3 : 1) { processes.append(makeProcess()) }
    for lane in OutboxModel.lanes { give(lane, to: number(0...processes.count - 1)) }
  }

  private var now: ClockReading { ClockReading(wall: WallInstant(clock), monotonic: MonotonicInstant(milliseconds: Int(clock))) }

  private func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private func happens(onceIn count: Int) -> Bool { number(1...count) == 1 }
  private func lane() -> Lane { OutboxModel.lanes[number(0...OutboxModel.lanes.count - 1)] }
  private func fault(_ text: String) { faults.append(text) }

  private func makeProcess() -> Process {
    var bounds = OutboxQueue.Bounds()
    (bounds.entries, bounds.entriesPerLane, bounds.page) = (8, 3, 3)
    let counts = WebhookCounts(pending: isShared ? 0 : rows.count, failures: letters.count)
    return Process(machine: OutboxMachine(configuration, counts, isShared: isShared, bounds: bounds))
  }

  private func give(_ lane: Lane, to index: Int) {
    if let owner = owners[lane] { processes[owner].gains.gains[lane] = nil }
    owners[lane] = index
    if isShared { processes[index].gains.lastGain += 1 }
    processes[index].gains.gains[lane] = processes[index].gains.lastGain
    if isShared { handle(.lanesChanged, at: index) }
    processes[index].mustWake = true
  }

  // MARK: Entries

  @discardableResult
  private func handIn(_ lane: Lane, keepsOrder: Bool = true) -> WebhookEntry {
    let entry = append(make("s", lane))
    if keepsOrder { handedIn[lane, default: []].append(entry.id) }
    return entry
  }

  private func make(_ kind: String, _ lane: Lane) -> WebhookEntry {
    madeCount += 1
    let id = "\(kind)\(madeCount)"
    all.insert(id)
    return WebhookEntry(id: id, .messageSent, data: [], in: lane, at: 0, since: now.wall, number: 0)
  }

  private func append(_ entry: WebhookEntry) -> WebhookEntry {
    lastNumber += 1
    let stored = entry.stored(as: lastNumber)
    rows.append(stored)
    return stored
  }

  /// A change of a group is durable.
  private func act() {
    let lane = lane()
    guard let owner = owners[lane], !processes[owner].isStopping else { return }
    if happens(onceIn: 8) {
      postEarly([handIn(lane, keepsOrder: false)], at: owner)
    } else if happens(onceIn: 5) {
      let entry = make("v", lane)
      holders[entry.id] = owner
      processes[owner].undelivered[lane, default: []].append(entry)
    } else {
      processes[owner].undelivered[lane, default: []].append(handIn(lane))
    }
  }

  /// Entries of commits beside those of the groups, such as of counters, are posted before earlier
  /// ones.
  private func postEarly(_ entries: [WebhookEntry], at index: Int) {
    processes[index].arriving += entries
    for lane in Set(entries.map(\.lane)) {
      processes[index].arriving += processes[index].undelivered.removeValue(forKey: lane) ?? []
    }
    processes[index].mustWake = true
  }

  /// The group posts its next one.
  private func post(at index: Int) {
    guard let lane = OutboxModel.lanes.filter({ processes[index].undelivered[$0] != nil }).randomElement(using: &random),
      let entry = processes[index].undelivered[lane]?.removeFirst()
    else { return }
    if processes[index].undelivered[lane]?.isEmpty == true { processes[index].undelivered[lane] = nil }
    processes[index].arriving.append(entry)
    if !processes[index].isBlocked || processes[index].arriving.count >= 4 { processes[index].mustWake = true }
  }

  /// An administrator posts the dead letters again.
  private func retryLetters(at index: Int) {
    guard processes[index].machine.beginRetry() != nil else { return }
    if !letters.isEmpty { happened.insert(.retry) }
    let entries = letters.map { append($0.entry) }
    letters = []
    processes[index].machine.didRetry(entries.count)
    processes[index].machine.endRetry()
    postEarly(entries, at: index)
    for other in processes.indices where isShared { handle(.lanesChanged, at: other) }
  }

  // MARK: The machine

  private func handle(_ input: OutboxInput, at index: Int) {
    let context = OutboxMachine.Context(now: now, ownership: processes[index].gains)
    let arrived = processes[index].arriving
    processes[index].arriving = []
    let actions =
      processes[index].machine.handle(.posted(arrived), in: context) + processes[index].machine.handle(input, in: context)
    for action in actions { perform(action, at: index) }
    switch input {
    case .woken, .committed, .entriesRead, .oldestRead, .counted, .readFailed:
      processes[index].isBlocked = processes[index].machine.isBlocked
    case .posted, .lanesChanged, .attemptEnded, .timerFired: processes[index].mustWake = true
    case .stop: break
    }
  }

  private func perform(_ action: OutboxAction, at index: Int) {
    let process = processes[index]
    if process.isStopping, action.beginsWork { fault("a process that stops begins \(action)") }
    switch action {
    case .post(let entry):
      if process.inFlight.count >= OutboxModel.maxInFlight { fault("too many are in flight") }
      if process.inFlight.contains(where: { $0.lane == entry.lane }) { fault("two of a lane are in flight") }
      if entry.storedNumber > 0, process.gains.gains[entry.lane] == nil { fault("\(entry.id) is posted by a stranger") }
      processes[index].inFlight.append(entry)
    case .commit(let changes):
      if process.commit != nil || process.reads.contains(where: \.read.isOldest) { fault("a commit beside a commit or a trim") }
      processes[index].commit = changes
    case .read(let read): begin(read, at: index)
    case .setTimer(let due): processes[index].timers.append(due)
    case .tell(.lost(let entry)):
      if entry.storedNumber > 0 { fault("a stored entry is lost") }
      happened.insert(.lost)
      all.remove(entry.id)
    case .tell(.givenUp(let letter)):
      happened.insert(.givenUp)
      givenUp.insert(letter.entry.id)
    case .tell(.deadLettersRemoved): happened.insert(.deadLettersRemoved)
    case .tell(.receiverIsDown): happened.insert(.receiverIsDown)
    case .tell(.receiverIsBack), .tell(.readFailed): break
    }
  }

  // MARK: The receiver

  private func end(at index: Int, isWell: Bool) {
    guard let place = processes[index].inFlight.indices.randomElement(using: &random) else { return }
    let entry = processes[index].inFlight.remove(at: place)
    if isWell { accept(entry) }
    let refusals: [OutboxQueue.Outcome] = [.failed(isAnswered: true), .failed(isAnswered: false), .notSent]
    let outcome = isWell ? .delivered : isReceiverDown ? refusals[1] : refusals[number(0...2)]
    handle(.attemptEnded(entry, outcome, error: "e"), at: index)
  }

  private func accept(_ entry: WebhookEntry) {
    guard accepted.insert(entry.id).inserted, let order = handedIn[entry.lane], let place = order.firstIndex(of: entry.id),
      !givenUp.contains(entry.id)
    else { return }
    for earlier in order[..<place] where !accepted.contains(earlier) && !givenUp.contains(earlier) {
      fault("\(entry.id) overtakes \(earlier)")
    }
  }

  // MARK: The store

  private func begin(_ read: StoreRead, at index: Int) {
    let reads = processes[index].reads
    switch read {
    case .next(let next, _):
      if reads.contains(where: { !$0.read.isCount }) { fault("two reads, or one beside a trim") }
      let rows = rows.filter { $0.storedNumber > next.after && (next.lane == nil || $0.lane == next.lane) }
      processes[index].reads.append(PendingRead(read: read, lane: next.lane, limit: next.limit, rows: rows[...]))
    case .oldest(let limit):
      if reads.contains(where: { !$0.read.isCount }) || processes[index].commit != nil { fault("a trim beside other work") }
      happened.insert(.trim)
      processes[index].reads.append(PendingRead(read: read, lane: nil, limit: limit, rows: rows[...]))
    case .counts:
      if reads.contains(where: \.read.isCount) { fault("two counts") }
      happened.insert(.count)
      processes[index].reads.append(PendingRead(read: read, lane: nil, limit: .max, rows: rows[...]))
    }
  }

  private func goOn(_ place: Int, at index: Int, isWell: Bool) {
    var read = processes[index].reads[place]
    if !isWell {
      happened.insert(.failedRead)
      processes[index].reads.remove(at: place)
      return handle(.readFailed(read.read, StoreError(.unavailable, "e")), at: index)
    }
    for _ in 0..<number(1...4) where read.found.count < read.limit {
      guard let row = read.rows.popFirst() else { break }
      if read.lane != nil || processes[index].gains.gains[row.lane] != nil { read.found.append(row) }
    }
    processes[index].reads[place] = read
    let isFull = read.found.count == read.limit
    guard isFull || read.rows.isEmpty else { return }
    processes[index].reads.remove(at: place)
    switch read.read {
    case .next: handle(.entriesRead(read.found, isWhole: !isFull), at: index)
    case .oldest: handle(.oldestRead(read.found), at: index)
    case .counts: handle(.counted(WebhookCounts(pending: read.found.count, failures: letters.count)), at: index)
    }
  }

  private func useStore(at index: Int, isWell: Bool) {
    let places = processes[index].reads.indices
    if let changes = processes[index].commit, places.isEmpty || Bool.random(using: &random) {
      processes[index].commit = nil
      if !isWell { happened.insert(.failedCommit) }
      if isWell { for change in changes { apply(change) } }
      handle(.committed(isDurable: isWell), at: index)
    } else if let place = places.randomElement(using: &random) {
      goOn(place, at: index, isWell: isWell)
    }
  }

  private func apply(_ change: StoreChange) {
    switch change {
    case .removeWebhooks(let numbers):
      for row in rows where numbers.contains(row.storedNumber) && !accepted.contains(row.id) { fault("\(row.id) is removed") }
      rows.removeAll { numbers.contains($0.storedNumber) }
    case .giveUpWebhook(let entry, _, _):
      rows.removeAll { $0.storedNumber == entry.storedNumber }
      lastLetter += 1
      letters.append((lastLetter, entry.stored(as: 0)))
    case .trimWebhookFailures(let kept):
      for letter in letters where letter.number <= lastLetter - Int64(kept) { all.remove(letter.entry.id) }
      letters.removeAll { $0.number <= lastLetter - Int64(kept) }
    case .appendWebhook(let entry): _ = append(entry)
    default: fault("\(change)")
    }
  }

  // MARK: The ends of processes

  /// What is in flight may have come. What was in memory only is lost.
  private func kill(_ index: Int) {
    happened.insert(.kill)
    for entry in processes[index].inFlight where Bool.random(using: &random) { accept(entry) }
    if let changes = processes[index].commit, Bool.random(using: &random) { for change in changes { apply(change) } }
    let stored = Set(rows.map(\.id)).union(letters.map(\.entry.id))
    for (id, holder) in holders where holder == index && !stored.contains(id) { all.remove(id) }
    replace(index)
  }

  private func stop(_ index: Int) {
    happened.insert(.end)
    handle(.stop, at: index)
    processes[index].isStopping = true
    while let entry = processes[index].inFlight.popLast() {
      guard happens(onceIn: 3) else { continue }
      accept(entry)
      if Bool.random(using: &random) { handle(.attemptEnded(entry, .delivered, error: ""), at: index) }
    }
    if let changes = processes[index].commit {
      let isWell = !happens(onceIn: 4)
      if isWell { for change in changes { apply(change) } }
      // The answer may come too late to be heard.
      if !isWell || Bool.random(using: &random) { handle(.committed(isDurable: isWell), at: index) }
    }
    for entries in processes[index].undelivered.values { processes[index].arriving += entries }
    handle(.posted([]), at: index)
    for change in processes[index].machine.end() { apply(change) }
    for (id, holder) in holders where holder == index { holders[id] = nil }
    replace(index)
  }

  private func replace(_ index: Int) {
    let lost = OutboxModel.lanes.filter { owners[$0] == index }
    for lane in lost { owners[lane] = nil }
    processes[index] = makeProcess()
    for lane in lost { give(lane, to: number(0...processes.count - 1)) }
  }

  // MARK: Steps

  func run() {
    for step in 0..<1500 { self.step(isCalm: step > 1200) }
    settle()
  }

  private func step(isCalm: Bool) {
    clock += 200
    let index = number(0...processes.count - 1)
    fireTimers(at: index)
    if happens(onceIn: isReceiverDown ? 20 : 300) { isReceiverDown.toggle() }
    // Groups are a little behind the store.
    if happens(onceIn: 2) { post(at: index) }
    switch number(isCalm ? 4...15 : 0...18) {
    case 0...2: act()
    case 3: if happens(onceIn: 10) { retryLetters(at: index) }
    case 4, 5: post(at: index)
    case 6, 7: wake(index)
    case 8, 9, 10: end(at: index, isWell: !isReceiverDown && !happens(onceIn: 4))
    case 11...15: useStore(at: index, isWell: !happens(onceIn: 12))
    case 16:
      guard isShared, happens(onceIn: calm) else { break }
      happened.insert(.takeover)
      give(lane(), to: index)
    case 17: if happens(onceIn: 8 * calm) { stop(index) }
    default: if happens(onceIn: 8 * calm) { kill(index) }
    }
  }

  private func wake(_ index: Int) {
    guard processes[index].mustWake else { return }
    processes[index].mustWake = false
    handle(.woken, at: index)
  }

  private func fireTimers(at index: Int) {
    let now = now.monotonic
    let due = processes[index].timers.filter { $0 <= now }
    processes[index].timers.removeAll { $0 <= now }
    for timer in due { handle(.timerFired(timer), at: index) }
  }

  /// All goes well until nothing is left; time passes to the next timer alone.
  private func settle() {
    for _ in 0..<20_000 {
      for index in processes.indices {
        post(at: index)
        wake(index)
        end(at: index, isWell: true)
        useStore(at: index, isWell: true)
        fireTimers(at: index)
      }
      guard processes.allSatisfy(\.isQuiet) else { continue }
      guard !rows.isEmpty || !missing.isEmpty, let next = processes.flatMap(\.timers).min() else { break }
      clock = max(clock, (next.nanoseconds + 999_999) / 1_000_000)
    }
    if !rows.isEmpty { fault("\(rows.count) are left in the store") }
    for id in missing.sorted() { fault("\(id) is lost") }
  }

  private var missing: Set<String> { all.subtracting(accepted).subtracting(letters.map(\.entry.id)) }
}

extension OutboxAction {
  fileprivate var beginsWork: Bool {
    switch self {
    case .post, .commit, .read: true
    case .setTimer, .tell: false
    }
  }
}

extension StoreRead {
  fileprivate var isCount: Bool { if case .counts = self { true } else { false } }
  fileprivate var isOldest: Bool { if case .oldest = self { true } else { false } }
}

@Suite struct OutboxMachineModelTests {
  /// "At least once, and in order for each group", and within the bounds, whatever happens when.
  @Test(arguments: 0..<162)
  func nothingIsLostOvertakenOrPostedByStrangers(seed: UInt64) {
    let model = OutboxModel(seed: seed)
    model.run()
    #expect(model.faults.isEmpty, "\(model.faults.prefix(3))")
  }

  @Test func everythingThatMayHappenDoes() {
    var missing = Set(OutboxModel.Happening.allCases)
    for seed in 0..<27 as Range<UInt64> {
      let model = OutboxModel(seed: seed)
      model.run()
      missing.subtract(model.happened)
    }
    #expect(missing.isEmpty)
  }
}
