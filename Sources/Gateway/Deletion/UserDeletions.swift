import Cluster
import CoreMetrics
import GroupModel
import GroupRuntime
import Logging
import Synchronization
import WireProtocol

/// Deletes users in the background, one after the other, in small commits with pauses between them
/// (Protocol.md, "Deleting a user"). Where there are several nodes, the owner of a user's shard does it,
/// and a new owner goes on from the row.
package final class UserDeletions: Sendable {
  /// What became of a chunk.
  private enum Chunk {
    case advanced(UserDeletion)
    /// Something is out of reach: it is tried again.
    case waits(String)
    /// The user is deleted, or another node does it.
    case over
  }

  private struct State {
    /// Ends the wait for work; nil = it is at work.
    var wake: (@Sendable () -> Void)?
    var isDue = false
    var isStopped = false
    var runningCount = 0
    /// When the log was told that a deletion waits.
    var lastWarning = MonotonicInstant.distantPast
    var onForget: @Sendable (UserID, UserDeletion.MessageFate) -> Void = { _, _ in }
    var work: Task<Void, Never>?
  }

  /// The rows that one chunk looks at.
  private static let scannedRows = 2000
  /// Deletions of one page.
  private static let page = 100
  /// Between two recalls in a group: at most 20 in a second.
  private static let recallInterval = Duration.milliseconds(51)
  /// A pause is four times as long as the work before it, so the writer is taken for a fifth at most.
  private static let pauseFactor = 4
  private static let pauses = Duration.milliseconds(5)...Duration.milliseconds(500)
  private static let retries = Duration.seconds(1)...Duration.seconds(60)
  /// Without a signal the store is looked at this often.
  private static let lookInterval = Duration.seconds(60)
  private static let warningInterval = Duration.seconds(60)

  private let stores: GatewayStores
  private let registry: GroupRegistry
  private let sessions: any UserDirectory
  /// Nil = this node is alone.
  private let router: ShardRouter?
  private let otherNodes: OtherNodes?
  private let clocks: any Clocks
  private let alarms: any Alarms
  private let observer: StoreObserver
  private let logger: Logger
  private let counters: [UserDeletion.Step: Counter]
  /// A request and a chunk of the same user.
  private let turns = TurnQueue<UserID>()
  private let state = Mutex(State())

  /// - Parameters:
  ///   - sessions: of all nodes.
  ///   - network: nil = this node is alone.
  package init(
    stores: GatewayStores, registry: GroupRegistry, sessions: any UserDirectory, network: ClusterNetwork?, clocks: any Clocks,
    alarms: any Alarms, observer: StoreObserver, logger: Logger
  ) {
    self.stores = stores
    self.registry = registry
    self.sessions = sessions
    router = network?.router
    otherNodes = network?.otherNodes
    self.clocks = clocks
    self.alarms = alarms
    self.observer = observer
    self.logger = logger
    counters = Dictionary(
      uniqueKeysWithValues: UserDeletion.Step.allCases.map { step in
        (step, Counter(label: "throng_user_deletion_rows_total", dimensions: [("step", step.rawValue)]))
      })
  }

  /// Sets what else forgets a user on this node.
  func onForget(_ body: @escaping @Sendable (UserID, UserDeletion.MessageFate) -> Void) { state.withLock { $0.onForget = body } }

  /// How many deletions this node has found running.
  package var runningCount: Int { state.withLock { $0.runningCount } }

  // MARK: Requests

  /// Begins the deletion of a user: durable when it returns.
  func begin(_ user: UserID, _ messages: UserDeletion.MessageFate) async throws(StoreError) -> Reply {
    await turns.acquire(user)
    defer { turns.release(user) }
    let known = try await stores.erasure.deletion(of: user)
    guard let deletion = DeletionPlan.request(messages, of: user, known: known, at: clocks.wall) else { return .empty }
    guard await commit([.putDeletion(deletion)]) else { return .error(.temporary) }
    wake()
    return .empty
  }

  // MARK: The work

  /// Begins to work on what the store has, until `end`.
  package func start() {
    let work = Task { [self] in await run() }
    state.withLock { $0.work = work }
  }

  /// Ends the work behind the chunk that is running, and waits for nothing: where the loops end, a group
  /// that it asks may never answer, and the next start goes on from the row.
  package func end() { _ = beginToEnd() }

  /// The same, and waits for that chunk.
  func stop() async {
    if let work = beginToEnd() { await work.value }
  }

  private func beginToEnd() -> Task<Void, Never>? {
    let work = state.withLock { state in
      state.isStopped = true
      return state.work
    }
    wake()
    // A pause by a clock that stands still would never end.
    work?.cancel()
    return work
  }

  /// There may be something to do: a deletion was asked for, or a shard was gained.
  func wake() {
    let wake = state.withLock { state in
      state.isDue = true
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  private var isStopped: Bool { state.withLock { $0.isStopped } }

  private func run() async {
    var retry = UserDeletions.retries.lowerBound
    while !isStopped {
      state.withLock { $0.isDue = false }
      if await runAll() {
        retry = UserDeletions.retries.lowerBound
        await wait(UserDeletions.lookInterval)
      } else {
        await wait(retry)
        retry = min(retry * 2, UserDeletions.retries.upperBound)
      }
    }
  }

  /// Returns after a time, or when there may be something to do.
  private func wait(_ duration: Duration) async {
    await alarms.wait(until: clocks.monotonic + duration) { end in
      let isDue = state.withLock { state in
        if !state.isDue { state.wake = end }
        return state.isDue
      }
      if isDue { end() }
    }
  }

  /// Works on all deletions of this node's shards, the oldest first.
  /// - Returns: false where one waits for something.
  private func runAll() async -> Bool {
    var running: [UserDeletion] = []
    do throws(StoreError) {
      var last: UserID?
      repeat {
        let page = try await stores.erasure.runningDeletions(after: last, limit: UserDeletions.page)
        running += page.filter { leads($0.userID) }
        last = page.count == UserDeletions.page ? page.last?.userID : nil
      } while last != nil
    } catch {
      if !isStopped { observer.storeFailed(error) }
      return false
    }
    var (count, isDone) = (running.count, true)
    for deletion in running.sorted(by: { $0.requestTime < $1.requestTime }) {
      state.withLock { [count] in $0.runningCount = count }
      if isStopped { return true }
      if await run(deletion) { count -= 1 } else { isDone = false }
    }
    state.withLock { [count] in $0.runningCount = count }
    return isDone
  }

  private func leads(_ user: UserID) -> Bool { router?.leads(Shard(of: user)) ?? true }

  /// - Returns: false where it waits for something.
  private func run(_ deletion: UserDeletion) async -> Bool {
    logger.info(
      "deleting a user",
      metadata: ["userID": "\(deletion.userID)", "step": "\(deletion.step.rawValue)", "pass": .stringConvertible(deletion.pass)])
    while !isStopped {
      let start = clocks.monotonic
      switch await chunk(of: deletion.userID) {
      case .over: return true
      case .waits(let reason):
        warn(deletion.userID, reason)
        return false
      case .advanced(let next):
        guard next.isRunning else {
          tellDone(next)
          return true
        }
        await pause(after: clocks.monotonic - start, next)
      }
    }
    return true
  }

  private func pause(after took: Duration, _ deletion: UserDeletion) async {
    // Recalls have a pace of their own.
    let isRecalling = deletion.step == .recalls
    let wanted = isRecalling ? UserDeletions.recallInterval : took * UserDeletions.pauseFactor
    let bounds = UserDeletions.pauses
    await alarms.sleep(until: clocks.monotonic + min(max(wanted, bounds.lowerBound), bounds.upperBound))
  }

  private func tellDone(_ deletion: UserDeletion) {
    let seconds = max(0, clocks.wall.milliseconds(since: deletion.requestTime)) / 1000
    logger.info(
      "a user was deleted",
      metadata: [
        "userID": "\(deletion.userID)", "pass": .stringConvertible(deletion.pass), "seconds": .stringConvertible(seconds),
      ])
  }

  private func warn(_ user: UserID, _ reason: String) {
    let now = clocks.monotonic
    let isDue = state.withLock { state in
      guard !state.isStopped, state.lastWarning == .distantPast || now - state.lastWarning >= UserDeletions.warningInterval
      else { return false }
      state.lastWarning = now
      return true
    }
    if isDue { logger.warning("deleting a user waits", metadata: ["userID": "\(user)", "reason": "\(reason)"]) }
  }

  // MARK: A chunk

  /// Does the next part of a deletion, as its row says now.
  private func chunk(of user: UserID) async -> Chunk {
    do throws(StoreError) {
      // It may wait for a backup: requests do not wait with it.
      let isReclaimed = try await stores.erasure.deletion(of: user)?.step == .file
      if isReclaimed { try await stores.erasure.reclaim() }
      await turns.acquire(user)
      defer { turns.release(user) }
      guard leads(user), let deletion = try await stores.erasure.deletion(of: user),
        let order = DeletionPlan.order(of: deletion)
      else { return .over }
      if order == .reclaim, isReclaimed { return await advance(deletion, .done) }
      return try await perform(order, deletion)
    } catch {
      if !isStopped { observer.storeFailed(error) }
      return .waits("the store: \(error)")
    }
  }

  private func perform(_ order: DeletionPlan.Order, _ deletion: UserDeletion) async throws(StoreError) -> Chunk {
    let user = deletion.userID
    switch order {
    case .endSessions:
      guard await sessions.endSessionsEverywhere(of: user, .deleted) else { return .waits("a node has not ended the sessions") }
      return await advance(deletion, .done)
    case .forget:
      guard await forget(deletion) else { return .waits("a node has not answered") }
      return await advance(deletion, .done)
    case .recallRemembered:
      guard let left = await recallRecent(of: user) else { return .waits("a node has not answered") }
      if left > 0 { return .advanced(deletion) }
      return await advance(deletion, .done)
    case .erase: return try await erase(deletion)
    case .check:
      guard await forget(deletion) else { return .waits("a node has not answered") }
      let step = try await stores.erasure.remains(of: user)
      return await advance(deletion, step.map { DeletionPlan.Outcome.remains($0) } ?? .done)
    // `chunk` does it before a request could wait for it.
    case .reclaim: return .advanced(deletion)
    }
  }

  /// Groups first: what they have in memory is durable before the place is.
  private func erase(_ deletion: UserDeletion) async throws(StoreError) -> Chunk {
    let chunk = try await stores.erasure.erasable(deletion, scanning: UserDeletions.scannedRows)
    if let reason = await perform(chunk.operations, of: deletion.userID) { return .waits(reason) }
    counters[deletion.step]?.increment(by: Int64(chunk.operations.count + chunk.rows.count))
    let outcome = chunk.next.map { DeletionPlan.Outcome.more(at: $0) } ?? .done
    return await advance(deletion, outcome, chunk.rows)
  }

  private func advance(
    _ deletion: UserDeletion, _ outcome: DeletionPlan.Outcome, _ rows: [ErasedRow] = []
  ) async -> Chunk {
    let next = DeletionPlan.next(deletion, after: outcome, at: clocks.wall)
    let changes: [StoreChange] = (rows.isEmpty ? [] : [.erase(rows)]) + [.putDeletion(next)]
    return await commit(changes) ? .advanced(next) : .waits("the store cannot write")
  }

  private func commit(_ changes: [StoreChange]) async -> Bool {
    do throws(StoreError) {
      try await stores.groups.commit(changes)
      return true
    } catch {
      if !isStopped { observer.storeFailed(error) }
      return false
    }
  }

  private func forget(_ deletion: UserDeletion) async -> Bool {
    state.withLock { $0.onForget }(deletion.userID, deletion.messages)
    return await sessions.forget(deletion.userID, deletion.messages)
  }

  // MARK: Groups

  /// Lets groups erase something, a few groups at a time, each in the order given.
  /// - Returns: why it could not; nil = it is done.
  private func perform(_ orders: [GroupErasureOrder], of user: UserID) async -> String? {
    var queues: [(group: GroupID, erasures: [GroupErasure])] = []
    for order in orders {
      if queues.last?.group != order.group { queues.append((order.group, [])) }
      queues[queues.count - 1].erasures.append(order.erasure)
    }
    return await withTaskGroup(of: String?.self) { tasks in
      var waiting = queues[...]
      func startNext() {
        guard let (group, erasures) = waiting.popFirst() else { return }
        tasks.addTask { [self] in await perform(erasures, of: user, in: group) }
      }
      for _ in 0..<UserDeletions.groupsAtOnce { startNext() }
      var failure: String?
      for await outcome in tasks {
        failure = failure ?? outcome
        if failure == nil { startNext() }
      }
      return failure
    }
  }

  private static let groupsAtOnce = 4

  private func perform(_ erasures: [GroupErasure], of user: UserID, in group: GroupID) async -> String? {
    for erasure in erasures {
      if case .failure(let error) = await erase(erasure, of: user, in: group), !error.saysGone {
        return "group \(group): \(error.code.rawValue)"
      }
      if case .recall = erasure { await alarms.sleep(until: clocks.monotonic + UserDeletions.recallInterval) }
    }
    return nil
  }

  private func erase(_ erasure: GroupErasure, of user: UserID, in group: GroupID) async -> Reply {
    guard let router else { return await eraseHere(erasure, of: user, in: group) }
    return await withCheckedContinuation { continuation in
      router.perform(
        .erase(erasure, of: user, in: group), at: Shard(of: group),
        here: { [self] in
          Task { continuation.resume(returning: await eraseHere(erasure, of: user, in: group)) }
        },
        { continuation.resume(returning: $0) })
    }
  }

  /// Lets a group of this node erase something.
  func eraseHere(_ erasure: GroupErasure, of user: UserID, in group: GroupID) async -> Reply {
    // One that is not in memory reads what the store has, which is erased already.
    if erasure == .texts, registry.resident(group) == nil { return .empty }
    return await registry.group(group).ask(.erase(erasure, of: user), by: .administrator)
  }

  // MARK: Live rooms

  /// - Returns: how many messages are left; nil where a node does not answer.
  private func recallRecent(of user: UserID) async -> Int64? {
    var left = await recallRecentHere(of: user)
    guard let otherNodes else { return left }
    let nodes = otherNodes.all
    let answers = await otherNodes.ask("recallRecent", of: nodes) { _ in .recallRecent(user) }
    guard answers.count == nodes.count else { return nil }
    for case (_, .count(let count)) in answers { left += count }
    return left
  }

  /// Recalls the oldest remembered message of a user in each live room of this node.
  /// - Returns: how many are left.
  func recallRecentHere(of user: UserID) async -> Int64 {
    var left = 0
    for remembered in registry.rememberedMessages(of: user) {
      let reply = await eraseHere(.recall(seq: remembered.oldest), of: user, in: remembered.group)
      // A room whose group has ended, or has moved, is forgotten by itself.
      if reply.isSuccess { left += remembered.count - 1 }
    }
    return Int64(left)
  }
}

extension WireError {
  /// Whether there is nothing to erase any more.
  fileprivate var saysGone: Bool {
    switch code {
    case .noSuchGroup, .messageUnknown, .recallUnsupported: true
    default: false
    }
  }
}
