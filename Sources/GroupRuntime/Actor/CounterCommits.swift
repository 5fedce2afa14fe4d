import DequeModule
import GroupModel
import WireProtocol

/// The replies that wait for counters to be durable, beside `CommitPipeline`: messages and other
/// requests do not wait for counters. One commit holds all changes since the one before it.
struct CounterCommits {
  typealias PendingReply = (reply: Reply, completion: Group.Completion)

  /// A commit in flight, and the replies that it makes due.
  struct Batch {
    let entries: [GroupCounters.Entry]
    let time: WallInstant
    /// Performed when it is durable.
    var effects: [Effect]
    var replies: [PendingReply]
  }

  private var inFlight: Deque<Batch> = []
  /// Replies to changes that no commit holds yet.
  private var waiting: [PendingReply] = []

  var noneInFlight: Bool { inFlight.isEmpty }
  var isEmpty: Bool { inFlight.isEmpty && waiting.isEmpty }

  mutating func append(_ reply: Reply, _ completion: @escaping Group.Completion) { waiting.append((reply, completion)) }

  /// A commit begins that holds all changes so far.
  mutating func begin(_ write: GroupState.CounterWrite) {
    inFlight.append(Batch(entries: write.entries, time: write.time, effects: write.effects, replies: waiting))
    waiting = []
  }

  /// No change is left that no commit holds: the waiting replies wait for the commits in flight.
  /// - Returns: those that wait for nothing.
  mutating func joinCommits() -> [PendingReply] {
    defer { waiting = [] }
    guard let last = inFlight.indices.last else { return waiting }
    inFlight[last].replies += waiting
    return []
  }

  /// The oldest commit in flight is durable.
  /// - Parameter stored: its after-events.
  mutating func popDurable(_ stored: [WebhookEntry]) -> Batch? {
    var batch = inFlight.popFirst()
    batch?.effects.replace(by: stored)
    return batch
  }

  /// Forgets everything, because the state is discarded.
  /// - Returns: the completions of what commits in flight hold, and of changes that no commit holds.
  mutating func discard() -> (inFlight: [Group.Completion], waiting: [Group.Completion]) {
    defer { self = CounterCommits() }
    return (inFlight.flatMap(\.replies).map(\.completion), waiting.map(\.completion))
  }
}
