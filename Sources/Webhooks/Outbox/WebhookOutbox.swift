import Dispatch
import GroupModel
import GroupRuntime
import Logging
import Synchronization

/// Posts after-events until the application has them (Protocol.md, "Webhooks"). The client's thread
/// does the work; callers only hand entries over and wake it.
public final class WebhookOutbox: WebhookPoster {
  /// The bounds of an outbox.
  public struct Configuration: Sendable {
    /// How long a failing request is tried again.
    public var retention: Duration
    /// How many may wait; as many that were given up are kept.
    public var maxPending: Int
    /// Requests at a time.
    public var maxInFlight: Int

    /// With everything given.
    public init(retention: Duration, maxPending: Int, maxInFlight: Int) {
      self.retention = retention
      self.maxPending = maxPending
      self.maxInFlight = maxInFlight
    }
  }

  fileprivate struct Failure {
    let entry: WebhookEntry
    let attempts: Int
    let error: String
  }

  fileprivate struct State {
    var queue: OutboxQueue
    /// Stored entries that wait.
    var pending: Int
    var failures: Int
    /// Changes that the store is to make, and those that it is making.
    var delivered: [Int64] = []
    var givenUp: [Failure] = []
    var isCommitting = false
    /// When the store is to remove what was delivered, at the latest.
    var removalDue: MonotonicInstant?
    var isTrimming = false
    /// Some were given up because too many wait, and the commit of that has not begun.
    var hasTrimmed = false
    var isRetrying = false
    /// After a failure of the store.
    var storeRetry: MonotonicInstant?
    /// Where too many wait and all of the oldest are being posted.
    var trimRetry: MonotonicInstant?
    var timer: MonotonicInstant?
    /// The lanes of this process have changed, or others have left entries in the store.
    var isSearchDue = false
    /// When what waits in the store is to be counted again.
    var reviewDue: MonotonicInstant?
    var isReviewing = false
    /// When it was counted last.
    var lastReview: MonotonicInstant?
    var lastError = ""
    var isStopped = false
  }

  private static let changesPerCommit = 2000
  private static let givenUpPerCommit = 100
  /// Delivered entries are removed in such numbers, or after such a time, in milliseconds: pages of
  /// the store that become empty as a whole are not written. `kill -9` posts it again.
  private static let deliveredPerCommit = 1000
  private static let removalDelay: Int64 = 250
  private static let readBytes = 4 << 20
  private static let reviewDelay = Duration.seconds(1)
  /// How often a process with nothing to do counts what waits: what no other has told of is found by then.
  private static let reviewInterval = Duration.seconds(60)
  private static let maxArriving = 10_000
  /// So many arrive before the client's thread is woken where it can post none of them.
  private static let arrivingPerWake = 1000

  private let configuration: Configuration
  private let client: WebhookClient
  private let store: any WebhookStore
  private let groups: any GroupStore
  /// The lanes that this process posts; nil = all lanes.
  private let ownership: (any LaneOwnership)?
  private let clocks: any Clocks
  private let alarms: any Alarms
  private let counter = WebhookCounter()
  private let log: WebhookLog
  private let logger: Logger
  private let state: Mutex<State>
  /// Entries on their way to the queue. Threads that must not wait take this lock and not that of
  /// `state`, which the client's thread holds for longer and gives way to all others.
  private let arriving = Mutex<[WebhookEntry]>([])
  private let isWorkDue = Atomic<Bool>(false)
  /// Nothing can be posted before the end of an attempt or a timer, which bring more work.
  private let isBlocked = Atomic<Bool>(false)

  /// An outbox that goes on with what the store has.
  /// - Parameters:
  ///   - store: keeps the entries.
  ///   - groups: makes changes of them durable.
  ///   - ownership: the lanes that this process posts, where several share the store; `searchStore` is
  ///     called with each change.
  ///   - alarms: tell when a retry is due.
  public init(
    _ configuration: Configuration, client: WebhookClient, store: any WebhookStore, groups: any GroupStore,
    ownership: (any LaneOwnership)? = nil, alarms: any Alarms, logger: Logger
  ) async throws(StoreError) {
    let counts = try await store.webhookCounts()
    self.configuration = configuration
    self.client = client
    self.store = store
    self.groups = groups
    self.ownership = ownership
    clocks = client.clocks
    self.alarms = alarms
    log = WebhookLog(logger, client.clocks)
    self.logger = logger
    let queue = OutboxQueue(
      retention: configuration.retention, maxInFlight: configuration.maxInFlight, readsStore: counts.pending > 0)
    state = Mutex(State(queue: queue, pending: counts.pending, failures: counts.failures))
    wake()
  }

