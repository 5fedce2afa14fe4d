import DequeModule
import GroupModel
import WireProtocol

/// The signals of one group: the rate of each user, and beyond 100 a second the newest signal of each
/// sender and name, which waits for its turn (Protocol.md, "Signals"). A pure value over an injected
/// clock; instants never go back.
struct SignalState: Sendable {
  /// How many signals a group sends in any second.
  static let perSecond = 100
  /// How many may wait. Further ones are lost.
  static let maxWaiting = 1000
  /// How long one may wait; then it is lost.
  static let lifetime = Duration.seconds(1)

  /// The outcome for a signal that is offered.
  enum Outcome: Sendable, Equatable {
    /// It leaves now.
    case delivered
    /// It waits until `popDue` returns it.
    case waits
    /// It waits in the place of an older one of the same sender and name, which is lost.
    case merged
    /// As many wait as may.
    case dropped
  }

  private struct Key: Hashable {
    let sender: UserID
    /// ASCII, so that equal names have equal bytes.
    let name: String
  }

  private struct Waiting {
    var signal: WaitingSignal
    var since: MonotonicInstant
  }

  /// Signals of each user.
  var rate = KeyedRateLimiter<UserID>(limit: 10, windowMilliseconds: 5000)
  private var window = SlidingWindowLimiter(limit: SignalState.perSecond, windowMilliseconds: 1000)
  private var waiting: [Key: Waiting] = [:]
  /// The keys of `waiting`, each once, in the order in which they began to wait.
  private var order: Deque<Key> = []
  /// When `popDue` has signals to remove; nil = none wait.
  private(set) var due: MonotonicInstant?

  /// Nobody has sent a signal yet.
  init() {}

  /// How many signals wait.
  var waitingCount: Int { order.count }

  /// Offers a signal, which counted for the rate of its sender.
  mutating func offer(_ signal: WaitingSignal, at now: MonotonicInstant) -> Outcome {
    if order.isEmpty {
      guard let wait = window.acquire(at: now) else { return .delivered }
      due = now.advanced(byMilliseconds: wait)
    }
    let key = Key(sender: signal.sender, name: signal.name)
    let isMerged = waiting[key] != nil
    if !isMerged {
      guard order.count < SignalState.maxWaiting else { return .dropped }
      order.append(key)
    }
    // The newest counts, in the place of the first.
    waiting[key] = Waiting(signal: signal, since: now)
    return isMerged ? .merged : .waits
  }

  /// Removes the signals that leave now, the oldest first, and before them those that have waited too
  /// long.
  mutating func popDue(at now: MonotonicInstant) -> (leaving: [WaitingSignal], dropped: Int) {
    guard let due, due <= now else { return ([], 0) }
    var leaving: [WaitingSignal] = []
    var dropped = 0
    while let key = order.first, let first = waiting[key] {
      if first.since + SignalState.lifetime < now {
        dropped += 1
      } else if let wait = window.acquire(at: now) {
        self.due = now.advanced(byMilliseconds: wait)
        return (leaving, dropped)
      } else {
        leaving.append(first.signal)
      }
      order.removeFirst()
      waiting[key] = nil
    }
    self.due = nil
    return (leaving, dropped)
  }
}

/// A signal on its way to the members.
struct WaitingSignal: Sendable {
  let sender: UserID
  let name: String
  let event: GroupEvent
  /// The session that has sent it, and does not get it; nil = there is none.
  let session: SessionKey?
}

/// What became of signals with a decision, for the metrics.
public struct SignalCounts: Sendable, Equatable {
  /// They were handed to the members.
  public var delivered: UInt16 = 0
  /// A newer one of the same sender and name took their place.
  public var merged: UInt16 = 0
  /// They have waited too long, or too many waited.
  public var dropped: UInt16 = 0
  /// Their senders got an error.
  public var refused: UInt16 = 0

  /// None.
  public init() {}
}
