import Histogram

/// Increments of one counter of a room beside its messages: an open loop, the members in turn.
final class Increments {
  /// The ids of increments begin behind this one, those of messages below.
  static let idBase = 1 << 40
  /// The rate of one user in a group (Protocol.md, "Counter rate").
  static let mostPerUser = 4.0
  /// The most increments sent before the pool reads again.
  private static let burst = 64

  private let pool: ClientPool
  private let dialect: any Dialect
  private let template: MessageTemplate
  private let members: Int
  private var schedule: Schedule
  private var nextMember = 0
  private var pending = PendingReplies()
  private let scratch: UnsafeMutableRawPointer
  /// The times from due to answered of the window's increments (nanoseconds).
  private(set) var latencies = Recorder.emptyHistogram()
  /// Increments answered within the window.
  private(set) var answered = 0
  /// The errors of all increments by code and message.
  private(set) var errors: [String: Int] = [:]

  /// - Parameter members: the connections 0 to that number send in turn.
  init(_ pool: ClientPool, _ dialect: any Dialect, _ template: MessageTemplate, members: Int, schedule: Schedule) {
    self.pool = pool
    self.dialect = dialect
    self.template = template
    self.members = members
    self.schedule = schedule
    scratch = .allocate(byteCount: template.longest + FrameWriter.longestHead, alignment: 16)
  }

  deinit { scratch.deallocate() }

  /// How many increments wait for their reply.
  var unanswered: Int { pending.count }

  /// Sends what is due.
  /// - Returns: when the next increment is due (nanoseconds).
  func sendDue(_ now: UInt64) -> UInt64 {
    for _ in 0..<Increments.burst {
      let due = schedule.next
      guard due < pool.recorder.counters.pointee.windowEnd else { return .max }
      guard schedule.popDue(at: now) != nil else { return due }
      send(dueAt: due)
    }
    return now
  }

  private func send(dueAt instant: UInt64) {
    let member = nextMember
    nextMember = (nextMember + 1) % members
    guard pool.table[member].phase == .open else { return }
    let number = pending.insert(PendingReplies.Entry(stamp: instant, sender: member))
    let payload = scratch + FrameWriter.longestHead
    let length = template.write(to: payload, connection: member, id: Increments.idBase + number, stamp: 0)
    let head = FrameWriter.putHead(before: payload, opcode: dialect.opcode, length: length)
    pool.send(member, payload - head, head + length)
  }

  /// A reply to an increment.
  func handleReply(_ id: Int, _ outcome: Outcome, now: UInt64) {
    guard let entry = pending.remove(id - Increments.idBase) else { return }
    if case .failed(let code, let message) = outcome {
      errors["\(code) \(message)", default: 0] += 1
      return
    }
    let counters = pool.recorder.counters
    if counters.pointee.isMeasuring { answered += 1 }
    guard entry.stamp >= counters.pointee.windowStart else { return }
    latencies.record(min(now > entry.stamp ? now - entry.stamp : 0, Recorder.longest))
  }

  /// The figures of the window.
  /// - Parameter seconds: its length.
  func figures(seconds: Double) -> Report.Increments {
    Report.Increments(answered: answered, seconds: seconds, latencies: Report.Latencies(latencies), errors: errors)
  }
}