  /// How many entries wait, those in memory only included.
  public var pendingCount: Int {
    admitArriving()
    return state.withLock { $0.pending + $0.queue.volatileCount }
  }

  public func post(_ entry: WebhookEntry) {
    let count = arriving.withLock { arriving in
      arriving.append(entry)
      return arriving.count
    }
    // The client's thread is behind: the caller waits for it, and memory stays bounded.
    if count >= WebhookOutbox.maxArriving { admitArriving() }
    // The bound of those that wait is kept within a sixteenth.
    let perWake = min(WebhookOutbox.arrivingPerWake, configuration.maxPending / 16)
    if count >= perWake || !isBlocked.load(ordering: .sequentiallyConsistent) { wake() }
  }

  /// Adds what has arrived to the queue. It is taken under the lock of `state`, so that no later
  /// entry comes before it.
  private func admitArriving() {
    let lost = state.withLock { state -> [WebhookEntry] in
      let entries = arriving.withLock { exchange(&$0, with: []) }
      return entries.filter { entry in
        let gain = gain(of: entry.lane)
        if entry.storedNumber > 0, gain != nil { state.pending += 1 }
        return state.queue.post(entry, gain: gain) == .lost
      }
    }
    for entry in lost {
      counter.count(entry.type, .lost)
      log.warn("a webhook was lost: too many are in memory", ["type": "\(entry.type.rawValue)", "id": "\(entry.id)"])
    }
  }

  private func gain(of lane: WebhookEntry.Lane) -> Int64? { ownership.map { $0.gain(of: lane) } ?? 0 }

  /// Lets the client's thread work, once for all calls until it does.
  private func wake() {
    guard !isWorkDue.exchange(true, ordering: .acquiringAndReleasing) else { return }
    client.perform(isDeferrable: true) { [weak self] in self?.work() }
  }

  public func searchStore() {
    if ownership == nil { return }
    state.withLock { state in
      state.isSearchDue = true
      state.reviewDue = clocks.monotonic
    }
    wake()
  }

  // MARK: Work, on the client's thread

  private func work() {
    isWorkDue.store(false, ordering: .sequentiallyConsistent)
    isBlocked.store(false, ordering: .sequentiallyConsistent)
    admitArriving()
    let now = clocks.monotonic
    state.withLock { state in
      if let retry = state.storeRetry, retry <= now { state.storeRetry = nil }
      if let retry = state.trimRetry, retry <= now { state.trimRetry = nil }
    }
    searchIfDue()
    startAttempts()
    startTrim()
    startReview()
    commitChanges()
    startRead()
    setTimer()
    let isBlocked = state.withLock { $0.queue.isFull || $0.queue.isReceiverDown && ($0.queue.inFlight > 0 || $0.timer != nil) }
    // Entries from before this call have woken the thread.
    self.isBlocked.store(isBlocked, ordering: .sequentiallyConsistent)
  }

  private func searchIfDue() {
    guard let ownership else { return }
    state.withLock { state in
      guard state.isSearchDue else { return }
      state.isSearchDue = false
      state.queue.review(through: ownership.lastGain, gain)
    }
  }

  private func startAttempts() {
    while let entry = state.withLock({ $0.isStopped ? nil : $0.queue.next(at: clocks.monotonic, gain) }) { attempt(entry) }
  }

  private func setTimer() {
    let now = clocks.monotonic
    let due = state.withLock { state -> MonotonicInstant? in
      guard !state.isStopped,
        let due = [
          state.queue.nextDue(at: now), state.storeRetry, state.trimRetry, state.isReviewing ? nil : state.reviewDue,
          state.isCommitting || state.storeRetry != nil ? nil : state.removalDue,
        ].compactMap({ $0 }).min(),
        due < state.timer ?? .distantFuture
      else { return nil }
      state.timer = due
      return due
    }
    guard let due else { return }
    alarms.schedule(at: due, on: DispatchQueue.global()) { [weak self] in self?.timerFired(due) }
  }

  private func timerFired(_ due: MonotonicInstant) {
    state.withLock { if $0.timer == due { $0.timer = nil } }
    wake()
  }

  // MARK: Attempts

  private func attempt(_ entry: WebhookEntry) {
    client.post(WebhookRequest(id: entry.id, entry.type, at: entry.timestamp, data: entry.data)) { [self] in
      attemptEnded(entry, $0)
    }
  }

