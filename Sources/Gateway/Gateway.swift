import GroupModel
import GroupRuntime
import Logging
import Synchronization
import WebSocketTransport
import WireProtocol

/// Connects the loops to the sessions: decides on upgrades, makes a session for each connection,
/// runs deadlines, and drains at the end.
public final class Gateway: TransportDelegate {
  private let sessions: SessionFactory
  private let proxies: TrustedProxies
  private let upgrades: UpgradePolicy
  private let connectionLimiter: ConnectionLimiter
  private let budgets: UserBudgets
  private let absenceTimers: AbsenceTimers
  private let statuses: Statuses
  private let refusals: RefusalLog
  private let clocks: any Clocks
  private let logger: Logger
  private let http: any HTTPHandling
  private let contexts = Mutex<[Int: LoopContext]>([:])

  /// - Parameter http: gets the HTTP requests of both listeners.
  package init(
    sessions: SessionFactory, proxies: TrustedProxies, upgrades: UpgradePolicy, connectionLimiter: ConnectionLimiter,
    budgets: UserBudgets, absenceTimers: AbsenceTimers, statuses: Statuses, refusals: RefusalLog, clocks: any Clocks,
    logger: Logger, http: any HTTPHandling
  ) {
    self.sessions = sessions
    self.proxies = proxies
    self.upgrades = upgrades
    self.connectionLimiter = connectionLimiter
    self.budgets = budgets
    self.absenceTimers = absenceTimers
    self.statuses = statuses
    self.refusals = refusals
    self.clocks = clocks
    self.logger = logger
    self.http = http
  }

  // MARK: TransportDelegate

  /// The address of a proxy that announces nobody stands for all its clients.
  public func admission(of address: String) -> Admission {
    proxies.contains(address) ? .uncounted : connectionLimiter.arrive(from: address)
  }

  public func didLeave(_ address: String) {
    connectionLimiter.leave(from: address, at: clocks.monotonic)
  }

  public func didDrop(_ address: String, for reason: EarlyEnd) { refusals.arrival(reason, from: address) }

  public func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict {
    let client = proxies.client(of: head)
    guard let refusal = upgrades.refusal(of: head, from: client) else { return .accept }
    refusals.upgrade(refusal, head, from: client)
    return .refuse(status: refusal.status, reason: refusal.sentence)
  }

  public func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool) {
    let client = proxies.client(of: head)
    guard isUpgrade else { return refusals.httpRequest(status, reason, head, from: client.address) }
    refusals.upgrade(.byTransport(status, reason), head, from: client)
  }

  public func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler {
    let context = context(of: connection.loop)
    let session = sessions.session(on: connection, address: proxies.clientAddress(of: head), context)
    context.open[ObjectIdentifier(session)] = session
    let credential = UpgradeCredential(head)
    let drainEnd = context.drainEnd
    session.assumeIsolated { session in
      session.open(credential)
      // The drain began after its upgrade was accepted.
      if let drainEnd { session.drain(until: drainEnd) }
    }
    return session
  }

  public func didReceive(_ request: HTTPRequest, exchange: HTTPExchange) { http.handle(request, exchange) }

  /// What the client could not do meanwhile is not held against it; what the time of day decides, such
  /// as the end of a token, has happened.
  public func didPause(_ loop: EventLoop, for time: Duration) {
    logger.warning(
      "a loop did not run for a while",
      metadata: ["loop": .stringConvertible(loop.index), "milliseconds": .stringConvertible(time.wholeMilliseconds)])
    for session in context(of: loop).open.values { session.assumeIsolated { $0.resume(after: time) } }
  }

  public func didTick(_ loop: EventLoop) {
    let now = clocks.monotonic
    if loop.index == 0 { statuses.endGraces(at: now) }
    tellStatuses(on: loop, at: now)
    guard loop.index == 0 else { return }
    connectionLimiter.sweepIfDue(at: now)
    budgets.sweep(at: now)
    absenceTimers.fireDue(at: now)
  }

  /// Brings a loop's table of statuses up to date, and tells its sessions of those that they watch.
  private func tellStatuses(on loop: EventLoop, at now: MonotonicInstant) {
    let context = context(of: loop)
    guard !context.statuses.isEmpty else { return }
    statuses.update(&context.statuses, of: loop.index)
    context.statuses.beginTick(at: now)
    if !context.isTellingStatuses { tellNext(on: loop, context) }
  }

  /// Some sessions, then the next ones: ten thousand may watch one user, and no one's change delays the
  /// loop's other work for longer than a turn.
  private func tellNext(on loop: EventLoop, _ context: LoopContext) {
    let due = context.statuses.popDue(at: clocks.monotonic) { session in
      context.open[session]?.assumeIsolated { $0.hearsStatuses } ?? true
    }
    for (session, rows) in due { context.open[session]?.assumeIsolated { $0.tell(rows) } }
    context.isTellingStatuses = context.statuses.hasDue
    if context.isTellingStatuses { loop.enqueueInBackground { self.tellNext(on: loop, context) } }
  }

  /// The state that the sessions of a loop share. On its thread only.
  func context(of loop: EventLoop) -> LoopContext {
    contexts.withLock { contexts in
      if let context = contexts[loop.index] { return context }
      let context = LoopContext(clocks: clocks)
      contexts[loop.index] = context
      return context
    }
  }

  // MARK: Draining

  /// Refuses upgrades from now on, tells every session to reconnect, and closes each at a random
  /// instant within the time, so that they do not all return at once (Protocol.md, "Draining").
  public func drain(over duration: Duration, on loops: [EventLoop]) {
    upgrades.beginDraining()
    let end = clocks.monotonic + duration
    for loop in loops {
      loop.perform {
        let context = self.context(of: loop)
        // Sessions that open from now on look at it.
        context.drainEnd = end
        self.drain(Array(context.open.values)[...], until: end, on: loop)
      }
    }
  }

  /// The most sessions that are told of the drain in one turn of the loop: about 0.5 ms.
  static let drainedAtOnce = 64

  /// Some sessions, then the next ones: their users are still served, and wait for no one's news.
  private func drain(_ sessions: ArraySlice<Session>, until end: MonotonicInstant, on loop: EventLoop) {
    for session in sessions.prefix(Gateway.drainedAtOnce) { session.assumeIsolated { $0.drain(until: end) } }
    let others = sessions.dropFirst(Gateway.drainedAtOnce)
    if !others.isEmpty { loop.enqueueInBackground { self.drain(others, until: end, on: loop) } }
  }

  /// Returns when no connection is open, or when the task is cancelled.
  public func waitUntilEmpty() async { await connectionLimiter.waitUntilEmpty() }
}

/// Answers the HTTP requests of both listeners.
public protocol HTTPHandling: Sendable {
  /// Called on the loop's thread; answers through the exchange, at once or later.
  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
}
