import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Webhooks

/// Processes that share a store and pass lanes on to each other, and the receiver's log.
///
/// The oracle knows only what was committed, in which order, and what the receiver has accepted.
private struct Cluster {
  struct Process {
    var queue: OutboxQueue
    var gains: [WebhookEntry.Lane: Int64] = [:]
    var lastGain: Int64 = 0
    var mustSearch = false
    var inFlight: [WebhookEntry] = []
    /// Committed, and not posted yet.
    var unposted: [WebhookEntry] = []
    var toRemove: [Int64] = []
    /// The rows of the moment at which the read began, and how many of them have been looked at.
    var read: (read: OutboxQueue.Read, rows: [WebhookEntry], looked: Int, found: [WebhookEntry])?
  }

  var random: SeededGenerator
  var processes: [Process] = []
  var owners: [WebhookEntry.Lane: Int] = [:]
  var rows: [WebhookEntry] = []
  var lastNumber: Int64 = 0
  /// The order of the commits of each lane, without those of retryWebhooks, and all of them.
  var committed: [WebhookEntry.Lane: [String]] = [:]
  var all: Set<String> = []
  var accepted: [WebhookEntry.Lane: [String]] = [:]
  var now: MonotonicInstant = 0
  /// One of so many chances to move a lane is taken: a search ends only where it is calm.
  let calm: Int

