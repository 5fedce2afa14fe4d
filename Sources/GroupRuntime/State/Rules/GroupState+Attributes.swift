import GroupModel
import GroupPermissions
import WireProtocol

/// The attributes of a group (Protocol.md, "Attributes" and "Attribute rate").
extension GroupState {
  mutating func initAttributes(
    _ entries: [GroupAttributes.Entry], by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireAttributes(caller)
    return try write(GroupAttributes(entries), by: caller, in: context)
  }

  mutating func setAttributes(
    _ entries: [GroupAttributes.Entry], by caller: Caller, in context: DecisionContext
  ) throws(WireError) -> Decision {
    try requireAttributes(caller)
    var edited = attributes.values
    for entry in entries { edited[entry.key] = entry.value }
    return try write(edited, by: caller, in: context)
  }

  /// "Deleting one unknown key is 10050 and deletes nothing."
  mutating func deleteAttributes(_ keys: [String]?, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision
  {
    try requireAttributes(caller)
    guard let keys else { return try write(GroupAttributes(), by: caller, in: context) }
    guard keys.allSatisfy({ attributes.values[$0] != nil }) else { throw WireError(.attributeUnknown, field: "keys") }
    var edited = attributes.values
    for key in keys { edited[key] = nil }
    return try write(edited, by: caller, in: context)
  }

  mutating func readAttributes(_ keys: [String]?, by caller: Caller, in context: DecisionContext) throws(WireError) -> Decision {
    try requireAttributes(caller)
    if let user = caller.userID, let wait = attributes.reads.acquire(user, at: context.monotonic) {
      throw WireError(.attributeCallsTooOften, retryAfterMs: wait)
    }
    let wanted = keys.map { Set($0.map { ExactText($0) }) }
    let entries = attributes.values.entries.filter { wanted?.contains(ExactText($0.key)) ?? true }
    return Decision(.attributes(GetGroupAttributes.Result(attributes: TextMap(entries))))
  }

  private func requireAttributes(_ caller: Caller) throws(WireError) {
    try requireMembership(caller)
    try require(.useAttributes, by: caller)
  }

  /// The limits apply to the result; "only calls that would otherwise succeed count".
  private mutating func write(_ edited: GroupAttributes, by caller: Caller, in context: DecisionContext) throws(WireError)
    -> Decision
  {
    guard edited.count <= GroupAttributes.maxCount else { throw WireError(.tooManyAttributes, field: "attributes") }
    guard edited.byteCount <= GroupAttributes.maxBytes else { throw WireError(.attributesTooLarge, field: "attributes") }
    try countWrite(caller, in: context)
    var decision = Decision(.empty)
    guard edited != attributes.values else { return decision }
    if attributes.eventDue == nil {
      charge(event(.onGroupAttributeChanged(TextMap(edited.entries)), in: context), in: context, into: &decision)
    }
    attributes.set(edited, at: context.monotonic)
    decision.changes.append(.putAttributes(edited, in: record.id))
    publishAttributesIfDue(in: context, into: &decision)
    post(
      .attributesChanged, .event(event(.onGroupAttributeChanged(TextMap(edited.entries)), in: context)), at: context.now,
      into: &decision)
    return decision
  }

  private mutating func countWrite(_ caller: Caller, in context: DecisionContext) throws(WireError) {
    if let user = caller.userID {
      if let wait = attributes.writes.acquire(user, at: context.monotonic) {
        throw WireError(.attributeCallsTooOften, retryAfterMs: wait)
      }
    } else if let wait = attributes.administratorWrites.acquire(at: context.monotonic) {
      throw WireError(.attributeWritesTooOften, retryAfterMs: wait)
    }
  }

  /// Schedules an event for members who may not have had the last one.
  mutating func republishAttributes(at now: MonotonicInstant) { attributes.scheduleEvent(at: now) }

  /// onGroupAttributeChanged with the whole set: at most 20 a second, and the last state always
  /// arrives.
  mutating func publishAttributesIfDue(in context: DecisionContext, into decision: inout Decision) {
    guard attributes.popDueEvent(at: context.monotonic) else { return }
    let event = event(.onGroupAttributeChanged(TextMap(attributes.values.entries)), in: context)
    decision.effects.append(.publish(event, .control, except: nil))
  }
}
