import GroupModel
import Synchronization
import WebSocketTransport
import WireProtocol

/// The door between the loops and the sessions: admits upgrades, makes a session of each connection, wakes sessions, and closes
/// them at the end.
public final class Gateway: TransportDelegate {
  private let services: GatewayServices
  private let http: any HTTPHandling
  private let origins: OriginPolicy
  private let contexts = Mutex<[Int: LoopContext]>([:])
  private let isDraining = Atomic<Bool>(false)

  /// A door to some services; HTTP requests of both listeners go to `http`.
  public init(_ services: GatewayServices, http: any HTTPHandling) {
    self.services = services
    self.http = http
    origins = OriginPolicy(allowed: Set(services.configuration.allowedOrigins.map { $0.lowercased() }))
  }

  // MARK: TransportDelegate

  public func upgradeVerdict(for head: borrowing RequestHead, on loop: EventLoop) -> UpgradeVerdict {
    guard let refusal = refusal(of: head) else { return .accept }
    note(refusal, of: head)
    return .refuse(status: refusal.status, reason: refusal.sentence)
  }

  public func didRefuse(_ head: borrowing RequestHead, status: Int, reason: String, isUpgrade: Bool) {
    guard isUpgrade else { return services.refusals.httpRequest(status, reason, head) }
    note(UpgradeRefusal(transportStatus: status), of: head)
  }

  private func refusal(of head: borrowing RequestHead) -> UpgradeRefusal? {
    guard head.path == "/ws", !head.isInternal else { return .path }
    guard !isDraining.load(ordering: .acquiring) else { return .draining }
    return origins.admits(origin: head.origin, host: head.host) ? nil : .origin
  }

  private func note(_ refusal: UpgradeRefusal, of head: borrowing RequestHead) {
    let address = ClientAddress.of(head, isTrustedProxy: services.configuration.isTrustedProxy)
    services.refusals.upgrade(refusal, head, from: address)
  }

  public func didOpen(_ connection: Connection, head: borrowing RequestHead) -> any ConnectionHandler {
    let address = ClientAddress.of(head, isTrustedProxy: services.configuration.isTrustedProxy)
    let context = context(of: connection.loop)
    let session = Session(connection, address: address, services: services, context: context)
    context.open[ObjectIdentifier(session)] = session
    let credential = UpgradeCredential(head)
    let drainEnd = context.drainEnd
    session.assumeIsolated { session in
      session.open(credential)
      // Its upgrade was let in just before the drain began.
      if let drainEnd { session.drain(until: drainEnd) }
    }
    return session
  }

  public func didReceive(_ request: HTTPRequest, exchange: HTTPExchange) { http.handle(request, exchange) }

  public func didTick(_ loop: EventLoop) {
    let now = MonotonicClock.now()
    for session in context(of: loop).wheel.turn(to: now) { session.wake(at: now) }
    guard loop.index == 0 else { return }
    services.admissions.sweepIfDue(at: now)
    services.budgets.sweep(at: now)
  }

  /// What the sessions of a loop share. On its thread only.
  func context(of loop: EventLoop) -> LoopContext {
    contexts.withLock { contexts in
      if let context = contexts[loop.index] { return context }
      let context = LoopContext()
      contexts[loop.index] = context
      return context
    }
  }

  // MARK: The end

  /// Refuses upgrades from now on, tells every session to come back (elsewhere, or later), and closes each at a moment of its own
  /// within the time, so that they do not all come back at once (contract section 9).
  public func drain(over duration: Instant, on loops: [EventLoop]) {
    isDraining.store(true, ordering: .releasing)
    let end = MonotonicClock.now() + duration
    for loop in loops {
      loop.perform {
        let context = self.context(of: loop)
        context.drainEnd = end
        for session in context.open.values { session.assumeIsolated { $0.drain(until: end) } }
      }
    }
  }

  /// Returns when no connection is open, or when the task is cancelled.
  public func waitUntilEmpty() async { await services.admissions.waitUntilEmpty() }
}

/// Answers the HTTP requests of both listeners.
public protocol HTTPHandling: Sendable {
  /// Called on the loop's thread; answers through the exchange, at once or later.
  func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
}
