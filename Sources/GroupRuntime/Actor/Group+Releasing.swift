import DequeModule
import GroupModel
import WireProtocol

/// Leaving memory for another node (Cluster.md, "The lease").
extension Group {
  /// How often a group looks whether it has come to rest: nothing on a message's way tells.
  private static let releaseInterval = Duration.milliseconds(10)
  /// How long a group waits for events that are due by themselves, such as a merged notice.
  private static let maxReleaseTime = Duration.seconds(2)

  /// Lets the group go when its decisions are stored and its replies sent. Nothing new is asked of it
  /// meanwhile.
  /// - Parameter completion: called when it is not in memory any more.
  func release(since start: MonotonicInstant, _ completion: @escaping @Sendable () -> Void) {
    if case .retired = phase { return completion() }
    let now = services.clocks.monotonic
    let hasRested = box.map { !$0.state.isDue(within: Group.maxReleaseTime, at: now) } ?? true
    let isLate = now > start + Group.maxReleaseTime
    if pipeline.isEmpty, counterCommits.isEmpty, backlog.isEmpty, readings.isEmpty, crowd.isEmpty, !isLoading,
      isLate || hasRested && receiptNotices.isIdle
    {
      // Messages that still wait for their turn are dropped, and their senders told.
      var discarded = pipeline.discard(with: box, at: services.clocks.wall)
      tell { performEffects(of: &discarded.drops) }
      leaveRecentRoom()
      box?.state.slow = nil
      retire()
      return completion()
    }
    services.alarms.schedule(at: now + Group.releaseInterval, on: executor) {
      self.assumeIsolated { $0.release(since: start, completion) }
    }
  }

  private var isLoading: Bool {
    switch phase {
    case .loading, .attaching: true
    case .unloaded, .loaded, .absent, .retired: false
    }
  }

  /// Drops everything: another node decides for the group. This one's commits fail from some instant
  /// on, and those before it may be durable.
  func abandon() {
    if case .retired = phase { return }
    let replies = pipeline.repliesOfUnknownOutcome
    let discarded = pipeline.discard(with: box, at: services.clocks.wall)
    let counted = counterCommits.discard()
    let inputs = backlog
    backlog = []
    generation = CommitGeneration()
    followGate.drop()
    alarm = nil
    abandonCrowd()
    leaveRecentRoom()
    box?.state.slow = nil
    retire()
    for (completion, reply) in zip(discarded.completions, replies) { completion(reply) }
    for completion in counted.inFlight { completion(.failure(.outcomeUnknown)) }
    for completion in counted.waiting { completion(.error(.temporary)) }
    for input in inputs { input.fail() }
  }
}

extension GroupState {
  /// Whether something is due by itself soon.
  fileprivate mutating func isDue(within duration: Duration, at now: MonotonicInstant) -> Bool {
    currentNextWake().map { $0 <= now + duration } ?? false
  }
}
