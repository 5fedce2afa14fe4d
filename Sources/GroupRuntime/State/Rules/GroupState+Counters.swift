import GroupModel
import GroupPermissions
import WireProtocol

/// The counters of a group (Protocol.md, "Counters" and "Counter rate").
extension GroupState {
  mutating func setCounters(
    _ entries: [GroupCounters.Entry], by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    try require(.setCounters, by: caller)
    var edited = counters.values
    for entry in entries { edited[entry.key] = entry.value }
    guard edited.count <= GroupCounters.maxCount else { throw WireError(.tooManyCounters, field: "counters") }
    try countCounterWrite(caller, in: context)
    var decision = Decision(answer: .counters(.empty, isWrite: true))
    set(entries, in: context, into: &decision)
    return decision
  }

  /// Raises or lowers a counter, which is 0 where it is not there.
  mutating func change(
    _ key: String, by difference: Int64, _ caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireMembership(caller)
    let former = counters.values[key]
    guard former != nil || counters.values.count < GroupCounters.maxCount else {
      throw WireError(.tooManyCounters, field: "key")
    }
    // Both are within ±2⁵³, so the sum does not overflow.
    let value = (former ?? 0) + difference
    guard GroupCounters.values.contains(value) else {
      throw WireError(.badValue, "The counter would leave ±2⁵³", field: "value")
    }
    try countCounterWrite(caller, in: context)
    var decision = Decision(answer: .counters(.counterValue(CounterValue(value: value)), isWrite: true))
    set([GroupCounters.Entry(key: key, value: value)], in: context, into: &decision)
    return decision
  }

  private mutating func set(
    _ entries: [GroupCounters.Entry], in context: DecisionContext, into decision: inout Decision
  ) {
    if !counters.isToTell { charge(counterEvent(entries, at: context.now), in: context, into: &decision) }
    counters.set(entries)
  }

  func readCounters(_ keys: [String]?, by caller: Caller) throws(WireError) -> Decision {
    try requireMembership(caller)
    let wanted = keys.map { Set($0) }
    let entries = counters.values.entries.filter { wanted?.contains($0.key) ?? true }
    return .answer(.counters(.counters(GetGroupCounters.Result(counters: CounterMap(entries))), isWrite: false))
  }

  /// "Only what succeeds counts", and application administrators are not limited.
  private mutating func countCounterWrite(_ caller: Caller, in context: DecisionContext) throws(WireError) {
    guard let user = caller.userID, let wait = counters.writes.acquire(user, at: context.monotonic) else { return }
    throw WireError(.attributeCallsTooOften, retryAfterMs: wait)
  }

  // MARK: Writing and events

  /// A write of counters: the changes to store, and what follows when they are durable.
  struct CounterWrite {
    let entries: [GroupCounters.Entry]
    let time: WallInstant
    let changes: [StoreChange]
    let effects: [Effect]
  }

  /// Begins a write of all changes since the last one; nil = there are none, or they have to wait.
  /// - Parameter isLast: the group ends; the write waits for nothing.
  mutating func beginCounterWrite(isLast: Bool = false, at now: ClockReading) -> CounterWrite? {
    let isPosted = rules.webhooks.contains(.countersChanged)
    guard let entries = counters.beginWrite(isPosted: isPosted, isLast: isLast, at: now.monotonic) else { return nil }
    var decision = Decision(.empty)
    decision.changes.append(.putCounters(entries, in: record.id))
    let time = counterTime(now)
    post(.countersChanged, .event(counterEvent(entries, at: time)), at: time, into: &decision)
    return CounterWrite(entries: entries, time: time, changes: decision.changes, effects: decision.effects)
  }

  /// onGroupCounterChanged with the counters that have changed since the last one, if it is due.
  /// - Parameter writeTime: of the write that it follows, for its opTime; nil = it was delayed.
  mutating func popCounterEvent(of writeTime: WallInstant? = nil, at now: ClockReading) -> GroupEvent? {
    counters.popDueEvent(at: now.monotonic).map { counterEvent($0, at: writeTime ?? counterTime(now)) }
  }

  private func counterEvent(_ entries: [GroupCounters.Entry], at time: WallInstant) -> GroupEvent {
    GroupEvent(groupID: record.id, opTime: time, .onGroupCounterChanged(CounterMap(entries)))
  }

  /// Time in the group's history never runs backwards.
  private func counterTime(_ now: ClockReading) -> WallInstant { max(now.wall, messages.lastMessage?.timestamp ?? .unset) }
}
