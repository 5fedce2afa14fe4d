import WireProtocol

/// Removes every group that a run has created or may have created, however the run ended.
final class GroupRemoval {
  /// One request that removes a group, or a member from it.
  struct Removal {
    let connection: Int
    let group: Int
    /// The errors after which nothing is left to do.
    let isOver: Set<ErrorCode>
    /// The request's text by its id.
    let text: (Int) -> [UInt8]
  }

  /// The time without progress after which the rest is abandoned (nanoseconds).
  private static let timeout = 5 * Clock.second
  /// The wait before a refused request is sent again (nanoseconds).
  private static let backoff = 250 * Clock.millisecond

  private let run: Run
  private let dialect: ThrongDialect
  private let parallel: Int
  private var remaining: [Int: Removal] = [:]
  /// Requests to send again, in the order of their instants.
  private var retries: [(connection: Int, due: UInt64)] = []
  private var refusal: String?

  /// - Parameter parallel: the most connections that reconnect at the same time.
  init(run: Run, dialect: ThrongDialect, parallel: Int) {
    self.run = run
    self.dialect = dialect
    self.parallel = parallel
  }

  /// - Parameter removals: the requests for the groups, given by creator.
  /// - Returns: a sentence about the groups that remain; nil: none does.
  func remove(_ removals: ([Int: Int]) -> [Removal]) -> String? {
    run.traffic = nil
    run.onTick = nil
    // Sessions that still connect create and join no more groups.
    dialect.setupAction = { _ in .signIn }
    // A group cannot be removed before its createGroup is answered.
    wait { awaitedReplies }
    _ = run.popReplies()
    remaining = Dictionary(removals(dialect.createdGroups).map { ($0.connection, $0) }) { $1 }
    reconnect()
    for (number, removal) in remaining where isSignedIn(number) { run.send((number, removal.text)) }
    wait { handleReplies() }
    return remaining.isEmpty ? nil : remainder
  }

  private func phase(_ number: Int) -> Connection.Phase { run.pool.table[number].phase }

  private func isSignedIn(_ number: Int) -> Bool {
    phase(number) == .open || phase(number) == .joining && Int(run.pool.table[number].step) > ThrongDialect.StepNumber.signIn
  }

  /// The number of requests that may still be answered.
  private var awaitedReplies: Int {
    dialect.creating.count { phase($0) == .joining } + run.pendingRequests.values.count { phase($0) == .open }
  }

  /// Signs in again the sessions that are needed and were closed.
  private func reconnect() {
    let absent = remaining.keys.filter { !isSignedIn($0) }
    var waiting = absent.filter { phase($0) == .closed }[...]
    wait {
      var coming = absent.count { !isSignedIn($0) && phase($0) != .closed }
      while let number = run.popDueRetry(at: Clock.now()) { waiting.append(number) }
      if run.isUnreachable { waiting = [] }
      while coming < parallel, let number = waiting.popFirst() {
        do throws(BenchmarkError) { try run.pool.connect(number, run.connectOptions) } catch {
          refusal = refusal ?? error.description
        }
        coming += 1
      }
      return coming + waiting.count + run.retryCount
    }
  }

  /// Handles the replies, and sends again the requests that are due.
  /// - Returns: the number of requests that may still succeed.
  private func handleReplies() -> Int {
    let now = Clock.now()
    for (number, outcome) in run.popReplies() {
      guard case .failed(let code, let message) = outcome else {
        remaining[number] = nil
        continue
      }
      switch ErrorCode(rawValue: code) {
      case .requestRate, .temporary: retries.append((number, now + GroupRemoval.backoff))
      case let error? where remaining[number]?.isOver.contains(error) == true: remaining[number] = nil
      default: refusal = refusal ?? "\(code) \(message)"
      }
    }
    let due = retries.prefix { $0.due <= now }
    retries.removeFirst(due.count)
    for (number, _) in due { if let removal = remaining[number], isSignedIn(number) { run.send((number, removal.text)) } }
    return run.pendingRequests.values.count { isSignedIn($0) } + retries.count
  }

  /// Polls until `missing` is 0 or has not fallen for `timeout`.
  private func wait(_ missing: () -> Int) {
    var (least, since) = (missing(), Clock.now())
    while least > 0, Clock.now() < since + GroupRemoval.timeout {
      run.poll(until: Clock.now() + 50 * Clock.millisecond)
      let count = missing()
      if count < least { (least, since) = (count, Clock.now()) }
    }
  }

  private var remainder: String {
    let reason = refusal ?? (run.isUnreachable ? "the server is gone" : run.firstEnding ?? "the server does not answer")
    return
      "groups bench-\(dialect.runID)-… that may remain on the server: \(Set(remaining.values.map(\.group)).count) (\(reason))"
  }
}
