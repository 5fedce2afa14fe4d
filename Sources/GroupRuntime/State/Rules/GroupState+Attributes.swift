import GroupModel
import GroupPermissions
import WireProtocol

/// The attributes of a group (Protocol.md, "Attributes", "Holders of attributes" and "Attribute
/// rate").
extension GroupState {
  mutating func initAttributes(_ entries: [GroupAttributes.Entry], _ turn: inout Turn) throws(WireError) {
    try require(.useAttributes, turn)
    try write(AttributeChange(of: attributes.values, by: attributeWriter(turn), replacingWith: entries), &turn)
  }

  mutating func setAttributes(_ request: SetGroupAttributes, _ turn: inout Turn) throws(WireError) {
    try require(.useAttributes, turn)
    try write(AttributeChange(of: attributes.values, by: attributeWriter(turn), setting: request), &turn)
  }

  /// "Deleting one unknown key is 10050 and deletes nothing."
  mutating func deleteAttributes(_ keys: [String]?, _ turn: inout Turn) throws(WireError) {
    try require(.useAttributes, turn)
    try write(try AttributeChange(of: attributes.values, by: attributeWriter(turn), deleting: keys), &turn)
  }

  mutating func readAttributes(
    _ request: GetGroupAttributes, _ turn: borrowing Turn
  ) throws(WireError) -> GetGroupAttributes.Result {
    try require(.useAttributes, turn)
    if let user = turn.userID, let wait = attributes.reads.acquire(user, at: turn.monotonic) {
      throw WireError(.attributeCallsTooOften, retryAfterMs: wait)
    }
    let wanted = request.keys.map { Set($0.map { ExactText($0) }) }
    let entries = attributes.values.entries.filter { wanted?.contains(ExactText($0.key)) ?? true }
    return GetGroupAttributes.Result(
      attributes: TextMap(entries), holders: request.withHolders ? TextMap(holdersOf: GroupAttributes(entries)) : nil)
  }

  /// The caller as a writer of attributes.
  private func attributeWriter(_ turn: borrowing Turn) -> AttributeChange.Writer {
    let mayChangeAll =
      switch principal(of: turn.caller) {
      case .administrator: true
      case .member(let role): role.isManager
      case .outsider: false
      }
    return AttributeChange.Writer(user: turn.userID, mayChangeAll: mayChangeAll)
  }

  /// Limits, rate, expectations and holders, in this order; "only calls that would otherwise succeed
  /// count".
  private mutating func write(_ change: AttributeChange, _ turn: inout Turn) throws(WireError) {
    try change.requireSize()
    try requireWriteRate(turn)
    try change.requirePermission(in: record.policy.attributeMode)
    countWrite(turn)
    if change.edited == change.known { return }
    store(change.edited, &turn)
    publishAttributesIfDue(&turn)
  }

  /// Sets and stores attributes that are different now. Members and the application are told where they
  /// see a difference.
  private mutating func store(_ edited: GroupAttributes, _ turn: inout Turn) {
    turn.store(.putAttributes(edited, in: record.id))
    guard !edited.isShownLike(attributes.values) else { return attributes.replace(with: edited) }
    let event = turn.event(.attributesChanged(to: edited))
    if attributes.eventDue == nil { charge(event, &turn) }
    attributes.set(edited, at: turn.monotonic)
    turn.post(.attributesChanged, .event(event))
  }

  private func requireWriteRate(_ turn: borrowing Turn) throws(WireError) {
    if let user = turn.userID {
      if let wait = attributes.writes.wait(user, at: turn.monotonic) {
        throw WireError(.attributeCallsTooOften, retryAfterMs: wait)
      }
    } else if let wait = attributes.administratorWrites.wait(at: turn.monotonic) {
      throw WireError(.attributeWritesTooOften, retryAfterMs: wait)
    }
  }

  private mutating func countWrite(_ turn: borrowing Turn) {
    if let user = turn.userID {
      _ = attributes.writes.acquire(user, at: turn.monotonic)
    } else {
      _ = attributes.administratorWrites.acquire(at: turn.monotonic)
    }
  }

  /// Ends a turn. The keys that go with their holders do so once for all who left in it.
  @inline(__always)
  mutating func finish(_ turn: consuming Turn) -> Decision {
    if !turn.left.isEmpty { removeKeysOfLeft(&turn) }
    return turn.finish()
  }

  /// "The keys go when their holder leaves the group, with one onGroupAttributeChanged."
  private mutating func removeKeysOfLeft(_ turn: inout Turn) {
    guard !turn.decision.disbands, let staying = attributes.values.afterLeaving(of: turn.left) else { return }
    store(staying, &turn)
    publishAttributesIfDue(&turn)
  }

  /// Schedules an event for members who may not have had the last one.
  mutating func republishAttributes(at now: MonotonicInstant) { attributes.scheduleEvent(at: now) }

  /// onGroupAttributeChanged with the whole set: at most 20 a second, and the last state always
  /// arrives.
  mutating func publishAttributesIfDue(_ turn: inout Turn) {
    guard attributes.popDueEvent(at: turn.monotonic) else { return }
    turn.publish(.attributesChanged(to: attributes.values))
  }
}

extension GroupEvent.Content {
  /// onGroupAttributeChanged, with the holders "where there are any".
  static func attributesChanged(to attributes: GroupAttributes) -> GroupEvent.Content {
    let holders = TextMap(holdersOf: attributes)
    return .onGroupAttributeChanged(TextMap(attributes.entries), holders: holders.entries.isEmpty ? nil : holders)
  }
}

extension TextMap {
  /// The holder of each key that somebody holds.
  fileprivate init(holdersOf attributes: GroupAttributes) {
    self.init(attributes.holders.map { GroupAttributes.Entry(key: $0.key, value: $0.holder.rawValue) })
  }
}
