import GroupModel

/// The spans on their way to the collector, as a value: what waits, what was sent, and when the next
/// batch goes. It is told what happens, and says what follows.
struct SpanQueue {
  /// What follows an input.
  enum Step: Equatable {
    case nothing
    /// `batch` is to be sent; `didSend` or `didFail` answers.
    case send
    /// `timeHasCome` is to be called then.
    case wait(until: MonotonicInstant)
  }

  /// What holds of `batch`.
  private enum State {
    /// There is none. Next: collecting.
    case empty
    /// The first span of the next one waits for others. Next: sending.
    case collecting(until: MonotonicInstant)
    /// Next: empty, collecting, sending, retrying.
    case sending
    /// The collector did not take it. Next: sending.
    case retrying(at: MonotonicInstant)
  }

  /// The spans that wait beside a batch; more are dropped.
  static let maxWaiting = 4096
  static let batchSize = 512
  /// How long the first span of a batch waits for others.
  static let collection = Duration.seconds(1)
  static let firstRetry = Duration.seconds(1)
  /// A batch that the collector has not taken so often is dropped.
  static let maxAttempts = 5

  private var state = State.empty
  private var waiting: [Span] = []
  /// The spans under way.
  private(set) var batch: [Span] = []
  private var attempts = 0
  /// Spans that found no place.
  private(set) var overflowed = 0
  /// Spans that the collector did not take.
  private(set) var refused = 0
  /// Spans that it has.
  private(set) var sent = 0

  /// How many are not sent yet.
  var count: Int { waiting.count + batch.count }

  mutating func add(_ span: Span, at now: MonotonicInstant) -> Step {
    guard waiting.count < SpanQueue.maxWaiting else {
      overflowed += 1
      return .nothing
    }
    waiting.append(span)
    switch state {
    case .empty:
      state = .collecting(until: now + SpanQueue.collection)
      return .wait(until: now + SpanQueue.collection)
    case .collecting where waiting.count >= SpanQueue.batchSize: return beginBatch()
    case .collecting, .sending, .retrying: return .nothing
    }
  }

  mutating func timeHasCome(at now: MonotonicInstant) -> Step {
    switch state {
    case .collecting(let end) where end <= now: return beginBatch()
    case .retrying(let due) where due <= now:
      state = .sending
      return .send
    case .empty, .collecting, .sending, .retrying: return .nothing
    }
  }

  private mutating func beginBatch() -> Step {
    batch = Array(waiting.prefix(SpanQueue.batchSize))
    waiting.removeFirst(batch.count)
    attempts = 0
    state = .sending
    return .send
  }

  /// The collector has answered for the batch.
  /// - Parameter rejected: how many spans of it the collector did not take.
  mutating func didSend(rejected: Int = 0, at now: MonotonicInstant) -> Step {
    let rejected = min(max(rejected, 0), batch.count)
    refused += rejected
    sent += batch.count - rejected
    return endBatch(at: now)
  }

  /// The collector did not take the batch.
  /// - Parameter isTemporary: it may take it later.
  mutating func didFail(isTemporary: Bool, at now: MonotonicInstant) -> Step {
    attempts += 1
    guard isTemporary, attempts < SpanQueue.maxAttempts else {
      refused += batch.count
      return endBatch(at: now)
    }
    let due = now + SpanQueue.firstRetry * (1 << (attempts - 1))
    state = .retrying(at: due)
    return .wait(until: due)
  }

  private mutating func endBatch(at now: MonotonicInstant) -> Step {
    batch = []
    guard !waiting.isEmpty else {
      state = .empty
      return .nothing
    }
    guard waiting.count < SpanQueue.batchSize else { return beginBatch() }
    state = .collecting(until: now + SpanQueue.collection)
    return .wait(until: now + SpanQueue.collection)
  }

  /// The process ends: what waits goes at once, in one request, if none is under way.
  mutating func flush() -> Step {
    if case .sending = state { return .nothing }
    batch += waiting
    waiting = []
    guard !batch.isEmpty else { return .nothing }
    state = .sending
    return .send
  }
}
