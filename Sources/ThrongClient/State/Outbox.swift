/// Own messages from sending to their end, in the order in which they leave.
struct Outbox {
  /// Messages under way at the same time; more wait here.
  static let windowSize = 32
  /// The server knows a clientMsgID for 5 minutes; this leaves it time to answer.
  static let repeatable = Duration.seconds(270)
  /// How long a message is sent again that the server refuses as temporary.
  static let longestRefusal = Duration.seconds(120)
  /// A message that waits at the server leaves or is dropped within 1.1 s (Protocol.md, "Waiting
  /// messages").
  static let longestQueued = Duration.milliseconds(1_500)
  /// Settled messages that are remembered, so that no history brings them a second time.
  static let remembered = 1_000

  /// Something that the outbox wants done.
  enum Effect {
    case show(LocalMessage)
    case start(ClientTimer, Duration)
    case stop(ClientTimer)
  }

  /// The answer to a message that was sent.
  typealias Answer = Methods.SendGroupTextMessage.Result

  private struct Record {
    var message: LocalMessage
    let order: Int
    /// When it was sent first; nil = the server does not have it.
    var sentAt: Instant?
    /// A try was not answered.
    var isUncertain = false
    var refusedAt: Instant?
    /// The group's place when it was sent: a sync from there holds the message.
    var after: Int?

    /// Whether it was sent so long ago, without an answer, that the server would take it for a new one.
    func isTooOld(at now: Instant) -> Bool { sentAt.map { now - $0 > Outbox.repeatable } ?? false }
  }

  private let limit: Int
  private let random: @Sendable () -> Double
  /// By clientMsgID: all that are under way, and the last that were settled.
  private var records: [String: Record] = [:]
  private var waiting: [String] = []
  private var inFlight: Set<String> = []
  /// Those that wait at the server.
  private var queued: Set<String> = []
  private var settled: [String] = []
  private var lastOrder = 0
  private var isOpen = false
  private var isPaused = false
  /// Groups that take no message of the user's yet; other groups do.
  private var pausedGroups: Set<String> = []
  /// When a group takes the user's next message, as its last refusal said.
  private var writeTimes: [String: Instant] = [:]
  private var refusals = Backoff()
  private var effects: [Effect] = []

  init(limit: Int, random: @escaping @Sendable () -> Double) {
    self.limit = limit
    self.random = random
  }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  /// The message as it is now.
  func message(_ clientMsgID: String) -> LocalMessage? { records[clientMsgID]?.message }

  /// Adds a new message, unless there is one with its clientMsgID that is under way or arrived.
  mutating func add(_ message: LocalMessage) {
    guard records[message.clientMsgID]?.message.state.isRepeatable ?? true else { return }
    start(message)
  }

  /// Takes a message again that failed or was dropped; any other stays as it is.
  mutating func `repeat`(_ message: LocalMessage) {
    // The application's copy may be of an earlier time.
    guard (records[message.clientMsgID]?.message ?? message).state.isRepeatable else { return }
    start(message)
  }

  private mutating func start(_ message: LocalMessage) {
    var message = message
    message.state = .sending
    message.error = nil
    lastOrder += 1
    settled.removeAll { $0 == message.clientMsgID }
    records[message.clientMsgID] = Record(message: message, order: lastOrder)
    if waiting.count >= limit { return fail(message.clientMsgID, ClientError(.queueFull)) }
    guard message.request.isShort else { return fail(message.clientMsgID, ClientError(.tooLarge)) }
    waiting.append(message.clientMsgID)
    effects.append(.show(message))
  }

  /// Messages may leave: the session is in step with its groups.
  mutating func open() { isOpen = true }

  /// There is no connection: what has no answer waits for the next.
  mutating func shut() {
    isOpen = false
    isPaused = false
    pausedGroups = []
    refusals.reset()
    // Whether a queued one was dropped is told to the session that is gone; sending it again asks.
    for clientMsgID in inFlight.union(queued) {
      records[clientMsgID]?.isUncertain = true
      wait(clientMsgID)
    }
    inFlight = []
  }

