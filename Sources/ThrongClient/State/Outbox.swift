/// Own messages from sending to their end, in the order in which they leave. In a durable one, what is not at its
/// end stands on the disk, and so does the instant of the first try before the bytes leave.
struct Outbox {
  /// Messages under way at the same time; more wait here.
  static let windowSize = 32
  /// How long a message is sent again that the server refuses as temporary.
  static let longestRefusal = Duration.seconds(120)
  /// A message to a live room that waited for longer is not sent: nobody expects it any more.
  static let longestWait = Duration.seconds(120)
  /// A message that waits at the server leaves or is dropped within 1.1 s (Protocol.md, "Waiting
  /// messages").
  static let longestQueued = Duration.milliseconds(1_500)
  /// Settled messages that are remembered, so that no history brings them a second time.
  static let remembered = 1_000
  /// Messages that have failed, or were dropped, and that the application may send again.
  static let mostFailures = 100

  /// Something that the outbox wants done.
  enum Effect {
    case show(LocalMessage)
    case start(ClientTimer, Duration)
    case stop(ClientTimer)
  }

  /// The answer to a message that was sent.
  typealias Answer = Methods.SendGroupTextMessage.Result

  /// A try to send a message.
  struct Departure {
    let message: LocalMessage
    let order: Int
    /// When it was sent first, where this is not the first try; nil = it is.
    let firstSentAt: Int?
  }

  /// What the session knows at this time.
  struct Moment {
    let now: Instant
    /// The server's clock, in milliseconds since 1970.
    let serverTime: Int
    /// The groups that are tracked.
    let groups: [String: TrackedGroup]

    /// Whether nobody waits for a message that comes late.
    func isPassing(_ message: LocalMessage) -> Bool {
      message.options.onlineUserOnly == true || groups[message.groupID]?.isLive == true
    }
  }

  private struct Record {
    var message: LocalMessage
    let order: Int
    /// When it was added.
    let addedAt: Instant
    /// When it was sent first, by the server's clock; nil = the server does not have it.
    var firstSentAt: Int?
    /// Whether the try that is under way says so: an earlier one was not answered.
    var isRepeat = false
    /// Whether there was any try.
    var wasSent = false
    var refusedAt: Instant?
    /// The group's place when it was sent: a sync from there holds the message.
    var after: Int?
  }

  /// A message that leaves when the disk has it.
  private struct Waiting {
    let clientMsgID: String
    /// The change of the disk that it waits for; nil = not asked for yet.
    var ticket: Int?
    var isReady: Bool
  }

  private let limit: Int
  private let owner: String
  private let random: @Sendable () -> Double
  /// Whether what is not at its end is on the disk.
  private(set) var isDurable: Bool
  /// By clientMsgID: all that are under way, and the last that were settled.
  private var records: [String: Record] = [:]
  private var waiting: [String] = []
  private var inFlight: Set<String> = []
  /// Those among them that have not left yet, in their order.
  private var departing: [Waiting] = []
  /// Those that wait at the server.
  private var queued: Set<String> = []
  private var settled: [String] = []
  /// Those that failed or were dropped, the oldest first.
  private var failures: [String] = []
  private var lastOrder = 0
  private var isOpen = false
  private var isPaused = false
  /// Groups that take no message of the user's yet; other groups do.
  private var pausedGroups: Set<String> = []
  /// When a group takes the user's next message, as its last refusal said.
  private var writeTimes: [String: Instant] = [:]
  private var refusals = Backoff()
  private var effects: [Effect] = []
  /// The keys of the rows on the disk, by clientMsgID; and messages whose row is to be written.
  private var storedKeys: [String: String] = [:]
  private var unwritten: [String] = []
  /// Whether it is known what an earlier client has left.
  private var isRestored: Bool
  private var lastTicket = 0

  /// - Parameter owner: the client, in the rows that it writes.
  init(limit: Int, isDurable: Bool = false, owner: String = "", random: @escaping @Sendable () -> Double) {
    self.limit = limit
    self.isDurable = isDurable
    isRestored = !isDurable
    self.owner = owner
    self.random = random
  }

  mutating func takeEffects() -> [Effect] {
    defer { effects = [] }
    return effects
  }

  /// The message as it is now.
  func message(_ clientMsgID: String) -> LocalMessage? { records[clientMsgID]?.message }

  /// The messages that are not at their end, and those that failed or were dropped, in their order.
  var messages: [LocalMessage] {
    let failed = Set(failures)
    return records.values.filter { !$0.message.state.isFinal || failed.contains($0.message.clientMsgID) }
      .sorted { $0.order < $1.order }.map(\.message)
  }

  // MARK: For the application

