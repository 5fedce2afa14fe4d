import DequeModule
import GroupModel
import GroupRuntime
import HeapModule

/// The after-events that are to be posted, as a pure value: a lane for each group and user, posted
/// one by one, and all lanes in turns. Memory holds a bounded window; the store has everything.
struct OutboxQueue {
  /// The bounds of memory.
  struct Bounds {
    /// Stored entries in memory; and in the same number those that are in memory only.
    var entries = 10_000
    /// The bytes of each of the two.
    var bytes = 16 << 20
    /// The stored entries of one lane in memory, so that no lane fills it.
    var entriesPerLane = 256
    /// The entries of one read.
    var page = 256
  }

  /// The result of posting an entry.
  enum Admission: Equatable {
    /// It is in memory.
    case queued
    /// The store has it, and it is read later; or it has been read already.
    case left
    /// It is in memory only, which is full.
    case lost
  }

  /// How an attempt ended.
  enum Outcome: Equatable {
    case delivered
    /// - Parameter isAnswered: the receiver is there.
    case failed(isAnswered: Bool)
  }

  /// The next step after an attempt.
  enum Consequence: Equatable {
    case delivered
    case retry
    /// - Parameter attempts: how many have failed.
    case givenUp(attempts: Int)
    /// The store has it for another process, which posts the lane now.
    case left
  }

  /// Entries to be read from the store.
  struct Read: Equatable, Sendable {
    /// Nil = of all lanes.
    let lane: WebhookEntry.Lane?
    let after: Int64
    let limit: Int
  }

  private struct Retry: Comparable {
    let due: MonotonicInstant
    let lane: WebhookEntry.Lane

    static func < (left: Retry, right: Retry) -> Bool { left.due < right.due }
    static func == (left: Retry, right: Retry) -> Bool { left.due == right.due }
  }

  private let bounds: Bounds
  private let schedule: RetrySchedule
  private let retention: Int64
  private let maxInFlight: Int

  private var lanes: [WebhookEntry.Lane: OutboxLane] = [:]
  /// Lanes whose first entry may be posted, in turns.
  private var ready: Deque<WebhookEntry.Lane> = []
  private var retries = Heap<Retry>()
  private(set) var inFlight = 0
  private var receiver = ReceiverState()
  /// Lanes with a backlog and space for some of it.
  private var lanesToRead: Deque<WebhookEntry.Lane> = []
  private var scan: StoreScan
  private var isScansTurn = false
  private var currentRead: (read: Read, leftCount: Int)?
  private var finished = FinishedNumbers()
  /// The largest number that was posted. Before the first, everything in the store comes earlier.
  private var highestPosted = Int64.max - 1
  private var hasPosted = false
  private var stored = Usage()
  private var volatile = Usage()

  private struct Usage {
    var count = 0
    var bytes = 0

    mutating func add(_ entry: WebhookEntry) {
      count += 1
      bytes += entry.weight
    }

    mutating func remove(_ entry: WebhookEntry) {
      count -= 1
      bytes -= entry.weight
    }

    func hasRoom(in bounds: Bounds) -> Bool { count < bounds.entries && bytes < bounds.bytes }
  }

  /// - Parameters:
  ///   - maxInFlight: requests at a time.
  ///   - readsStore: the store may have entries from an earlier run.
  init(retention: Duration, maxInFlight: Int, readsStore: Bool = true, bounds: Bounds = Bounds()) {
    self.bounds = bounds
    self.maxInFlight = maxInFlight
    self.retention = retention.wholeMilliseconds
    schedule = RetrySchedule(retention: retention)
    scan = StoreScan(isNeeded: readsStore)
  }

  /// How many entries are in memory.
  var count: Int { stored.count + volatile.count }

  /// How many are done and still in the store.
  var finishingCount: Int { finished.count }

  /// Whether a read is under way.
  var isReading: Bool { currentRead != nil }

  /// How many are in memory only.
  var volatileCount: Int { volatile.count }

  /// Whether as many are in flight as may.
  var isFull: Bool { inFlight >= maxInFlight }

  /// Whether requests get no answers at present.
  var isReceiverDown: Bool { receiver.isDown }

  // MARK: Adding

  /// Adds an entry behind those of its lane. A stored one is durable by now.
  mutating func post(_ entry: WebhookEntry) -> Admission {
    entry.storedNumber > 0 ? postStored(entry) : postVolatile(entry)
  }

