import WireProtocol

/// The end of a run on a Throng, however it came: takes away every group that was made or may have been.
final class GroupRemoval {
  /// One request that takes a group away, or a member out of it.
  struct Leaving {
    let connection: Int
    let group: Int
    /// The answers that say that there is nothing left to do.
    let isOver: Set<ErrorCode>
    /// The request's text, given the number for its id.
    let text: (Int) -> [UInt8]
  }

  /// When nothing has come of it for so long, what is left remains (nanoseconds).
  private static let patience = 5 * Clock.second
  /// So long a request rests that the server cannot take at the moment (nanoseconds).
  private static let rest = 250 * Clock.millisecond

  private let stage: Stage
  private let dialect: ThrongDialect
  private let parallel: Int
  private var left: [Int: Leaving] = [:]
  /// Requests that are sent again, and when, in this order.
  private var again: [(connection: Int, due: UInt64)] = []
  private var refusal: String?

  /// - Parameter parallel: so many connections at most come back at the same time.
  init(stage: Stage, dialect: ThrongDialect, parallel: Int) {
    self.stage = stage
    self.dialect = dialect
    self.parallel = parallel
  }

  /// - Parameter leavings: what is to be sent for the groups, which are given by the session that created each.
  /// - Returns: what remains on the server, a sentence; nil when nothing does.
  func carryOut(_ leavings: ([Int: Int]) -> [Leaving]) -> String? {
    stage.traffic = nil
    stage.onTick = nil
    // Whoever is still coming in makes and joins no more groups.
    dialect.entry = { _ in .onlySignsIn }
    // A group whose createGroup is under way is not there yet: it could not be taken away.
    wait { awaitedReplies }
    _ = stage.takeReplies()
    left = Dictionary(leavings(dialect.groupMade).map { ($0.connection, $0) }) { $1 }
    bringBack()
    for (number, leaving) in left where isSignedIn(number) { stage.ask((number, leaving.text)) }
    wait { takeReplies() }
    return left.isEmpty ? nil : remains
  }

  private func phase(_ number: Int) -> Connection.Phase { stage.swarm.table[number].phase }

  private func isSignedIn(_ number: Int) -> Bool {
    phase(number) == .open || phase(number) == .entering && Int(stage.swarm.table[number].step) > ThrongDialect.Entering.signIn
  }

  /// How many requests may still be answered.
  private var awaitedReplies: Int {
    dialect.creating.count { phase($0) == .entering } + stage.unanswered.values.count { phase($0) == .open }
  }

  /// Lets sign in again who is needed and was cut off.
  private func bringBack() {
    let absent = left.keys.filter { !isSignedIn($0) }
    var waiting = absent.filter { phase($0) == .closed }[...]
    wait {
      var coming = absent.count { !isSignedIn($0) && phase($0) != .closed }
      while let number = stage.takeReturning(at: Clock.now()) { waiting.append(number) }
      if stage.isUnreachable { waiting = [] }
      while coming < parallel, let number = waiting.popFirst() {
        do throws(BenchmarkError) { try stage.swarm.connect(number, stage.dialing) } catch {
          refusal = refusal ?? error.description
        }
        coming += 1
      }
      return coming + waiting.count + stage.returningCount
    }
  }

  /// Takes the replies that have come, and sends again what has rested.
  /// - Returns: how many may still be taken away.
  private func takeReplies() -> Int {
    let now = Clock.now()
    for (number, outcome) in stage.takeReplies() {
      guard case .failed(let code, let message) = outcome else {
        left[number] = nil
        continue
      }
      switch ErrorCode(rawValue: code) {
      case .requestRate, .temporary: again.append((number, now + GroupRemoval.rest))
      case let error? where left[number]?.isOver.contains(error) == true: left[number] = nil
      default: refusal = refusal ?? "\(code) \(message)"
      }
    }
    let due = again.prefix { $0.due <= now }
    again.removeFirst(due.count)
    for (number, _) in due { if let leaving = left[number], isSignedIn(number) { stage.ask((number, leaving.text)) } }
    return stage.unanswered.values.count { isSignedIn($0) } + again.count
  }

  /// Turns until `remaining`, asked after each turn, gives 0, or it has not become less for so long that it never will.
  private func wait(_ remaining: () -> Int) {
    var (least, since) = (remaining(), Clock.now())
    while least > 0, Clock.now() < since + GroupRemoval.patience {
      stage.turn(until: Clock.now() + 50 * Clock.millisecond)
      let count = remaining()
      if count < least { (least, since) = (count, Clock.now()) }
    }
  }

  private var remains: String {
    let reason = refusal ?? (stage.isUnreachable ? "the server is gone" : stage.firstEnding ?? "the server does not answer")
    return "groups bench-\(dialect.run)-… that may remain on the server: \(Set(left.values.map(\.group)).count) (\(reason))"
  }
}
