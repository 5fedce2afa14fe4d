import Histogram

/// The senders and the groups of a run's messages.
struct Participants {
  /// The sending connections.
  let senders: [Int]
  /// The number of groups; they are numbered from 0.
  let groups: Int
  /// The group of a connection.
  let groupOf: (Int) -> Int
  /// A sender receives the messages of the other senders of its group.
  let sendersReceive: Bool

  /// The number of the window's messages that each receiver must get.
  func expected(_ log: DeliveryLog, receivers: some Sequence<Int>) -> [(connection: Int, messages: Int)] {
    var own: [Int: Int] = [:]
    for (position, connection) in senders.enumerated() { own[connection] = log.acceptedBySender[position] }
    return receivers.map { ($0, log.acceptedInGroup[groupOf($0)] - (own[$0] ?? 0)) }
  }
}

/// Sends the messages of a run when they are due, and counts their outcomes.
final class Traffic {
  /// The rule that decides when a message is sent.
  enum Pace {
    /// Open loop: one schedule per flow, independent of replies.
    case schedules([Schedule])
    /// Closed loop: a number of messages in flight; one is done when it comes back to the pacer or
    /// expires.
    case window(Int)
    /// Closed loop: one message in flight per sender; it is done when it is answered.
    case eachSender
  }

  /// The most messages sent before the pool reads again.
  private static let burst = 64
  /// The wait of a closed loop after a refusal, so that it does not flood the server (nanoseconds).
  private static let backoff = 20 * Clock.millisecond

  let participants: Participants
  /// The connection that paces the closed loop: a message that comes back to it is done.
  var pacer: Int? { didSet { if let pacer { pool.table[pacer].isPacer = true } } }
  private(set) var deliveryLog: DeliveryLog
  /// The delay of messages behind their schedule (nanoseconds): the generator's share of the
  /// latency.
  private(set) var delays = Recorder.emptyHistogram()
  /// Replies within the window that say Stored.
  private(set) var timelyStored = 0
  /// All messages sent so far.
  private(set) var sent = 0
  /// The reason why no more messages can be sent.
  private(set) var failure: String?
  private let pool: ClientPool
  private var inFlight: UnsafeMutablePointer<InFlight> { pool.recorder.inFlight }
  private let dialect: any Dialect
  private let template: (_ sender: Int, _ flow: Int) -> MessageTemplate
  private var pace: Pace
  private var nextSender = 0
  /// The senders' connections that are open.
  private var openSenders: Set<Int>
  private var backoffUntil: UInt64 = 0
  /// The senders without a message in flight.
  private var idle: [Int] = []
  private var scratch: UnsafeMutableRawPointer
  private var scratchSize = 4096

  /// - Parameter template: the messages of a sender (its index among the senders) in a flow.
  init(
    _ pool: ClientPool, _ dialect: any Dialect, participants: Participants, pace: Pace,
    template: @escaping (Int, Int) -> MessageTemplate
  ) {
    self.pool = pool
    self.dialect = dialect
    self.participants = participants
    self.pace = pace
    self.template = template
    openSenders = Set(participants.senders.filter { pool.table[$0].phase == .open })
    let counters = pool.recorder.counters
    deliveryLog = DeliveryLog(groups: participants.groups, groupOfSender: participants.senders.map(participants.groupOf)) {
      counters.pointee.windowStart..<counters.pointee.windowEnd
    }
    if case .eachSender = pace { idle = Array(participants.senders.indices.reversed()) }
    scratch = .allocate(byteCount: scratchSize, alignment: 16)
  }

  deinit { scratch.deallocate() }

  /// The messages of the closed loop that did not come back to the pacer in time.
  var expired: Int { inFlight.pointee.expired }

  /// Sends what is due.
  /// - Returns: when the next message is due (nanoseconds).
  func sendDue(_ now: UInt64) -> UInt64 {
    let end = pool.recorder.counters.pointee.windowEnd
    switch pace {
    case .schedules(var schedules):
      let next = send(&schedules, now, before: end)
      pace = .schedules(schedules)
      return next
    case .window(let size):
      guard now < end else { return .max }
      if now < backoffUntil { return backoffUntil }
      if let pacer, pool.table[pacer].phase != .open {
        failure = failure ?? "the connection that clocks the closed loop is gone"
      }
      inFlight.pointee.expire(at: now)
      for _ in 0..<Traffic.burst {
        if inFlight.pointee.count >= size { return inFlight.pointee.deadline }
        let stamp = inFlight.pointee.nextStamp(at: Clock.now())
        guard send(flow: 0, stampedAt: stamp) else { return .max }
        inFlight.pointee.insert(stamp)
      }
      return now
    case .eachSender:
      guard now < end else { return .max }
      if now < backoffUntil { return backoffUntil }
      while let sender = idle.popLast() { _ = send(sender: sender, flow: 0, stamp: Stamp.value(at: Clock.now(), flow: 0)) }
      return .max
    }
  }