  private func attemptEnded(_ entry: WebhookEntry, _ result: Result<HTTPResponse, HTTPError>) {
    let outcome: OutboxQueue.Outcome
    var error = ""
    switch result {
    case .success(let response) where response.isSuccess: outcome = .delivered
    case .success(let response):
      outcome = .failed(isAnswered: true)
      error = "the status is \(response.status)"
    case .failure(let failure) where failure.code == .shutDown:
      return state.withLock { $0.queue.abandon(entry) }
    case .failure(let failure):
      outcome = failure.code.isReceivers ? .failed(isAnswered: failure.code == .tooLarge) : .notSent
      error = failure.description
    }
    finish(entry, outcome, error)
    wake()
  }

  private func finish(_ entry: WebhookEntry, _ outcome: OutboxQueue.Outcome, _ error: String) {
    let (now, wall) = (clocks.monotonic, clocks.wall)
    let isOwn = gain(of: entry.lane) != nil
    let ended = state.withLock { state in
      let wasDown = state.queue.isReceiverDown
      let consequence = state.queue.finish(entry, outcome, at: now, wall: wall, gain)
      var givenUp: [Failure] = []
      switch consequence {
      case .delivered:
        if entry.storedNumber > 0 {
          if isOwn { state.pending -= 1 }
          state.delivered.append(entry.storedNumber)
          if state.removalDue == nil { state.removalDue = now.advanced(byMilliseconds: WebhookOutbox.removalDelay) }
        }
      case .retry, .left: break
      case .givenUp(let attempts): givenUp = [Failure(entry: entry, attempts: attempts, error: error)]
      }
      if outcome != .delivered {
        givenUp += state.queue.giveUpExpired(at: wall, gain).map { expired in
          Failure(entry: expired.entry, attempts: expired.attempts, error: expired.attempts > 0 ? error : "not tried: \(error)")
        }
      }
      state.giveUp(givenUp)
      return (consequence, givenUp, wasDown: wasDown, isDown: state.queue.isReceiverDown)
    }
    switch outcome {
    case .delivered: counter.count(entry.type, .delivered)
    case .failed: counter.count(entry.type, .failed)
    case .notSent: counter.count(entry.type, .notSent)
    }
    note(ended.1)
    if ended.isDown, !ended.wasDown {
      logger.warning("the receiver of webhooks does not answer", metadata: ["error": "\(error)"])
    } else if ended.wasDown, !ended.isDown {
      logger.notice("the receiver of webhooks answers again")
    }
  }

  private func note(_ givenUp: [Failure]) {
    for failure in givenUp {
      counter.count(failure.entry.type, .givenUp)
      log.warn(
        "a webhook was given up",
        [
          "type": "\(failure.entry.type.rawValue)", "id": "\(failure.entry.id)", "attempts": "\(failure.attempts)",
          "error": "\(failure.error)",
        ])
    }
  }

  // MARK: The store

  /// Lets the store forget what was delivered, and keep what was given up: one commit at a time.
  private func commitChanges() {
    let now = clocks.monotonic
    let batch = state.withLock { state -> (delivered: [Int64], givenUp: [Failure], lost: Int)? in
      let isRemovalDue = state.delivered.count >= WebhookOutbox.deliveredPerCommit || state.removalDue.map { $0 <= now } ?? false
      guard !state.isCommitting, !state.isTrimming, !state.isTrimDue(configuration), state.storeRetry == nil,
        isRemovalDue || !state.givenUp.isEmpty
      else { return nil }
      state.isCommitting = true
      state.hasTrimmed = false
      let delivered = Array(state.delivered.prefix(WebhookOutbox.changesPerCommit))
      let givenUp = Array(state.givenUp.prefix(WebhookOutbox.givenUpPerCommit))
      state.delivered.removeFirst(delivered.count)
      state.givenUp.removeFirst(givenUp.count)
      state.removalDue = state.delivered.isEmpty ? nil : now
      return (delivered, givenUp, max(0, state.failures - configuration.maxPending))
    }
    guard let batch else { return }
    var changes = batch.givenUp.map { StoreChange.giveUpWebhook($0.entry, attempts: $0.attempts, lastError: $0.error) }
    if !batch.delivered.isEmpty { changes.append(.removeWebhooks(batch.delivered)) }
    if batch.lost > 0 { changes.append(.trimWebhookFailures(keeping: configuration.maxPending)) }
    // The store's thread must not wait for the lock of `state`.
    commit(changes) { [self] isDurable in client.perform { self.didCommit(batch, isDurable) } }
  }

