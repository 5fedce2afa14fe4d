import GroupModel
import Synchronization

/// What one user may take over all sessions of all loops (contract section 10.7). Sessions hold it, so that a request costs one lock
/// that hardly anybody else wants, and no look-up.
final class UserBudget: Sendable {
  /// How many requests that only read may be under way.
  static let mostReads = 8

  private struct Reads {
    var underWay = 0
    /// Sessions with a read that waits.
    var waiting: [Session] = []
  }

  private struct Writes {
    var allowance: WriteAllowance
    var isHeavyUnderWay = false
    /// Sessions with a large write that waits.
    var waiting: [Session] = []
  }

  private let requests: Mutex<TokenBucket>
  private let writes: Mutex<Writes>
  private let reads = Mutex(Reads())

  fileprivate init(_ requests: TokenBucket, now: Instant) {
    self.requests = Mutex(requests)
    writes = Mutex(Writes(allowance: WriteAllowance(now: now)))
  }

  /// Takes one request; nil, or in how many milliseconds there will be room for it.
  func takeRequest(at now: Instant) -> Instant? { requests.withLock { $0.take(at: now) } }

  /// What `takeRequest` would answer, without taking anything.
  func wait(at now: Instant) -> Instant? { requests.withLock { $0.peek(at: now) } }

  /// Takes what a request writes; in how many milliseconds it may run.
  func chargeWrite(_ bytes: Int, at now: Instant) -> Instant { writes.withLock { $0.allowance.take(bytes, at: now) } }

  /// Begins a write that names many users: one at a time, so that others' writes come between them. Where there is one, the session is
  /// told to try again by what `endHeavyWrite` returns.
  func beginHeavyWrite(of session: Session) -> Bool {
    writes.withLock { writes in
      guard writes.isHeavyUnderWay else {
        writes.isHeavyUnderWay = true
        return true
      }
      if !writes.waiting.contains(where: { $0 === session }) { writes.waiting.append(session) }
      return false
    }
  }

  /// A write that names many users is over.
  /// - Returns: sessions that may try again; the one that asked first stands first.
  func endHeavyWrite() -> [Session] {
    writes.withLock { writes in
      writes.isHeavyUnderWay = false
      defer { writes.waiting = [] }
      return writes.waiting
    }
  }

  /// Begins a read. Where there are as many as may be, the session is told to try again by what `endRead` returns.
  func beginRead(of session: Session) -> Bool {
    reads.withLock { reads in
      if reads.underWay < UserBudget.mostReads {
        reads.underWay += 1
        return true
      }
      if !reads.waiting.contains(where: { $0 === session }) { reads.waiting.append(session) }
      return false
    }
  }

  /// A read is over.
  /// - Returns: sessions that may try again. There are few, and one of them may have ended.
  func endRead() -> [Session] {
    reads.withLock { reads in
      reads.underWay -= 1
      guard !reads.waiting.isEmpty else { return [] }
      defer { reads.waiting = [] }
      return reads.waiting
    }
  }

  /// Whether a new one would be the same.
  fileprivate func isWhole(at now: Instant) -> Bool {
    requests.withLock { $0.isFull(at: now) } && writes.withLock { $0.allowance.isFull(at: now) }
  }
}

/// The budgets of the users who are signed in, or were a moment ago: a budget outlives its sessions until nothing of it is missing.
final class UserBudgets: Sendable {
  private final class Shard: Sendable {
    let budgets = Mutex<[UserID: UserBudget]>([:])
  }

  private let shards = (0..<64).map { _ in Shard() }
  private let perSecond: Int
  private let burst: Int
  private let swept = Atomic(0)

  init(_ configuration: GatewayConfiguration) {
    perSecond = configuration.requestsPerSecond
    burst = configuration.requestBurst
  }

  /// The budget of a user whose token has been verified: nobody else gets one, or names could fill the memory.
  func budget(of user: UserID, at now: Instant) -> UserBudget {
    shards[Int(UInt(bitPattern: user.hashValue) % UInt(shards.count))].budgets.withLock { budgets in
      if let budget = budgets[user] { return budget }
      let budget = UserBudget(TokenBucket(perSecond: perSecond, burst: burst, now: now), now: now)
      budgets[user] = budget
      return budget
    }
  }

  /// Forgets budgets that no session holds and nothing is missing of, in one part of all users. Called with each tick.
  func sweep(at now: Instant) {
    let turn = swept.wrappingAdd(1, ordering: .relaxed).oldValue
    shards[turn % shards.count].budgets.withLock { budgets in
      var forgotten: [UserID] = []
      // Not by `indices`, which would hold every budget once more. A reference is handed out under this lock alone, so one that is
      // unique now stays so.
      var index = budgets.startIndex
      while index != budgets.endIndex {
        if isKnownUniquelyReferenced(&budgets.values[index]), budgets.values[index].isWhole(at: now) {
          forgotten.append(budgets.keys[index])
        }
        budgets.formIndex(after: &index)
      }
      for user in forgotten { budgets[user] = nil }
    }
  }

  /// How many ticks it takes to look at everybody.
  var sweepTicks: Int { shards.count }

  /// Of how many users something is remembered.
  var count: Int { shards.reduce(0) { sum, shard in sum + shard.budgets.withLock { $0.count } } }
}
