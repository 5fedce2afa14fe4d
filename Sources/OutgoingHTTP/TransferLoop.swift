import Glibc
import Synchronization

/// The thread that owns the transfers of a client. Everyone else posts a command and wakes it.
final class TransferLoop: Sendable {
  private enum Command {
    case cancel(UInt64)
    case perform(@Sendable () -> Void)
  }

  private struct Inbox {
    var queue: TransferQueue
    var commands: [Command] = []
    /// Requests have come.
    var hasRequests = false
    /// A command has come that can wait for a moment.
    var hasDeferred = false
    var wait = Wait.none
    var isClosed = false
    var hasEnded = false
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    var hasWork: Bool { hasRequests || !commands.isEmpty }
  }

  /// How the thread waits.
  private enum Wait {
    case none
    /// For a moment, because commands that can wait come often: it is not woken for each.
    case brief
    /// Until it is woken.
    case long
  }

  private let inbox: Mutex<Inbox>
  private let transfers: Transfers
  private let timeout: Duration
  private let pauseLimit: Duration
  private let niceness: Int32

  /// - Parameters:
  ///   - timeout: of a request, from its start.
  ///   - pauseLimit: how late the end of that may be noticed.
  ///   - niceness: of the thread.
  init(transfers: Transfers, _ bounds: TransferQueue.Bounds, timeout: Duration, pauseLimit: Duration, niceness: Int) {
    inbox = Mutex(Inbox(queue: TransferQueue(bounds)))
    self.transfers = transfers
    self.timeout = timeout
    self.pauseLimit = pauseLimit
    self.niceness = Int32(clamping: niceness)
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
  func submit(_ request: PendingTransfer) {
    let refused: (request: PendingTransfer, error: HTTPError)? = post { inbox in
      guard !inbox.isClosed else { return (request, HTTPError(.shutDown, "the client is shut down")) }
      switch inbox.queue.enqueue(request) {
      case .full: return (request, HTTPError(.queueFull, "\(inbox.queue.waitingCount) requests wait already"))
      case .userFull: return (request, HTTPError(.queueFull, "too many requests of this user wait already"))
      case .queued:
        inbox.hasRequests = true
        return nil
      case .queuedInPlace(let displaced):
        inbox.hasRequests = true
        return (displaced, HTTPError(.queueFull, "users with fewer requests come first"))
      }
    }
    if let refused { refused.request.completion(.failure(refused.error)) }
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
      let mustWake = isWakeable && (inbox.hasWork || inbox.isClosed)
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
    var briefWaits = 0
    // Of the last request of each slot.
    var starts: [Int: ContinuousClock.Instant] = [:]
    while true {
      let (commands, hasDeferred, isClosed) = popCommands()
      for command in commands { perform(command) }
      if isClosed { break }
      briefWaits = hasDeferred ? TransferLoop.maxBriefWaits : max(0, briefWaits - 1)
      let now = ContinuousClock.now
      while let expired = inbox.withLock({ $0.queue.removeExpired(at: now) }) {
        expired.completion(.failure(HTTPError(.waitedTooLong, "all connections were busy until its time was up")))
      }
      while let next = inbox.withLock({ $0.queue.startNext() }) {
        starts[next.slot] = .now
        if let error = transfers.start(next.request, slot: next.slot, timeout: timeout) { finish(next.slot, .failure(error)) }
      }
      let isWorking = transfers.wait(beginWait(isBrief: briefWaits > 0, now))
      inbox.withLock { $0.wait = .none }
      let end = ContinuousClock.now
      while let ended = transfers.nextEnded() {
        let elapsed = starts[ended.slot].map { $0.duration(to: end) } ?? .zero
        finish(ended.slot, ended.result.mapError { $0.judged(after: elapsed, of: timeout, pauseLimit: pauseLimit) })
      }
      if !isWorking { endAll(HTTPError(.outOfMemory, "libcurl cannot wait for its sockets")) }
    }
    endAll(HTTPError(.shutDown, "the client is shut down"))
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

  /// The limit of the wait that begins; zero where something has come since commands were taken.
  private func beginWait(isBrief: Bool, _ now: ContinuousClock.Instant) -> Duration {
    inbox.withLock { inbox in
      guard !inbox.hasWork, !inbox.isClosed else { return .zero }
      inbox.wait = isBrief ? .brief : .long
      if isBrief { return TransferLoop.briefWait }
      return inbox.queue.nextDeadline().map { now.duration(to: $0) } ?? TransferLoop.longestWait
    }
  }

  private func popCommands() -> (commands: [Command], hasDeferred: Bool, isClosed: Bool) {
    inbox.withLock { inbox in
      defer {
        inbox.commands = []
        inbox.hasRequests = false
        inbox.hasDeferred = false
      }
      return (inbox.commands, inbox.hasDeferred, inbox.isClosed)
    }
  }

  private func perform(_ command: Command) {
    switch command {
    case .perform(let work): work()
    case .cancel(let id):
      let removal = inbox.withLock { $0.queue.remove(id: id) }
      if let removal { end(removal, HTTPError(.cancelled, "the task was cancelled")) }
    }
  }

  private func finish(_ slot: Int, _ result: Result<HTTPResponse, HTTPError>) {
    inbox.withLock { $0.queue.finish(slot: slot) }?.completion(result)
  }

  private func endAll(_ error: HTTPError) {
    for removal in inbox.withLock({ $0.queue.removeAll() }) { end(removal, error) }
  }

  private func end(_ removal: TransferQueue.Removal, _ error: HTTPError) {
    switch removal {
    case .waiting(let request): request.completion(.failure(error))
    case .running(let request, let slot):
      transfers.cancel(slot: slot)
      request.completion(.failure(error))
    }
  }
}
