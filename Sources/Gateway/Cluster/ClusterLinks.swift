import Cluster
import Dispatch
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import WebSocketTransport

/// Hears of links. Calls come one at a time, but for `tick`, and must not block.
protocol LinkObserver: AnyObject, Sendable {
  /// A node has asked this one to begin its link: what is sent from now on reaches it. The node may
  /// have missed everything before.
  func didOpenLink(to node: NodeNumber)
  /// The link to a node was interrupted, and goes on: all that was sent meanwhile reaches it, late.
  func didResumeLink(to node: NodeNumber)
  /// A node has begun its link to this one.
  func linkBegan(from node: NodeNumber)
  /// Entries of a node are missing for good; its link begins again.
  func didLoseLink(from node: NodeNumber)
  /// The next entries of a node.
  func didReceive(_ entries: [ClusterEntry], from node: NodeNumber)
  /// Called ten times a second, also beside other calls.
  func tick(at now: MonotonicInstant)
}

/// The links between this node and all others, one in each direction (Cluster.md, "Links").
///
/// Entries of any thread wait until `queue` takes all of them at once, and those of a loop until its turn
/// ends: so under load many share a message on the bus. Those that may wait leave with the next that may
/// not, or 20 ms after the last that waited.
package final class ClusterLinks: Sendable {
  private struct State {
    /// Before that nobody looks for the observer.
    var hasStarted = false
    var own: NodeNumber?
    var peers: [NodeNumber: LinkPair] = [:]
    var keptBytesLimit = OutgoingLink.maxKeptBytes
    /// Links that nodes have asked for that the view does not show yet.
    var earlyRequests: [NodeNumber: UInt64] = [:]
    var flushes = FlushSchedule()
    /// The loops of this process.
    var loops: [EventLoop] = []
    var counters = LinkCounters()
    var sentEntries = EntryCounts()
    var refusals = RefusedFrames()

    /// Ends all links.
    /// - Returns: the calls that wait for a node.
    mutating func removePeers() -> [LinkWaits.Completion] {
      var waiting: [LinkWaits.Completion] = []
      for node in peers.keys { waiting += peers[node]?.waits.popAll() ?? [] }
      peers = [:]
      return waiting
    }

    /// Takes the counts of all links over.
    mutating func noteOutgoing() {
      counters.overflows = peers.values.reduce(0) { $0 + $1.outgoing.overflows }
      counters.keptBytes = peers.values.reduce(0) { $0 + $1.outgoing.keptBytes }
    }
  }

  /// The most nodes of which an early request is remembered.
  private static let maxEarlyRequests = 1000
  /// How often silence and heartbeats are looked at.
  private static let tick = DispatchTimeInterval.milliseconds(100)

  private let bus: any Bus
  private let seal: FrameSeal
  private let clocks: any Clocks
  private let logger: Logger
  private let state = Mutex(State())
  /// The number of `State.peers`, for each request of a user.
  private let counted = Atomic(0)
  /// Makes frames and publishes them, so that those of a link leave in their order. It may block.
  private let queue: DispatchQueue
  /// Of the clock, which nothing blocks.
  private let clockQueue = DispatchQueue(label: "throng.cluster.links.clock")
  private let isClockFlushQueued = Atomic(false)
  /// Held while the observer is called: by the bus's thread, and by the timer.
  private let calling = Mutex<Void>(())
  private let subscription = Mutex<(any BusSubscription)?>(nil)
  /// nonisolated(unsafe): set by `init`, and only kept and cancelled afterwards.
  private nonisolated(unsafe) let timer: any DispatchSourceTimer
  /// nonisolated(unsafe): set before `start`, and never again; read after it only.
  nonisolated(unsafe) weak var observer: (any LinkObserver)?

  init(bus: any Bus, key: ClusterKey, clocks: any Clocks, logger: Logger) {
    self.bus = bus
    seal = FrameSeal(key)
    self.clocks = clocks
    self.logger = logger
    queue = bus.sendingQueue ?? DispatchQueue(label: "throng.cluster.links")
    timer = DispatchSource.makeTimerSource(queue: clockQueue)
    timer.schedule(deadline: .now() + ClusterLinks.tick, repeating: ClusterLinks.tick)
    timer.setEventHandler { [weak self] in self?.tick() }
    timer.activate()
  }

  deinit { timer.cancel() }

  var counters: LinkCounters {
    state.withLock { state in
      var counters = state.counters
      counters.refused = state.refusals.counts
      counters.sentEntries = state.sentEntries.byKind
      return counters
    }
  }

  /// The links with each node, by its number.
  var statuses: [NodeNumber: LinkStatus] {
    let now = clocks.monotonic
    return state.withLock { state in
      state.peers.mapValues { peer in
        var status = peer.status
        status.isOpen = peer.incoming.isOpen && peer.outgoing.isOpen
        status.silence = now - peer.heard
        return status
      }
    }
  }

  // MARK: Nodes

  /// Becomes a node, without links.
  func start(as own: NodeNumber) async throws(BusError) {
    subscription.withLock { $0.take() }?.cancel()
    let void = state.withLock { state in
      state.hasStarted = true
      state.own = own
      state.earlyRequests = [:]
      defer { countPeers(state) }
      return state.removePeers()
    }
    for completion in void { completion(false) }
    let made = try await bus.subscribe(to: BusSubject(of: own, "link")) { [weak self] in self?.receive($0) }
    subscription.withLock { $0 = made }
  }

  /// Ends all links.
  /// - Parameter body: clears up behind the last entry.
  func stop(_ body: () -> Void = {}) {
    subscription.withLock { $0.take() }?.cancel()
    calling.withLock { _ in
      let void = state.withLock { state in
        state.own = nil
        defer { countPeers(state) }
        return state.removePeers()
      }
      for completion in void { completion(false) }
      body()
    }
  }

  /// Another node is there: it is asked for its link.
  func add(_ node: NodeNumber) {
    let now = clocks.monotonic
    calling.withLock { _ in
      let isOpened = state.withLock { state -> Bool in
        guard node != state.own, state.peers[node] == nil else { return false }
        let outgoing = OutgoingLink(maxKeptBytes: state.keptBytesLimit)
        state.peers[node] = LinkPair(incoming: IncomingLink(at: now), outgoing: outgoing, heard: now)
        countPeers(state)
        guard let number = state.earlyRequests.removeValue(forKey: node) else { return false }
        return state.peers[node]?.outgoing.open(number, at: now) == .began
      }
      if isOpened { observer?.didOpenLink(to: node) }
    }
    scheduleFlush()
  }

  /// A node has gone: what still comes from it is ignored.
  /// - Parameter body: clears up behind its last entry, and before any of another node.
  func remove(_ node: NodeNumber, _ body: () -> Void) {
    calling.withLock { _ in
      let void = state.withLock { state in
        defer {
          state.peers[node] = nil
          countPeers(state)
        }
        return state.peers[node]?.waits.popAll() ?? []
      }
      for completion in void { completion(false) }
      body()
    }
  }

  private func countPeers(_ state: State) { counted.store(state.peers.count, ordering: .relaxed) }

  /// Keeps no frame for a node that has not got it: each interruption is a loss then.
  func keepNothing() {
    state.withLock { state in
      state.keptBytesLimit = -1
      for node in state.peers.keys { state.peers[node]?.outgoing.keptBytesLimit = -1 }
    }
  }

  /// The nodes to which entries can be sent now, though some may come late.
  var openNodes: [NodeNumber] { state.withLock { $0.peers.filter(\.value.outgoing.takesEntries).keys.sorted() } }

  /// Whether both links with a node are open.
  func isUp(with node: NodeNumber) -> Bool {
    state.withLock { $0.peers[node].map { $0.incoming.isOpen && $0.outgoing.isOpen } ?? false }
  }

  /// The nodes with which a link is missing.
  var missingNodes: [NodeNumber] {
    state.withLock { $0.peers.filter { !($0.value.incoming.isOpen && $0.value.outgoing.isOpen) }.keys.sorted() }
  }

  // MARK: Sending

  /// Sends an entry behind all earlier ones.
  /// - Parameter mayWait: for up to 20 ms, so that it shares a frame with others.
  /// - Returns: false where the node does not hear this one now.
  @discardableResult
  func send(_ entry: ClusterEntry, to node: NodeNumber, mayWait: Bool = false) -> Bool {
    send(entry, to: CollectionOfOne(node), mayWait: mayWait) == 1
  }

  /// Sends an entry to several nodes; it is encoded once.
  /// - Parameter mayWait: for up to 20 ms, so that it shares frames with others.
  /// - Returns: how many nodes hear this one.
  @discardableResult
  func send(_ entry: ClusterEntry, to nodes: some Collection<NodeNumber>, mayWait: Bool = false) -> Int {
    guard !nodes.isEmpty, let own = state.withLock({ $0.own }) else { return 0 }
    // Outside of the lock, which all threads want.
    let bytes = entry.bytes(from: own)
    let (count, start, loop) = state.withLock { state -> (Int, FlushSchedule.Start?, EventLoop?) in
      guard state.own == own else { return (0, nil, nil) }
      let count = nodes.count { state.peers[$0]?.outgoing.append(bytes, mayWait: mayWait) == true }
      state.sentEntries.add(bytes, receivers: count)
      guard count > 0 else { return (0, nil, nil) }
      let loop = state.loops.first { $0.isCurrent }
      return (count, state.flushes.schedule(mayWait: mayWait, isInTurn: loop != nil), loop)
    }
    if let start { begin(start, in: loop) }
    return count
  }

  /// Lets what these loops send in a turn leave together.
  package func use(_ loops: [EventLoop]) { state.withLock { $0.loops = loops } }

  /// Sends an entry to every node that hears this one.
  /// - Parameter mayWait: for up to 20 ms, so that it shares frames with others.
  func sendToAll(_ entry: ClusterEntry, mayWait: Bool = false) { send(entry, to: openNodes, mayWait: mayWait) }

  /// The links that take entries now, each with the number under which it has begun: what is sent from now
  /// on is heard where the link still has it.
  var origins: [NodeNumber: UInt64] {
    state.withLock { $0.peers.filter(\.value.outgoing.takesEntries).mapValues(\.outgoing.origin) }
  }

  /// Calls back for each node when it has dealt with all that was sent to it before this call, and all that it
  /// has sent in return was dealt with here. No entry is spent on it: a node acknowledges a frame at once.
  /// - Parameters:
  ///   - nodes: with the origins of the links by which it was sent (`origins`).
  ///   - completion: called once for each, on any thread, and must not block; false where it is not certain,
  ///     because the node is not heard, has not answered in time, or a link has begun again since.
  func whenHeard(
    by nodes: [NodeNumber: UInt64], timeout: Duration, _ completion: @escaping @Sendable (NodeNumber, _ isHeard: Bool) -> Void
  ) {
    let deadline = clocks.monotonic + timeout
    let (refused, start) = state.withLock { state -> ([NodeNumber], FlushSchedule.Start?) in
      var refused: [NodeNumber] = []
      for (node, origin) in nodes {
        let isTaken =
          state.peers[node]?.addWait(from: origin, or: deadline) { isHeard in completion(node, isHeard) } == true
        if !isTaken { refused.append(node) }
      }
      return (refused, refused.count < nodes.count ? state.flushes.schedule() : nil)
    }
    for node in refused { completion(node, false) }
    if let start { begin(start) }
  }

  /// Those of the nodes that have dealt with all that was sent to them before (`whenHeard`).
  func heard(by nodes: [NodeNumber: UInt64], timeout: Duration) async -> Set<NodeNumber> {
    if nodes.isEmpty { return [] }
    return await withCheckedContinuation { continuation in
      let answers = HeardNodes(count: nodes.count) { continuation.resume(returning: $0) }
      whenHeard(by: nodes, timeout: timeout) { answers.note($0, isHeard: $1) }
    }
  }

  private func scheduleFlush() {
    if let start = state.withLock({ $0.flushes.schedule() }) { begin(start) }
  }

  /// - Parameter loop: the caller's; nil = it is none.
  private func begin(_ start: FlushSchedule.Start, in loop: EventLoop? = nil) {
    switch start {
    case .now: queue.async { self.flush() }
    case .endOfTurn: if let loop { loop.enqueue { self.endTurn() } }
    case .full(let due): queue.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: due)) { self.flush(takesAll: true) }
    }
  }

  private func endTurn() {
    if state.withLock({ $0.flushes.endTurn() }) { begin(.now) }
  }

  /// Sends all frames that are due. On `queue`.
  private func flush(takesAll: Bool = false) {
    let nodes = state.withLock { state in
      state.flushes.begin(takesAll: takesAll, at: DispatchTime.now().uptimeNanoseconds)
      return Array(state.peers.keys)
    }
    for node in nodes {
      while let frame = nextFrame(to: node, takesAll: takesAll) { publish(frame, to: node) }
    }
  }

  private func nextFrame(to node: NodeNumber, takesAll: Bool) -> LinkFrame? {
    let now = clocks.monotonic
    return state.withLock { state in
      guard let own = state.own, state.peers[node] != nil else { return nil }
      if state.peers[node]?.mustAsk == true, let number = state.peers[node]?.incoming.number {
        state.peers[node]?.mustAsk = false
        return LinkFrame(from: own, to: node, link: number, .open(at: state.peers[node]?.incoming.position))
      }
      return state.peers[node]?.nextFrame(from: own, to: node, at: now, takesAll: takesAll)
    }
  }

  private func publish(_ frame: LinkFrame, to node: NodeNumber) {
    do throws(BusError) {
      let bytes = try seal.seal(frame)
      try bus.publish(bytes, to: BusSubject(of: node, "link"))
      state.withLock { state in
        state.peers[node]?.status.sentFrames += 1
        state.peers[node]?.status.sentBytes += bytes.count
      }
    } catch {
      guard case .entries = frame.content else { return }
      switch error {
      // It leaves when the bus is there again.
      case .disconnected, .overloaded: state.withLock { $0.peers[node]?.outgoing.suspend() }
      case .tooLong, .closed, .refused:
        state.withLock { $0.peers[node]?.outgoing.close() }
        logger.warning("a link was closed", metadata: ["node": .stringConvertible(node.rawValue), "error": "\(error)"])
      }
    }
  }

  // MARK: Receiving, on the bus's thread

  private func receive(_ delivery: BusDelivery) {
    calling.withLock { _ in
      switch delivery {
      case .gap: interruptAll()
      case .message(let bytes):
        guard let frame = open(bytes) else { return }
        do throws(MalformedMessage) {
          try receive(frame)
        } catch {
          state.withLock { $0.counters.malformed += 1 }
          logger.error("a message of another node cannot be read", metadata: ["error": "\(error.reason)"])
        }
      }
    }
  }

  /// Whoever can publish on the bus may have sent it: until it opens, nothing that it says is believed.
  private func open(_ bytes: [UInt8]) -> LinkFrame? {
    let now = clocks.monotonic
    do throws(FrameSeal.Refusal) {
      return try seal.open(bytes, as: state.withLock { $0.own })
    } catch {
      guard let dropped = state.withLock({ $0.refusals.note(error, at: now) }) else { return nil }
      logger.warning(
        "messages on the bus do not open: a stranger publishes there, or a node has another cluster.secret",
        metadata: ["reason": "\(error.rawValue)", "dropped": .stringConvertible(dropped)])
      return nil
    }
  }

  private func receive(_ frame: LinkFrame) throws(MalformedMessage) {
    switch frame.content {
    case .open(let place):
      let opening = state.withLock { state -> OutgoingLink.Opening? in
        guard frame.to == state.own else { return nil }
        if state.peers[frame.from] == nil, state.earlyRequests.count < ClusterLinks.maxEarlyRequests {
          state.earlyRequests[frame.from] = max(frame.link, state.earlyRequests[frame.from] ?? 0)
        }
        // Nil = one that comes again says nothing new.
        let opening = state.peers[frame.from]?.outgoing.open(frame.link, resumingAt: place, at: clocks.monotonic)
        if opening != nil { state.peers[frame.from]?.incoming.expectAnswer(at: clocks.monotonic) }
        return opening
      }
      switch opening {
      case .began: observer?.didOpenLink(to: frame.from)
      case .resumed: observer?.didResumeLink(to: frame.from)
      case nil: return
      }
      scheduleFlush()
    case .entries(let origin, let number, let bytes):
      let verdict = state.withLock { state -> IncomingLink.Verdict in
        guard frame.to == state.own else { return .ignore }
        return state.peers[frame.from]?.receive(frame, origin, number, bytes.count, at: clocks.monotonic) ?? .ignore
      }
      switch verdict {
      case .ignore: return
      case .interrupted: return interrupt(frame.from)
      case .accept: break
      case .resume: didResume(frame.from)
      case .begin(let isBehindLoss):
        // Something that the node has sent in return may be missing.
        for completion in state.withLock({ $0.peers[frame.from]?.waits.popAll() ?? [] }) { completion(false) }
        if isBehindLoss { tellLoss(of: frame.from) }
        observer?.linkBegan(from: frame.from)
      }
      try process(frame, bytes)
    }
  }

  /// Takes a frame that has come in its turn. It is acknowledged behind that, and only then those hear of
  /// it who wait for its acknowledgement: what the node has sent before counts by then.
  private func process(_ frame: LinkFrame, _ bytes: [UInt8]) throws(MalformedMessage) {
    if !bytes.isEmpty, let own = state.withLock({ $0.own }) {
      do throws(MalformedMessage) {
        observer?.didReceive(try ClusterEntry.all(in: bytes, readBy: own), from: frame.from)
      } catch {
        // A link that begins tells again what was lost with the frame.
        state.withLock { $0.peers[frame.from]?.incoming.didLose(at: clocks.monotonic) }
        lose(frame.from)
        throw error
      }
    }
    guard let (heard, mustFlush) = state.withLock({ $0.peers[frame.from]?.didProcess(frame) }) else { return }
    for completion in heard { completion(true) }
    if mustFlush { scheduleFlush() }
  }

  /// Frames of a node are missing: it is asked to go on behind those that have come.
  private func interrupt(_ node: NodeNumber) {
    state.withLock { state in
      state.counters.gaps += 1
      state.peers[node]?.mustAsk = true
    }
    scheduleFlush()
  }

  private func didResume(_ node: NodeNumber) {
    state.withLock { $0.counters.resumes += 1 }
    logger.notice("a link was interrupted, and goes on", metadata: ["node": .stringConvertible(node.rawValue)])
  }

  /// Entries of a node are missing for good: it is asked to begin.
  private func lose(_ node: NodeNumber) {
    state.withLock { $0.peers[node]?.mustAsk = true }
    tellLoss(of: node)
    scheduleFlush()
  }

  private func tellLoss(of node: NodeNumber) {
    state.withLock { $0.counters.losses += 1 }
    logger.warning("events of another node are missing", metadata: ["node": .stringConvertible(node.rawValue)])
    observer?.didLoseLink(from: node)
  }

  /// The bus was away: frames of all nodes may be missing, and those that it has not taken leave now.
  private func interruptAll() {
    let now = clocks.monotonic
    let interrupted = state.withLock { state in
      let open = state.peers.filter(\.value.incoming.isOpen).keys.sorted()
      for node in state.peers.keys {
        state.peers[node]?.incoming.expectAnswer(at: now)
        state.peers[node]?.outgoing.retry(at: now)
      }
      for node in open { state.peers[node]?.incoming.didMiss(at: now) }
      return open
    }
    for node in interrupted { interrupt(node) }
    scheduleFlush()
  }

  // MARK: Time, on `clockQueue`

  private func tick() {
    let now = clocks.monotonic
    let isConnected = bus.isConnected
    let found = state.withLock { state -> (lost: [NodeNumber], void: [LinkWaits.Completion])? in
      guard state.hasStarted else { return nil }
      var (lost, void): ([NodeNumber], [LinkWaits.Completion]) = ([], [])
      for node in state.peers.keys {
        void += state.peers[node]?.popVoidWaits(at: now) ?? []
        if isConnected { state.peers[node]?.outgoing.retry(at: now) }
        switch state.peers[node]?.incoming.due(at: now, isBusConnected: isConnected) {
        case .ask: state.peers[node]?.mustAsk = true
        case .interrupted:
          state.counters.gaps += 1
          state.peers[node]?.mustAsk = true
        case .lost: lost.append(node)
        case .nothing, nil: break
        }
      }
      state.noteOutgoing()
      return (lost, void)
    }
    guard let (lost, void) = found else { return }
    for completion in void { completion(false) }
    if !lost.isEmpty { calling.withLock { _ in for node in lost.sorted() { lose(node) } } }
    observer?.tick(at: now)
    // Whatever else is scheduled: heartbeats wait for nobody. Once, where the bus blocks.
    guard !isClockFlushQueued.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async {
      self.isClockFlushQueued.store(false, ordering: .releasing)
      self.flush()
    }
  }
}

extension ClusterLinks: ChargeReporter {
  package var peerCount: Int { counted.load(ordering: .relaxed) }

  package func report(_ requests: Int, of user: UserID) { sendToAll(.charged(user, requests: requests), mayWait: true) }
}

/// Counts the messages that did not open, and lets one line a minute through.
private struct RefusedFrames {
  private static let pause = Duration.seconds(60)

  private(set) var counts: [FrameSeal.Refusal: Int] = [:]
  private var nextLine = MonotonicInstant.distantPast
  private var dropped = 0

  /// - Returns: how many there were since the last line, where another one is due.
  mutating func note(_ reason: FrameSeal.Refusal, at now: MonotonicInstant) -> Int? {
    counts[reason, default: 0] += 1
    dropped += 1
    guard now >= nextLine else { return nil }
    nextLine = now + RefusedFrames.pause
    defer { dropped = 0 }
    return dropped
  }
}