  /// The next message to send; nil where none may leave.
  /// - Parameter place: the place of a group in its history, where it is tracked.
  mutating func next(at now: Instant, place: (String) -> Int?) -> LocalMessage? {
    guard isOpen, !isPaused, inFlight.count < Outbox.windowSize, queued.count < ClientLimits.queuedMessages,
      let index = waiting.firstIndex(where: { !waitsForGroup($0) })
    else { return nil }
    let clientMsgID = waiting.remove(at: index)
    guard var record = records[clientMsgID] else { preconditionFailure("a waiting message has a record") }
    if record.isTooOld(at: now) {
      fail(clientMsgID, ClientError(.outcomeUnknown))
      return next(at: now, place: place)
    }
    inFlight.insert(clientMsgID)
    if record.sentAt == nil {
      record.sentAt = now
      // The history never holds what is for those online alone.
      if record.message.options.onlineUserOnly != true { record.after = place(record.message.groupID) }
      records[clientMsgID] = record
    }
    return record.message
  }

  func order(of message: LocalMessage) -> Int { records[message.clientMsgID]?.order ?? 0 }

  /// Whether an answer is that of the last try of its message.
  func isCurrent(_ clientMsgID: String, _ order: Int) -> Bool { records[clientMsgID]?.order == order }

  /// The server has answered. Returns false where the message's end was known already.
  mutating func didAnswer(_ clientMsgID: String, _ answer: Answer) -> Bool {
    inFlight.remove(clientMsgID)
    guard var message = records[clientMsgID]?.message, message.state == .sending else { return false }
    refusals.reset()
    message.msgID = answer.msgID
    message.seq = answer.seq
    message.timestamp = answer.timestamp
    guard answer.status == .queued else {
      let state: LocalMessage.State = answer.status == .stored ? .stored : answer.status == .dropped ? .dropped : .delivered
      settle(message, state)
      return true
    }
    queued.insert(clientMsgID)
    message.state = .queued
    records[clientMsgID]?.message = message
    effects.append(.show(message))
    effects.append(.start(.queued(clientMsgID: clientMsgID), Outbox.longestQueued))
    return true
  }

  /// The server was asked whether a queued message is still there: it tells of drops alone.
  mutating func confirm(_ clientMsgID: String) {
    guard let message = records[clientMsgID]?.message, message.state == .queued else { return }
    settle(message, .delivered)
  }

  mutating func didRefuse(_ clientMsgID: String, _ error: ThrongError, at now: Instant) {
    inFlight.remove(clientMsgID)
    guard var record = records[clientMsgID], record.message.state == .sending else { return }
    // It was not taken, so it may be sent at any later time; an earlier try that was not answered
    // may have been.
    if !record.isUncertain { record.sentAt = nil }
    let refusedAt = record.refusedAt ?? now
    record.refusedAt = refusedAt
    records[clientMsgID] = record
    guard error.isTemporary, now - refusedAt <= Outbox.longestRefusal else { return fail(clientMsgID, error) }
    if error.code == .groupMessageRate { return slow(record, error, at: now) }
    wait(clientMsgID)
    guard !isPaused else { return }
    isPaused = true
    effects.append(.start(.pause, refusals.next(random: random(), least: error.retryAfter)))
  }

  /// The group takes no message of the user's yet, because of its slow mode as a rule. That holds
  /// nothing up elsewhere.
  private mutating func slow(_ record: Record, _ error: ThrongError, at now: Instant) {
    let (clientMsgID, groupID) = (record.message.clientMsgID, record.message.groupID)
    note(now + error.retryAfter, for: groupID, at: now)
    // A wait of hours is the user's: the message would come when nobody expects it.
    let refusedFor = now - (record.refusedAt ?? now)
    guard refusedFor + error.retryAfter <= Outbox.longestRefusal else { return fail(clientMsgID, error) }
    wait(clientMsgID)
    guard pausedGroups.insert(groupID).inserted else { return }
    effects.append(.start(.groupPause(groupID: groupID), refusals.next(random: random(), least: error.retryAfter)))
  }

  private mutating func note(_ time: Instant, for groupID: String, at now: Instant) {
    if writeTimes.count >= ClientLimits.slowGroups { writeTimes = writeTimes.filter { $0.value > now } }
    guard writeTimes[groupID] != nil || writeTimes.count < ClientLimits.slowGroups else { return }
    writeTimes[groupID] = time
  }

  /// How long the group takes no message of the user's, as far as is known.
  func writeDelay(of groupID: String, at now: Instant) -> Duration {
    writeTimes[groupID].map { max(Duration.zero, $0 - now) } ?? .zero
  }

