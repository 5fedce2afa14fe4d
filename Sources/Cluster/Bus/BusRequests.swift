import Dispatch
import GroupModel
import Synchronization

/// Requests with a deadline, and their replies, over any bus.
///
/// The requests of one node to one subject arrive in their order; replies come in any order.
public final class BusRequests: Sendable {
  /// Called once, on a thread of the bus or of this object. It must not block.
  public typealias Completion = @Sendable (Result<[UInt8], BusError>) -> Void

  private struct State {
    var table = RequestTable<Completion>()
    var isTimerSet = false
  }

  private let bus: any Bus
  private let inbox: BusSubject
  private let now: @Sendable () -> MonotonicInstant
  private let state = Mutex(State())
  private let subscription = Mutex<(any BusSubscription)?>(nil)
  private let timer = DispatchQueue(label: "throng.cluster.requests")
  /// Deadlines are looked at so often while requests wait: a shorter one would cost a timer each.
  private static let resolution = Duration.milliseconds(50)

  /// Subscribes to the inbox of this process.
  /// - Parameter inbox: a subject that nobody else subscribes to.
  public static func open(
    _ bus: any Bus, inbox: BusSubject, now: @escaping @Sendable () -> MonotonicInstant
  ) async throws(BusError) -> BusRequests {
    let requests = BusRequests(bus, inbox: inbox, now: now)
    let made = try await bus.subscribe(to: inbox) { [weak requests] in requests?.receive($0) }
    requests.subscription.withLock { $0 = made }
    return requests
  }

  private init(_ bus: any Bus, inbox: BusSubject, now: @escaping @Sendable () -> MonotonicInstant) {
    self.bus = bus
    self.inbox = inbox
    self.now = now
  }

  /// How many requests wait for their replies.
  public var pendingCount: Int { state.withLock { $0.table.count } }

  /// Sends a request. The completion may be called before this returns, where it cannot be sent.
  public func send(
    _ contents: [UInt8], to subject: BusSubject, timeout: Duration, _ completion: @escaping Completion
  ) {
    let deadline = now() + timeout
    let added = state.withLock { state -> Result<UInt64, BusError> in
      Result { () throws(BusError) in try state.table.add(completion, until: deadline) }
    }
    let number: UInt64
    switch added {
    case .success(let made): number = made
    case .failure(let error): return completion(.failure(error))
    }
    do throws(BusError) {
      try bus.publish(RequestFrame(request: number, inbox: inbox, contents).bytes, to: subject)
      scheduleDeadlines()
    } catch {
      state.withLock { $0.table.remove(number) }?(.failure(error))
    }
  }

  /// Sends a request, and waits for its reply.
  public func reply(to contents: [UInt8], on subject: BusSubject, timeout: Duration) async -> Result<[UInt8], BusError> {
    await withCheckedContinuation { continuation in
      send(contents, to: subject, timeout: timeout) { continuation.resume(returning: $0) }
    }
  }

  /// Delivers the requests that come to a subject.
  /// - Parameter handle: called as `Bus.subscribe` says. A gap needs no care: the requester's deadline
  ///   passes.
  public func serve(
    _ subject: BusSubject, _ handle: @escaping @Sendable (BusRequest) -> Void
  ) async throws(BusError) -> any BusSubscription {
    try await bus.subscribe(to: subject) { [bus] delivery in
      guard case .message(let bytes) = delivery,
        case .request(let number, let inbox, let contents)? = RequestFrame(bytes)
      else { return }
      handle(BusRequest(contents: contents, bus: bus, inbox: inbox, number: number))
    }
  }

  /// Ends: requests that wait get `.closed`.
  public func close() {
    subscription.withLock { $0.take() }?.cancel()
    for completion in state.withLock({ $0.table.removeAll(isClosing: true) }) { completion(.failure(.closed)) }
  }

  private func receive(_ delivery: BusDelivery) {
    guard case .message(let bytes) = delivery else {
      // A reply may be among the messages that are missing: better told now than at the deadline.
      for completion in state.withLock({ $0.table.removeAll() }) { completion(.failure(.lost)) }
      return
    }
    guard case .reply(let number, let contents)? = RequestFrame(bytes) else { return }
    state.withLock { $0.table.remove(number) }?(.success(contents))
  }

  // MARK: Deadlines

  private func scheduleDeadlines() {
    let mustSet = state.withLock { state in
      defer { state.isTimerSet = true }
      return !state.isTimerSet
    }
    if mustSet { setTimer() }
  }

  private func setTimer() {
    timer.asyncAfter(deadline: .now() + .milliseconds(Int(BusRequests.resolution.wholeMilliseconds))) { [weak self] in
      self?.endExpired()
    }
  }

  private func endExpired() {
    let time = now()
    let (expired, goesOn) = state.withLock { state in
      let expired = state.table.removeExpired(at: time)
      state.isTimerSet = state.table.count > 0
      return (expired, state.isTimerSet)
    }
    if goesOn { setTimer() }
    for completion in expired { completion(.failure(.timedOut)) }
  }
}

/// A request that came over the bus.
public struct BusRequest: Sendable {
  public let contents: [UInt8]
  private let bus: any Bus
  private let inbox: BusSubject
  private let number: UInt64

  init(contents: [UInt8], bus: any Bus, inbox: BusSubject, number: UInt64) {
    self.contents = contents
    self.bus = bus
    self.inbox = inbox
    self.number = number
  }

  /// Sends the reply, once.
  /// - Throws: as `Bus.publish`; the requester's deadline passes then.
  public func reply(_ contents: [UInt8]) throws(BusError) {
    try bus.publish(RequestFrame.reply(number: number, contents: contents).bytes, to: inbox)
  }
}
