import DequeModule
import GroupModel
import GroupRuntime
import Synchronization

/// Shares the readers of a store fairly: users take turns, however many reads each requests, and
/// no user has all readers at once. Reads of one user run in the order of their requests.
package final class ReadScheduler: Sendable {
  /// The user or server that a read is for.
  fileprivate enum Party: Hashable {
    case user(UserID)
    /// An application administrator, or the server itself.
    case server
  }

  private struct Waiting {
    let requester: Requester?
    /// Is told whether the turn has come; false = the requester has gone before.
    let resume: @Sendable (Bool) -> Void
  }

  /// A read of a user that has begun.
  package struct Turn: Sendable {
    fileprivate let party: Party
  }

  private struct State {
    var running = 0
    var runningByParty: [Party: Int] = [:]
    var queues: [Party: Deque<Waiting>] = [:]
    /// Parties with a queue, beginning with the next.
    var turns: Deque<Party> = []
    var waitingCount = 0
  }

  private let state = Mutex(State())
  private let readers: Int
  private let readersPerParty: Int
  /// Nobody can have too many readers where there is one: parties need no count then.
  private let countsParties: Bool

  /// - Parameter readers: how many reads run at once; a party has at most half of them.
  package init(readers: Int) {
    self.readers = readers
    readersPerParty = max(1, readers / 2)
    countsParties = readersPerParty < readers
  }

  /// The number of waiting reads.
  package var waitingCount: Int { state.withLock { $0.waitingCount } }

  /// Runs `body` when it is the requester's turn.
  /// - Throws: `.cancelled` where the requester has gone before that.
  package func run<Value: Sendable>(
    for requester: Requester?, _ body: @Sendable () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let party: Party = requester?.userID.map { .user($0) } ?? .server
    var isAdmitted = requester?.isGone != true
    // As a rule there is nothing to wait for.
    if isAdmitted, !beginAtOnce(party) { isAdmitted = await waitForTurn(of: party, requester) }
    guard isAdmitted else { throw StoreError(.cancelled, "whoever asked has gone") }
    defer { release(party) }
    return try await body()
  }

  /// Calls `body` when it is the user's turn, at once as a rule; `end` follows the read. Without a task,
  /// which costs a sign-in as much as what it reads.
  package func begin(for user: UserID, _ body: @escaping @Sendable (Turn) -> Void) {
    let turn = Turn(party: .user(user))
    let begins = state.withLock { state in
      if beginAtOnce(turn.party, &state) { return true }
      // It waits for a user who cannot go before: the turn comes.
      wait(Waiting(requester: nil) { _ in body(turn) }, of: turn.party, &state)
      return false
    }
    if begins { body(turn) }
  }

  /// Ends a read that `begin` has begun.
  package func end(_ turn: Turn) { release(turn.party) }

  /// Begins a read that no other of its party waits before, where a reader is free.
  private func beginAtOnce(_ party: Party) -> Bool { state.withLock { beginAtOnce(party, &$0) } }

  private func beginAtOnce(_ party: Party, _ state: inout State) -> Bool {
    guard state.queues[party] == nil, canRun(party, state) else { return false }
    begin(party, &state)
    return true
  }

  /// - Returns: false where the requester has gone before the turn came.
  private func waitForTurn(of party: Party, _ requester: Requester?) async -> Bool {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        // Meanwhile one may have become free.
        if beginAtOnce(party, &state) { return true }
        wait(Waiting(requester: requester) { continuation.resume(returning: $0) }, of: party, &state)
        return false
      }
      if isFree { continuation.resume(returning: true) }
    }
  }

  private func wait(_ waiting: Waiting, of party: Party, _ state: inout State) {
    if state.queues[party] == nil { state.turns.append(party) }
    state.queues[party, default: []].append(waiting)
    state.waitingCount += 1
  }

  private func release(_ party: Party) {
    let (next, gone) = state.withLock { state in
      state.running -= 1
      if countsParties { state.runningByParty[party] = state.runningByParty[party].flatMap { $0 > 1 ? $0 - 1 : nil } }
      return popNext(&state)
    }
    for waiting in gone { waiting.resume(false) }
    next?.resume(true)
  }

  /// The next that may run, and those met on the way whose requester has gone.
  private func popNext(_ state: inout State) -> (Waiting?, gone: [Waiting]) {
    var gone: [Waiting] = []
    var looked = 0
    while looked < state.turns.count, let party = state.turns.first {
      guard canRun(party, state) else {
        // Others go before this party until it has fewer readers.
        state.turns.append(state.turns.removeFirst())
        looked += 1
        continue
      }
      state.turns.removeFirst()
      looked = 0
      // A party in `turns` has a waiting read.
      guard let waiting = state.queues[party]?.popFirst() else { continue }
      state.waitingCount -= 1
      if state.queues[party]?.isEmpty == true { state.queues[party] = nil } else { state.turns.append(party) }
      if waiting.requester?.isGone == true {
        gone.append(waiting)
        continue
      }
      begin(party, &state)
      return (waiting, gone)
    }
    return (nil, gone)
  }

  private func canRun(_ party: Party, _ state: State) -> Bool {
    state.running < readers && (!countsParties || state.runningByParty[party, default: 0] < readersPerParty)
  }

  private func begin(_ party: Party, _ state: inout State) {
    state.running += 1
    if countsParties { state.runningByParty[party, default: 0] += 1 }
  }
}
