import Glibc
import Synchronization

/// The thread that owns the transfers of a client. Everyone else posts a command and wakes it.
final class TransferLoop: Sendable {
  private enum Command {
    case submit(PendingRequest)
    case cancel(UInt64)
    case perform(@Sendable () -> Void)
  }

  private struct Inbox {
    var commands: [Command] = []
    /// Requests that have been taken and have no result yet.
    var unfinished = 0
    /// A command has come that can wait for a moment.
    var hasDeferred = false
    var wait = Wait.none
    var isClosed = false
    var hasEnded = false
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []
  }

  /// How the thread waits.
  private enum Wait {
    case none
    /// For a moment, because commands that can wait come often: it is not woken for each.
    case brief
    /// Until it is woken.
    case long
  }

  private let inbox = Mutex(Inbox())
  private let transfers: Transfers
  private let slots: Int
  private let maxUnfinished: Int
  private let niceness: Int32

  /// - Parameters:
  ///   - maxWaiting: how many requests may wait beside those that run.
  ///   - niceness: of the thread.
  init(transfers: Transfers, slots: Int, maxWaiting: Int, niceness: Int) {
    self.transfers = transfers
    self.slots = slots
    self.niceness = Int32(clamping: niceness)
    maxUnfinished = slots + maxWaiting
    // Foundation's Thread would bring 50 MB into a program that is linked statically. The thread
    // holds this object until it ends.
    let context = Unmanaged.passRetained(self).toOpaque()
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<TransferLoop>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, context)
    precondition(result == 0, "no thread for HTTP")
    pthread_detach(thread)
  }

  /// Takes a request, or says at once why not; the completion is called either way, once.
  func submit(_ request: PendingRequest) {
    let refusal: HTTPError? = post { inbox in
      guard !inbox.isClosed else { return HTTPError(.shutDown, "the client is shut down") }
      guard inbox.unfinished < maxUnfinished else {
        return HTTPError(.queueFull, "\(inbox.unfinished) requests wait or run already")
      }
      inbox.unfinished += 1
      inbox.commands.append(.submit(request))
      return nil
    }
    if let refusal { request.completion(.failure(refusal)) }
  }

  /// Ends a request, unless it has ended.
  func cancel(_ id: UInt64) {
    post { inbox in if !inbox.isClosed { inbox.commands.append(.cancel(id)) } }
  }

  /// Performs `work` on the thread, behind what was submitted before; not at all once it is closed.
  /// - Parameter isDeferrable: it can wait for a millisecond, which spares many callers the waking.
  func perform(isDeferrable: Bool, _ work: @escaping @Sendable () -> Void) {
    post(isDeferrable: isDeferrable) { inbox in
      guard !inbox.isClosed else { return }
      inbox.commands.append(.perform(work))
      if isDeferrable { inbox.hasDeferred = true }
    }
  }

  /// Refuses requests from now on and ends those there are.
  func close() { post { $0.isClosed = true } }

  /// Returns when the thread makes no call any more.
  func waitForEnd() async {
    await withCheckedContinuation { continuation in
      let hasEnded = inbox.withLock { inbox in
        if !inbox.hasEnded { inbox.waitingForEnd.append(continuation) }
        return inbox.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
  }

  /// Changes the inbox, and wakes the thread where it waits.
  private func post<Value: Sendable>(isDeferrable: Bool = false, _ change: (inout Inbox) -> Value) -> Value {
    let (value, mustWake) = inbox.withLock { inbox in
      let value = change(&inbox)
      let isWakeable = inbox.wait == .long || inbox.wait == .brief && !isDeferrable
      let mustWake = isWakeable && (!inbox.commands.isEmpty || inbox.isClosed)
      if mustWake { inbox.wait = .none }
      return (value, mustWake)
    }
    if mustWake { transfers.wake() }
    return value
  }
}

// MARK: - On the thread

extension TransferLoop {
  private func run() {
    Transfers.enterThread(niceness: niceness)
    var queue = RequestQueue(slots: slots)
    var briefWaits = 0
    while true {
      let (commands, hasDeferred, isClosed) = takeCommands()
      for command in commands { perform(command, &queue) }
      if isClosed { break }
      briefWaits = hasDeferred ? TransferLoop.maxBriefWaits : max(0, briefWaits - 1)
      let now = ContinuousClock.now
      while let expired = queue.removeExpired(at: now) {
        finish(expired, .failure(HTTPError(.timedOut, "all connections were busy until its time was up")))
      }
      while let next = queue.startNext() {
        if let error = transfers.start(next.request, slot: next.slot, timeout: now.duration(to: next.request.deadline)) {
          _ = queue.finish(slot: next.slot)
          finish(next.request, .failure(error))
        }
      }
      let isWorking = transfers.wait(beginWait(isBrief: briefWaits > 0, until: queue.nextDeadline, now))
      inbox.withLock { $0.wait = .none }
      while let ended = transfers.nextEnded() {
        if let request = queue.finish(slot: ended.slot) { finish(request, ended.result) }
      }
      if !isWorking { endAll(&queue, HTTPError(.broken, "libcurl cannot wait for its sockets")) }
    }
    endAll(&queue, HTTPError(.shutDown, "the client is shut down"))
    let waitingForEnd = inbox.withLock { inbox in
      inbox.hasEnded = true
      return inbox.waitingForEnd
    }
    for continuation in waitingForEnd { continuation.resume() }
  }

  /// Nothing depends on it: commands and sockets end the wait.
  private static let longestWait = Duration.seconds(60)

  private static let briefWait = Duration.microseconds(500)
  /// So many without a deferred command, and the next wait is a long one.
  private static let maxBriefWaits = 5

  /// The limit of the wait that begins; zero where a command has come since some were taken.
  private func beginWait(
    isBrief: Bool, until deadline: ContinuousClock.Instant?, _ now: ContinuousClock.Instant
  ) -> Duration {
    let wait: Wait = inbox.withLock { inbox in
      guard inbox.commands.isEmpty, !inbox.isClosed else { return .none }
      inbox.wait = isBrief ? .brief : .long
      return inbox.wait
    }
    switch wait {
    case .none: return .zero
    case .brief: return TransferLoop.briefWait
    case .long: return deadline.map { now.duration(to: $0) } ?? TransferLoop.longestWait
    }
  }

  private func takeCommands() -> (commands: [Command], hasDeferred: Bool, isClosed: Bool) {
    inbox.withLock { inbox in
      defer {
        inbox.commands = []
        inbox.hasDeferred = false
      }
      return (inbox.commands, inbox.hasDeferred, inbox.isClosed)
    }
  }

  private func perform(_ command: Command, _ queue: inout RequestQueue) {
    switch command {
    case .submit(let request): queue.enqueue(request)
    case .perform(let work): work()
    case .cancel(let id):
      if let removal = queue.remove(id: id) { end(removal, HTTPError(.cancelled, "the task was cancelled")) }
    }
  }

  private func endAll(_ queue: inout RequestQueue, _ error: HTTPError) {
    for removal in queue.removeAll() { end(removal, error) }
  }

  private func end(_ removal: RequestQueue.Removal, _ error: HTTPError) {
    switch removal {
    case .waiting(let request): finish(request, .failure(error))
    case .running(let request, let slot):
      transfers.cancel(slot: slot)
      finish(request, .failure(error))
    }
  }

  private func finish(_ request: PendingRequest, _ result: Result<HTTPResponse, HTTPError>) {
    inbox.withLock { $0.unfinished -= 1 }
    request.completion(result)
  }
}