  private static let lanes = (0..<5).map { WebhookEntry.Lane.group(GroupID("g\($0)")!) }  // Plain words.

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    calm = [1, 8, 64][Int(seed % 3)]
    // An earlier run has left some.
    for _ in 0..<Int.random(in: 0...12, using: &random) { _ = commit(anyLane()) }
    for _ in 0..<3 { addProcess() }
    for lane in Self.lanes { give(lane, to: Int.random(in: 0..<3, using: &random)) }
  }

  private mutating func anyLane() -> WebhookEntry.Lane { Self.lanes[Int.random(in: 0..<Self.lanes.count, using: &random)] }

  mutating func addProcess() {
    var bounds = OutboxQueue.Bounds()
    (bounds.entries, bounds.entriesPerLane, bounds.page) = (8, 3, 3)
    let readsStore = Bool.random(using: &random)
    processes.append(
      Process(
        queue: OutboxQueue(retention: .seconds(1_000_000), maxInFlight: 3, readsStore: readsStore, bounds: bounds)))
  }

  mutating func give(_ lane: WebhookEntry.Lane, to number: Int) {
    if let owner = owners[lane] { processes[owner].gains[lane] = nil }
    owners[lane] = number
    processes[number].lastGain += 1
    processes[number].gains[lane] = processes[number].lastGain
    processes[number].mustSearch = true
  }

  // MARK: Entries

  /// - Parameter isRetried: by another process, which does not own the lane.
  mutating func commit(_ lane: WebhookEntry.Lane, isRetried: Bool = false) -> WebhookEntry {
    lastNumber += 1
    let entry = WebhookEntry(
      id: "\(lastNumber)", .messageSent, data: Array("{}".utf8), in: lane, at: 0, since: 0, number: lastNumber)
    rows.append(entry)
    all.insert(entry.id)
    if !isRetried { committed[lane, default: []].append(entry.id) }
    return entry
  }

  /// A change of a group: commits of a lane end in their order, and so does what is posted.
  mutating func act() {
    let lane = anyLane()
    guard let owner = owners[lane] else { return }
    let entry = commit(lane)
    processes[owner].unposted.append(entry)
  }

  mutating func retryFailure() {
    let lane = anyLane()
    _ = commit(lane, isRetried: true)
    for number in processes.indices { processes[number].mustSearch = true }
  }

  mutating func post(_ number: Int) {
    guard let pick = processes[number].unposted.randomElement(using: &random),
      let index = processes[number].unposted.firstIndex(where: { $0.lane == pick.lane })
    else { return }
    let entry = processes[number].unposted.remove(at: index)
    _ = processes[number].queue.post(entry, gain: processes[number].gains[entry.lane])
  }

  // MARK: The receiver

  mutating func attempt(_ number: Int) {
    let gains = processes[number].gains
    guard let entry = processes[number].queue.next(at: now, { gains[$0] }) else { return }
    processes[number].inFlight.append(entry)
  }

  mutating func end(_ number: Int, fails: Bool) {
    guard let index = processes[number].inFlight.indices.randomElement(using: &random) else { return }
    let entry = processes[number].inFlight.remove(at: index)
    let failures: [OutboxQueue.Outcome] = [.failed(isAnswered: true), .failed(isAnswered: false), .notSent]
    let outcome = fails ? failures[Int.random(in: 0..<3, using: &random)] : .delivered
    if outcome == .delivered { accepted[entry.lane, default: []].append(entry.id) }
    let gains = processes[number].gains
    let consequence = processes[number].queue.finish(entry, outcome, at: now, wall: 0, { gains[$0] })
    if consequence == .delivered { processes[number].toRemove.append(entry.storedNumber) }
  }

  // MARK: The store

  mutating func remove(_ number: Int) {
    let removed = processes[number].toRemove
    rows.removeAll { removed.contains($0.storedNumber) }
    processes[number].queue.didRemove(removed)
    processes[number].toRemove = []
  }

  /// One moment's rows, of which each is looked at when its owner may have changed meanwhile.
  mutating func read(_ number: Int) {
    guard var current = processes[number].read else {
      guard let next = processes[number].queue.nextRead() else { return }
      if Int.random(in: 0..<8, using: &random) == 0 { return processes[number].queue.didFailRead() }
      let rows = rows.filter { $0.storedNumber > next.after && (next.lane == nil || $0.lane == next.lane) }
      processes[number].read = (next, rows, 0, [])
      return
    }
    for _ in 0..<Int.random(in: 1...4, using: &random) where current.looked < current.rows.count {
      let row = current.rows[current.looked]
      current.looked += 1
      if current.read.lane != nil || processes[number].gains[row.lane] != nil { current.found.append(row) }
      if current.found.count == current.read.limit { break }
    }
    processes[number].read = current
    let isFull = current.found.count == current.read.limit
    guard isFull || current.looked == current.rows.count else { return }
    processes[number].read = nil
    let gains = processes[number].gains
    processes[number].queue.didRead(current.found, isWhole: !isFull, { gains[$0] })
  }

  mutating func search(_ number: Int) {
    guard processes[number].mustSearch else { return }
    processes[number].mustSearch = false
    let gains = processes[number].gains
    processes[number].queue.review(through: processes[number].lastGain, { gains[$0] })
  }

  // MARK: Takeovers

  mutating func move() { give(anyLane(), to: Int.random(in: 0..<processes.count, using: &random)) }

  /// What is in flight may have come.
  mutating func kill() {
    let number = Int.random(in: 0..<processes.count, using: &random)
    for entry in processes[number].inFlight where Bool.random(using: &random) {
      accepted[entry.lane, default: []].append(entry.id)
    }
    let lost = owners.filter { $0.value == number }.map(\.key).sorted { $0.text < $1.text }
    for lane in lost { owners[lane] = nil }
    addProcess()
    processes.swapAt(number, processes.count - 1)
    processes.removeLast()
    for lane in lost { give(lane, to: Int.random(in: 0..<processes.count, using: &random)) }
  }

  mutating func step(_ isQuiet: Bool) {
    now = now + 400
    let number = Int.random(in: 0..<processes.count, using: &random)
    switch Int.random(in: isQuiet ? 4..<16 : 0..<18, using: &random) {
    case 0...2: act()
    case 3: if Int.random(in: 0..<10, using: &random) == 0 { retryFailure() }
    case 4, 5: post(number)
    case 6, 7: attempt(number)
    case 8, 9: end(number, fails: Int.random(in: 0..<4, using: &random) == 0)
    case 10, 11, 12, 13: read(number)
    case 14: remove(number)
    case 15: search(number)
    case 16: if Int.random(in: 0..<calm, using: &random) == 0 { move() }
    default: if Int.random(in: 0..<6 * calm, using: &random) == 0 { kill() }
    }
  }

  /// Everybody works until nothing is left.
  mutating func settle() {
    for _ in 0..<3000 {
      now = now + 400_000
      for number in processes.indices {
        post(number)
        search(number)
        attempt(number)
        end(number, fails: false)
        read(number)
        remove(number)
      }
    }
  }
}

