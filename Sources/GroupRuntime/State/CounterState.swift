import GroupModel

/// The counters of a group: their values, the changes on their way to the store, and the changes
/// that the members are not told of yet (Protocol.md, "Counters").
///
/// Values change at once. The store gets the sum of all changes since its last write, and the
/// members hear of what is durable.
struct CounterState: Sendable {
  /// The interval between onGroupCounterChanged events of one group: at most 5 in any second, also
  /// where one is delivered a little late.
  static let eventIntervalMilliseconds: Int64 = 220
  /// The least interval between writes that bring the application an after-event each.
  static let postedWriteInterval = Duration.milliseconds(100)

  private(set) var values: GroupCounters
  /// The keys that have changed since the last write began.
  private var unwritten: Set<String> = []
  /// Of the last request among those that have changed them.
  private(set) var unwrittenTrace: TraceContext?
  /// How many writes are under way.
  private var writesInFlight = 0
  private var earliestWrite = MonotonicInstant.distantPast
  /// When a write that was refused as too early is due; nil = there is none.
  private var writeDue: MonotonicInstant?
  private var events = CounterEvents()
  /// Writes of each user.
  var writes = KeyedRateLimiter<UserID>(limit: 20, windowMilliseconds: 5000)
  /// When a write or an event is due by itself. Kept, because it is read with every message.
  private(set) var nextWake = MonotonicInstant.distantFuture

  init(_ values: GroupCounters) { self.values = values }

  /// Whether no write has begun for some changes.
  var hasUnwritten: Bool { !unwritten.isEmpty }

  /// Whether some changes are not durable.
  var isWriting: Bool { hasUnwritten || writesInFlight > 0 }

  /// Whether an event will follow that further changes merge with.
  var isToTell: Bool { hasUnwritten || writesInFlight > 0 || !events.isEmpty }

  /// Sets counters, and removes those whose value is nil.
  /// - Parameter trace: of the request that sets them.
  mutating func set(_ entries: [GroupCounters.Entry], trace: TraceContext? = nil) {
    if let trace { unwrittenTrace = trace }
    for entry in entries where values[entry.key] != entry.value {
      values[entry.key] = entry.value
      unwritten.insert(entry.key)
    }
  }

  // MARK: Writing

  /// Begins a write of all changes since the last one.
  /// - Parameters:
  ///   - isPosted: the write brings the application an after-event.
  ///   - isLast: the group ends; the write waits for nothing.
  /// - Returns: the new values, ordered by their keys; nil = there are none, or they wait for a write
  ///   that is under way, or for the instant of the next one.
  mutating func beginWrite(isPosted: Bool, isLast: Bool, at now: MonotonicInstant) -> [GroupCounters.Entry]? {
    defer { noteNextWake() }
    writeDue = nil
    guard hasUnwritten, isLast || writesInFlight == 0 else { return nil }
    guard isLast || earliestWrite <= now else {
      writeDue = earliestWrite
      return nil
    }
    let entries = unwritten.sorted().map { GroupCounters.Entry(key: $0, value: values[$0]) }
    unwritten = []
    unwrittenTrace = nil
    writesInFlight += 1
    if isPosted { earliestWrite = now + CounterState.postedWriteInterval }
    return entries
  }

  /// The oldest write under way is durable.
  mutating func didWrite(_ entries: [GroupCounters.Entry]) {
    writesInFlight -= 1
    events.add(entries)
    noteNextWake()
  }

  // MARK: Events

  /// The counters that have changed since the last event, ordered by their keys, if an event is due.
  /// It counts as published then.
  mutating func popDueEvent(at now: MonotonicInstant) -> [GroupCounters.Entry]? {
    defer { noteNextWake() }
    return events.popDue(at: now)
  }

  /// The events that a state loaded after a failure is to continue.
  var interruptedEvents: CounterEvents { events }

  /// Continues the events of a state that was discarded.
  mutating func resume(_ interrupted: CounterEvents) {
    events = interrupted.showing(values)
    noteNextWake()
  }

  private mutating func noteNextWake() { nextWake = min(writeDue ?? .distantFuture, events.due ?? .distantFuture) }
}

/// The durable changes of counters that the members are not told of yet.
struct CounterEvents: Sendable {
  private var untold: [String: Int64?] = [:]
  private var lastEvent: MonotonicInstant?

  var isEmpty: Bool { untold.isEmpty }

  /// When the next event is due; nil = the members know everything.
  var due: MonotonicInstant? {
    untold.isEmpty
      ? nil : lastEvent.map { $0.advanced(byMilliseconds: CounterState.eventIntervalMilliseconds) } ?? .distantPast
  }

  mutating func add(_ entries: [GroupCounters.Entry]) {
    for entry in entries { untold.updateValue(entry.value, forKey: entry.key) }
  }

  mutating func popDue(at now: MonotonicInstant) -> [GroupCounters.Entry]? {
    guard let due, due <= now else { return nil }
    lastEvent = now
    defer { untold = [:] }
    return untold.map { GroupCounters.Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
  }

  /// The same changes with the values that are stored now.
  fileprivate func showing(_ values: GroupCounters) -> CounterEvents {
    var events = self
    for key in untold.keys { events.untold.updateValue(values[key], forKey: key) }
    return events
  }
}
