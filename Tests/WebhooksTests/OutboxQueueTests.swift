import GroupModel
import GroupRuntime
import Testing
import ThrongTestKit

@testable import Webhooks

/// The store's side of an outbox: what is durable, by number.
private struct FakeStore {
  var rows: [WebhookEntry] = []
  var lastNumber: Int64 = 0

  mutating func append(_ id: String, _ lane: WebhookEntry.Lane, at time: WallInstant = 0) -> WebhookEntry {
    lastNumber += 1
    let entry = WebhookEntry(
      id: id, .messageSent, data: Array("{}".utf8), in: lane, at: time, since: time, number: lastNumber)
    rows.append(entry)
    return entry
  }

  func read(_ read: OutboxQueue.Read) -> (entries: [WebhookEntry], isWhole: Bool) {
    let found = rows.filter { $0.storedNumber > read.after && (read.lane == nil || $0.lane == read.lane) }.prefix(read.limit)
    return (Array(found), found.count < read.limit)
  }
}

/// One process posts all lanes.
private func sole(_: WebhookEntry.Lane) -> Int64? { 0 }

private func lane(_ number: Int) -> WebhookEntry.Lane { .group(GroupID("g\(number)")!) }  // A plain word.

private func volatile(_ id: String, _ lane: WebhookEntry.Lane) -> WebhookEntry {
  WebhookEntry(id: id, .messageSent, data: Array("{}".utf8), in: lane, at: 0, since: 0, number: 0)
}

/// A queue and its store by reference: the macros of Swift Testing call nothing that is mutating.
private final class Outbox {
  var queue: OutboxQueue
  var store = FakeStore()

  init(_ queue: OutboxQueue) { self.queue = queue }

  func append(_ id: String, _ lane: WebhookEntry.Lane, at time: WallInstant = 0) -> WebhookEntry {
    store.append(id, lane, at: time)
  }

  func post(_ entry: WebhookEntry) -> OutboxQueue.Admission { queue.post(entry, gain: 0) }
  func next(at now: MonotonicInstant) -> WebhookEntry? { queue.next(at: now, sole) }
  func finish(
    _ entry: WebhookEntry, _ outcome: OutboxQueue.Outcome, at now: MonotonicInstant, wall: WallInstant
  ) -> OutboxQueue.Consequence { queue.finish(entry, outcome, at: now, wall: wall, sole) }
  func withdraw(_ entry: WebhookEntry) -> Bool { queue.withdraw(entry, gain: 0) }
  func giveUpExpired(at wall: WallInstant) -> [String] { queue.giveUpExpired(at: wall, sole).map(\.entry.id) }
}

@Suite struct OutboxQueueTests {
  private let outbox = Outbox(OutboxQueue(retention: .seconds(3600), maxInFlight: 2, readsStore: false))

  private var queue: OutboxQueue {
    get { outbox.queue }
    nonmutating set { outbox.queue = newValue }
  }

