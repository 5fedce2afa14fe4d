import Histogram

/// Sends the messages of a run when they are due, and keeps the account of what became of them.
final class Traffic {
  /// What decides when a message is sent.
  enum Pace {
    /// Open loop: one schedule per lane, whatever comes back.
    case schedules([Schedule])
    /// Closed loop: so many under way in all; one is done when it came back on the clock connection, or is taken never to come.
    case window(Int)
    /// Closed loop: one under way per sender; it is done when it is answered.
    case eachSender
  }

  /// At most so many messages go out before the swarm reads again.
  private static let burst = 64
  /// How long a closed loop rests after a refusal, lest it floods the server with requests that are refused too (nanoseconds).
  private static let rest = 20 * Clock.millisecond

  let audience: Audience
  /// The connection that clocks the closed loop: a message that came back on it is done.
  var clock: Int? { didSet { if let clock { swarm.table[clock].isClock = true } } }
  private(set) var ledger: Ledger
  /// How late messages went out, in nanoseconds: the generator's own share of the latency.
  private(set) var delays = Recorder.emptyHistogram()
  /// Replies that came inside the window and say that the message is stored.
  private(set) var timelyStored = 0
  /// The messages that went out so far, those outside the window included.
  private(set) var sent = 0
  /// Nothing can be sent any more, for this reason.
  private(set) var failure: String?
  private let swarm: Swarm
  private var underWay: UnsafeMutablePointer<UnderWay> { swarm.recorder.underWay }
  private let dialect: any Dialect
  private let template: (_ sender: Int, _ lane: Int) -> Template
  private var pace: Pace
  private var nextSender = 0
  /// The senders' connections that are there.
  private var present: Set<Int>
  private var restUntil: UInt64 = 0
  /// The senders that have nothing under way.
  private var idle: [Int] = []
  private var scratch: UnsafeMutableRawPointer
  private var scratchSize = 4096

  /// - Parameter template: the messages of a sender (its place in the audience's list) in a lane.
  init(
    _ swarm: Swarm, _ dialect: any Dialect, audience: Audience, pace: Pace, template: @escaping (Int, Int) -> Template
  ) {
    self.swarm = swarm
    self.dialect = dialect
    self.audience = audience
    self.pace = pace
    self.template = template
    present = Set(audience.senders.filter { swarm.table[$0].phase == .open })
    let counters = swarm.recorder.counters
    ledger = Ledger(groups: audience.groups, groupOfSender: audience.senders.map(audience.groupOf)) {
      counters.pointee.windowStart..<counters.pointee.windowEnd
    }
    if case .eachSender = pace { idle = Array(audience.senders.indices.reversed()) }
    scratch = .allocate(byteCount: scratchSize, alignment: 16)
  }

  deinit { scratch.deallocate() }

  /// The messages of the closed loop that did not come back on the clock connection and are no longer waited for.
  var givenUp: Int { underWay.pointee.givenUp }

  /// Sends what is due.
  /// - Returns: when the next message is due (nanoseconds).
  func pump(_ now: UInt64) -> UInt64 {
    let end = swarm.recorder.counters.pointee.windowEnd
    switch pace {
    case .schedules(var schedules):
      let next = send(&schedules, now, before: end)
      pace = .schedules(schedules)
      return next
    case .window(let size):
      guard now < end else { return .max }
      if now < restUntil { return restUntil }
      if let clock, swarm.table[clock].phase != .open {
        failure = failure ?? "the connection that clocks the closed loop is gone"
      }
      underWay.pointee.giveUp(at: now)
      for _ in 0..<Traffic.burst {
        if underWay.pointee.count >= size { return underWay.pointee.deadline }
        let stamp = underWay.pointee.stamp(at: Clock.now())
        guard send(lane: 0, stampedAt: stamp) else { return .max }
        underWay.pointee.begin(stamp)
      }
      return now
    case .eachSender:
      guard now < end else { return .max }
      if now < restUntil { return restUntil }
      while let sender = idle.popLast() { _ = send(sender: sender, lane: 0, stamp: Stamp.value(at: Clock.now(), lane: 0)) }
      return .max
    }
  }

