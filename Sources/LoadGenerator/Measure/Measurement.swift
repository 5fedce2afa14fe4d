import Histogram

/// One measured window: the warm-up, the window, and the time for messages still in flight.
struct Measurement {
  /// The silence after which no more deliveries are expected (nanoseconds).
  private static let drainTimeout = 2 * Clock.second

  let run: Run
  let traffic: Traffic
  let bench: Benchmark
  /// The connections whose deliveries count.
  let receivers: [Int]

  /// The counters at an instant.
  private struct Snapshot {
    let instant = Clock.now()
    let server: ProcessUsage?
    let generator = ProcessUsage.ofSelf()
    let counters: Recorder.Counters
    let sent: Int
    let stored: Int
    let wireBytes: Int
  }

  private var counters: UnsafeMutablePointer<Recorder.Counters> { run.pool.recorder.counters }

  private func snapshot() -> Snapshot {
    Snapshot(
      server: bench.serverUsage(), counters: counters.pointee, sent: traffic.sent, stored: traffic.timelyStored,
      wireBytes: run.pool.compressionCheck?.wireBytes(run.pool.table) ?? 0)
  }

  /// Sends the messages and fills in the report.
  /// - Parameter start: the beginning of the schedules; the window begins a warm-up later.
  func run(from start: UInt64, into report: inout Report) {
    let joined = bench.serverUsage()
    for number in receivers { run.pool.table[number].countsDeliveries = true }
    counters.pointee.windowStart = Stamp.value(at: start + Clock.nanoseconds(bench.options.warmUp), flow: 0)
    counters.pointee.windowEnd = counters.pointee.windowStart + Clock.nanoseconds(bench.options.duration)
    run.onTick = progress()
    run.traffic = traffic
    run.pollRepeatedly(until: counters.pointee.windowStart)
    let before = snapshot()
    counters.pointee.isMeasuring = true
    run.pollRepeatedly(until: counters.pointee.windowEnd)
    counters.pointee.isMeasuring = false
    let after = snapshot()
    // An interrupted window ends here; no message has a later stamp.
    counters.pointee.windowEnd = max(counters.pointee.windowStart, min(counters.pointee.windowEnd, after.instant))
    drain()
    fill(&report, before, after)
    report.server = bench.serverFigures(from: before.server, to: after.server, joined: joined, connections: run.pool.count)
  }

  /// Waits for messages in flight as long as some arrive.
  private func drain() {
    let table = run.pool.table
    var receiversInGroup = Array(repeating: 0, count: traffic.participants.groups)
    for number in receivers where table[number].phase == .open { receiversInGroup[traffic.participants.groupOf(number)] += 1 }
    let deadline = Clock.now() + run.timeout
    var (seen, seenAt) = ((0, 0), Clock.now())
    func isComplete() -> Bool {
      traffic.isComplete(receiversInGroup: receiversInGroup) && run.increments?.unanswered ?? 0 == 0
    }
    while !isComplete(), Clock.now() < min(deadline, seenAt + Measurement.drainTimeout) {
      if run.openCount == 0 { break }
      run.poll(until: Clock.now() + 50 * Clock.millisecond)
      let state = (counters.pointee.total, traffic.deliveryLog.unanswered)
      if state != seen { (seen, seenAt) = (state, Clock.now()) }
    }
    traffic.finish()
  }

  private func fill(_ report: inout Report, _ before: Snapshot, _ after: Snapshot) {
    let total = traffic.deliveryLog.total
    report.seconds = Clock.seconds(from: before.instant, to: after.instant)
    report.messages = counters.pointee.timesDeliveries ? total.sent : after.stored - before.stored
    report.deliveries = after.counters.timely - before.counters.timely
    (report.lost, report.surplus) = compare()
    report.latencies = Report.Latencies(run.pool.recorder.allLatencies)
    let reads = after.counters.reads - before.counters.reads
    report.messagesPerRead = reads > 0 ? Double(report.deliveries) / Double(reads) : nil
    report.generator = Report.Generator(
      cpuSeconds: after.generator.cpuSeconds - before.generator.cpuSeconds, sendDelay: Report.Latencies(traffic.delays))
    if run.dialect.answersMessages { report.statuses = .init(tally: total, errors: traffic.deliveryLog.errors) }
    if let increments = run.increments {
      report.increments = increments.figures(seconds: report.seconds)
      if increments.unanswered > 0 { report.failures.append("\(increments.unanswered) increments were not answered") }
    }
    if let check = run.pool.compressionCheck {
      report.compression = Report.Compression(check, wireBytes: after.wireBytes - before.wireBytes)
      if let failure = check.failure { report.failures.append(failure) }
    }
    report.endings = run.endings
    if traffic.expired > 0 { report.notes.append(note(onExpired: traffic.expired)) }
    if let failure = traffic.failure { report.failures.append(failure) }
    if total.unanswered > 0 { report.failures.append("\(total.unanswered) messages were not answered") }
    if let ending = run.firstEnding {
      report.failures.append("\(run.endings.values.reduce(0, +)) connections ended, the first: \(ending)")
    }
  }

  private func note(onExpired count: Int) -> String {
    "\(NumberFormat.grouped(count)) messages did not come back to connection 0, or \(InFlight.timeout / Clock.second) s later than others: "
      + "their places in the window stood empty until then, so that it was smaller than it should be"
  }

  /// Compares the deliveries with the accepted messages, connection by connection.
  private func compare() -> (lost: Int, surplus: Int) {
    var (lost, surplus) = (0, 0)
    for (number, expected) in traffic.participants.expected(traffic.deliveryLog, receivers: receivers) {
      let difference = expected - Int(run.pool.table[number].matched)
      if difference > 0 { lost += difference } else { surplus -= difference }
    }
    return (lost, surplus)
  }

  private func progress() -> (() -> Void)? {
    guard let tell = bench.progress else { return nil }
    var last = snapshot()
    return { [self] in
      let next = snapshot()
      let seconds = Clock.seconds(from: last.instant, to: next.instant)
      let isWarm = next.instant >= counters.pointee.windowStart
      let elapsed = Clock.seconds(from: counters.pointee.windowStart, to: next.instant)
      var parts = [isWarm ? NumberFormat.fixed(elapsed, digits: 0) + " s" : "warm-up"]
      parts.append(perSecond(next.sent - last.sent, seconds) + " messages/s")
      parts.append(perSecond(next.counters.total - last.counters.total, seconds) + " deliveries/s")
      if let p99 = Report.Latencies(run.pool.recorder.allLatencies)?.p99 { parts.append("p99 \(NumberFormat.short(p99)) ms") }
      if let from = last.server, let to = next.server {
        parts.append("server \(percent(to.cpuSeconds - from.cpuSeconds, seconds))")
      }
      parts.append("generator \(percent(next.generator.cpuSeconds - last.generator.cpuSeconds, seconds))")
      tell(parts.joined(separator: "   "))
      last = next
    }
  }

  private func perSecond(_ count: Int, _ seconds: Double) -> String {
    NumberFormat.grouped(Int((Double(count) / seconds).rounded()))
  }

  private func percent(_ part: Double, _ whole: Double) -> String { NumberFormat.fixed(100 * part / whole, digits: 0) + " % CPU" }
}
