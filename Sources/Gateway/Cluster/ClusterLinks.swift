import Cluster
import Dispatch
import GroupModel
import GroupRuntime
import Logging
import Synchronization

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
/// Entries of any thread wait until the sending queue takes all of them at once: so under load many
/// share a message on the bus. Those that may wait leave with the next that may not, or 20 ms after
/// the last that waited.
package final class ClusterLinks: Sendable {
  private struct Peer {
    var incoming: IncomingLink
    var outgoing: OutgoingLink
    /// The incoming link is to be asked for by the next flush.
    var mustAsk = true
    var status = LinkStatus()
    /// When it was first seen, or the last new frame came.
    var heard: MonotonicInstant

    /// A frame with entries has come.
    /// - Returns: whether a frame is to leave, too.
    mutating func receive(
      _ frame: LinkFrame, _ origin: UInt64, _ number: UInt64, _ bytes: Int, at now: MonotonicInstant
    ) -> (IncomingLink.Verdict, mustFlush: Bool) {
      status.receivedFrames += 1
      status.receivedBytes += bytes
      if let place = frame.acknowledged { outgoing.acknowledge(place) }
      let verdict = incoming.receive(link: frame.link, origin: origin, frame: number, bytes: bytes, at: now)
      // An old one may be a stranger's, who has kept it.
      if verdict != .ignore { heard = now }
      guard incoming.mustAcknowledge else { return (verdict, false) }
      outgoing.requestFrame()
      return (verdict, true)
    }
  }

  private struct State {
    /// Before that nobody looks for the observer.
    var hasStarted = false
    var own: NodeNumber?
    var peers: [NodeNumber: Peer] = [:]
    var keptBytesLimit = OutgoingLink.maxKeptBytes
    /// Links that nodes have asked for that the view does not show yet.
    var earlyRequests: [NodeNumber: UInt64] = [:]
    var isFlushScheduled = false
    /// A flush that takes what may wait.
    var isFullFlushScheduled = false
    var lastFullFlush = DispatchTime(uptimeNanoseconds: 1)
    var counters = LinkCounters()
    var sentEntries = EntryCounts()
    var refusals = RefusedFrames()

    /// Takes the counts of all links over.
    mutating func noteOutgoing() {
      counters.overflows = peers.values.reduce(0) { $0 + $1.outgoing.overflows }
      counters.keptBytes = peers.values.reduce(0) { $0 + $1.outgoing.keptBytes }
    }

    /// The flush that is to begin now; nil where one is on its way.
    mutating func scheduleFlush(takesAll: Bool) -> Flush? {
      if takesAll {
        guard !isFullFlushScheduled else { return nil }
        isFullFlushScheduled = true
        // The first of a moment goes at once, and those behind it together.
        return .full(lastFullFlush + ClusterLinks.pause)
      }
      guard !isFlushScheduled else { return nil }
      isFlushScheduled = true
      return .urgent
    }
  }

  private enum Flush {
    /// Of the links with a frame that may not wait.
    case urgent
    /// Of all links, when it is due.
    case full(DispatchTime)
  }

  /// The most nodes of which an early request is remembered.
  private static let maxEarlyRequests = 1000
  /// How often silence and heartbeats are looked at.
  private static let tick = DispatchTimeInterval.milliseconds(100)
  /// How long an entry that may wait does, at most.
  private static let pause = DispatchTimeInterval.milliseconds(20)

  private let bus: any Bus
  private let seal: FrameSeal
  private let clocks: any Clocks
  private let logger: Logger
  private let state = Mutex(State())
  /// The number of `State.peers`, for each request of a user.
  private let counted = Atomic(0)
  /// Publishes, so that the frames of a link leave in their order.
  private let queue = DispatchQueue(label: "throng.cluster.links")
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
    timer = DispatchSource.makeTimerSource(queue: queue)
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
    state.withLock { state in
      state.hasStarted = true
      state.own = own
      state.peers = [:]
      state.earlyRequests = [:]
      countPeers(state)
    }
    let made = try await bus.subscribe(to: BusSubject(of: own, "link")) { [weak self] in self?.receive($0) }
    subscription.withLock { $0 = made }
  }

  /// Ends all links.
  /// - Parameter body: clears up behind the last entry.
  func stop(_ body: () -> Void = {}) {
    subscription.withLock { $0.take() }?.cancel()
    calling.withLock { _ in
      state.withLock { state in
        state.own = nil
        state.peers = [:]
        countPeers(state)
      }
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
        state.peers[node] = Peer(incoming: IncomingLink(at: now), outgoing: outgoing, heard: now)
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
      state.withLock { state in
        state.peers[node] = nil
        countPeers(state)
      }
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
    guard !nodes.isEmpty else { return 0 }
    let (count, flush) = state.withLock { state -> (Int, Flush?) in
      guard let own = state.own else { return (0, nil) }
      let bytes = entry.bytes(from: own)
      let count = nodes.count { state.peers[$0]?.outgoing.append(bytes, mayWait: mayWait) == true }
      state.sentEntries.add(bytes, receivers: count)
      return (count, count > 0 ? state.scheduleFlush(takesAll: mayWait) : nil)
    }
    if let flush { begin(flush) }
    return count
  }

  /// Sends an entry to every node that hears this one.
  func sendToAll(_ entry: ClusterEntry) { send(entry, to: openNodes) }

  private func scheduleFlush() {
    if let flush = state.withLock({ $0.scheduleFlush(takesAll: false) }) { begin(flush) }
  }

  private func begin(_ flush: Flush) {
    switch flush {
    case .urgent: queue.async { self.flush() }
    case .full(let due): queue.asyncAfter(deadline: due) { self.flush(takesAll: true) }
    }
  }

  /// Sends all frames that are due. On `queue`.
  private func flush(takesAll: Bool = false) {
    let nodes = state.withLock { state in
      if takesAll {
        state.isFullFlushScheduled = false
        state.lastFullFlush = .now()
      } else {
        state.isFlushScheduled = false
      }
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
      let place = state.peers[node]?.incoming.position
      let frame = state.peers[node]?.outgoing.nextFrame(
        from: own, to: node, at: now, acknowledging: place, takesAll: takesAll)
      if frame != nil { state.peers[node]?.incoming.didAcknowledge() }
      return frame
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
      let (verdict, mustFlush) = state.withLock { state -> (IncomingLink.Verdict, mustFlush: Bool) in
        let nothing = (IncomingLink.Verdict.ignore, mustFlush: false)
        guard frame.to == state.own else { return nothing }
        return state.peers[frame.from]?.receive(frame, origin, number, bytes.count, at: clocks.monotonic) ?? nothing
      }
      if mustFlush { scheduleFlush() }
      switch verdict {
      case .ignore: return
      case .interrupted: return interrupt(frame.from)
      case .accept: break
      case .resume: didResume(frame.from)
      case .begin(let isBehindLoss):
        if isBehindLoss { tellLoss(of: frame.from) }
        observer?.linkBegan(from: frame.from)
      }
      guard !bytes.isEmpty, let own = state.withLock({ $0.own }) else { return }
      do throws(MalformedMessage) {
        observer?.didReceive(try ClusterEntry.all(in: bytes, readBy: own), from: frame.from)
      } catch {
        // A link that begins tells again what was lost with the frame.
        state.withLock { $0.peers[frame.from]?.incoming.didLose(at: clocks.monotonic) }
        lose(frame.from)
        throw error
      }
    }
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

  // MARK: Time, on `queue`

  private func tick() {
    let now = clocks.monotonic
    let isConnected = bus.isConnected
    let lost = state.withLock { state -> [NodeNumber]? in
      guard state.hasStarted else { return nil }
      var lost: [NodeNumber] = []
      for node in state.peers.keys {
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
      return lost
    }
    guard let lost else { return }
    if !lost.isEmpty { calling.withLock { _ in for node in lost.sorted() { lose(node) } } }
    observer?.tick(at: now)
    flush()
  }
}

extension ClusterLinks: ChargeReporter {
  package var peerCount: Int { counted.load(ordering: .relaxed) }

  package func report(_ requests: Int, of user: UserID) { sendToAll(.charged(user, requests: requests)) }
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

/// Counts of what has passed between this node and another one.
public struct LinkStatus: Sendable, Equatable {
  /// Whether both directions are open.
  public internal(set) var isOpen = false
  public internal(set) var sentFrames = 0
  public internal(set) var sentBytes = 0
  public internal(set) var receivedFrames = 0
  public internal(set) var receivedBytes = 0
  /// For how long nothing has come, or since the node is there: up to half a second as a rule.
  public internal(set) var silence = Duration.zero
}

/// Faults of all links since the start.
public struct LinkCounters: Sendable, Equatable {
  /// How often frames of a node were missing, or nothing came from it: it was asked for them.
  public internal(set) var gaps = 0
  /// How often a link went on behind that, without a loss.
  public internal(set) var resumes = 0
  /// How often a link began again, because what was missing could not be had.
  public internal(set) var losses = 0
  /// Bytes of frames that other nodes have not acknowledged now.
  public internal(set) var keptBytes = 0
  /// Frames that were opened, and could not be read.
  public internal(set) var malformed = 0
  /// Messages that did not open, by reason.
  public internal(set) var refused: [FrameSeal.Refusal: Int] = [:]
  /// How often a link was closed because too much waited for a node.
  public internal(set) var overflows = 0
  /// Entries for other nodes, by kind; one for several nodes counts once for each.
  public internal(set) var sentEntries: [SentEntries] = []
}

/// What connects this process with the other nodes. It is made before the groups, which use it.
package struct ClusterNetwork: Sendable {
  /// What it is made over.
  package let ports: ClusterPorts
  /// The links with all other nodes.
  package let links: ClusterLinks
  /// This node's requests to one other.
  package let requests: RemoteRequests
  /// This node's questions to all others.
  package let otherNodes: OtherNodes
  /// Brings the requests of users to the owners of shards.
  package let router: ShardRouter
  /// The sessions of all nodes.
  package let presence: ClusterPresence

  /// Links over the ports, which `ClusterNode` starts.
  package init(_ ports: ClusterPorts, clocks: any Clocks, logger: Logger) {
    self.ports = ports
    links = ClusterLinks(bus: ports.bus, key: ports.key, clocks: clocks, logger: logger)
    requests = RemoteRequests(links: links, clocks: clocks)
    otherNodes = OtherNodes(requests, ports.membership, logger: logger)
    router = ShardRouter(shards: ports.membership.shards, links: links, requests: requests, clocks: clocks)
    presence = ClusterPresence(links: links, shards: ports.membership.shards, clocks: clocks)
  }
}
