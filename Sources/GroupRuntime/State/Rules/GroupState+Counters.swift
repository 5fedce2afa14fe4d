import GroupModel
import GroupPermissions
import WireProtocol

/// The counters of a group (Protocol.md, "Counters" and "Counter rate").
extension GroupState {
  mutating func setCounters(_ entries: [GroupCounters.Entry], _ turn: inout Turn) throws(WireError) {
    try require(.setCounters, turn)
    var edited = counters.values
    for entry in entries { edited[entry.key] = entry.value }
    guard edited.count <= GroupCounters.maxCount else { throw WireError(.tooManyCounters, field: "counters") }
    try countCounterWrite(turn)
    set(entries, &turn)
  }

  /// Raises or lowers a counter, which is 0 where it is not there.
  /// - Returns: its new value.
  mutating func change(_ key: String, by difference: Int64, _ turn: inout Turn) throws(WireError) -> Int64 {
    try requireMembership(turn)
    let former = counters.values[key]
    guard former != nil || counters.values.count < GroupCounters.maxCount else {
      throw WireError(.tooManyCounters, field: "key")
    }
    // Both are within ±2⁵³, so the sum does not overflow.
    let value = (former ?? 0) + difference
    guard GroupCounters.values.contains(value) else {
      throw WireError(.badValue, "The counter would leave ±2⁵³", field: "value")
    }
    try countCounterWrite(turn)
    set([GroupCounters.Entry(key: key, value: value)], &turn)
    return value
  }

  private mutating func set(_ entries: [GroupCounters.Entry], _ turn: inout Turn) {
    if !counters.isToTell { charge(turn.event(.onGroupCounterChanged(CounterMap(entries))), &turn) }
    counters.set(entries, trace: turn.caller.trace)
  }

  func readCounters(_ keys: [String]?, _ turn: borrowing Turn) throws(WireError) -> [GroupCounters.Entry] {
    try requireMembership(turn)
    let wanted = keys.map { Set($0) }
    return counters.values.entries.filter { wanted?.contains($0.key) ?? true }
  }

  /// "Only what succeeds counts", and application administrators are not limited.
  private mutating func countCounterWrite(_ turn: borrowing Turn) throws(WireError) {
    guard let user = turn.userID, let wait = counters.writes.acquire(user, at: turn.monotonic) else { return }
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
    let trace = counters.unwrittenTrace
    guard let entries = counters.beginWrite(isPosted: isPosted, isLast: isLast, at: now.monotonic) else { return nil }
    let time = counterTime(now)
    var turn = Turn(of: record.id, by: .administrator, now: time, at: now, making: rules.webhooks)
    turn.store(.putCounters(entries, in: record.id))
    turn.post(.countersChanged, .event(counterEvent(entries, at: time)), trace: trace)
    let decision = turn.finish()
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
  private func counterTime(_ now: ClockReading) -> WallInstant { max(now.wall, messages.newestTime) }
}
