import DequeModule
import GroupModel
import WireProtocol

/// One group. Requests go through `enqueue`, `process`, `submit`, `didCommit` and `deliver`:
/// `GroupState` decides, the store commits, and only then are replies and events sent, in order.
/// Commits overlap and share transactions; a failed one discards the state (`reload`).
public actor Group {
  /// Receives the reply once, on the group's executor.
  public typealias Completion = @Sendable (Reply) -> Void

  /// The phase of the group in memory, with those that may follow.
  enum Phase {
    /// The store was not read yet. → loading
    case unloaded
    /// The store is being read; the backlog waits. → attaching, absent, unloaded (the store failed)
    case loading
    /// The group exists, and the sessions of its members are being attached; the backlog waits.
    /// → loaded, loading (a commit failed), retired (another node decides)
    case attaching(StateBox)
    /// The group exists. → attaching (one of everybody), absent (disbanded), loading (a commit failed),
    /// retired
    case loaded(StateBox)
    /// The store has no such group. → loaded (created), retired
    case absent
    /// The registry has removed this actor, which forwards every input to its successor.
    case retired

    /// The state of a group that exists.
    fileprivate var box: StateBox? {
      switch self {
      case .loaded(let box), .attaching(let box): box
      case .unloaded, .loading, .absent, .retired: nil
      }
    }
  }

  /// Keeps the state in one place: the payload of an enum's case would be copied for each request.
  final class StateBox {
    var state: GroupState
    /// The group's type, which never changes: read without the check of exclusive access.
    let type: GroupType

    init(_ state: GroupState) {
      self.state = state
      type = state.record.type
    }
  }

  public nonisolated let id: GroupID
  public nonisolated let executor: any GroupExecutor
  let services: GroupServices
  /// The owner of this actor; nil where the server has ended while the group still had work.
  weak var registry: GroupRegistry?
  var phase = Phase.unloaded {
    didSet { box = phase.box }
  }
  /// The state of a loaded group. Kept beside the phase, because each message asks for it several times.
  private(set) var box: StateBox?
  /// Inputs that wait for loading. The first is being processed, unless the group is loading or
  /// attaching.
  var backlog: Deque<GroupInput> = []
  /// The users whose sessions are still to be attached.
  var unattached: ArraySlice<UserID> = []
  /// How often attaching has begun: what is left of an earlier time does nothing.
  var attachings = 0
  /// A commit has failed: the state goes when all are attached.
  var failureOfCommit: StoreError?
  var pipeline = CommitPipeline()
  var counterCommits = CounterCommits()
  var generation = CommitGeneration()
  /// How far the members are told.
  var told = ToldStamp()
  /// Whether the calls of the topic belong together now.
  var isTelling = false
  var followGate = FollowGate()
  var topic: (any GroupTopic)?
  /// What this live room remembers; nil = it remembers nothing, or is not loaded.
  var recentRoom: RecentRoom?
  /// When the latest request came.
  var lastUse: MonotonicInstant
  /// Whether nothing but reads has been processed since loading.
  var isOnlyRead = false
  nonisolated let footprint = ResidentGroups.Footprint()
  /// The instant of the next wake-up; nil = none is needed.
  var alarm: MonotonicInstant?
  /// The instants for which `services.alarms` was asked, each once.
  var pendingAlarms: Set<MonotonicInstant> = []
  /// Until then the group starts no commit by itself, because the store has failed.
  var backoffEnd = MonotonicInstant.distantPast
  /// Whether the attributes are to be published again after loading.
  var mustRepublishAttributes = false
  /// Events of counters that a failed commit has interrupted, until the group is loaded again.
  var interruptedCounterEvents: CounterEvents?
  /// Mutes and roles of a live room that a failed commit has kept from the members, until the group is
  /// loaded again.
  var interruptedMemberNotices: MemberInfoNotices?
  /// The readings of messages and receipts over which requests and events are decided.
  var readings = MessageReadings()
  /// Events of changes that were lost with a state, to be made again after loading.
  var lostAnnouncements: [ChangeAnnouncements.Announcement] = []
  /// The messages whose senders are to be told of read receipts.
  var receiptNotices = ReceiptNotices()
  /// Whether an alarm for the next round of them will ring.
  var awaitsReceiptAlarm = false
  /// Joins, quits and edits that are decided together.
  var crowd = CrowdQueue()
  /// Whether an alarm for them will ring.
  var awaitsCrowdAlarm = false

  public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// `receive` and `didCommit`, for callers on the executor (Architecture.md, "Threads"); nil before the
  /// first input.
  ///
  /// nonisolated(unsafe): they are made and called on the executor alone.
  private nonisolated(unsafe) var receiveEntry: ((consuming GroupInput) -> Void)?
  private nonisolated(unsafe) var commitEntry: ((Commit.Answer, CommitGeneration) -> Void)?

  private func makeEntries() {
    // unowned(unsafe): nobody else has them, and this actor calls them by methods of its own.
    receiveEntry = { [unowned(unsafe) self] input in self.receive(input) }
    commitEntry = { [unowned(unsafe) self] answer, generation in self.didCommit(answer, of: generation) }
  }

  init(_ id: GroupID, executor: any GroupExecutor, services: GroupServices, registry: GroupRegistry) {
    self.id = id
    self.executor = executor
    self.services = services
    self.registry = registry
    lastUse = services.clocks.monotonic
  }

  /// Processes an input on the group's executor: at once where the caller is on it and no backlog
  /// waits. Inputs from one thread keep their order.
  public nonisolated func enqueue(_ input: consuming GroupInput) {
    guard executor.isCurrent else { return enqueueLater(input) }
    guard let receiveEntry else {
      assumeIsolated { $0.makeEntries() }
      return enqueue(input)
    }
    receiveEntry(input)
  }

  private func receive(_ input: consuming GroupInput) {
    // A completion may enqueue more while the backlog is drained.
    if backlog.isEmpty { process(input) } else { backlog.append(input) }
  }

  /// The store's answer to a commit, on any thread.
  nonisolated func didAnswer(_ answer: Commit.Answer, to generation: CommitGeneration) {
    executor.perform {
      guard let commitEntry = self.commitEntry else { return self.assumeIsolated { $0.didCommit(answer, of: generation) } }
      commitEntry(answer, generation)
    }
  }

  private nonisolated func enqueueLater(_ input: GroupInput) { executor.enqueue { self.enqueue(input) } }

  /// Enqueues a request, and waits for its reply.
  public nonisolated func ask(_ request: GroupOperation, by caller: Caller) async -> Reply {
    await withCheckedContinuation { continuation in
      enqueue(.request(request, by: caller) { continuation.resume(returning: $0) })
    }
  }

  func process(_ input: consuming GroupInput) {
    switch phase {
    case .loaded(let box):
      switch consume input {
      case .request(let request, let caller, let completion):
        if !readings.isEmpty, readings.holdsBack(request, of: caller.session) {
          return readings.hold(.request(request, by: caller, completion: completion), of: caller.session)
        }
        let now = services.clocks.now
        if let wait = caller.fanOut?.wait(at: now.monotonic), request.sendsToMembers {
          return refuse(for: wait, completion)
        }
        if box.type.storesMessages, isCrowded(box), holdForCrowd(request, by: caller, completion, in: box) { return }
        decide(request, by: caller, at: now, completion, in: box)
      case .presence(let presence, let completion):
        if let since = presence.awaySince { endGrace(of: presence.user, awaySince: since) }
        tell { refreshPresence(of: presence.user) }
        completion()
      case .removal(let removal): box.state.remove(removal)
      case .replay(let from, let through, let completion): replay(from: from, through: through, in: box, completion)
      case .refresh(let completion): completion(box.state.record.epoch)
      }
    case .absent:
      guard isLed else { return input.fail() }
      switch consume input {
      case .request(let request, let caller, let completion): create(request, by: caller, completion)
      case .presence(_, let completion): completion()
      case .removal: break
      case .replay(from: _, through: _, let completion): completion(.impossible(.noGroup))
      case .refresh(let completion): completion(nil)
      }
    case .loading, .attaching: backlog.append(input)
    case .unloaded: loadState(for: input)
    case .retired:
      if isLed, let successor = registry?.group(id) { successor.enqueue(input) } else { input.fail() }
    }
  }

  /// Whether changes of members may have to wait for one another.
  @inline(__always)
  private func isCrowded(_ box: StateBox) -> Bool {
    box.state.roster.count >= CrowdQueue.leastMembers || !crowd.isEmpty
  }

  @inline(__always)
  func decide(
    _ request: GroupOperation, by caller: Caller, at now: ClockReading, _ completion: @escaping Completion, in box: StateBox
  ) {
    lastUse = now.monotonic
    let decision = box.state.decide(request, by: caller, at: now, usersSignedIn: usersSignedIn(for: box))
    if let budget = caller.fanOut, decision.fanOut.deliveries > 0 { budget.charge(decision.fanOut, at: now.monotonic) }
    if let trace = caller.trace { noteDecision(causedBy: trace, from: now.monotonic) }
    // A copy of it would have its list of effects copied, too.
    submit(consume decision, completion, by: caller)
    commitCorrections()
  }

  /// The end of a decision, for the trace to which its request belongs.
  @inline(never)
  private func noteDecision(causedBy trace: TraceContext, from start: MonotonicInstant) {
    guard trace.isSampled, let spans = services.spans else { return }
    spans.record(Span(.decide(group: id), causedBy: trace, from: start, to: services.clocks.monotonic))
  }

  /// Refuses a request of a user whose earlier ones have sent too much.
  private func refuse(for wait: Int64, _ completion: @escaping Completion) {
    let error = WireError(.requestRate, "Your requests have reached too many users for now", retryAfterMs: wait)
    submit(Decision(answer: .reply(.failure(error))), completion)
  }

  /// Whether this node decides for the group. A loaded group is not asked: the store refuses its commits
  /// where it must.
  private var isLed: Bool { services.leadership?.leads(id) ?? true }

  /// Loads the group for an input, unless it is a user's start, which loading finds by itself.
  private func loadState(for input: GroupInput) {
    if case .presence(let presence, let completion) = input, presence.awaySince == nil {
      // The group may be a live room that has just left memory.
      services.broker.noteSuspendedRoom(of: [presence.user])
      return completion()
    }
    // Loading reads what is kept.
    if case .removal = input { return }
    guard isLed else {
      input.fail()
      return retire()
    }
    load(for: Requester(input.userID))
    backlog.append(input)
  }

  /// The number of users that a decision may need: only groups of everybody count them.
  func usersSignedIn(for box: StateBox) -> Int {
    box.type.everyoneIsMember ? services.broker.usersSignedIn : 0
  }

  /// Processes a request where there is no group: one that creates it, or 10010.
  private func create(_ request: GroupOperation, by caller: Caller, _ completion: @escaping Completion) {
    do throws(WireError) {
      let (state, decision) = try GroupState.create(request, id: id, by: caller, at: services.clocks.now, rules: services.rules)
      if let state {
        if state.record.type.everyoneIsMember { registry?.noteEveryoneIsMember(of: self) }
        let box = StateBox(state)
        openRecentRoom(ofNew: box)
        phase = .loaded(box)
        beginStamps(ofNew: box)
        noteFootprint()
      }
      submit(decision, completion)
    } catch {
      submit(Decision(answer: .reply(.failure(error))), completion)
    }
  }
}