  /// Adds a new message, unless there is one with its clientMsgID that is under way or arrived.
  /// - Parameter refusal: why it cannot be sent.
  mutating func add(_ message: LocalMessage, at now: Instant, refusal: ClientError? = nil) {
    guard records[message.clientMsgID]?.message.state.isRepeatable ?? true else { return }
    start(message, at: now, refusal)
  }

  /// Takes a message again that failed or was dropped; any other stays as it is.
  mutating func `repeat`(_ message: LocalMessage, at now: Instant, refusal: ClientError? = nil) {
    // The application's copy may be of an earlier time.
    guard (records[message.clientMsgID]?.message ?? message).state.isRepeatable else { return }
    start(message, at: now, refusal)
  }

  private mutating func start(_ message: LocalMessage, at now: Instant, _ refusal: ClientError?) {
    var message = message
    message.state = .sending
    message.error = nil
    lastOrder += 1
    settled.removeAll { $0 == message.clientMsgID }
    failures.removeAll { $0 == message.clientMsgID }
    records[message.clientMsgID] = Record(message: message, order: lastOrder, addedAt: now)
    if let refusal { return fail(message.clientMsgID, refusal) }
    if waiting.count >= limit { return fail(message.clientMsgID, ClientError(.queueFull)) }
    guard message.request().isShort else { return fail(message.clientMsgID, ClientError(.tooLarge)) }
    waiting.append(message.clientMsgID)
    write(message.clientMsgID)
    effects.append(.show(message))
  }

  /// Forgets a message that failed or was dropped; any other stays as it is.
  mutating func discard(_ clientMsgID: String) {
    guard failures.contains(clientMsgID) else { return }
    failures.removeAll { $0 == clientMsgID }
    settled.removeAll { $0 == clientMsgID }
    records[clientMsgID] = nil
    write(clientMsgID)
  }

  // MARK: The disk

  /// Takes in what an earlier client has left. Its messages come before those of this one.
  mutating func restore(_ rows: [OutboxRow], lastOrder last: Int, at now: Instant) {
    let new = (waiting + failures).compactMap { records[$0] }.sorted { $0.order < $1.order }
    let sentAgain = Set(waiting)
    var taken: Set<String> = []
    waiting = []
    failures = []
    for row in rows.sorted(by: { $0.order < $1.order }) {
      let (message, clientMsgID) = (LocalMessage(row), row.clientMsgID)
      storedKeys[clientMsgID] = StoreKeys.outbox(row.order, clientMsgID)
      // The application has sent again what had failed, before it was known here.
      if message.state.isFinal, sentAgain.contains(clientMsgID) { continue }
      taken.insert(clientMsgID)
      settled.removeAll { $0 == clientMsgID }
      records[clientMsgID] = Record(
        message: message, order: row.order, addedAt: now, firstSentAt: row.firstSentAt, after: row.after)
      addRestored(message)
    }
    lastOrder = max(last, rows.map(\.order).max() ?? 0)
    for record in new where !taken.contains(record.message.clientMsgID) {
      lastOrder += 1
      records[record.message.clientMsgID] = Record(message: record.message, order: lastOrder, addedAt: record.addedAt)
      addRestored(record.message)
      write(record.message.clientMsgID)
    }
    isRestored = true
  }

  private mutating func addRestored(_ message: LocalMessage) {
    guard message.state.isFinal else { return waiting.append(message.clientMsgID) }
    failures.append(message.clientMsgID)
    if !settled.contains(message.clientMsgID) { settled.append(message.clientMsgID) }
  }

  /// Fails what was never sent to a live room, or to those who were online, and comes from an earlier client.
  mutating func expireRestored(_ isPassing: (LocalMessage) -> Bool) {
    for clientMsgID in waiting where storedKeys[clientMsgID] != nil {
      guard let record = records[clientMsgID], record.firstSentAt == nil, isPassing(record.message) else { continue }
      fail(clientMsgID, ClientError(.expired))
    }
  }

  /// The row of a message is another one.
  private mutating func write(_ clientMsgID: String) { if isDurable { unwritten.append(clientMsgID) } }

  /// What is to be written, with a ticket; nil = nothing.
  mutating func takeChanges() -> (changes: [OutboxChange], ticket: Int)? {
    guard isRestored, !unwritten.isEmpty else { return nil }
    let failed = Set(failures)
    var changes: [OutboxChange] = []
    var taken: Set<String> = []
    for clientMsgID in unwritten where taken.insert(clientMsgID).inserted {
      let row = records[clientMsgID].flatMap { makeRow(of: $0, isFailed: failed.contains(clientMsgID)) }
      let key = row.map { StoreKeys.outbox($0.order, clientMsgID) }
      if let old = storedKeys[clientMsgID], old != key { changes.append(.delete(old)) }
      if let row { changes.append(.put(row)) }
      storedKeys[clientMsgID] = key
    }
    unwritten = []
    lastTicket += 1
    for index in departing.indices where departing[index].ticket == nil { departing[index].ticket = lastTicket }
    if changes.isEmpty { return nil }
    return (changes, lastTicket)
  }

