import GroupModel
import GroupPermissions
import WireProtocol

/// The attributes of a group (Protocol.md, "Attributes" and "Attribute rate").
extension GroupState {
  mutating func initAttributes(_ entries: [GroupAttributes.Entry], _ turn: inout Turn) throws(WireError) {
    try require(.useAttributes, turn)
    try write(GroupAttributes(entries), &turn)
  }

  mutating func setAttributes(_ entries: [GroupAttributes.Entry], _ turn: inout Turn) throws(WireError) {
    try require(.useAttributes, turn)
    var edited = attributes.values
    for entry in entries { edited[entry.key] = entry.value }
    try write(edited, &turn)
  }

  /// "Deleting one unknown key is 10050 and deletes nothing."
  mutating func deleteAttributes(_ keys: [String]?, _ turn: inout Turn) throws(WireError) {
    try require(.useAttributes, turn)
    guard let keys else { return try write(GroupAttributes(), &turn) }
    guard keys.allSatisfy({ attributes.values[$0] != nil }) else { throw WireError(.attributeUnknown, field: "keys") }
    var edited = attributes.values
    for key in keys { edited[key] = nil }
    try write(edited, &turn)
  }

  mutating func readAttributes(_ keys: [String]?, _ turn: borrowing Turn) throws(WireError) -> [GroupAttributes.Entry] {
    try require(.useAttributes, turn)
    if let user = turn.userID, let wait = attributes.reads.acquire(user, at: turn.monotonic) {
      throw WireError(.attributeCallsTooOften, retryAfterMs: wait)
    }
    let wanted = keys.map { Set($0.map { ExactText($0) }) }
    return attributes.values.entries.filter { wanted?.contains(ExactText($0.key)) ?? true }
  }

  /// The limits apply to the result; "only calls that would otherwise succeed count".
  private mutating func write(_ edited: GroupAttributes, _ turn: inout Turn) throws(WireError) {
    guard edited.count <= GroupAttributes.maxCount else { throw WireError(.tooManyAttributes, field: "attributes") }
    guard edited.byteCount <= GroupAttributes.maxBytes else { throw WireError(.attributesTooLarge, field: "attributes") }
    try countWrite(turn)
    guard edited != attributes.values else { return }
    let event = turn.event(.onGroupAttributeChanged(TextMap(edited.entries)))
    if attributes.eventDue == nil { charge(event, &turn) }
    attributes.set(edited, at: turn.monotonic)
    turn.store(.putAttributes(edited, in: record.id))
    publishAttributesIfDue(&turn)
    turn.post(.attributesChanged, .event(event))
  }

  private mutating func countWrite(_ turn: borrowing Turn) throws(WireError) {
    if let user = turn.userID {
      if let wait = attributes.writes.acquire(user, at: turn.monotonic) {
        throw WireError(.attributeCallsTooOften, retryAfterMs: wait)
      }
    } else if let wait = attributes.administratorWrites.acquire(at: turn.monotonic) {
      throw WireError(.attributeWritesTooOften, retryAfterMs: wait)
    }
  }

  /// Schedules an event for members who may not have had the last one.
  mutating func republishAttributes(at now: MonotonicInstant) { attributes.scheduleEvent(at: now) }

  /// onGroupAttributeChanged with the whole set: at most 20 a second, and the last state always
  /// arrives.
  mutating func publishAttributesIfDue(_ turn: inout Turn) {
    guard attributes.popDueEvent(at: turn.monotonic) else { return }
    turn.publish(.onGroupAttributeChanged(TextMap(attributes.values.entries)))
  }
}
