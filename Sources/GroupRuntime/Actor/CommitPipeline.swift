import DequeModule
import GroupModel
import WireProtocol

/// The decisions of a group that are not delivered yet: commits in flight, and what was decided
/// behind them. Bounded by the requests that sessions may have in flight.
struct CommitPipeline {
  struct Entry {
    let number: Int
    var decision: Decision
    let completion: Group.Completion
    /// It stores corrected ends of mutes and bans, and nothing else. No later decision depends on
    /// it.
    let isCorrection: Bool
    /// Its events wait for profiles that the store reads.
    var awaitsProfiles = false

    /// Whether its delivery has changed `GroupState.nextWake`.
    var movesNextWake: Bool { decision.rateLimited.deliveries > 0 || decision.rateLimited.tellsMemberInfo }
  }

  private var entries: Deque<Entry> = []
  /// How many of the entries with changes, the oldest, are durable.
  private var durableCount = 0
  private var lastNumber = 0

  var isEmpty: Bool { entries.isEmpty }

  /// The number of the oldest entry, or of the next.
  var firstNumber: Int { entries.first?.number ?? lastNumber + 1 }

  /// The events of changed messages that wait.
  var announcements: [ChangeAnnouncements.Announcement] {
    entries.flatMap { $0.decision.effects.compactMap(ChangeAnnouncements.Announcement.init) }
  }

  /// The events of mutes and roles in a live room that wait.
  var memberNotices: [MemberInfoNotices.Notice] {
    entries.flatMap { $0.decision.effects.compactMap { MemberInfoNotices.Notice($0) } }
  }

  /// Appends a decision. The messages that it delivers count for the rate when it is delivered
  /// (Protocol.md, "Message rate of live types"), and so does an event of mutes and roles.
  /// - Parameters:
  ///   - box: the state that has decided; nil = there is no group.
  ///   - awaitsProfiles: `show` or `stopAwaitingProfiles` must follow.
  /// - Returns: the number of its entry.
  @discardableResult
  mutating func append(
    _ decision: consuming Decision, from box: Group.StateBox?, awaitsProfiles: Bool = false,
    _ completion: @escaping Group.Completion
  ) -> Int {
    let deliveries = decision.rateLimited.deliveries
    if deliveries > 0 { box?.state.rateLimiter?.postponeDeliveries(deliveries) }
    if decision.rateLimited.tellsMemberInfo { box?.state.memberNotices.postpone() }
    lastNumber += 1
    entries.append(
      Entry(
        number: lastNumber, decision: decision, completion: completion, isCorrection: false, awaitsProfiles: awaitsProfiles))
    return lastNumber
  }

  mutating func append(corrections changes: [StoreChange]) {
    var decision = Decision()
    decision.changes = changes
    lastNumber += 1
    entries.append(Entry(number: lastNumber, decision: decision, completion: { _ in }, isCorrection: true))
  }

  // MARK: Profiles

  /// The profiles that an entry waited for were read. The entry may be gone.
  mutating func show(_ profiles: [UserID: UserProfile], in number: Int) {
    guard let index = entries.firstIndex(where: { $0.number == number }) else { return }
    entries[index].decision.show(profiles)
    entries[index].awaitsProfiles = false
  }

  /// Lets the entries go without profiles.
  /// - Returns: whether any waited.
  mutating func stopAwaitingProfiles() -> Bool {
    var waited = false
    for index in entries.indices where entries[index].awaitsProfiles {
      entries[index].awaitsProfiles = false
      waited = true
    }
    return waited
  }

  /// The oldest commit in flight is durable.
  /// - Parameter stored: its after-events; they take the place of those that were decided.
  mutating func didCommit(_ stored: [WebhookEntry] = []) {
    if !stored.isEmpty {
      let committed = entries.indices.filter { !entries[$0].decision.changes.isEmpty }.dropFirst(durableCount).first
      if let committed { entries[committed].decision.effects.replace(by: stored) }
    }
    durableCount += 1
  }