  private func makeRow(of record: Record, isFailed: Bool) -> OutboxRow? {
    let message = record.message
    guard !message.state.isFinal || isFailed else { return nil }
    return OutboxRow(
      clientMsgID: message.clientMsgID, method: message.method, params: message.params(), createdAt: message.createdAt,
      order: record.order, owner: owner, firstSentAt: record.firstSentAt, after: record.after,
      state: isFailed ? .failed : .sending, error: isFailed ? message.error.map(OutboxRow.Failure.init) : nil)
  }

  /// The disk has a change.
  mutating func didWrite(_ ticket: Int) {
    for index in departing.indices where departing[index].ticket.map({ $0 <= ticket }) == true { departing[index].isReady = true }
  }

  /// There is no disk any more: what is not at its end ends with the client.
  mutating func loseDisk() {
    isDurable = false
    isRestored = true
    unwritten = []
    storedKeys = [:]
    for index in departing.indices { departing[index].isReady = true }
  }

  /// The store has begun anew: everything is written again.
  mutating func rewrite() {
    storedKeys = [:]
    for message in messages { write(message.clientMsgID) }
  }

  // MARK: Sending

  /// Messages may leave: the session is in step with its groups.
  mutating func open() { isOpen = true }

  /// There is no connection: what has no answer waits for the next.
  mutating func shut() {
    isOpen = false
    isPaused = false
    pausedGroups = []
    refusals.reset()
    // What has not left was not sent.
    for one in departing {
      if records[one.clientMsgID]?.isRepeat == false { unmark(one.clientMsgID) }
    }
    departing = []
    // Whether a queued one was dropped is told to the session that is gone; sending it again asks.
    for clientMsgID in inFlight.union(queued) { wait(clientMsgID) }
    inFlight = []
  }

  /// Has the next message leave, which waits for the disk where there is one. Answers whether there was any.
  mutating func sendNext(at moment: Moment) -> Bool {
    guard isOpen, !isPaused, inFlight.count < Outbox.windowSize, queued.count < ClientLimits.queuedMessages,
      let index = waiting.firstIndex(where: { !waitsForGroup($0) })
    else { return false }
    let clientMsgID = waiting.remove(at: index)
    guard var record = records[clientMsgID] else { preconditionFailure("a waiting message has a record") }
    let isNew = !record.wasSent && record.firstSentAt == nil
    if isNew, moment.isPassing(record.message), moment.now - record.addedAt > Outbox.longestWait {
      fail(clientMsgID, ClientError(.expired))
      return true
    }
    inFlight.insert(clientMsgID)
    record.isRepeat = record.firstSentAt != nil
    if !record.isRepeat {
      record.firstSentAt = moment.serverTime
      // The history never holds what is for those online alone.
      if record.message.options.onlineUserOnly != true { record.after = moment.groups[record.message.groupID]?.place.seq }
      write(clientMsgID)
    }
    records[clientMsgID] = record
    departing.append(Waiting(clientMsgID: clientMsgID, ticket: nil, isReady: !isDurable || record.isRepeat))
    return true
  }