  private mutating func postStored(_ entry: WebhookEntry) -> Admission {
    let number = entry.storedNumber
    highestPosted = hasPosted ? max(highestPosted, number) : number
    hasPosted = true
    if finished.contains(number) { return .left }
    // Lanes are taken out to be changed: otherwise each change would copy their entries.
    if var lane = lanes.removeValue(forKey: entry.lane) {
      defer { put(lane, entry.lane) }
      // A read has found it before.
      if number <= lane.lastNumber { return .left }
      // Behind the scan, earlier entries of the lane may be in the store only.
      guard lane.backlog == nil, scan.isPast(number), hasRoom(for: lane) else {
        lane.leave(number)
        return .left
      }
      append(entry, to: &lane)
      return .queued
    }
    guard !scan.isNeeded, stored.hasRoom(in: bounds) else {
      scan.leave(number)
      return .left
    }
    var lane = OutboxLane()
    append(entry, to: &lane)
    put(lane, entry.lane)
    return .queued
  }

  private mutating func postVolatile(_ entry: WebhookEntry) -> Admission {
    guard volatile.hasRoom(in: bounds) else { return .lost }
    var lane = lanes.removeValue(forKey: entry.lane) ?? OutboxLane()
    // Until the scan ends, earlier entries of the lane may be in the store only.
    if lane.backlog == nil, scan.isNeeded { lane.leave(highestPosted) }
    volatile.add(entry)
    lane.appendVolatile(entry)
    put(lane, entry.lane)
    return .queued
  }

  private func hasRoom(for lane: OutboxLane) -> Bool { stored.hasRoom(in: bounds) && lane.storedCount < bounds.entriesPerLane }

  private mutating func append(_ entry: WebhookEntry, to lane: inout OutboxLane) {
    stored.add(entry)
    lane.append(entry)
  }

  /// Stores a lane, and lists it where its first entry is ready, or it has space for more.
  private mutating func put(_ lane: consuming OutboxLane, _ name: WebhookEntry.Lane) {
    guard !lane.isEmpty || lane.isInFlight else { return }
    if lane.isReady, !lane.isListed {
      lane.isListed = true
      ready.append(name)
    }
    if lane.isReadable(bounds), !lane.isListedToRead {
      lane.isListedToRead = true
      lanesToRead.append(name)
    }
    lanes[name] = lane
  }

  // MARK: Posting

  /// The next entry to post at this time; nil = none, until `nextDue` or a change.
  mutating func next(at now: MonotonicInstant) -> WebhookEntry? {
    admitRetries(at: now)
    guard !isFull, receiver.allowsAttempt(beside: inFlight, at: now) else { return nil }
    while let name = ready.popFirst() {
      lanes[name]?.isListed = false
      guard let lane = lanes[name], lane.isReady, let entry = lane.entries.first else { continue }
      lanes[name]?.isInFlight = true
      inFlight += 1
      receiver.attemptBegins()
      return entry
    }
    return nil
  }

  /// When `next` may give an entry without a change before; nil = only after one.
  func nextDue(at now: MonotonicInstant) -> MonotonicInstant? {
    guard !isFull else { return nil }
    let due = ready.isEmpty ? retries.min?.due : now
    guard let probe = receiver.nextProbe else { return due }
    return inFlight > 0 ? nil : due.map { max($0, probe) }
  }

  private mutating func admitRetries(at now: MonotonicInstant) {
    while let first = retries.min, first.due <= now {
      retries.removeMin()
      guard lanes[first.lane]?.due == first.due, var lane = lanes.removeValue(forKey: first.lane) else { continue }
      lane.due = nil
      put(lane, first.lane)
    }
  }

  /// An attempt has ended.
  /// - Parameter isOwn: this process posts the lane.
  /// - Returns: what follows. A stored entry that is done is to be removed from the store.
  mutating func finish(
    _ entry: WebhookEntry, _ outcome: Outcome, isOwn: Bool = true, at now: MonotonicInstant, wall: WallInstant
  ) -> Consequence {
    inFlight -= 1
    receiver.attemptEnded(isAnswered: outcome != .failed(isAnswered: false), at: now)
    guard var lane = lanes.removeValue(forKey: entry.lane) else { return .delivered }
    defer { put(lane, entry.lane) }
    lane.isInFlight = false
    lane.attempts += 1
    let attempts = lane.attempts
    if outcome == .delivered {
      removeFirst(of: &lane)
      return .delivered
    }
    if !isOwn, entry.storedNumber > 0, let first = lane.entries.popFirst() {
      lane.restart()
      stored.remove(first)
      lane.didRemoveStored()
      return .left
    }
    switch schedule.decision(afterAttempts: attempts, of: entry.since, now: wall) {
    case .giveUp:
      removeFirst(of: &lane)
      return .givenUp(attempts: attempts)
    case .retry(let instant):
      let due = now.advanced(byMilliseconds: max(1, instant.milliseconds(since: wall)))
      lane.due = due
      retries.insert(Retry(due: due, lane: entry.lane))
      return .retry
    }
  }

