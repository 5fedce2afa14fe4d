import GroupModel
import WireProtocol

/// The way of counters through the store: one commit at a time, which holds all changes since the
/// one before (Protocol.md, "Counters"). A failed one discards the state, as every commit does.
extension Group {
  func replyWhenCountersAreDurable(_ reply: Reply, _ completion: @escaping Completion) {
    isOnlyRead = false
    counterCommits.append(reply, completion)
    commitCounters()
  }

  /// Begins a commit, unless one is in flight or the next one is not due.
  /// - Parameter isLast: the group ends with the next commit.
  func commitCounters(isLast: Bool = false) {
    guard let box, box.state.counters.hasUnwritten else { return complete(counterCommits.joinCommits()) }
    guard let write = box.state.beginCounterWrite(isLast: isLast, at: services.clocks.now) else { return scheduleWake() }
    counterCommits.begin(write)
    let generation = generation
    pass(
      Commit(changes: stamped(write.changes, in: box), generation: generation) { answer in
        self.executor.perform { self.assumeIsolated { $0.didCommitCounters(answer, of: generation) } }
      })
  }

  private func didCommitCounters(_ answer: Commit.Answer, of generation: CommitGeneration) {
    guard generation === self.generation, failureOfCommit == nil else { return }
    switch answer {
    case .success(let stored):
      guard let batch = counterCommits.popDurable(stored) else { return }
      for effect in batch.effects { perform(effect) }
      box?.state.counters.didWrite(batch.entries)
      publishCounters(of: batch.time)
      complete(batch.replies)
      commitCounters()
      scheduleWake()
      retireIfAbsent()
    case .failure(let error): discard(after: error)
    }
  }

  private func complete(_ replies: [CounterCommits.PendingReply]) {
    for (reply, completion) in replies { completion(reply) }
  }

  /// Publishes onGroupCounterChanged if it is due. It passes the pipeline: what it tells is durable,
  /// and its rate counts from here.
  /// - Parameter writeTime: of the write that has just become durable.
  func publishCounters(of writeTime: WallInstant? = nil) {
    // It is due behind attaching, too.
    guard !isAttaching, let event = box?.state.popCounterEvent(of: writeTime, at: services.clocks.now) else { return }
    tell { openTopic().publish(event.frame, .control, except: nil) }
  }

  /// Keeps what the members are not told of, because the state is discarded.
  func interruptCounters() {
    if let box { interruptedCounterEvents = box.state.counters.interruptedEvents }
  }

  func resumeCounters() {
    guard let events = interruptedCounterEvents else { return }
    interruptedCounterEvents = nil
    box?.state.counters.resume(events)
  }
}