  private func send(_ schedules: inout [Schedule], _ now: UInt64, before end: UInt64) -> UInt64 {
    for _ in 0..<Traffic.burst {
      var lane = 0
      for other in schedules.indices.dropFirst() where schedules[other].next < schedules[lane].next { lane = other }
      let due = schedules[lane].next
      guard due < end else { return .max }
      guard schedules[lane].take(at: now) != nil else { return due }
      if swarm.recorder.counters.pointee.windowStart <= due { delays.record(min(now - due, Recorder.longest)) }
      guard send(lane: lane, stampedAt: due) else { return .max }
    }
    return now
  }

  /// Sends from the next sender that is there.
  private func send(lane: Int, stampedAt instant: UInt64) -> Bool {
    for _ in audience.senders.indices {
      let sender = nextSender
      nextSender = (nextSender + 1) % audience.senders.count
      if send(sender: sender, lane: lane, stamp: Stamp.value(at: instant, lane: lane)) { return true }
    }
    return false
  }

  /// A connection is no more. In a closed loop nothing else would tell: whoever waits for a reply sends nothing.
  func ended(_ connection: Int) {
    guard present.remove(connection) != nil, present.isEmpty else { return }
    failure = failure ?? "no connection is left to send from"
  }

  private func send(sender: Int, lane: Int, stamp: UInt64) -> Bool {
    let connection = audience.senders[sender]
    guard swarm.table[connection].phase == .open else { return false }
    let template = template(sender, lane)
    if template.longest + FrameWriter.longestHead > scratchSize {
      scratch.deallocate()
      scratchSize = template.longest + FrameWriter.longestHead
      scratch = .allocate(byteCount: scratchSize, alignment: 16)
    }
    let number = ledger.send(stamp: stamp, sender: sender)
    let payload = scratch + FrameWriter.longestHead
    let length = template.write(to: payload, connection: connection, id: number, stamp: stamp)
    let head = FrameWriter.putHead(before: payload, opcode: dialect.opcode, length: length)
    sent += 1
    swarm.send(connection, payload - head, head + length)
    if !dialect.answersMessages { _ = ledger.settle(number, .done) }
    return true
  }

  /// A reply to a message.
  func answered(_ number: Int, _ outcome: Outcome, now: UInt64) {
    guard let settled = ledger.settle(number, outcome) else { return }
    if settled.isVoid { underWay.pointee.finish(settled.entry.stamp) }
    if case .failed = outcome { restUntil = now + Traffic.rest }
    if case .eachSender = pace { idle.append(Int(settled.entry.sender)) }
    let counters = swarm.recorder.counters
    guard case .stored = outcome, !counters.pointee.timesDeliveries else { return }
    if counters.pointee.isMeasuring { timelyStored += 1 }
    if settled.entry.stamp >= counters.pointee.windowStart, settled.entry.stamp < counters.pointee.windowEnd {
      swarm.recorder.record(now > settled.entry.stamp ? now - settled.entry.stamp : 0, lane: 0)
    }
  }

  /// A queued message is dropped after all.
  func dropped(_ messageID: String) {
    if let settled = ledger.drop(messageID) { underWay.pointee.finish(settled.entry.stamp) }
  }

  /// Every message is answered, and so many deliveries as must come have come.
  func isSettled(receiversInGroup: [Int]) -> Bool {
    guard ledger.unanswered == 0 else { return false }
    var expected = zip(ledger.acceptedInGroup, receiversInGroup).reduce(0) { $0 + $1.0 * $1.1 }
    if audience.sendersReceive { expected -= ledger.acceptedBySender.reduce(0, +) }
    return swarm.recorder.counters.pointee.matched >= expected
  }

  /// The run is over: what is not answered by now never will be.
  func close() { ledger.close() }
}