  private mutating func removeFirst(of lane: inout OutboxLane) {
    guard let entry = lane.entries.popFirst() else { return }
    lane.restart()
    release(entry, of: &lane)
  }

  private mutating func release(_ entry: WebhookEntry, of lane: inout OutboxLane) {
    if entry.storedNumber > 0 {
      stored.remove(entry)
      lane.didRemoveStored()
      finished.insert(entry.storedNumber)
    } else {
      volatile.remove(entry)
    }
  }

  /// An attempt was broken off, because the process ends.
  mutating func abandon(_ entry: WebhookEntry) {
    inFlight -= 1
    guard var lane = lanes.removeValue(forKey: entry.lane) else { return }
    lane.isInFlight = false
    put(lane, entry.lane)
  }

  /// The store has removed entries that were done.
  mutating func didRemove(_ numbers: [Int64]) { finished.remove(numbers, isReading: isReading) }

  private mutating func endRead() {
    currentRead = nil
    finished.readEnded()
  }

  // MARK: Giving up

  /// Gives up entries beyond their retention that were not tried, while the receiver is down: it
  /// would take too long to try each.
  mutating func giveUpExpired(at wall: WallInstant) -> [(entry: WebhookEntry, attempts: Int)] {
    guard isReceiverDown else { return [] }
    var expired: [(entry: WebhookEntry, attempts: Int)] = []
    let names = lanes.filter { $0.value.entries.contains { isExpired($0, at: wall) } }.map(\.key)
    for name in names {
      guard var lane = lanes.removeValue(forKey: name) else { continue }
      let posted = lane.isInFlight ? lane.entries.first : nil
      let (head, attempts, entries) = (lane.entries.first, lane.attempts, lane.entries)
      lane.entries.removeAll { $0 !== posted && isExpired($0, at: wall) }
      for entry in entries where entry !== posted && isExpired(entry, at: wall) {
        expired.append((entry, entry === head ? attempts : 0))
        release(entry, of: &lane)
      }
      if lane.entries.first !== head { lane.restart() }
      put(lane, name)
    }
    return expired
  }

  private func isExpired(_ entry: WebhookEntry, at wall: WallInstant) -> Bool {
    wall.milliseconds(since: entry.since) >= retention
  }

  /// Removes a stored entry that is given up because too many wait.
  /// - Returns: false where it is being posted, or was a moment ago.
  mutating func withdraw(_ entry: WebhookEntry) -> Bool {
    if finished.contains(entry.storedNumber) { return false }
    guard var lane = lanes.removeValue(forKey: entry.lane) else {
      finished.insert(entry.storedNumber)
      return true
    }
    defer { put(lane, entry.lane) }
    guard let index = lane.entries.firstIndex(where: { $0.storedNumber == entry.storedNumber }) else {
      finished.insert(entry.storedNumber)
      return true
    }
    guard index > 0 || !lane.isInFlight else { return false }
    let removed = lane.entries.remove(at: index)
    if index == 0 { lane.restart() }
    release(removed, of: &lane)
    return true
  }

  /// All that are in memory only, for the end of the process.
  var volatileEntries: [WebhookEntry] {
    let all = lanes.values.flatMap { lane in Array(lane.entries) + (lane.backlog?.behind.map(\.entry) ?? []) }
    return all.filter { $0.storedNumber == 0 }
  }

  // MARK: Several processes

  /// Whether nothing is known to wait.
  var isIdle: Bool { lanes.isEmpty && !scan.isNeeded && currentRead == nil }

  /// The lanes that this process posts have changed: forgets what the store has of others, and searches
  /// the store from its beginning.
  mutating func review(_ isOwn: (WebhookEntry.Lane) -> Bool) {
    for name in Array(lanes.keys) where !isOwn(name) { forget(name) }
    scan.leave(1)
  }