  private func waitsForGroup(_ clientMsgID: String) -> Bool {
    !pausedGroups.isEmpty && records[clientMsgID].map { pausedGroups.contains($0.message.groupID) } == true
  }

  mutating func endPause() { isPaused = false }

  mutating func endPause(of groupID: String) { pausedGroups.remove(groupID) }

  /// Puts a message back to its place among those that wait.
  private mutating func wait(_ clientMsgID: String) {
    // A drop may have been told of before the answer came.
    guard var record = records[clientMsgID], !record.message.state.isFinal else { return }
    let index = waiting.firstIndex { (records[$0]?.order ?? 0) > record.order } ?? waiting.count
    waiting.insert(clientMsgID, at: index)
    guard record.message.state == .queued else { return }
    queued.remove(clientMsgID)
    record.message.state = .sending
    records[clientMsgID] = record
    effects.append(.stop(.queued(clientMsgID: clientMsgID)))
    effects.append(.show(record.message))
  }

  /// Whether a message of the history, or of an event, is one of this client's. Its answer may have
  /// been lost.
  /// - Parameter inLiveRoom: a live room's messages have a `seq` as well, where it remembers them.
  mutating func find(_ stored: GroupMessage, inLiveRoom: Bool) -> Bool {
    guard let clientMsgID = stored.clientMsgID, var message = records[clientMsgID]?.message else { return false }
    guard message.state != .stored, message.state != .delivered else { return true }
    waiting.removeAll { $0 == clientMsgID }
    message.msgID = stored.msgID
    message.seq = stored.seq
    message.timestamp = stored.timestamp
    message.error = nil
    settle(message, stored.seq == nil || inLiveRoom ? .delivered : .stored)
    return true
  }

  /// Where a sync of the group has to begin so that it holds whatever is under way.
  func startOfSync(of groupID: String, at seq: Int) -> Int {
    unanswered(in: groupID).reduce(seq) { least, record in min(least, record.after ?? least) }
  }

  private func unanswered(in groupID: String) -> [Record] {
    waiting.compactMap { records[$0] }.filter { $0.sentAt != nil && $0.message.groupID == groupID }
  }

  /// The group is in step: what its history does not hold was never stored, so it is a new message.
  mutating func proveAbsent(in groupID: String) {
    for record in unanswered(in: groupID) where record.after != nil {
      records[record.message.clientMsgID]?.sentAt = nil
      records[record.message.clientMsgID]?.isUncertain = false
    }
  }

  /// Fails what was sent so long ago that the server would take it for a new message.
  mutating func failUncertain(at now: Instant) {
    let old = waiting.filter { records[$0]?.isTooOld(at: now) == true }
    waiting.removeAll { old.contains($0) }
    for clientMsgID in old { fail(clientMsgID, ClientError(.outcomeUnknown)) }
  }

  /// A drop counts also where `confirm` had given up waiting for it.
  mutating func drop(_ event: ServerEvent.MessageDropped) {
    guard ClientLimits.isIdentifier(event.msgID),
      let clientMsgID = event.clientMsgID, var message = records[clientMsgID]?.message,
      [.sending, .queued, .delivered].contains(message.state)
    else { return }
    message.msgID = event.msgID
    waiting.removeAll { $0 == clientMsgID }
    settle(message, .dropped)
  }

  /// The client is closed: nothing is sent any more.
  mutating func failAll(_ error: any Error) {
    shut()
    for clientMsgID in waiting { fail(clientMsgID, error) }
    waiting = []
  }

  /// A request that could not be made.
  mutating func fail(_ clientMsgID: String, _ error: any Error) {
    inFlight.remove(clientMsgID)
    guard var message = records[clientMsgID]?.message, !message.state.isFinal else { return }
    message.error = error
    settle(message, .failed)
  }

  private mutating func settle(_ message: LocalMessage, _ state: LocalMessage.State) {
    var message = message
    let clientMsgID = message.clientMsgID
    queued.remove(clientMsgID)
    if message.state == .queued { effects.append(.stop(.queued(clientMsgID: clientMsgID))) }
    let wasSettled = message.state.isFinal
    message.state = state
    records[clientMsgID]?.message = message
    effects.append(.show(message))
    guard !wasSettled else { return }
    settled.append(clientMsgID)
    if settled.count > Outbox.remembered { records[settled.removeFirst()] = nil }
  }
}