  /// "In order for each group", one at a time; different groups beside each other.
  @Test func aLaneIsPostedOneByOneAndLanesInTurns() throws {
    for id in ["a1", "a2"] { #expect(outbox.post(outbox.append(id, lane(1))) == .queued) }
    for id in ["b1", "b2"] { #expect(outbox.post(outbox.append(id, lane(2))) == .queued) }
    let first = try #require(outbox.next(at: 0))
    let second = try #require(outbox.next(at: 0))
    #expect([first.id, second.id] == ["a1", "b1"])
    #expect(outbox.next(at: 0) == nil, "two at a time")
    #expect(outbox.finish(second, .delivered, at: 0, wall: 0) == .delivered)
    #expect(outbox.next(at: 0)?.id == "b2")
    #expect(outbox.next(at: 0) == nil)
    #expect(outbox.finish(first, .delivered, at: 0, wall: 0) == .delivered)
    #expect(outbox.next(at: 0)?.id == "a2")
  }

  /// "Retried after 1 s, 2 s, 4 s"; what is behind it waits, other lanes do not.
  @Test func aFailedEntryIsRetriedBeforeThoseBehindIt() throws {
    _ = outbox.post(outbox.append("a1", lane(1)))
    _ = outbox.post(outbox.append("a2", lane(1)))
    let answered = OutboxQueue.Outcome.failed(isAnswered: true)
    var now: MonotonicInstant = 0
    for wait in [1000, 2000, 4000] as [Int64] {
      let entry = try #require(outbox.next(at: now))
      #expect(entry.id == "a1")
      #expect(outbox.finish(entry, answered, at: now, wall: WallInstant(now.nanoseconds / 1_000_000)) == .retry)
      #expect(outbox.next(at: now + (wait - 1)) == nil)
      #expect(queue.nextDue(at: now) == now + wait)
      _ = outbox.post(outbox.append("b\(wait)", lane(2)))
      let other = try #require(outbox.next(at: now))
      #expect(other.lane == lane(2))
      #expect(outbox.finish(other, .delivered, at: now, wall: 0) == .delivered)
      now = now + wait
    }
    let entry = try #require(outbox.next(at: now))
    #expect(entry.id == "a1" && outbox.finish(entry, .delivered, at: now, wall: 0) == .delivered)
    #expect(outbox.next(at: now)?.id == "a2")
  }

  /// "Given up after webhook.retention"; the next of the lane is tried at once.
  @Test func anEntryIsGivenUpAfterItsRetention() throws {
    queue = OutboxQueue(retention: .seconds(2), maxInFlight: 1, readsStore: false)
    _ = outbox.post(outbox.append("a1", lane(1)))
    _ = outbox.post(outbox.append("a2", lane(1), at: 1500))
    let answered = OutboxQueue.Outcome.failed(isAnswered: true)
    for (time, expected) in [(0, OutboxQueue.Consequence.retry), (1000, .retry), (2000, .givenUp(attempts: 3))] {
      let entry = try #require(outbox.next(at: MonotonicInstant(milliseconds: time)))
      #expect(entry.id == "a1")
      #expect(outbox.finish(entry, answered, at: MonotonicInstant(milliseconds: time), wall: WallInstant(time)) == expected)
    }
    #expect(outbox.next(at: 2000)?.id == "a2")
  }

  /// "A receiver that is down": after three silences one request at a time tries it.
  @Test func oneRequestTriesAReceiverThatIsDown() throws {
    queue = OutboxQueue(retention: .seconds(3600), maxInFlight: 8, readsStore: false)
    for number in 0..<20 { _ = outbox.post(outbox.append("e\(number)", lane(number))) }
    let silent = OutboxQueue.Outcome.failed(isAnswered: false)
    var now: MonotonicInstant = 0
    var inFlight: [WebhookEntry] = []
    while let entry = outbox.next(at: now) { inFlight.append(entry) }
    #expect(inFlight.count == 8)
    for entry in inFlight { _ = outbox.finish(entry, silent, at: now, wall: 0) }
    #expect(queue.isReceiverDown && outbox.next(at: now) == nil)
    for wait in [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000] as [Int64] {
      #expect(queue.nextDue(at: now) == now + wait)
      now = now + wait
      let probe = try #require(outbox.next(at: now))
      #expect(outbox.next(at: now) == nil, "one at a time")
      _ = outbox.finish(probe, silent, at: now, wall: WallInstant(now.nanoseconds / 1_000_000))
    }
    now = now + 30_000
    let probe = try #require(outbox.next(at: now))
    _ = outbox.finish(probe, .delivered, at: now, wall: 0)
    #expect(!queue.isReceiverDown)
    var after = 0
    while outbox.next(at: now) != nil { after += 1 }
    #expect(after == 8, "all at once again")
  }

  /// A status tells that the receiver is there.
  @Test func anAnswerOfAnyStatusIsNoSilence() throws {
    queue = OutboxQueue(retention: .seconds(3600), maxInFlight: 8, readsStore: false)
    for number in 0..<8 { _ = outbox.post(outbox.append("e\(number)", lane(number))) }
    while let entry = outbox.next(at: 0) { _ = outbox.finish(entry, .failed(isAnswered: true), at: 0, wall: 0) }
    #expect(!queue.isReceiverDown)
  }

  @Test func whatWasNotTriedIsGivenUpWhileTheReceiverIsDown() throws {
    queue = OutboxQueue(retention: .seconds(3), maxInFlight: 8, readsStore: false)
    for number in 0..<5 { _ = outbox.post(outbox.append("old\(number)", lane(1))) }
    _ = outbox.post(outbox.append("young", lane(1), at: 2500))
    let silent = OutboxQueue.Outcome.failed(isAnswered: false)
    for time in [0, 1000] {
      let entry = try #require(outbox.next(at: MonotonicInstant(milliseconds: time)))
      #expect(outbox.finish(entry, silent, at: MonotonicInstant(milliseconds: time), wall: WallInstant(time)) == .retry)
    }
    let entry = try #require(outbox.next(at: 3000))
    #expect(outbox.finish(entry, silent, at: 3000, wall: 3000) == .givenUp(attempts: 3))
    #expect(outbox.giveUpExpired(at: 3000) == ["old1", "old2", "old3", "old4"])
    #expect(outbox.next(at: 4000)?.id == "young")
  }

  /// "Kept in memory, counted when lost."
  @Test func memoryForEntriesWithoutAStoreIsBounded() {
    var bounds = OutboxQueue.Bounds()
    bounds.entries = 3
    queue = OutboxQueue(retention: .seconds(3), maxInFlight: 1, readsStore: false, bounds: bounds)
    let admissions = (0..<5).map { outbox.post(volatile("v\($0)", lane($0))) }
    #expect(admissions == [.queued, .queued, .queued, .lost, .lost])
    #expect(outbox.post(outbox.append("s", lane(9))) == .queued, "stored ones have a part of their own")
    #expect(queue.volatileEntries.count == 3)
  }

  /// Entries of both kinds keep the order of the group, also where stored ones have left memory.
  @Test func memoryAndStoreKeepOneOrder() throws {
    var bounds = OutboxQueue.Bounds()
    (bounds.entriesPerLane, bounds.page) = (2, 2)
    queue = OutboxQueue(retention: .seconds(3), maxInFlight: 1, readsStore: false, bounds: bounds)
    var expected: [String] = []
    for number in 0..<30 {
      let id = "e\(number)"
      expected.append(id)
      _ = outbox.post(number % 3 == 1 ? volatile(id, lane(1)) : outbox.append(id, lane(1)))
    }
    #expect(deliverAll() == expected)
  }

  private func deliverAll() -> [String] {
    var delivered: [String] = []
    while true {
      while let entry = outbox.next(at: 0) {
        delivered.append(entry.id)
        _ = outbox.finish(entry, .delivered, at: 0, wall: 0)
        outbox.store.rows.removeAll { $0.storedNumber == entry.storedNumber }
        if entry.storedNumber > 0 { queue.didRemove([entry.storedNumber]) }
      }
      guard let read = queue.nextRead() else { return delivered }
      let (entries, isWhole) = outbox.store.read(read)
      queue.didRead(entries, isWhole: isWhole, sole)
    }
  }

  /// A commit of its own, such as that of counters, is posted before earlier ones of its group.
  @Test func anEntryIsPostedThatComesBehindALaterOne() throws {
    let (early, late) = (outbox.append("early", lane(1)), outbox.append("late", lane(1)))
    #expect(outbox.post(late) == .queued)
    #expect(outbox.post(volatile("v", lane(1))) == .queued)
    #expect(outbox.post(early) == .left, "the lane is read again")
    #expect(outbox.post(outbox.append("last", lane(1))) == .left)
    #expect(deliverAll() == ["early", "late", "v", "last"])
  }

  /// The same beside a later one that is being posted already, which is not posted twice.
  @Test func anEntryIsPostedThatComesBehindOneInFlight() throws {
    let first = outbox.append("first", lane(1))
    let (early, late) = (outbox.append("early", lane(1)), outbox.append("late", lane(1)))
    #expect(outbox.post(first) == .queued && outbox.post(late) == .queued)
    #expect(outbox.finish(try #require(outbox.next(at: 0)), .delivered, at: 0, wall: 0) == .delivered)
    let posted = try #require(outbox.next(at: 0))
    #expect(posted.id == "late" && outbox.post(early) == .left)
    let read = queue.nextRead()
    #expect(read == OutboxQueue.Read(lane: lane(1), after: 1, limit: 255))
    queue.didRead([early, late], isWhole: true, sole)
    #expect(outbox.finish(posted, .delivered, at: 0, wall: 0) == .delivered)
    #expect(outbox.next(at: 0)?.id == "early" && outbox.next(at: 0) == nil && queue.count == 1)
  }

  /// A lane that is posted in abundance does not keep others from memory.
  @Test func oneLaneDoesNotFillMemory() throws {
    var bounds = OutboxQueue.Bounds()
    (bounds.entries, bounds.entriesPerLane, bounds.page) = (10, 4, 4)
    queue = OutboxQueue(retention: .seconds(3), maxInFlight: 2, readsStore: false, bounds: bounds)
    for number in 0..<100 { _ = outbox.post(outbox.append("a\(number)", lane(1))) }
    #expect(outbox.post(outbox.append("b", lane(2))) == .queued)
    #expect(outbox.next(at: 0)?.id == "a0")
    #expect(outbox.next(at: 0)?.id == "b")
  }

  @Test func theOldestAreWithdrawnUnlessTheyAreInFlight() throws {
    for number in 0..<3 { _ = outbox.post(outbox.append("a\(number)", lane(1))) }
    let first = try #require(outbox.next(at: 0))
    #expect(outbox.store.rows.map { outbox.withdraw($0) } == [false, true, true])
    #expect(outbox.store.rows.map { outbox.withdraw($0) } == [false, false, false], "once")
    #expect(outbox.finish(first, .delivered, at: 0, wall: 0) == .delivered)
    #expect(outbox.next(at: 0) == nil && queue.count == 0)
  }

  /// Random posts, ends, reads that overlap with both, and a small memory: every stored entry is
  /// delivered, each lane in its order, and memory keeps its bounds.
  @Test(arguments: 0..<60)
  func everythingIsDeliveredInOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var bounds = OutboxQueue.Bounds()
    (bounds.entries, bounds.entriesPerLane, bounds.page) = (8, 3, 3)
    // An earlier run has left some.
    var posted: [WebhookEntry.Lane: [String]] = [:]
    for number in 0..<Int.random(in: 0...12, using: &random) {
      let name = lane(Int.random(in: 0..<4, using: &random))
      _ = outbox.append("old\(number)", name)
      posted[name, default: []].append("old\(number)")
    }
    queue = OutboxQueue(
      retention: .seconds(100_000), maxInFlight: 3, readsStore: !outbox.store.rows.isEmpty, bounds: bounds)
    var delivered: [WebhookEntry.Lane: [String]] = [:]
    var inFlight: [WebhookEntry] = []
    var unposted: [WebhookEntry] = []
    var read: (entries: [WebhookEntry], isWhole: Bool)?
    var toRemove: [Int64] = []
    var now: MonotonicInstant = 0
    var count = 0
    for step in 0..<2000 {
      now = now + 200
      switch step < 1000 ? Int.random(in: 0..<9, using: &random) : Int.random(in: 2..<9, using: &random) {
      case 0, 1:
        count += 1
        let name = lane(Int.random(in: 0..<6, using: &random))
        if Int.random(in: 0..<5, using: &random) == 0 {
          // A lane's own entries are posted in their order.
          if unposted.contains(where: { $0.lane == name }) { continue }
          let entry = volatile("v\(count)", name)
          if queue.post(entry, gain: 0) == .queued { posted[name, default: []].append(entry.id) }
        } else {
          let entry = outbox.append("s\(count)", name)
          posted[name, default: []].append(entry.id)
          unposted.append(entry)
        }
      case 2, 3:
        // Lanes are independent, so one may be told of later.
        guard let pick = unposted.randomElement(using: &random),
          let index = unposted.firstIndex(where: { $0.lane == pick.lane })
        else { continue }
        _ = queue.post(unposted.remove(at: index), gain: 0)
      case 4, 5:
        if let entry = queue.next(at: now, sole) { inFlight.append(entry) }
      case 6:
        guard let index = inFlight.indices.randomElement(using: &random) else { continue }
        let entry = inFlight.remove(at: index)
        let fails = Int.random(in: 0..<4, using: &random) == 0
        let outcome: OutboxQueue.Outcome = fails ? .failed(isAnswered: Bool.random(using: &random)) : .delivered
        let wall = WallInstant(now.nanoseconds / 1_000_000)
        if queue.finish(entry, outcome, at: now, wall: wall, sole) == .delivered {
          delivered[entry.lane, default: []].append(entry.id)
          if entry.storedNumber > 0 { toRemove.append(entry.storedNumber) }
        }
      case 7:
        if let done = read {
          queue.didRead(done.entries, isWhole: done.isWhole, sole)
          read = nil
        } else if let next = queue.nextRead() {
          if Int.random(in: 0..<6, using: &random) == 0 { queue.didFailRead() } else { read = outbox.store.read(next) }
        }
      default:
        let removed = toRemove
        outbox.store.rows.removeAll { removed.contains($0.storedNumber) }
        queue.didRemove(toRemove)
        toRemove = []
      }
      #expect(queue.count <= 2 * bounds.entries + bounds.page)
      #expect(inFlight.count <= 3 && Set(inFlight.map(\.lane)).count == inFlight.count)
    }
    for entry in unposted { _ = queue.post(entry, gain: 0) }
    // To the end.
    for _ in 0..<5000 {
      now = now + 30_000
      if let done = read {
        queue.didRead(done.entries, isWhole: done.isWhole, sole)
        read = nil
      } else if let next = queue.nextRead() {
        read = outbox.store.read(next)
      }
      while let entry = queue.next(at: now, sole) { inFlight.append(entry) }
      for entry in inFlight {
        _ = queue.finish(entry, .delivered, at: now, wall: 0, sole)
        delivered[entry.lane, default: []].append(entry.id)
        outbox.store.rows.removeAll { $0.storedNumber == entry.storedNumber }
        queue.didRemove([entry.storedNumber])
      }
      inFlight = []
    }
    for (name, ids) in posted {
      // At least once: what was read before it was posted may come again.
      var seen: Set<String> = []
      let unique = (delivered[name] ?? []).filter { seen.insert($0).inserted }
      #expect(Set(unique) == Set(ids), "\(name)")
      let stored = ids.filter { !$0.hasPrefix("v") }
      #expect(unique.filter { !$0.hasPrefix("v") } == stored, "\(name)")
    }
  }
}
