import GroupModel

/// The attributes of a group, the rates of their use, and when the next event is due (Protocol.md,
/// "Attributes" and "Attribute rate").
struct AttributeState: Sendable {
  /// The interval between onGroupAttributeChanged events of one group, in milliseconds: at most 20
  /// a second.
  static let eventInterval: Instant = 50

  private(set) var values: GroupAttributes
  private var lastEvent: Instant = .min / 2
  /// When the next event is due; nil = the members have the newest state.
  private(set) var eventDue: Instant?
  /// Writes of each user.
  var writes = KeyedRateLimiter<UserID>(limit: 10, window: 5000)
  /// Writes of all application administrators.
  var administratorWrites = SlidingWindowLimiter(limit: 5, length: 1000)
  /// Reads of each user.
  var reads = KeyedRateLimiter<UserID>(limit: 20, window: 5000)

  init(_ values: GroupAttributes) { self.values = values }

  /// Sets the attributes and schedules an event.
  mutating func set(_ values: GroupAttributes, at now: Instant) {
    self.values = values
    if eventDue == nil { eventDue = max(now, lastEvent + AttributeState.eventInterval) }
  }

  /// Schedules an event of unchanged attributes, where the members may not have had the last one.
  mutating func scheduleEvent(at now: Instant) {
    if eventDue == nil { eventDue = now }
  }

  /// Whether an event is due; it counts as published then.
  mutating func popDueEvent(at now: Instant) -> Bool {
    guard let eventDue, eventDue <= now else { return false }
    lastEvent = now
    self.eventDue = nil
    return true
  }
}