  private func send(_ schedules: inout [Schedule], _ now: UInt64, before end: UInt64) -> UInt64 {
    for _ in 0..<Traffic.burst {
      var flow = 0
      for other in schedules.indices.dropFirst() where schedules[other].next < schedules[flow].next { flow = other }
      let due = schedules[flow].next
      guard due < end else { return .max }
      guard schedules[flow].popDue(at: now) != nil else { return due }
      if pool.recorder.counters.pointee.windowStart <= due { delays.record(min(now - due, Recorder.longest)) }
      guard send(flow: flow, stampedAt: due) else { return .max }
    }
    return now
  }

  /// Sends from the next open sender.
  private func send(flow: Int, stampedAt instant: UInt64) -> Bool {
    for _ in participants.senders.indices {
      let sender = nextSender
      nextSender = (nextSender + 1) % participants.senders.count
      if send(sender: sender, flow: flow, stamp: Stamp.value(at: instant, flow: flow)) { return true }
    }
    return false
  }

  /// A connection has ended. A closed loop would not notice otherwise: it waits for a reply.
  func didEnd(_ connection: Int) {
    guard openSenders.remove(connection) != nil, openSenders.isEmpty else { return }
    failure = failure ?? "no connection is left to send from"
  }

  private func send(sender: Int, flow: Int, stamp: UInt64) -> Bool {
    let connection = participants.senders[sender]
    guard pool.table[connection].phase == .open else { return false }
    let template = template(sender, flow)
    if template.longest + FrameWriter.longestHead > scratchSize {
      scratch.deallocate()
      scratchSize = template.longest + FrameWriter.longestHead
      scratch = .allocate(byteCount: scratchSize, alignment: 16)
    }
    let number = deliveryLog.recordSend(stamp: stamp, sender: sender)
    let payload = scratch + FrameWriter.longestHead
    let length = template.write(to: payload, connection: connection, id: number, stamp: stamp)
    let head = FrameWriter.putHead(before: payload, opcode: dialect.opcode, length: length)
    sent += 1
    pool.send(connection, payload - head, head + length)
    if !dialect.answersMessages { _ = deliveryLog.recordReply(number, .done) }
    return true
  }

  /// A reply to a message.
  func handleReply(_ number: Int, _ outcome: Outcome, now: UInt64) {
    guard let resolved = deliveryLog.recordReply(number, outcome) else { return }
    if resolved.isVoid { inFlight.pointee.remove(resolved.entry.stamp) }
    if case .failed = outcome { backoffUntil = now + Traffic.backoff }
    if case .eachSender = pace { idle.append(Int(resolved.entry.sender)) }
    let counters = pool.recorder.counters
    guard case .stored = outcome, !counters.pointee.timesDeliveries else { return }
    if counters.pointee.isMeasuring { timelyStored += 1 }
    if resolved.entry.stamp >= counters.pointee.windowStart, resolved.entry.stamp < counters.pointee.windowEnd {
      pool.recorder.record(now > resolved.entry.stamp ? now - resolved.entry.stamp : 0, flow: 0)
    }
  }

  /// A queued message was dropped.
  func handleDrop(_ messageID: String) {
    if let resolved = deliveryLog.recordDrop(messageID) { inFlight.pointee.remove(resolved.entry.stamp) }
  }

  /// Every message is answered, and the expected deliveries have arrived.
  func isComplete(receiversInGroup: [Int]) -> Bool {
    guard deliveryLog.unanswered == 0 else { return false }
    var expected = zip(deliveryLog.acceptedInGroup, receiversInGroup).reduce(0) { $0 + $1.0 * $1.1 }
    if participants.sendersReceive { expected -= deliveryLog.acceptedBySender.reduce(0, +) }
    return pool.recorder.counters.pointee.matched >= expected
  }

  /// The run is over: no more replies are expected.
  func finish() { deliveryLog.finish() }
}
