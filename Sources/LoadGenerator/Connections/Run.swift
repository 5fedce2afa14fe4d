/// The connections of a run, from connecting to their end.
final class Run: ClientPoolDelegate {
  let pool: ClientPool
  let dialect: any Dialect
  let connectOptions: ConnectOptions
  let timeout: UInt64
  /// Sends the messages, once there are any to send.
  var traffic: Traffic?
  /// Sends increments of a counter beside them, where a scenario wants some.
  var increments: Increments?
  /// Called about once a second.
  var onTick: (() -> Void)?
  /// The number of open connections.
  private(set) var openCount = 0
  /// The connections that ended by themselves after they were open, by kind.
  private(set) var endings: [String: Int] = [:]
  /// The first of them, as a sentence.
  private(set) var firstEnding: String?
  /// The first failure of a connection before it was open.
  private(set) var refusal: BenchmarkError?
  /// connect(2) failed: the server is not there.
  private(set) var isUnreachable = false
  /// The connections whose requests wait for their replies, by the requests' ids.
  private(set) var pendingRequests: [Int: Int] = [:]
  /// The number of sign-ins that the server postponed.
  private(set) var toldToWait = 0
  private var retries = RetryQueue()
  private var replies: [Reply] = []
  private var nextRequest = -1
  /// Connections between connect(2) and open.
  private var connecting = 0
  private var nextTick: UInt64 = 0

  init(pool: ClientPool, dialect: any Dialect, connectOptions: ConnectOptions, timeout: Double) {
    self.pool = pool
    self.dialect = dialect
    self.connectOptions = connectOptions
    self.timeout = Clock.nanoseconds(timeout)
    pool.delegate = self
  }

  // MARK: - Connecting

  /// The connections begun before the pool reads again, so that a measurement meanwhile is not
  /// late.
  private static let burst = 32

  /// Opens these connections and waits until each is open.
  /// - Parameters:
  /// - parallel: the most connections between connect(2) and open.
  /// - rate: connections begun per second; nil: as fast as possible.
  /// - Returns: when the first was begun and when the last was open (nanoseconds).
  @discardableResult
  func connect(
    _ numbers: some Collection<Int>, parallel: Int, rate: Double? = nil, connectOptions: ConnectOptions? = nil
  ) throws -> (start: UInt64, end: UInt64) {
    let start = Clock.now()
    var schedule = rate.map { Schedule(rate: $0, start: start) }
    var waiting = numbers.makeIterator()
    var begun = 0
    let target = openCount + numbers.count
    var (seen, seenAt) = (openCount, start)
    while openCount < target {
      if Interruption.isRequested {
        throw BenchmarkError("interrupted while the connections came in (\(openCount) of \(target))")
      }
      if let refusal { throw refusal }
      let now = Clock.now()
      var allowance = min(Run.burst, parallel - connecting)
      while allowance > 0, let number = popDueRetry(at: now) {
        try begin(number, connectOptions)
        allowance -= 1
      }
      while allowance > 0, begun < numbers.count {
        if schedule != nil, schedule?.popDue(at: now) == nil { break }
        guard let number = waiting.next() else { break }
        begun += 1
        try begin(number, connectOptions)
        allowance -= 1
      }
      if openCount > seen || retries.count > 0 { (seen, seenAt) = (openCount, now) }
      guard now - seenAt < timeout || (connecting == 0 && begun < numbers.count) else {
        throw BenchmarkError("for \(timeout / Clock.second) s no connection has come in (\(openCount) of \(target)): \(missing)")
      }
      let begin = begun < numbers.count ? schedule?.next ?? now : .max
      let next = connecting < parallel ? min(begin, retries.next ?? .max) : .max
      poll(until: min(next, now + 100 * Clock.millisecond))
    }
    if let refusal { throw refusal }
    return (start, Clock.now())
  }

  private func begin(_ number: Int, _ connectOptions: ConnectOptions?) throws(BenchmarkError) {
    connecting += 1
    try pool.connect(number, connectOptions ?? self.connectOptions)
  }

  /// Removes a postponed connection whose wait is over.
  func popDueRetry(at now: UInt64) -> Int? { retries.popDue(at: now) }

  /// The number of postponed connections.
  var retryCount: Int { retries.count }

  /// The phases of the connections that are not open yet.
  private var missing: String {
    var phases: [Connection.Phase: Int] = [:]
    for number in 0..<pool.count { phases[pool.table[number].phase, default: 0] += 1 }
    let parts: [(Connection.Phase, String)] = [
      (.connecting, "wait for TCP"), (.securing, "for TLS"), (.upgrading, "for the upgrade"),
      (.joining, "for the answer to signing in or joining"),
    ]
    return parts.compactMap { phase, text in phases[phase].map { "\($0) \(text)" } }.joined(separator: ", ")
  }

  func didConnect(_ number: Int) {
    pool.send(number, dialect.upgrade(of: number, offersDeflate: pool.compressionCheck?.offers(number) ?? false))
  }

  func didUpgrade(_ number: Int) { runSetupSteps(number) }

