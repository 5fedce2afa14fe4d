import GroupModel
import WireProtocol

/// Changes that the members of a large group make of themselves, many at once: they wait for up to
/// 50 ms, and share a commit, a tip and an event (Protocol.md, "Crowds").
extension Group {
  /// Keeps a request that is to be decided together with others, or behind one of its session.
  /// - Returns: false = it is decided now.
  func holdForCrowd(
    _ request: GroupOperation, by caller: Caller, _ completion: @escaping Completion, in box: StateBox
  ) -> Bool {
    if !crowd.isEmpty, !request.followsReading,
      crowd.hold(.request(request, by: caller, completion: completion), of: caller.session)
    {
      return true
    }
    guard request.mayShareEvent, box.state.crowdRequest(request, by: caller) != nil,
      !crowd.passes(at: services.clocks.monotonic)
    else { return false }
    crowd.append(.request(request, by: caller, completion: completion), of: caller.session)
    decideCrowd()
    return true
  }

  /// Decides the waiting changes, as far as they are due.
  private func decideCrowd() {
    guard case .loaded(let box) = phase else {
      // They go where every input goes now.
      for input in crowd.popAll() {
        process(input)
        processFollowers(of: input)
      }
      return
    }
    let inputs = crowd.popDue(at: services.clocks.monotonic)
    decideTogether(inputs, in: box)
    for input in inputs { processFollowers(of: input) }
    scheduleCrowd()
  }

  private func decideTogether(_ inputs: [GroupInput], in box: StateBox) {
    var requests: [CrowdRequest] = []
    var completions: [Completion] = []
    var others: [GroupInput] = []
    for input in inputs {
      guard case .request(let request, let caller, let completion) = input else { continue }
      // The group may have changed since it came.
      if let shared = box.state.crowdRequest(request, by: caller) {
        requests.append(shared)
        completions.append(completion)
      } else {
        others.append(input)
      }
    }
    if !requests.isEmpty {
      let now = services.clocks.now
      lastUse = now.monotonic
      let (decision, replies) = box.state.decideTogether(requests, at: now)
      let answered = zip(completions, replies)
      let share = decision.fanOut.share(of: requests.count)
      for request in requests { request.caller.fanOut?.charge(share, at: now.monotonic) }
      submit(decision) { outcome in
        for (completion, reply) in answered { completion(outcome.isFailure ? outcome : reply) }
      }
      commitCorrections()
    }
    for case .request(let request, let caller, let completion) in others {
      guard case .loaded(let box) = phase else {
        process(.request(request, by: caller, completion: completion))
        continue
      }
      decide(request, by: caller, at: services.clocks.now, completion, in: box)
    }
  }

  /// Processes what the session of a change has sent behind it.
  private func processFollowers(of input: GroupInput) {
    guard case .request(_, let caller, _) = input else { return }
    for follower in crowd.release(caller.session) { process(follower) }
  }

  private func scheduleCrowd() {
    guard !awaitsCrowdAlarm, let due = crowd.due else { return }
    awaitsCrowdAlarm = true
    services.alarms.schedule(at: due, on: executor) { [weak self] in
      self?.assumeIsolated { group in
        group.awaitsCrowdAlarm = false
        group.decideCrowd()
      }
    }
  }

  /// Fails everything that waits, because another node decides for the group.
  func abandonCrowd() {
    for input in crowd.popAll() {
      input.fail()
      guard case .request(_, let caller, _) = input else { continue }
      for follower in crowd.release(caller.session) { follower.fail() }
    }
  }
}

extension GroupOperation {
  /// Whether members make such a change of themselves.
  fileprivate var mayShareEvent: Bool {
    switch self {
    case .request(.joinGroup, _), .request(.quitGroup, _), .request(.setGroupMemberInfo, _): true
    default: false
    }
  }
}

extension Reply {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
