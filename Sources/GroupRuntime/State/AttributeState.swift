import GroupModel

/// The attributes of a group, the rates of their use, and when the next event is due (Protocol.md,
/// "Attributes" and "Attribute rate").
struct AttributeState: Sendable {
  /// The interval between onGroupAttributeChanged events of one group: at most 20 a second.
  static let eventInterval = Duration.milliseconds(50)

  private(set) var values: GroupAttributes
  private var lastEvent: MonotonicInstant?
  /// When the next event is due; nil = the members have the newest state.
  private(set) var eventDue: MonotonicInstant?
  /// Writes of each user.
  var writes = KeyedRateLimiter<UserID>(limit: 10, windowMilliseconds: 5000)
  /// Writes of all application administrators.
  var administratorWrites = SlidingWindowLimiter(limit: 5, windowMilliseconds: 1000)
  /// Reads of each user.
  var reads = KeyedRateLimiter<UserID>(limit: 20, windowMilliseconds: 5000)

  init(_ values: GroupAttributes) { self.values = values }

  /// Sets the attributes and schedules an event.
  mutating func set(_ values: GroupAttributes, at now: MonotonicInstant) {
    self.values = values
    if eventDue == nil { eventDue = lastEvent.map { max(now, $0 + AttributeState.eventInterval) } ?? now }
  }

  /// Replaces the attributes by others that members see alike: no event is due for it.
  mutating func replace(with values: GroupAttributes) { self.values = values }

  /// Schedules an event of unchanged attributes, where the members may not have had the last one.
  mutating func scheduleEvent(at now: MonotonicInstant) {
    if eventDue == nil { eventDue = now }
  }

  /// Whether an event is due; it counts as published then.
  mutating func popDueEvent(at now: MonotonicInstant) -> Bool {
    guard let eventDue, eventDue <= now else { return false }
    lastEvent = now
    self.eventDue = nil
    return true
  }
}
