import GroupModel

/// The attributes of a group, how often they are used, and when the members are told
/// (Protocol.md, "Attributes" and "Attribute rate").
struct AttributeState: Sendable {
  /// How far apart onGroupAttributeChanged events of one group are, in milliseconds: at most 20 a second.
  static let eventInterval: Instant = 50

  private(set) var values: GroupAttributes
  /// When the last event left, and when the next has to; nil = everything has been told.
  private var lastEvent: Instant = .min / 2
  private(set) var eventDue: Instant?
  /// Writes of each user.
  var writes = KeyedRateLimiter<UserID>(limit: 10, window: 5000)
  /// Writes of all application administrators.
  var administratorWrites = SlidingWindowLimiter(limit: 5, length: 1000)
  /// Reads of each user.
  var reads = KeyedRateLimiter<UserID>(limit: 20, window: 5000)

  init(_ values: GroupAttributes) { self.values = values }

  /// The attributes are these from now on.
  mutating func set(_ values: GroupAttributes, at now: Instant) {
    self.values = values
    if eventDue == nil { eventDue = max(now, lastEvent + AttributeState.eventInterval) }
  }

  /// The members may not have heard of what is there.
  mutating func tellAgain(at now: Instant) {
    if eventDue == nil { eventDue = now }
  }

  /// Whether the members are to be told now; then they have been.
  mutating func takeEvent(at now: Instant) -> Bool {
    guard let eventDue, eventDue <= now else { return false }
    lastEvent = now
    self.eventDue = nil
    return true
  }
}
