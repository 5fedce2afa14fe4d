import GroupModel
import GroupRuntime

/// The way of after-events to the application and out of the store, as a value: `handle` takes what
/// has happened, and answers what is to be done. `OutboxQueue` decides which entry is posted next.
struct OutboxMachine {
  /// What changes the store at present. Reads of the next entries go on beside a commit.
  enum State {
    /// Next: committing, trimming, stopping.
    case ready
    /// Next: ready, stopping.
    case committing(PendingChanges.Batch)
    /// The oldest are read to be given up; nothing else is under way, because rows that were read
    /// before a commit look as if they still waited. Next: ready, stopping.
    case trimming(excess: Int)
    /// Nothing begins any more; attempts and a commit end. Next: stopped.
    case stopping(PendingChanges.Batch?)
    /// What was left was handed out to be stored.
    case stopped
  }

  /// What a trim waits for, beside its turn.
  private enum TrimWait {
    case none
    /// For the commit of what the last one gave up.
    case commit
    /// All of the oldest were being posted.
    case time(MonotonicInstant)
  }

  /// What holds when an input comes.
  struct Context {
    let now: ClockReading
    let ownership: any LaneOwnership

    fileprivate func gain(of lane: WebhookEntry.Lane) -> Int64? { ownership.gain(of: lane) }
  }

  private static let readBytes = 4 << 20
  /// After a failure of the store, and where too many wait that cannot be given up; in
  /// milliseconds.
  private static let pause: Int64 = 1000

  private let configuration: WebhookOutbox.Configuration
  private(set) var state = State.ready
  private var queue: OutboxQueue
  private var changes = PendingChanges()
  /// Stored entries that wait.
  private var pending: Int
  /// Dead letters in the store, or on their way to it.
  private var letters: Int
  private var trimWait = TrimWait.none
  /// Nil = no other process shares the store.
  private var review: StoreReview?
  private var isSearchDue = false
  /// The store has failed: nothing is read or written before.
  private var storeRetry: MonotonicInstant?
  /// The earliest timer that is set.
  private var timer: MonotonicInstant?
  private var isRetrying = false
  private var actions: [OutboxAction] = []

  /// - Parameters:
  ///   - counts: of the store.
  ///   - isShared: other processes post lanes from the same store.
  init(
    _ configuration: WebhookOutbox.Configuration, _ counts: WebhookCounts, isShared: Bool,
    bounds: OutboxQueue.Bounds = OutboxQueue.Bounds()
  ) {
    self.configuration = configuration
    queue = OutboxQueue(
      retention: configuration.retention, maxInFlight: configuration.maxInFlight, readsStore: counts.pending > 0,
      bounds: bounds)
    (pending, letters) = (counts.pending, counts.failures)
    review = isShared ? .idle(last: nil) : nil
  }

  /// How many entries wait, those in memory only included.
  var pendingCount: Int { pending + queue.volatileCount }

  /// How many entries are in memory.
  var entryCount: Int { queue.count }

  /// How many lanes have entries in memory, or in the store and not read yet.
  var laneCount: Int { queue.laneCount }

  /// Whether nothing can be posted before the end of an attempt or a timer.
  var isBlocked: Bool { queue.isFull || queue.isReceiverDown && (queue.inFlight > 0 || timer != nil) }

  /// Takes what has happened; the actions are to be done in their order.
  mutating func handle(_ input: OutboxInput, in context: Context) -> [OutboxAction] {
    switch input {
    case .posted(let entries): for entry in entries { post(entry, in: context) }
    case .woken: proceed(in: context)
    case .lanesChanged:
      isSearchDue = review != nil
      review?.plan(at: context.now.monotonic)
    case .attemptEnded(let entry, let outcome, let error): attemptEnded(entry, outcome, error, in: context)
    case .committed(let isDurable):
      didCommit(isDurable, at: context.now.monotonic)
      proceed(in: context)
    case .entriesRead(let entries, let isWhole):
      queue.didRead(entries, isWhole: isWhole, context.gain)
      proceed(in: context)
    case .oldestRead(let entries):
      withdraw(from: entries, in: context)
      proceed(in: context)
    case .counted(let counts):
      didCount(counts, in: context)
      proceed(in: context)
    case .readFailed(let read, let error):
      didFail(read, error, at: context.now.monotonic)
      proceed(in: context)
    case .timerFired(let due): if timer == due { timer = nil }
    case .stop: stop()
    }
    defer { actions = [] }
    return actions
  }