@Suite struct OutboxTakeoverTests {
  /// "At least once, and in order for each group", whoever posts it: each entry is accepted, and none
  /// for the first time before one that was committed earlier.
  @Test(arguments: 0..<300)
  func takeoversKeepOrderAndLoseNothing(seed: UInt64) {
    var cluster = Cluster(seed: seed)
    for step in 0..<1500 { cluster.step(step > 1200) }
    cluster.settle()
    for (lane, committed) in cluster.committed {
      var seen: Set<String> = []
      let first = (cluster.accepted[lane] ?? []).filter { seen.insert($0).inserted }
      let known = Set(committed)
      #expect(first.filter { known.contains($0) } == committed, "\(lane.text)")
    }
    #expect(Set(cluster.accepted.values.joined()) == cluster.all)
    #expect(cluster.rows.isEmpty, "nothing is left in the store")
  }

  /// The new owner's first message waits until the store has said which entry is the first.
  @Test func aNewOwnerPostsWhatItsPredecessorLeftFirst() throws {
    var cluster = Cluster(seed: 1)
    let lane = WebhookEntry.Lane.group(try #require(GroupID("own")))
    let old = (0..<3).map { _ in cluster.commit(lane) }
    var queue = OutboxQueue(retention: .seconds(3600), maxInFlight: 2, readsStore: false)
    let new = cluster.commit(lane)
    let admission = queue.post(new, gain: 1)
    let early = queue.next(at: 0, { _ in 1 })
    let read = queue.nextRead()
    #expect(admission == .left && early == nil)
    #expect(read == OutboxQueue.Read(lane: nil, after: 0, limit: 256))
    queue.didRead(old + [new], isWhole: true, { _ in 1 })
    var posted: [String] = []
    while let entry = queue.next(at: 0, { _ in 1 }) {
      posted.append(entry.id)
      _ = queue.finish(entry, .delivered, at: 0, wall: 0, { _ in 1 })
    }
    #expect(posted == (old + [new]).map(\.id))
  }

  /// An entry that failed under a lane that was lost is not overtaken by those behind it.
  @Test func aLaneThatWasLostIsPostedNoFurther() throws {
    var cluster = Cluster(seed: 1)
    let lane = WebhookEntry.Lane.group(try #require(GroupID("own")))
    var queue = OutboxQueue(retention: .seconds(3600), maxInFlight: 2, readsStore: false)
    for _ in 0..<3 { _ = queue.post(cluster.commit(lane), gain: 0) }
    let next = queue.next(at: 0, { _ in 0 })
    let first = try #require(next)
    let consequence = queue.finish(first, .failed(isAnswered: true), at: 0, wall: 0, { _ in nil })
    let later = queue.next(at: 60_000, { _ in nil })
    #expect(consequence == .left && later == nil && queue.count == 0)
    // Gained again, the store is searched.
    _ = queue.post(cluster.commit(lane), gain: 1)
    let again = queue.next(at: 60_000, { _ in 1 })
    let read = queue.nextRead()
    #expect(again == nil && read?.after == 0)
  }

  /// A read from before the gain has none of the lane's entries, and says nothing of it.
  @Test func aReadFromBeforeTheGainIsReadAgain() throws {
    var cluster = Cluster(seed: 1)
    let lane = WebhookEntry.Lane.group(try #require(GroupID("own")))
    let old = cluster.commit(lane)
    var queue = OutboxQueue(retention: .seconds(3600), maxInFlight: 2, readsStore: true)
    let read = queue.nextRead()
    #expect(read?.after == 0)
    queue.review(through: 1, { _ in 1 })
    queue.didRead([], isWhole: true, { _ in 1 })
    let second = queue.nextRead()
    #expect(second == read)
    queue.didRead([old], isWhole: true, { _ in 1 })
    let first = queue.next(at: 0, { _ in 1 })
    #expect(first?.id == old.id)
  }
}
