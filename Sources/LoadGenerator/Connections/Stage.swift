/// The connections of a run while they come in, take part and go.
final class Stage: SwarmDelegate {
  let swarm: Swarm
  let dialect: any Dialect
  let dialing: Dialing
  let timeout: UInt64
  /// Sends the messages, once there are any to send.
  var traffic: Traffic?
  /// Called about once a second.
  var onTick: (() -> Void)?
  /// How many connections take part.
  private(set) var open = 0
  /// The connections that ended by themselves, by kind, since they took part.
  private(set) var endings: [String: Int] = [:]
  /// The first of them, told in full.
  private(set) var firstEnding: String?
  /// Why a connection may not come in; the first one counts.
  private(set) var refusal: BenchmarkError?
  /// A connection could not even be begun: the server is not there.
  private(set) var isUnreachable = false
  /// The connections whose requests wait for their replies, by the requests' ids.
  private(set) var unanswered: [Int: Int] = [:]
  /// How many sign-ins the server has put off.
  private(set) var toldToWait = 0
  private var returning = Returning()
  private var replies: [Reply] = []
  private var nextRequest = -1
  /// Connections that are coming in.
  private var arriving = 0
  private var nextTick: UInt64 = 0

  init(swarm: Swarm, dialect: any Dialect, dialing: Dialing, timeout: Double) {
    self.swarm = swarm
    self.dialect = dialect
    self.dialing = dialing
    self.timeout = Clock.nanoseconds(timeout)
    swarm.delegate = self
  }

  // MARK: - Coming in

  /// So many connections are begun before the swarm reads again: what is measured meanwhile must not wait for them.
  private static let burst = 32

  /// Opens these connections and waits until each takes part.
  /// - Parameters:
  ///   - parallel: so many at most are coming in at the same time.
  ///   - rate: so many are begun per second; nil = as fast as it goes.
  /// - Returns: when the first was begun and when the last took part (nanoseconds).
  @discardableResult
  func admit(
    _ numbers: some Collection<Int>, parallel: Int, rate: Double? = nil, dialing: Dialing? = nil
  ) throws -> (start: UInt64, end: UInt64) {
    let start = Clock.now()
    var schedule = rate.map { Schedule(rate: $0, start: start) }
    var waiting = numbers.makeIterator()
    var begun = 0
    let target = open + numbers.count
    var (seen, seenAt) = (open, start)
    while open < target {
      if Interruption.came { throw BenchmarkError("interrupted while the connections came in (\(open) of \(target))") }
      if let refusal { throw refusal }
      let now = Clock.now()
      var room = min(Stage.burst, parallel - arriving)
      while room > 0, let number = takeReturning(at: now) {
        try connect(number, dialing)
        room -= 1
      }
      while room > 0, begun < numbers.count {
        if schedule != nil, schedule?.take(at: now) == nil { break }
        guard let number = waiting.next() else { break }
        begun += 1
        try connect(number, dialing)
        room -= 1
      }
      if open > seen || returning.count > 0 { (seen, seenAt) = (open, now) }
      guard now - seenAt < timeout || (arriving == 0 && begun < numbers.count) else {
        throw BenchmarkError("for \(timeout / Clock.second) s no connection has come in (\(open) of \(target)): \(missing)")
      }
      let begin = begun < numbers.count ? schedule?.next ?? now : .max
      let next = arriving < parallel ? min(begin, returning.next ?? .max) : .max
      turn(until: min(next, now + 100 * Clock.millisecond))
    }
    if let refusal { throw refusal }
    return (start, Clock.now())
  }

  private func connect(_ number: Int, _ dialing: Dialing?) throws(BenchmarkError) {
    arriving += 1
    try swarm.connect(number, dialing ?? self.dialing)
  }

  /// A connection that was told to wait and need not wait any more.
  func takeReturning(at now: UInt64) -> Int? { returning.take(at: now) }

  /// How many have been told to wait and do so.
  var returningCount: Int { returning.count }

  /// What those that are still coming in wait for.
  private var missing: String {
    var phases: [Connection.Phase: Int] = [:]
    for number in 0..<swarm.count { phases[swarm.table[number].phase, default: 0] += 1 }
    let parts: [(Connection.Phase, String)] = [
      (.connecting, "wait for TCP"), (.upgrading, "for the upgrade"), (.entering, "for the answer to signing in or joining"),
    ]
    return parts.compactMap { phase, text in phases[phase].map { "\($0) \(text)" } }.joined(separator: ", ")
  }

  func connected(_ number: Int) { swarm.send(number, dialect.upgrade(of: number)) }

  func upgraded(_ number: Int) { enter(number) }

  /// Does the steps up to the next that waits.
  private func enter(_ number: Int) {
    let connection = swarm.table + number
    while connection.pointee.phase == .entering {
      guard let step = dialect.step(Int(connection.pointee.step), of: number) else {
        connection.pointee.phase = .open
        connection.pointee.tookPart = true
        arriving -= 1
        open += 1
        return
      }
      if let text = step.text { swarm.send(number, FrameWriter.frame(opcode: dialect.opcode, payload: text)) }
      if step.waits { return }
      connection.pointee.step += 1
    }
  }