  /// Begins all that may begin.
  private mutating func proceed(in context: Context) {
    guard isRunning else { return }
    let now = context.now.monotonic
    if let retry = storeRetry, retry <= now { storeRetry = nil }
    if case .time(let end) = trimWait, end <= now { trimWait = .none }
    if isSearchDue {
      isSearchDue = false
      search(in: context)
    }
    while let entry = queue.next(at: now, context.gain) { actions.append(.post(entry)) }
    useStore(at: now)
    setTimer(at: now)
  }

  private var isRunning: Bool {
    switch state {
    case .ready, .committing, .trimming: true
    case .stopping, .stopped: false
    }
  }

  private mutating func search(in context: Context) {
    queue.review(through: context.ownership.lastGain, context.gain)
  }

  private mutating func setTimer(at now: MonotonicInstant) {
    var dues = [queue.nextDue(at: now), storeRetry]
    if case .time(let end) = trimWait { dues.append(end) }
    if storeRetry == nil { dues.append(review?.due) }
    // The end of a commit, a trim or what that waits for looks at it again.
    if storeRetry == nil, !isTrimDue, case .ready = state { dues.append(changes.removalDue) }
    guard let due = dues.compactMap({ $0 }).min(), due < timer ?? .distantFuture else { return }
    timer = due
    actions.append(.setTimer(due))
  }

  // MARK: Attempts

  private mutating func post(_ entry: WebhookEntry, in context: Context) {
    let gain = context.gain(of: entry.lane)
    if entry.storedNumber > 0, gain != nil { pending += 1 }
    if queue.post(entry, gain: gain) == .lost { actions.append(.tell(.lost(entry))) }
  }

  private mutating func attemptEnded(
    _ entry: WebhookEntry, _ outcome: OutboxQueue.Outcome, _ error: String, in context: Context
  ) {
    let (now, wall) = (context.now.monotonic, context.now.wall)
    let wasDown = queue.isReceiverDown
    var givenUp: [DeadLetter] = []
    switch queue.finish(entry, outcome, at: now, wall: wall, context.gain) {
    case .delivered:
      guard entry.storedNumber > 0 else { break }
      if context.gain(of: entry.lane) != nil { pending -= 1 }
      changes.addDelivered(entry.storedNumber, at: now)
    case .retry, .left: break
    case .givenUp(let attempts): givenUp = [DeadLetter(entry: entry, attempts: attempts, error: error)]
    }
    if outcome != .delivered {
      givenUp += queue.giveUpExpired(at: wall, context.gain).map { entry, attempts in
        DeadLetter(entry: entry, attempts: attempts, error: attempts > 0 ? error : "not tried: \(error)")
      }
    }
    giveUp(givenUp)
    switch (wasDown, queue.isReceiverDown) {
    case (false, true): actions.append(.tell(.receiverIsDown(error: error)))
    case (true, false): actions.append(.tell(.receiverIsBack))
    case (false, false), (true, true): break
    }
  }

  private mutating func giveUp(_ givenUp: [DeadLetter]) {
    changes.addGivenUp(givenUp)
    letters += givenUp.count
    pending -= givenUp.count { $0.entry.storedNumber > 0 }
    actions += givenUp.map { .tell(.givenUp($0)) }
  }

  // MARK: The store

  private mutating func useStore(at now: MonotonicInstant) {
    if isIdle { review?.planWhenIdle(isExpected: pending != 0, at: now) }
    guard storeRetry == nil else { return }
    if let due = review?.due, due <= now {
      review?.begin(at: now)
      actions.append(.read(.counts))
    }
    if case .trimming = state { return }
    // Commits and reads wait for a trim, then it for them.
    if isTrimDue {
      if case .ready = state, !queue.isReading { trim() }
      return
    }
    // Before a commit, after which a trim may be due again.
    if let read = queue.nextRead() {
      actions.append(.read(.next(read, bytes: min(OutboxMachine.readBytes, queue.bytesPerRead))))
    }
    if case .ready = state, changes.isDue(at: now) { commit(at: now) }
  }

  private var isCommitting: Bool { if case .committing = state { true } else { false } }

