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

  /// Numbers the gain of a lane (`LaneOwnership`); nil = another process posts it.
  typealias Gains = (WebhookEntry.Lane) -> Int64?

  /// The result of posting an entry.
  enum Admission: Equatable {
    /// It is in memory.
    case queued
    /// The store has it, and it is read later, here or by another process; or it has been read already.
    case left
    /// It is in memory only, which is full.
    case lost
  }

  /// How an attempt ended.
  enum Outcome: Equatable {
    case delivered
    /// - Parameter isAnswered: the receiver is there.
    case failed(isAnswered: Bool)
    /// It has not left, or nobody has seen how it ended, which says nothing of the receiver.
    case notSent
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
  private var currentRead: CurrentRead?
  private var finished = FinishedNumbers()
  private var stored = Usage()
  private var volatile = Usage()

  /// A read, and what was known when it began: rows that came later may be missing from it.
  private struct CurrentRead {
    let read: Read
    let leftCount: Int
    /// Of the lane; nil = it is a scan.
    let gain: Int64?
    let round: Int
  }

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

  /// How many lanes have entries in memory, or in the store and not read yet.
  var laneCount: Int { lanes.count }

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
  /// - Parameter gain: that of its lane.
  mutating func post(_ entry: WebhookEntry, gain: Int64?) -> Admission {
    noteGain(gain)
    return entry.storedNumber > 0 ? postStored(entry, gain: gain) : postVolatile(entry, gain: gain)
  }

  /// A scan from before a lane was gained misses its entries, so it begins again.
  private mutating func noteGain(_ gain: Int64?) { if let gain, gain > scan.gain { scan.restart(for: gain) } }

  private mutating func postStored(_ entry: WebhookEntry, gain: Int64?) -> Admission {
    let number = entry.storedNumber
    // Its new owner finds it in the store.
    if gain == nil || finished.contains(number) { return .left }
    // Lanes are taken out to be changed: otherwise each change would copy their entries.
    if var lane = lanes.removeValue(forKey: entry.lane) {
      defer { put(lane, entry.lane) }
      adopt(&lane, gain: gain)
      if number <= lane.lastNumber {
        // A read has found it before, or one of a later commit was posted before it, such as one of
        // counters or of retryWebhooks: the store knows.
        if !lane.holds(number) { for entry in lane.readAgain(after: number - 1) { stored.remove(entry) } }
        return .left
      }
      // Behind the scan, earlier entries of the lane may be in the store only.
      guard lane.backlog == nil, scan.isPast(number), hasRoom(for: lane) else {
        lane.leave(posted: number)
        return .left
      }
      append(entry, to: &lane)
      return .queued
    }
    guard !scan.isNeeded, stored.hasRoom(in: bounds) else {
      scan.leave(number)
      return .left
    }
    var lane = OutboxLane(gain: gain)
    append(entry, to: &lane)
    put(lane, entry.lane)
    return .queued
  }

  private mutating func postVolatile(_ entry: WebhookEntry, gain: Int64?) -> Admission {
    guard volatile.hasRoom(in: bounds) else { return .lost }
    var lane = lanes.removeValue(forKey: entry.lane) ?? OutboxLane(gain: gain)
    adopt(&lane, gain: gain)
    // Until the scan ends, earlier entries of the lane may be in the store only.
    if gain != nil, lane.backlog == nil, scan.isNeeded { lane.leave() }
    volatile.add(entry)
    lane.appendVolatile(entry)
    put(lane, entry.lane)
    return .queued
  }

  /// Forgets what was known of the store under another gain.
  private mutating func adopt(_ lane: inout OutboxLane, gain: Int64?) {
    guard lane.gain != gain else { return }
    for entry in lane.forgetStored(gain: gain) { stored.remove(entry) }
  }

  private func hasRoom(for lane: OutboxLane) -> Bool { stored.hasRoom(in: bounds) && lane.storedCount < bounds.entriesPerLane }

  private mutating func append(_ entry: WebhookEntry, to lane: inout OutboxLane) {
    stored.add(entry)
    lane.append(entry)
  }

  /// Stores a lane, and lists it where its first entry is ready, or it has space for more.
  private mutating func put(_ lane: consuming OutboxLane, _ name: WebhookEntry.Lane) {
    guard !lane.isEmpty else { return }
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
  mutating func next(at now: MonotonicInstant, _ gains: Gains) -> WebhookEntry? {
    admitRetries(at: now)
    guard !isFull, receiver.allowsAttempt(beside: inFlight, at: now) else { return nil }
    while let name = ready.popFirst() {
      lanes[name]?.isListed = false
      guard let lane = lanes[name], lane.isReady, let entry = lane.entries.first else { continue }
      if entry.storedNumber > 0, isStale(lane, name, gains) {
        forget(name, gains)
        continue
      }
      lanes[name]?.beginAttempt()
      inFlight += 1
      receiver.attemptBegins()
      return entry
    }
    return nil
  }

  /// Whether another process posts the lane, or has posted it meanwhile.
  private func isStale(_ lane: OutboxLane, _ name: WebhookEntry.Lane, _ gains: Gains) -> Bool {
    lane.gain == nil || gains(name) != lane.gain
  }

  private mutating func forget(_ name: WebhookEntry.Lane, _ gains: Gains) {
    guard var lane = lanes.removeValue(forKey: name) else { return }
    let gain = gains(name)
    noteGain(gain)
    for entry in lane.forgetStored(gain: gain) { stored.remove(entry) }
    put(lane, name)
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
      lane.endWait()
      put(lane, first.lane)
    }
  }

  /// An attempt has ended.
  /// - Returns: what follows. A stored entry that is done is to be removed from the store.
  mutating func finish(
    _ entry: WebhookEntry, _ outcome: Outcome, at now: MonotonicInstant, wall: WallInstant, _ gains: Gains
  ) -> Consequence {
    inFlight -= 1
    switch outcome {
    case .delivered: receiver.attemptEnded(isAnswered: true, at: now)
    case .failed(let isAnswered): receiver.attemptEnded(isAnswered: isAnswered, at: now)
    case .notSent: receiver.attemptWasNotSent(at: now)
    }
    guard var lane = lanes.removeValue(forKey: entry.lane) else { return .delivered }
    defer { put(lane, entry.lane) }
    lane.endAttempt()
    if outcome == .delivered {
      removeFirst(of: &lane)
      return .delivered
    }
    if entry.storedNumber > 0, isStale(lane, entry.lane, gains) {
      // What is behind it must not overtake it: whoever owns the lane posts all of it.
      let gain = gains(entry.lane)
      noteGain(gain)
      for entry in lane.forgetStored(gain: gain) { stored.remove(entry) }
      return .left
    }
    if outcome != .notSent { lane.noteFailure() }
    switch schedule.decision(afterAttempts: max(1, lane.attempts), of: entry.since, now: wall) {
    case .giveUp:
      let attempts = lane.attempts
      removeFirst(of: &lane)
      return .givenUp(attempts: attempts)
    case .retry(let instant):
      let due = now.advanced(byMilliseconds: max(1, instant.milliseconds(since: wall)))
      lane.wait(until: due)
      retries.insert(Retry(due: due, lane: entry.lane))
      return .retry
    }
  }

  private mutating func removeFirst(of lane: inout OutboxLane) { if let entry = lane.removeFirst() { release(entry) } }

  private mutating func release(_ entry: WebhookEntry) {
    if entry.storedNumber > 0 {
      stored.remove(entry)
      finished.insert(entry.storedNumber)
    } else {
      volatile.remove(entry)
    }
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
  mutating func giveUpExpired(at wall: WallInstant, _ gains: Gains) -> [(entry: WebhookEntry, attempts: Int)] {
    guard isReceiverDown else { return [] }
    var expired: [(entry: WebhookEntry, attempts: Int)] = []
    let names = lanes.filter { $0.value.entries.contains { isExpired($0, at: wall) } }.map(\.key)
    for name in names {
      if let lane = lanes[name], isStale(lane, name, gains) { forget(name, gains) }
      guard var lane = lanes.removeValue(forKey: name) else { continue }
      let removed = lane.removeAll { isExpired($0, at: wall) }
      for (entry, _) in removed { release(entry) }
      expired += removed
      put(lane, name)
    }
    return expired
  }

  private func isExpired(_ entry: WebhookEntry, at wall: WallInstant) -> Bool {
    wall.milliseconds(since: entry.since) >= retention
  }

  /// Removes a stored entry that is given up because too many wait.
  /// - Returns: false where it is being posted, or was a moment ago, or another process posts it.
  mutating func withdraw(_ entry: WebhookEntry, gain: Int64?) -> Bool {
    if gain == nil || finished.contains(entry.storedNumber) { return false }
    guard var lane = lanes.removeValue(forKey: entry.lane) else {
      finished.insert(entry.storedNumber)
      return true
    }
    defer { put(lane, entry.lane) }
    if lane.isInFlight, lane.entries.first?.storedNumber == entry.storedNumber { return false }
    for (entry, _) in lane.removeAll(where: { $0.storedNumber == entry.storedNumber }) { release(entry) }
    finished.insert(entry.storedNumber)
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

  /// The lanes that this process posts have changed, or others have left entries: forgets what the store
  /// has of lanes that others post, and searches the store from its beginning.
  mutating func review(through lastGain: Int64, _ gains: Gains) {
    for (name, lane) in Array(lanes) where isStale(lane, name, gains) { forget(name, gains) }
    scan.restart(for: lastGain)
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
      currentRead = CurrentRead(read: read, leftCount: backlog.leftCount, gain: lane.gain, round: 0)
      return read
    }
    return nil
  }

  private mutating func nextScan() -> Read? {
    guard let through = scan.beginRead() else { return nil }
    let read = Read(lane: nil, after: through, limit: bounds.page)
    currentRead = CurrentRead(read: read, leftCount: scan.leftCount, gain: nil, round: scan.round)
    return read
  }

  /// The bytes that a read may bring.
  var bytesPerRead: Int { max(1, bounds.bytes - stored.bytes) }

  /// The rows of a read.
  /// - Parameter isWhole: the store has no more than these, at the time of the read.
  mutating func didRead(_ entries: [WebhookEntry], isWhole: Bool, _ gains: Gains) {
    guard let current = currentRead else { return }
    defer { endRead() }
    if let lane = current.read.lane {
      didRead(entries, of: lane, current, isWhole: isWhole, gains)
    } else {
      didScan(entries, current, isWhole: isWhole, gains)
    }
  }

  /// A read has failed; `nextRead` gives it again.
  mutating func didFailRead() {
    guard let current = currentRead else { return }
    endRead()
    // It is listed again.
    if let name = current.read.lane, let lane = lanes.removeValue(forKey: name) { put(lane, name) }
  }

  private mutating func didRead(
    _ entries: [WebhookEntry], of name: WebhookEntry.Lane, _ current: CurrentRead, isWhole: Bool, _ gains: Gains
  ) {
    guard let found = lanes[name] else { return }
    if isStale(found, name, gains) { return forget(name, gains) }
    guard var lane = lanes.removeValue(forKey: name) else { return }
    defer { put(lane, name) }
    // Lost and gained again, it is read from another number.
    guard lane.backlog != nil, lane.gain == current.gain, lane.lastNumber >= current.read.after else { return }
    for entry in entries where entry.storedNumber > lane.lastNumber {
      lane.pass(entry.storedNumber)
      if finished.contains(entry.storedNumber) || lane.holds(entry.storedNumber) {
        lane.skip(entry.storedNumber)
      } else {
        append(entry, to: &lane)
      }
    }
    if isWhole, lane.backlog?.leftCount == current.leftCount { lane.endBacklog() }
  }

  private mutating func didScan(_ entries: [WebhookEntry], _ current: CurrentRead, isWhole: Bool, _ gains: Gains) {
    // It may have been set back in between.
    guard scan.round == current.round, let through = scan.through, through >= current.read.after else { return }
    for entry in entries {
      let number = entry.storedNumber
      // One that was left meanwhile may be missing from this read, and stands before this one.
      if let lowest = scan.lowestLeft, number > lowest { return }
      if !finished.contains(number), let gain = gains(entry.lane) {
        // The lane was gained behind the beginning of the scan, which may have passed other entries of it.
        if gain > scan.gain { return scan.restart(for: gain) }
        guard admitScanned(entry, gain: gain) else { return }
      }
      scan.pass(number)
    }
    if isWhole { scan.end(ifStill: current.leftCount) }
  }

  /// - Returns: false where memory is full.
  private mutating func admitScanned(_ entry: WebhookEntry, gain: Int64) -> Bool {
    let number = entry.storedNumber
    guard var lane = lanes.removeValue(forKey: entry.lane) else {
      guard stored.hasRoom(in: bounds) else { return false }
      var lane = OutboxLane(gain: gain)
      append(entry, to: &lane)
      put(lane, entry.lane)
      return true
    }
    defer { put(lane, entry.lane) }
    adopt(&lane, gain: gain)
    if number > lane.lastNumber {
      if lane.backlog == nil, hasRoom(for: lane) { append(entry, to: &lane) } else { lane.leave() }
    } else if !lane.holds(number) {
      // Another process has stored it, for example by retryWebhooks, while this one posted others.
      guard stored.hasRoom(in: bounds) else { return false }
      stored.add(entry)
      lane.insert(entry)
    }
    return true
  }
}

extension WebhookEntry {
  /// About its bytes in memory.
  fileprivate var weight: Int { estimatedBytes + 256 }
}