  /// Entries that are in memory only stay, and so does one that is being posted.
  private mutating func forget(_ name: WebhookEntry.Lane) {
    guard var lane = lanes.removeValue(forKey: name) else { return }
    lane.endBacklog()
    let head = lane.entries.first
    let posted = lane.isInFlight ? head : nil
    let entries = lane.entries
    lane.entries.removeAll { $0.storedNumber > 0 && $0 !== posted }
    for entry in entries where entry.storedNumber > 0 && entry !== posted {
      stored.remove(entry)
      lane.didRemoveStored()
    }
    if lane.entries.first !== head { lane.restart() }
    put(lane, name)
  }

  // MARK: Reading

  /// The next read from the store, one read at a time; nil = nothing, or there is no space.
  mutating func nextRead() -> Read? {
    guard currentRead == nil, stored.count + bounds.page <= bounds.entries || stored.count == 0, stored.bytes < bounds.bytes
    else { return nil }
    // Lanes and the scan take turns.
    isScansTurn = !isScansTurn
    if isScansTurn, let scan = nextScan() { return scan }
    if let read = nextLaneRead() { return read }
    return nextScan()
  }

  private mutating func nextLaneRead() -> Read? {
    while let name = lanesToRead.popFirst() {
      lanes[name]?.isListedToRead = false
      guard let lane = lanes[name], lane.isReadable(bounds), let backlog = lane.backlog else { continue }
      let limit = min(bounds.page, bounds.entriesPerLane - lane.storedCount)
      let read = Read(lane: name, after: lane.lastNumber, limit: limit)
      currentRead = (read, backlog.leftCount)
      return read
    }
    return nil
  }

  private mutating func nextScan() -> Read? {
    guard let through = scan.through else { return nil }
    let read = Read(lane: nil, after: through, limit: bounds.page)
    currentRead = (read, scan.leftCount)
    return read
  }

  /// The bytes that a read may bring.
  var bytesPerRead: Int { max(1, bounds.bytes - stored.bytes) }

  /// The rows of a read.
  /// - Parameter isWhole: the store has no more than these, at the time of the read.
  mutating func didRead(_ entries: [WebhookEntry], isWhole: Bool) {
    guard let (read, leftCount) = currentRead else { return }
    defer { endRead() }
    if let lane = read.lane {
      didRead(entries, of: lane, isWhole: isWhole, leftCount: leftCount)
    } else {
      didScan(entries, from: read.after, isWhole: isWhole, leftCount: leftCount)
    }
  }

  /// A read has failed; `nextRead` gives it again.
  mutating func didFailRead() {
    guard let (read, _) = currentRead else { return }
    endRead()
    // It is listed again.
    if let name = read.lane, let lane = lanes.removeValue(forKey: name) { put(lane, name) }
  }

  private mutating func didRead(_ entries: [WebhookEntry], of name: WebhookEntry.Lane, isWhole: Bool, leftCount: Int) {
    guard var lane = lanes.removeValue(forKey: name) else { return }
    defer { put(lane, name) }
    guard lane.backlog != nil else { return }
    for entry in entries where entry.storedNumber > lane.lastNumber {
      lane.pass(entry.storedNumber)
      if finished.contains(entry.storedNumber) { lane.skip(entry.storedNumber) } else { append(entry, to: &lane) }
    }
    if isWhole, lane.backlog?.leftCount == leftCount { lane.endBacklog() }
  }

  private mutating func didScan(_ entries: [WebhookEntry], from start: Int64, isWhole: Bool, leftCount: Int) {
    // A post in between may have set it back.
    guard let through = scan.through, through >= start else { return }
    for entry in entries {
      let number = entry.storedNumber
      if finished.contains(number) {
        scan.pass(number)
        continue
      }
      if var lane = lanes.removeValue(forKey: entry.lane) {
        if number > lane.lastNumber {
          if lane.backlog == nil, hasRoom(for: lane) { append(entry, to: &lane) } else { lane.leave(number) }
        }
        put(lane, entry.lane)
      } else {
        guard stored.hasRoom(in: bounds) else { return }
        var lane = OutboxLane()
        append(entry, to: &lane)
        put(lane, entry.lane)
      }
      scan.pass(number)
    }
    if isWhole { scan.end(ifStill: leftCount) }
  }
}

extension WebhookEntry {
  /// About its bytes in memory.
  fileprivate var weight: Int { estimatedBytes + 256 }
}