  /// Whether nothing is left to do for what is known.
  private var isIdle: Bool { queue.isIdle && changes.isEmpty && !isCommitting }

  /// Lets the store forget what was delivered, and keep what was given up: one commit at a time.
  private mutating func commit(at now: MonotonicInstant) {
    let batch = changes.popBatch(surplus: max(0, letters - configuration.maxPending), at: now)
    state = .committing(batch)
    if case .commit = trimWait { trimWait = .none }
    let removal: [StoreChange] = batch.surplus > 0 ? [.trimWebhookFailures(keeping: configuration.maxPending)] : []
    actions.append(.commit(batch.changes + removal))
  }

  private mutating func didCommit(_ isDurable: Bool, at now: MonotonicInstant) {
    let batch: PendingChanges.Batch
    switch state {
    case .committing(let sent): (state, batch) = (.ready, sent)
    case .stopping(let sent?): (state, batch) = (.stopping(nil), sent)
    case .ready, .trimming, .stopping(nil), .stopped: return
    }
    guard isDurable else {
      changes.restore(batch, at: now)
      storeRetry = now.advanced(byMilliseconds: OutboxMachine.pause)
      return
    }
    queue.didRemove(batch.numbers)
    letters -= batch.surplus
    if batch.surplus > 0 { actions.append(.tell(.deadLettersRemoved(batch.surplus))) }
  }

  /// Counts what waits for this process. A count beside other work is wrong by that work: where
  /// nothing is left and the count says otherwise, the store is searched, and it is made again.
  private mutating func didCount(_ counts: WebhookCounts, in context: Context) {
    review?.end()
    pending = max(0, counts.pending - queue.finishingCount)
    letters = counts.failures
    if isIdle, pending > 0 { search(in: context) }
  }

  private mutating func didFail(_ read: StoreRead, _ error: StoreError, at now: MonotonicInstant) {
    switch read {
    case .next: queue.didFailRead()
    case .oldest: if case .trimming = state { state = .ready }
    case .counts:
      review?.end()
      review?.plan(at: now)
    }
    storeRetry = now.advanced(byMilliseconds: OutboxMachine.pause)
    // The end of the process closes the store.
    if isRunning { actions.append(.tell(.readFailed(error: "\(error)"))) }
  }

  // MARK: Giving up the oldest

  /// How many more wait than may.
  private var excess: Int { pendingCount - configuration.maxPending }

  /// Whether entries are to be given up before anything else is done with the store.
  private var isTrimDue: Bool {
    if case .none = trimWait { excess > 0 && pending > 0 } else { false }
  }

  private mutating func trim() {
    let count = min(excess, PendingChanges.givenUpPerCommit)
    state = .trimming(excess: count)
    actions.append(.read(.oldest(limit: count + configuration.maxInFlight + queue.finishingCount)))
  }

  private mutating func withdraw(from oldest: [WebhookEntry], in context: Context) {
    guard case .trimming(let count) = state else { return }
    state = .ready
    let error = "more than \(configuration.maxPending) requests wait"
    var givenUp: [DeadLetter] = []
    for entry in oldest where givenUp.count < count && queue.withdraw(entry, gain: context.gain(of: entry.lane)) {
      givenUp.append(DeadLetter(entry: entry, attempts: 0, error: error))
    }
    giveUp(givenUp)
    trimWait = givenUp.isEmpty ? .time(context.now.monotonic.advanced(byMilliseconds: OutboxMachine.pause)) : .commit
  }

  // MARK: Administration

  /// Begins to post dead letters again, one call at a time.
  /// - Returns: how many are known; nil = another call is under way, or the process ends.
  mutating func beginRetry() -> Int? {
    guard isRunning, !isRetrying else { return nil }
    isRetrying = true
    return letters
  }

  /// So many are entries again.
  mutating func didRetry(_ count: Int) { letters = max(0, letters - count) }

  mutating func endRetry() { isRetrying = false }

  // MARK: The end

  private mutating func stop() {
    switch state {
    case .ready, .trimming: state = .stopping(nil)
    case .committing(let batch): state = .stopping(batch)
    case .stopping, .stopped: break
    }
  }

  /// Hands out what the next start needs. No attempt is in flight any more.
  mutating func end() -> [StoreChange] {
    state = .stopped
    return changes.popAll() + queue.volatileEntries.map { .appendWebhook($0) }
  }
}