  private func didCommit(_ batch: (delivered: [Int64], givenUp: [Failure], lost: Int), _ isDurable: Bool) {
    // Entries that the queue will still hear of must not look new once their numbers are gone.
    admitArriving()
    state.withLock { state in
      state.isCommitting = false
      if isDurable {
        state.queue.didRemove(batch.delivered + batch.givenUp.map(\.entry.storedNumber))
        state.failures -= batch.lost
      } else {
        state.delivered = batch.delivered + state.delivered
        state.removalDue = state.delivered.isEmpty ? nil : clocks.monotonic
        state.givenUp = batch.givenUp + state.givenUp
        state.storeRetry = clocks.monotonic.advanced(byMilliseconds: 1000)
      }
    }
    if isDurable, batch.lost > 0 {
      logger.warning("the oldest failures of webhooks were removed", metadata: ["count": "\(batch.lost)"])
    }
    work()
  }

  private func commit(_ changes: [StoreChange], _ completion: @escaping @Sendable (Bool) -> Void) {
    groups.commit(
      Commit(changes: changes, generation: CommitGeneration()) { [log] result in
        if case .failure(let error) = result { log.warn("webhooks could not be stored", ["error": "\(error)"]) }
        completion((try? result.get()) != nil)
      })
  }

  private func startRead() {
    let read = state.withLock { state -> (OutboxQueue.Read, bytes: Int)? in
      guard !state.isStopped, !state.isTrimming, !state.isTrimDue(configuration), state.storeRetry == nil else { return nil }
      return state.queue.nextRead().map { ($0, min(WebhookOutbox.readBytes, state.queue.bytesPerRead)) }
    }
    guard let (read, bytes) = read else { return }
    Task {
      do throws(StoreError) {
        let entries = try await store.webhooks(in: read.lane, after: read.after, limit: read.limit, bytes: bytes)
        let isWhole = entries.count < read.limit && entries.reduce(0) { $0 + $1.estimatedBytes } < bytes
        client.perform { [self] in
          admitArriving()
          state.withLock { $0.queue.didRead(entries, isWhole: isWhole, gain) }
          work()
        }
      } catch {
        noteReadFailure(error) { $0.queue.didFailRead() }
        wake()
      }
    }
  }

  private func noteReadFailure(_ error: StoreError, _ change: (inout State) -> Void) {
    let isStopped = state.withLock { state in
      change(&state)
      state.storeRetry = clocks.monotonic.advanced(byMilliseconds: 1000)
      return state.isStopped
    }
    // The end of the process closes the store.
    if !isStopped { log.warn("webhooks could not be read", ["error": "\(error)"]) }
  }

  /// Counts what waits for this process. A count beside other work is wrong by that work: where nothing
  /// is left and the count says otherwise, the store is searched, and it is made again.
  private func startReview() {
    guard let ownership else { return }
    let now = clocks.monotonic
    let isDue = state.withLock { state -> Bool in
      if state.reviewDue == nil, state.isIdle {
        let last = state.lastReview ?? now
        state.reviewDue = state.pending != 0 ? now + WebhookOutbox.reviewDelay : max(now, last + WebhookOutbox.reviewInterval)
      }
      guard let due = state.reviewDue, due <= now, !state.isReviewing, !state.isStopped, state.storeRetry == nil else {
        return false
      }
      (state.reviewDue, state.isReviewing, state.lastReview) = (nil, true, now)
      return true
    }
    guard isDue else { return }
    Task {
      do throws(StoreError) {
        let counts = try await store.webhookCounts()
        client.perform { [self] in
          admitArriving()
          state.withLock { state in
            state.isReviewing = false
            state.pending = max(0, counts.pending - state.queue.finishingCount)
            state.failures = counts.failures
            if state.isIdle, state.pending > 0 { state.queue.review(through: ownership.lastGain, gain) }
          }
          work()
        }
      } catch {
        noteReadFailure(error) { state in (state.isReviewing, state.reviewDue) = (false, clocks.monotonic) }
        wake()
      }
    }
  }

  /// Gives up the oldest entries where more wait than may. It runs alone, because rows that were read
  /// before a commit look as if they still waited. Commits and reads wait for it, then it for them.
  private func startTrim() {
    let trim = state.withLock { state -> (excess: Int, limit: Int)? in
      guard state.isTrimDue(configuration), !state.isTrimming, !state.isCommitting, !state.queue.isReading else { return nil }
      state.isTrimming = true
      let excess = min(state.excess(configuration), WebhookOutbox.givenUpPerCommit)
      return (excess, excess + configuration.maxInFlight + state.queue.finishingCount)
    }
    guard let (excess, limit) = trim else { return }
    Task {
      do throws(StoreError) {
        let oldest = try await store.webhooks(
          in: nil, after: 0, limit: limit, bytes: WebhookOutbox.readBytes)
        client.perform { [self] in
          withdraw(excess, of: oldest)
          startRead()
          commitChanges()
          work()
        }
      } catch {
        noteReadFailure(error) { $0.isTrimming = false }
        wake()
      }
    }
  }