  // MARK: - Taking part

  func pump(_ now: UInt64) -> UInt64 { traffic?.pump(now) ?? .max }

  func received(_ text: UnsafeRawBufferPointer, on number: Int) {
    let connection = swarm.table + number
    let step = connection.pointee.phase == .entering ? Int(connection.pointee.step) : nil
    switch dialect.read(text, on: number, step: step) {
    case .stepDone where step != nil:
      connection.pointee.step += 1
      enter(number)
    case .stepFailed(let reason): refusal = refusal ?? BenchmarkError("connection \(number) may not come in: \(reason)")
    case .reply(let id, let outcome) where id > 0: traffic?.answered(id, outcome, now: swarm.now)
    case .reply(let id, let outcome) where id < 0:
      if unanswered.removeValue(forKey: id) != nil { replies.append((number, outcome)) }
    case .dropped(let messageID): traffic?.dropped(messageID)
    case .reply, .stepDone, .nothing: break
    }
  }

  func ended(_ number: Int, _ ending: Ending) {
    if case .unreachable = ending { isUnreachable = true }
    traffic?.ended(number)
    if swarm.table[number].tookPart {
      open -= 1
      endings[ending.label, default: 0] += 1
      firstEnding = firstEnding ?? "connection \(number): \(ending)"
    } else if let wait = Returning.wait(ending) {
      arriving -= 1
      toldToWait += 1
      returning.insert(number, due: swarm.now + wait * Clock.millisecond)
    } else {
      arriving -= 1
      refusal = refusal ?? BenchmarkError("connection \(number) did not come in: \(ending)" + hint(ending))
    }
  }

  private func hint(_ ending: Ending) -> String {
    if case .closed(4500, _) = ending { return "; is the secret the server's? (--data-dir, --config, --set auth.secret=…)" }
    return ""
  }

  /// Cuts connections without being told of it as an ending. The others go on meanwhile.
  func cut(_ numbers: Range<Int>) {
    for (index, number) in numbers.enumerated() where swarm.table[number].descriptor >= 0 {
      if index % Stage.burst == Stage.burst - 1 { turn(until: Clock.now()) }
      if swarm.table[number].phase == .open { open -= 1 }
      swarm.cut(number)
    }
  }

  // MARK: - Time

  /// One turn of the swarm, and the tick when it is time.
  func turn(until deadline: UInt64) {
    if nextTick == 0 { nextTick = swarm.now + Clock.second }
    swarm.turn(until: onTick == nil ? deadline : min(deadline, nextTick))
    guard let onTick, swarm.now >= nextTick else { return }
    nextTick += Clock.second
    onTick()
  }

  /// Turns until the deadline, or until `isDone` says so, or the user, or nothing can be sent any more.
  func run(until deadline: UInt64, _ isDone: () -> Bool = { false }) {
    while !isDone(), !Interruption.came, traffic?.failure == nil, Clock.now() < deadline { turn(until: deadline) }
  }

  // MARK: - Requests

  /// A request of a connection: its text, given the number for its id.
  typealias Request = (connection: Int, text: (Int) -> [UInt8])

  /// What a connection's request came to.
  typealias Reply = (connection: Int, outcome: Outcome)

  /// Sends a request; its reply is one of `takeReplies`.
  func ask(_ request: Request) {
    unanswered[nextRequest] = request.connection
    swarm.send(request.connection, FrameWriter.frame(opcode: dialect.opcode, payload: request.text(nextRequest)))
    nextRequest -= 1
  }

  /// The replies that have come since they were last taken.
  func takeReplies() -> [Reply] {
    defer { replies = [] }
    return replies
  }

  /// Sends requests, all at once, and waits for their replies. Throws when one is refused or does not come.
  /// - Parameter what: what the requests are for, to begin a sentence with.
  func call(_ what: String, _ list: [Request]) throws {
    for request in list { ask(request) }
    let deadline = Clock.now() + timeout
    while true {
      for reply in takeReplies() {
        if case .failed(let code, let message) = reply.outcome { throw BenchmarkError("\(what) was refused: \(code) \(message)") }
      }
      if unanswered.isEmpty { return }
      guard unanswered.values.allSatisfy({ swarm.table[$0].phase == .open }) else {
        throw BenchmarkError("\(what) was cut short: \(firstEnding ?? "the connection is gone")")
      }
      if Interruption.came { throw BenchmarkError("interrupted: \(what) was not finished") }
      guard Clock.now() < deadline else { throw BenchmarkError("\(what) was not answered within \(timeout / Clock.second) s") }
      turn(until: min(deadline, Clock.now() + 100 * Clock.millisecond))
    }
  }
}