  /// Sends the steps up to the next that waits for an answer.
  private func runSetupSteps(_ number: Int) {
    let connection = pool.table + number
    while connection.pointee.phase == .joining {
      guard let step = dialect.step(Int(connection.pointee.step), of: number) else {
        connection.pointee.phase = .open
        connection.pointee.wasOpen = true
        connecting -= 1
        openCount += 1
        return
      }
      if let text = step.text { pool.send(number, FrameWriter.frame(opcode: dialect.opcode, payload: text)) }
      if step.waits { return }
      connection.pointee.step += 1
    }
  }

  // MARK: - Receiving

  func sendDue(_ now: UInt64) -> UInt64 { min(traffic?.sendDue(now) ?? .max, increments?.sendDue(now) ?? .max) }

  func didReceive(_ text: UnsafeRawBufferPointer, on number: Int) {
    let connection = pool.table + number
    let step = connection.pointee.phase == .joining ? Int(connection.pointee.step) : nil
    switch dialect.parse(text, on: number, step: step) {
    case .stepDone where step != nil:
      connection.pointee.step += 1
      runSetupSteps(number)
    case .stepFailed(let reason): refusal = refusal ?? BenchmarkError("connection \(number) may not come in: \(reason)")
    case .reply(let id, let outcome) where id > Increments.idBase: increments?.handleReply(id, outcome, now: pool.now)
    case .reply(let id, let outcome) where id > 0: traffic?.handleReply(id, outcome, now: pool.now)
    case .reply(let id, let outcome) where id < 0:
      if pendingRequests.removeValue(forKey: id) != nil { replies.append((number, outcome)) }
    case .dropped(let messageID): traffic?.handleDrop(messageID)
    case .reply, .stepDone, .nothing: break
    }
  }

  func didEnd(_ number: Int, _ ending: Ending) {
    if case .unreachable = ending { isUnreachable = true }
    traffic?.didEnd(number)
    if pool.table[number].wasOpen {
      openCount -= 1
      endings[ending.label, default: 0] += 1
      firstEnding = firstEnding ?? "connection \(number): \(ending)"
    } else if let wait = RetryQueue.delay(after: ending) {
      connecting -= 1
      toldToWait += 1
      retries.insert(number, due: pool.now + wait * Clock.millisecond)
    } else {
      connecting -= 1
      refusal = refusal ?? BenchmarkError("connection \(number) did not come in: \(ending)" + hint(ending))
    }
  }

  private func hint(_ ending: Ending) -> String {
    switch ending {
    case .closed(4500, _): "; is the secret the server's? (--data-dir, --config, --set auth.secret=…)"
    case .untrusted: " (--insecure accepts any certificate)"
    default: ""
    }
  }

  /// Resets connections without counting them as ended. The others are served meanwhile.
  func reset(_ numbers: Range<Int>) {
    for (index, number) in numbers.enumerated() where pool.table[number].descriptor >= 0 {
      if index % Run.burst == Run.burst - 1 { poll(until: Clock.now()) }
      if pool.table[number].phase == .open { openCount -= 1 }
      pool.reset(number)
    }
  }

  // MARK: - Time

  /// Polls the pool once and calls `onTick` when it is due.
  func poll(until deadline: UInt64) {
    if nextTick == 0 { nextTick = pool.now + Clock.second }
    pool.poll(until: onTick == nil ? deadline : min(deadline, nextTick))
    guard let onTick, pool.now >= nextTick else { return }
    nextTick += Clock.second
    onTick()
  }

  /// Polls until the deadline, until `isDone`, an interruption, or a failure of the traffic.
  func pollRepeatedly(until deadline: UInt64, _ isDone: () -> Bool = { false }) {
    while !isDone(), !Interruption.isRequested, traffic?.failure == nil, Clock.now() < deadline { poll(until: deadline) }
  }

  // MARK: - Requests

  /// A request of a connection: its text by its id.
  typealias ConnectionRequest = (connection: Int, text: (Int) -> [UInt8])

  /// The outcome of a connection's request.
  typealias Reply = (connection: Int, outcome: Outcome)

  /// Sends a request; its reply is one of `popReplies`.
  func send(_ request: ConnectionRequest) {
    pendingRequests[nextRequest] = request.connection
    pool.send(request.connection, FrameWriter.frame(opcode: dialect.opcode, payload: request.text(nextRequest)))
    nextRequest -= 1
  }

  /// The replies that have come since they were last taken.
  func popReplies() -> [Reply] {
    defer { replies = [] }
    return replies
  }

  /// Sends all requests and waits for their replies. Throws when one is refused or not answered.
  /// - Parameter purpose: the subject of the error's sentence.
  func sendAndWait(_ purpose: String, _ list: [ConnectionRequest]) throws {
    for request in list { send(request) }
    let deadline = Clock.now() + timeout
    while true {
      for reply in popReplies() {
        if case .failed(let code, let message) = reply.outcome {
          throw BenchmarkError("\(purpose) was refused: \(code) \(message)")
        }
      }
      if pendingRequests.isEmpty { return }
      guard pendingRequests.values.allSatisfy({ pool.table[$0].phase == .open }) else {
        throw BenchmarkError("\(purpose) was cut short: \(firstEnding ?? "the connection is gone")")
      }
      if Interruption.isRequested { throw BenchmarkError("interrupted: \(purpose) was not finished") }
      guard Clock.now() < deadline else { throw BenchmarkError("\(purpose) was not answered within \(timeout / Clock.second) s") }
      poll(until: min(deadline, Clock.now() + 100 * Clock.millisecond))
    }
  }
}