  /// The messages that may leave now, in their order.
  mutating func takeDepartures() -> [Departure] {
    var departures: [Departure] = []
    while let first = departing.first, first.isReady {
      departing.removeFirst()
      guard let record = records[first.clientMsgID] else { continue }
      records[first.clientMsgID]?.wasSent = true
      departures.append(
        Departure(message: record.message, order: record.order, firstSentAt: record.isRepeat ? record.firstSentAt : nil))
    }
    return departures
  }

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
    guard let record = records[clientMsgID], record.message.state == .sending else { return }
    // Nobody can tell what became of an earlier try.
    if error.field == "firstSentAt" {
      return fail(clientMsgID, ClientError(.outcomeUnknown, detail: error.message, cause: error))
    }
    // It was not taken, so it may be sent at any later time; an earlier try that was not answered
    // may have been.
    if !record.isRepeat { unmark(clientMsgID) }
    let refusedAt = record.refusedAt ?? now
    records[clientMsgID]?.refusedAt = refusedAt
    guard error.isTemporary, now - refusedAt <= Outbox.longestRefusal else { return fail(clientMsgID, error) }
    if error.code == .groupMessageRate { return slow(record.message, refusedFor: now - refusedAt, error, at: now) }
    wait(clientMsgID)
    guard !isPaused else { return }
    isPaused = true
    effects.append(.start(.pause, refusals.next(random: random(), least: error.retryAfter)))
  }

  /// The server does not have the message.
  private mutating func unmark(_ clientMsgID: String) {
    records[clientMsgID]?.firstSentAt = nil
    records[clientMsgID]?.after = nil
    write(clientMsgID)
  }

  /// The group takes no message of the user's yet, because of its slow mode as a rule. That holds
  /// nothing up elsewhere.
  private mutating func slow(_ message: LocalMessage, refusedFor: Duration, _ error: ThrongError, at now: Instant) {
    let (clientMsgID, groupID) = (message.clientMsgID, message.groupID)
    note(now + error.retryAfter, for: groupID, at: now)
    // A wait of hours is the user's: the message would come when nobody expects it.
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

  // MARK: Histories

  /// Whether a message of the history, or of an event, is one of this client's. Its answer may have
  /// been lost.
  /// - Parameter inLiveRoom: a live room's messages have a `seq` as well, where it remembers them.
  mutating func find(_ stored: GroupMessage, inLiveRoom: Bool) -> Bool {
    guard let clientMsgID = stored.clientMsgID, var message = records[clientMsgID]?.message else { return false }
    guard message.state != .stored, message.state != .delivered else { return true }
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
    waiting.compactMap { records[$0] }.filter { $0.firstSentAt != nil && $0.message.groupID == groupID }
  }

  /// The group is in step: what its history does not hold was never stored, so it is a new message.
  mutating func proveAbsent(in groupID: String) {
    for record in unanswered(in: groupID) where record.after != nil { unmark(record.message.clientMsgID) }
  }

  /// The history of the group cannot be had: no place in it tells of a message any more.
  mutating func losePlaces(in groupID: String) {
    for record in unanswered(in: groupID) where record.after != nil {
      records[record.message.clientMsgID]?.after = nil
      write(record.message.clientMsgID)
    }
  }

  /// The user is not in the group any more: nothing waits for it.
  mutating func end(_ groupID: String) {
    let gone = (waiting + departing.map(\.clientMsgID)).filter { records[$0]?.message.groupID == groupID }
    for clientMsgID in gone { fail(clientMsgID, ClientError(.conversationEnded)) }
  }

  /// A drop counts also where `confirm` had given up waiting for it.
  mutating func drop(_ event: ServerEvent.MessageDropped) {
    guard ClientLimits.isIdentifier(event.msgID),
      let clientMsgID = event.clientMsgID, var message = records[clientMsgID]?.message,
      [.sending, .queued, .delivered].contains(message.state)
    else { return }
    message.msgID = event.msgID
    settle(message, .dropped)
  }

  // MARK: Ends

  /// The client is closed: nothing is sent any more. What is on the disk waits for the next client.
  mutating func close(_ error: any Error) {
    shut()
    guard !isDurable else { return }
    for clientMsgID in waiting { fail(clientMsgID, error) }
  }

  /// A message that is not sent.
  mutating func fail(_ clientMsgID: String, _ error: any Error) {
    guard var message = records[clientMsgID]?.message, !message.state.isFinal else { return }
    message.error = error
    settle(message, .failed)
  }

  private mutating func settle(_ message: LocalMessage, _ state: LocalMessage.State) {
    var message = message
    let clientMsgID = message.clientMsgID
    waiting.removeAll { $0 == clientMsgID }
    departing.removeAll { $0.clientMsgID == clientMsgID }
    inFlight.remove(clientMsgID)
    queued.remove(clientMsgID)
    if message.state == .queued { effects.append(.stop(.queued(clientMsgID: clientMsgID))) }
    let wasSettled = message.state.isFinal
    message.state = state
    records[clientMsgID]?.message = message
    failures.removeAll { $0 == clientMsgID }
    if state.isRepeatable { addFailure(clientMsgID) }
    write(clientMsgID)
    effects.append(.show(message))
    guard !wasSettled else { return }
    settled.append(clientMsgID)
    if settled.count > Outbox.remembered { forget(settled.removeFirst()) }
  }

  private mutating func addFailure(_ clientMsgID: String) {
    failures.append(clientMsgID)
    guard failures.count > Outbox.mostFailures else { return }
    let oldest = failures.removeFirst()
    write(oldest)
    if !settled.contains(oldest) { forget(oldest) }
  }

  private mutating func forget(_ clientMsgID: String) { if !failures.contains(clientMsgID) { records[clientMsgID] = nil } }
}