  private func withdraw(_ count: Int, of oldest: [WebhookEntry]) {
    let reason = "more than \(configuration.maxPending) requests wait"
    let givenUp = state.withLock { state in
      state.isTrimming = false
      var givenUp: [Failure] = []
      for entry in oldest where givenUp.count < count {
        guard state.queue.withdraw(entry, gain: gain(of: entry.lane)) else { continue }
        givenUp.append(Failure(entry: entry, attempts: 0, error: reason))
      }
      state.giveUp(givenUp)
      state.hasTrimmed = !givenUp.isEmpty
      if givenUp.isEmpty { state.trimRetry = clocks.monotonic.advanced(byMilliseconds: 1000) }
      return givenUp
    }
    note(givenUp)
  }

  // MARK: Administration

  public func retryFailures() async throws(StoreError) -> Int {
    let known = state.withLock { state -> Int? in
      guard !state.isRetrying, !state.isStopped else { return nil }
      state.isRetrying = true
      return state.failures
    }
    // Those of the moment: what fails again is left for the next call.
    guard var known else { return 0 }
    defer { state.withLock { $0.isRetrying = false } }
    if ownership != nil { known = try await store.webhookCounts().failures }
    var retried = 0
    var last: Int64 = 0
    while retried < known {
      let page = try await store.webhookFailures(
        after: last, limit: min(WebhookOutbox.givenUpPerCommit, known - retried), bytes: WebhookOutbox.readBytes)
      guard let end = page.last?.number else { break }
      last = end
      try await retry(page)
      retried += page.count
    }
    return retried
  }

  private func retry(_ failures: [WebhookFailure]) async throws(StoreError) {
    let now = clocks.wall
    let entries = failures.map { failure in
      let entry = failure.entry
      return WebhookEntry(
        id: entry.id, entry.type, data: entry.data, in: entry.lane, at: entry.timestamp, since: now, number: 0)
    }
    let changes = entries.map { StoreChange.appendWebhook($0) } + [.removeWebhookFailures(failures.map(\.number))]
    let isDurable = await withCheckedContinuation { continuation in
      commit(changes) { continuation.resume(returning: $0) }
    }
    guard isDurable else { throw StoreError(.unavailable, "webhooks could not be stored") }
    state.withLock { $0.failures = max(0, $0.failures - failures.count) }
    for entry in entries { post(entry) }
  }

  // MARK: The end

  /// Ends all requests, and stores what is in memory only, so that the next start posts it. The
  /// store must still be open.
  public func stop() async {
    state.withLock { $0.isStopped = true }
    await client.shutDown()
    admitArriving()
    let changes = state.withLock { state in
      let delivered = state.delivered
      let givenUp = state.givenUp
      (state.delivered, state.givenUp) = ([], [])
      return givenUp.map { StoreChange.giveUpWebhook($0.entry, attempts: $0.attempts, lastError: $0.error) }
        + [.removeWebhooks(delivered)] + state.queue.volatileEntries.map { StoreChange.appendWebhook($0) }
    }
    _ = await withCheckedContinuation { continuation in
      commit(changes) { continuation.resume(returning: $0) }
    }
  }
}

extension WebhookOutbox.State {
  /// Whether nothing is left to do for what is known.
  fileprivate var isIdle: Bool { queue.isIdle && !isCommitting && delivered.isEmpty && givenUp.isEmpty }

  /// How many more wait than may.
  fileprivate func excess(_ configuration: WebhookOutbox.Configuration) -> Int {
    pending + queue.volatileCount - configuration.maxPending
  }

  /// Whether entries are to be given up before anything else is done.
  fileprivate func isTrimDue(_ configuration: WebhookOutbox.Configuration) -> Bool {
    excess(configuration) > 0 && pending > 0 && !isStopped && !hasTrimmed && storeRetry == nil && trimRetry == nil
  }

  fileprivate mutating func giveUp(_ failed: [WebhookOutbox.Failure]) {
    givenUp += failed
    failures += failed.count
    pending -= failed.count { $0.entry.storedNumber > 0 }
  }
}