  /// Removes the oldest decision if nothing delays its delivery: it is durable, or changes nothing,
  /// and has its profiles.
  /// - Parameter box: the state that counts its messages for the rate; nil = the group is gone.
  mutating func popDeliverable(from box: Group.StateBox?, at clocks: any Clocks) -> Entry? {
    guard !entries.isEmpty, !entries[0].awaitsProfiles else { return nil }
    if !entries[0].decision.changes.isEmpty {
      guard durableCount > 0 else { return nil }
      durableCount -= 1
    }
    let entry = entries.removeFirst()
    let deliveries = entry.decision.rateLimited.deliveries
    if deliveries > 0 { box?.state.deliverPostponed(deliveries, at: clocks.monotonic) }
    if entry.decision.rateLimited.tellsMemberInfo { box?.state.memberNotices.deliverPostponed(at: clocks.monotonic) }
    return entry
  }

  /// The replies to all entries where nobody can say which commits have become durable.
  var repliesOfUnknownOutcome: [Reply] {
    entries.map { $0.decision.changes.isEmpty ? .error(.temporary) : .failure(.outcomeUnknown) }
  }

  /// A message that has left the queue of a live room, and waits for the decisions before it; nil = there
  /// is none of that ID.
  func leavingMessage(_ target: RevokeGroupMessage.Target) -> RecentMessage? {
    guard case .msgID(let id) = target else { return nil }
    for entry in entries {
      for case .publish(let event, _, except: _) in entry.decision.effects {
        guard case .onRecvNewMessage(let message) = event.content, message.msgID.isSame(as: id) else { continue }
        return RecentMessage(event)
      }
    }
    return nil
  }

  /// Whether a pending decision makes the user a member.
  func willAdmit(_ user: UserID) -> Bool { entries.contains { $0.decision.admits(user) } }

  // MARK: Failures of the oldest commit

  /// Returns corrections whose commit has failed to the state; the next commit takes them along.
  /// - Returns: false where the state is void: other changes were decided on what has failed.
  mutating func returnFailedCorrections(to box: Group.StateBox?) -> Bool {
    guard let first = entries.first, first.isCorrection else { return false }
    entries.removeFirst()
    guard entries.allSatisfy(\.decision.changes.isEmpty) else { return false }
    box?.state.corrections.restore(first.decision.changes)
    return true
  }

  /// Empties the pipeline, because its decisions are void.
  /// - Returns: the completions, the drops of queued messages that are lost with the state
  ///   (Protocol.md, "Waiting messages"), and the users whose new message is void. One whose own reply
  ///   fails was never accepted.
  mutating func discard(
    with box: Group.StateBox?, at now: WallInstant
  ) -> (completions: [Group.Completion], drops: Decision, unsent: Set<UserID>) {
    let refused = Set(entries.compactMap(\.decision.rateLimited.offeredID))
    let lost = entries.flatMap(\.decision.rateLimited.dequeued) + (box?.state.removeWaiting() ?? [])
    let webhooks = box?.state.rules.webhooks ?? .none
    var drops = Decision()
    for waiting in lost where !refused.contains(waiting.message.msgID) { drops.drop(waiting, at: now, making: webhooks) }
    var unsent = Set(entries.flatMap(\.decision.newSenders))
    for waiting in lost where refused.contains(waiting.message.msgID) { unsent.insert(waiting.message.sender) }
    defer {
      // The numbers go on: profiles that an entry waited for may still come.
      entries = []
      durableCount = 0
    }
    return (entries.map(\.completion), drops, unsent)
  }
}

extension [Effect] {
  /// Lets after-events be posted as the store has them.
  mutating func replace(by stored: [WebhookEntry]) {
    for index in indices {
      if case .post(let entry) = self[index], let stored = stored.first(where: { $0 == entry }) { self[index] = .post(stored) }
    }
  }
}

extension Decision {
  /// The senders of messages that came with this decision and left at once.
  fileprivate var newSenders: [UserID] {
    let queued = Set(rateLimited.dequeued.map(\.message.msgID))
    return effects.compactMap { effect in
      switch effect {
      case .publish(let event, _, except: _), .send(let event, to: _, except: _):
        guard case .onRecvNewMessage(let message) = event.content, !queued.contains(message.msgID) else { return nil }
        return message.sender
      default: return nil
      }
    }
  }

  fileprivate func admits(_ user: UserID) -> Bool {
    effects.contains { effect in
      if case .attach(user, receiving: _) = effect { true } else { false }
    }
  }
}
