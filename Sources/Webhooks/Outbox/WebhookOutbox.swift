import Dispatch
import GroupModel
import GroupRuntime
import Logging
import OutgoingHTTP
import Synchronization

/// Posts after-events until the application has them (Protocol.md, "Webhooks"). `OutboxMachine`
/// decides what is done. The client's thread does it; callers only hand entries over and wake it.
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

  private static let pageBytes = 4 << 20
  private static let lettersPerPage = 100
  private static let maxArriving = 10_000
  /// So many arrive before the client's thread is woken where it can post none of them.
  private static let arrivingPerWake = 1000

  private let configuration: Configuration
  private let client: WebhookClient
  private let store: any WebhookStore
  private let groups: any GroupStore
  private let isShared: Bool
  private let ownership: any LaneOwnership
  private let clocks: any Clocks
  private let alarms: any Alarms
  private let counter = WebhookCounter()
  private let log: WebhookLog
  private let logger: Logger
  private let machine: Mutex<OutboxMachine>
  /// Entries on their way to the machine. Threads that must not wait take this lock and not the
  /// machine's, which the client's thread holds for longer and gives way to all others.
  private let arriving = Mutex<[WebhookEntry]>([])
  private let signal = WorkSignal()
  private let erasedNames: Mutex<ErasedNames>

  /// An outbox that goes on with what the store has.
  /// - Parameters:
  ///   - store: keeps the entries.
  ///   - groups: makes changes of them durable.
  ///   - ownership: the lanes that this process posts, where several share the store; `searchStore` is
  ///     called with each change. Nil = all lanes.
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
    isShared = ownership != nil
    self.ownership = ownership ?? SoleOwnership()
    clocks = client.clocks
    self.alarms = alarms
    log = WebhookLog(logger, client.clocks)
    self.logger = logger
    machine = Mutex(OutboxMachine(configuration, counts, isShared: isShared))
    erasedNames = Mutex(ErasedNames(lifetime: configuration.retention))
    wake()
  }

  /// How many entries wait, those in memory only included.
  public var pendingCount: Int {
    handle()
    return machine.withLock { $0.pendingCount }
  }

  /// How many entries are in memory, those among them that are stored too.
  public var entryCount: Int { machine.withLock { $0.entryCount } + arriving.withLock { $0.count } }

  /// How many lanes have entries in memory, or in the store and not read yet.
  public var laneCount: Int { machine.withLock { $0.laneCount } }

  /// How many deleted users are remembered, whose names entries in memory may show.
  public var erasedNameCount: Int { erasedNames.withLock { $0.count } }

  public func post(_ entry: WebhookEntry) {
    let count = arriving.withLock { arriving in
      arriving.append(entry)
      return arriving.count
    }
    // The client's thread is behind: the caller waits for it, and memory stays bounded.
    if count >= WebhookOutbox.maxArriving { handle() }
    // The bound of those that wait is kept within a sixteenth.
    let perWake = min(WebhookOutbox.arrivingPerWake, configuration.maxPending / 16)
    if count >= perWake || !signal.isBlocked { wake() }
  }

  public func erase(_ user: UserID, _ messages: UserDeletion.MessageFate) {
    let now = clocks.monotonic
    erasedNames.withLock { $0.add(user, messages, at: now) }
  }

  public func searchStore() {
    guard isShared else { return }
    handle(.lanesChanged)
    wake()
  }

  // MARK: Inputs

  /// Lets the machine take what has arrived, then an input, and does what follows.
  private func handle(_ input: OutboxInput? = nil) {
    let context = OutboxMachine.Context(now: clocks.now, ownership: ownership)
    let actions = machine.withLock { machine in
      // Under the machine's lock, so that no later entry comes before these. Entries of which an
      // input tells must not look new once their numbers are gone.
      let entries = arriving.withLock { exchange(&$0, with: []) }
      return machine.handle(.posted(entries), in: context) + (input.map { machine.handle($0, in: context) } ?? [])
    }
    for action in actions { perform(action) }
  }

  /// Lets the client's thread work, once for all calls until it does.
  private func wake() {
    guard signal.request() else { return }
    client.perform(isDeferrable: true) { [weak self] in self?.work(.woken) }
  }

  /// On the client's thread.
  private func work(_ input: OutboxInput) {
    signal.begin()
    handle(input)
    signal.end(isBlocked: machine.withLock { $0.isBlocked })
  }

  // MARK: Actions

  private func perform(_ action: OutboxAction) {
    switch action {
    case .post(let entry):
      let request = WebhookRequest(id: entry.id, entry.type, at: entry.timestamp, data: entry.data, trace: entry.trace)
      client.post(request) { [self] in attemptEnded(entry, $0) }
    case .commit(let changes):
      // The store's thread must not wait for the machine's lock.
      commit(changes) { [self] answer in
        let isDurable = (try? answer.get()) != nil
        client.perform { self.work(.committed(isDurable: isDurable)) }
      }
    case .read(let read):
      Task {
        let input = await input(from: read)
        client.perform { [self] in work(input) }
      }
    case .setTimer(let due):
      alarms.schedule(at: due, on: DispatchQueue.global()) { [weak self] in
        self?.handle(.timerFired(due))
        self?.wake()
      }
    case .tell(let event): tell(event)
    }
  }

  private func attemptEnded(_ entry: WebhookEntry, _ result: Result<HTTPResponse, HTTPError>) {
    switch result {
    case .success(let response) where response.isSuccess:
      counter.count(entry.type, .delivered)
      handle(.attemptEnded(entry, .delivered, error: ""))
    case .success(let response):
      counter.count(entry.type, .failed)
      handle(.attemptEnded(entry, .failed(isAnswered: true), error: "the status is \(response.status)"))
    // The process ends: the store has the entry, or gets it.
    case .failure(let failure) where failure.code == .shutDown: return
    case .failure(let failure):
      counter.count(entry.type, failure.code.isReceivers ? .failed : .notSent)
      let outcome = failure.code.isReceivers ? OutboxQueue.Outcome.failed(isAnswered: failure.code == .tooLarge) : .notSent
      handle(.attemptEnded(entry, outcome, error: failure.description))
    }
    wake()
  }

  private func commit(_ changes: [StoreChange], _ completion: @escaping @Sendable (Commit.Answer) -> Void) {
    let now = clocks.monotonic
    let names = erasedNames.withLock { $0.current(at: now) }
    groups.commit(
      Commit(changes: names.isEmpty ? changes : changes.map { $0.erasing(names) }, generation: CommitGeneration()) {
        [log] answer in
        if case .failure(let error) = answer { log.warn("webhooks could not be stored", ["error": "\(error)"]) }
        completion(answer)
      })
  }

  private func input(from read: StoreRead) async -> OutboxInput {
    do throws(StoreError) {
      switch read {
      case .next(let read, let bytes):
        let entries = try await store.webhooks(in: read.lane, after: read.after, limit: read.limit, bytes: bytes)
        let isWhole = entries.count < read.limit && entries.reduce(0) { $0 + $1.estimatedBytes } < bytes
        return .entriesRead(entries, isWhole: isWhole)
      case .oldest(let limit):
        return .oldestRead(try await store.webhooks(in: nil, after: 0, limit: limit, bytes: WebhookOutbox.pageBytes))
      case .counts: return .counted(try await store.webhookCounts())
      }
    } catch {
      return .readFailed(read, error)
    }
  }

  private func tell(_ event: OutboxEvent) {
    switch event {
    case .lost(let entry):
      counter.count(entry.type, .lost)
      log.warn(
        "a webhook was lost: too many are in memory", ["type": "\(entry.type.rawValue)", "id": "\(entry.id)"], in: entry.trace)
    case .givenUp(let letter):
      counter.count(letter.entry.type, .givenUp)
      log.warn(
        "a webhook was given up",
        [
          "type": "\(letter.entry.type.rawValue)", "id": "\(letter.entry.id)",
          "attempts": .stringConvertible(letter.attempts),
          "error": "\(letter.error)",
        ], in: letter.entry.trace)
    case .receiverIsDown(let error):
      logger.warning("the receiver of webhooks does not answer", metadata: ["error": "\(error)"])
    case .receiverIsBack: logger.notice("the receiver of webhooks answers again")
    case .deadLettersRemoved(let count):
      logger.warning("the oldest failures of webhooks were removed", metadata: ["count": .stringConvertible(count)])
    case .readFailed(let error): log.warn("webhooks could not be read", ["error": "\(error)"])
    }
  }

  // MARK: Administration

  public func retryFailures() async throws(StoreError) -> Int {
    // Those of the moment: what fails again is left for the next call.
    guard var known = machine.withLock({ $0.beginRetry() }) else { return 0 }
    defer { machine.withLock { $0.endRetry() } }
    if isShared { known = try await store.webhookCounts().failures }
    var retried = 0
    var last: Int64 = 0
    while retried < known {
      let page = try await store.webhookFailures(
        after: last, limit: min(WebhookOutbox.lettersPerPage, known - retried), bytes: WebhookOutbox.pageBytes)
      guard let end = page.last?.number else { break }
      last = end
      try await retry(page)
      retried += page.count
    }
    return retried
  }

  private func retry(_ failures: [WebhookFailure]) async throws(StoreError) {
    let now = clocks.wall
    let changes = failures.map { failure in
      let entry = failure.entry
      return StoreChange.appendWebhook(
        WebhookEntry(
          id: entry.id, entry.type, data: entry.data, in: entry.lane, at: entry.timestamp, since: now, number: 0,
          trace: entry.trace))
    }
    guard case .success(let entries) = await commit(changes + [.removeWebhookFailures(failures.map(\.number))]) else {
      throw StoreError(.unavailable, "webhooks could not be stored")
    }
    machine.withLock { $0.didRetry(failures.count) }
    for entry in entries { post(entry) }
  }

  private func commit(_ changes: [StoreChange]) async -> Commit.Answer {
    await withCheckedContinuation { continuation in commit(changes) { continuation.resume(returning: $0) } }
  }

  // MARK: The end

  /// Ends all requests, and stores what is in memory only, so that the next start posts it. The
  /// store must still be open.
  public func stop() async {
    handle(.stop)
    await client.shutDown()
    handle()
    _ = await commit(machine.withLock { $0.end() })
  }
}

/// Whether the client's thread is to work. Any thread asks for it, without a lock.
private final class WorkSignal: Sendable {
  private enum State: UInt8, AtomicRepresentable {
    /// Next: due, blocked.
    case idle
    /// The thread was asked. Next: idle.
    case due
    /// Nothing can be posted before the end of an attempt or a timer, which ask for work
    /// themselves. Next: due, idle.
    case blocked
  }

  private let state = Atomic(State.idle)

  var isBlocked: Bool { state.load(ordering: .sequentiallyConsistent) == .blocked }

  /// - Returns: whether the thread is to be called.
  func request() -> Bool { state.exchange(.due, ordering: .sequentiallyConsistent) != .due }

  /// The thread begins, and takes what has arrived until then.
  func begin() { state.store(.idle, ordering: .sequentiallyConsistent) }

  /// What has arrived since it began has asked again.
  func end(isBlocked: Bool) {
    guard isBlocked else { return }
    _ = state.compareExchange(expected: .idle, desired: .blocked, ordering: .sequentiallyConsistent)
  }
}
