import Histogram

/// One measured window: warm-up, window, and the time for what is still under way.
struct Measurement {
  /// When nothing has arrived for so long, nothing more is expected (nanoseconds).
  private static let patience = 2 * Clock.second

  let stage: Stage
  let traffic: Traffic
  let bench: Benchmark
  /// The connections whose deliveries are counted.
  let receivers: [Int]

  /// What stood at a moment.
  private struct Moment {
    let instant = Clock.now()
    let server: ProcessUsage?
    let generator = ProcessUsage.ofSelf()
    let counters: Recorder.Counters
    let sent: Int
    let stored: Int
  }

  private var counters: UnsafeMutablePointer<Recorder.Counters> { stage.swarm.recorder.counters }

  private func moment() -> Moment {
    Moment(server: bench.serverUsage(), counters: counters.pointee, sent: traffic.sent, stored: traffic.timelyStored)
  }

  /// Sends the messages and fills in the report.
  /// - Parameter start: where the schedules begin; the window begins a warm-up later.
  func carryOut(from start: UInt64, into report: inout Report) {
    let joined = bench.serverUsage()
    for number in receivers { stage.swarm.table[number].counts = true }
    counters.pointee.windowStart = Stamp.value(at: start + Clock.nanoseconds(bench.options.warmUp), lane: 0)
    counters.pointee.windowEnd = counters.pointee.windowStart + Clock.nanoseconds(bench.options.duration)
    stage.onTick = progress()
    stage.traffic = traffic
    stage.run(until: counters.pointee.windowStart)
    let before = moment()
    counters.pointee.isMeasuring = true
    stage.run(until: counters.pointee.windowEnd)
    counters.pointee.isMeasuring = false
    let after = moment()
    // A window that was cut short ends here; no message has a later stamp.
    counters.pointee.windowEnd = max(counters.pointee.windowStart, min(counters.pointee.windowEnd, after.instant))
    drain()
    fill(&report, before, after)
    report.server = bench.server(from: before.server, to: after.server, joined: joined, connections: stage.swarm.count)
  }

  /// Waits for what is under way as long as something comes.
  private func drain() {
    let table = stage.swarm.table
    var receiversInGroup = Array(repeating: 0, count: traffic.audience.groups)
    for number in receivers where table[number].phase == .open { receiversInGroup[traffic.audience.groupOf(number)] += 1 }
    let deadline = Clock.now() + stage.timeout
    var (seen, seenAt) = ((0, 0), Clock.now())
    while !traffic.isSettled(receiversInGroup: receiversInGroup), Clock.now() < min(deadline, seenAt + Measurement.patience) {
      if stage.open == 0 { break }
      stage.turn(until: Clock.now() + 50 * Clock.millisecond)
      let state = (counters.pointee.total, traffic.ledger.unanswered)
      if state != seen { (seen, seenAt) = (state, Clock.now()) }
    }
    traffic.close()
  }

  private func fill(_ report: inout Report, _ before: Moment, _ after: Moment) {
    let total = traffic.ledger.total
    report.seconds = Clock.seconds(from: before.instant, to: after.instant)
    report.messages = counters.pointee.timesDeliveries ? total.sent : after.stored - before.stored
    report.deliveries = after.counters.timely - before.counters.timely
    (report.lost, report.surplus) = compare()
    report.latencies = Report.Latencies(stage.swarm.recorder.allLatencies)
    let reads = after.counters.reads - before.counters.reads
    report.messagesPerRead = reads > 0 ? Double(report.deliveries) / Double(reads) : nil
    report.generator = Report.Generator(
      cpuSeconds: after.generator.cpuSeconds - before.generator.cpuSeconds, sendDelay: Report.Latencies(traffic.delays))
    if stage.dialect.answersMessages { report.statuses = .init(tally: total, errors: traffic.ledger.errors) }
    report.endings = stage.endings
    if traffic.givenUp > 0 { report.notes.append(sentence(ofGivenUp: traffic.givenUp)) }
    if let failure = traffic.failure { report.failures.append(failure) }
    if total.unanswered > 0 { report.failures.append("\(total.unanswered) messages were not answered") }
    if let ending = stage.firstEnding {
      report.failures.append("\(stage.endings.values.reduce(0, +)) connections ended, the first: \(ending)")
    }
  }

  private func sentence(ofGivenUp count: Int) -> String {
    "\(Decimals.grouped(count)) messages did not come back to connection 0, or \(UnderWay.patience / Clock.second) s later than others: "
      + "their places in the window stood empty until then, so that it was smaller than it should be"
  }

  /// What arrived with what had to arrive, connection by connection.
  private func compare() -> (lost: Int, surplus: Int) {
    var (lost, surplus) = (0, 0)
    for (number, expected) in traffic.audience.expected(traffic.ledger, receivers: receivers) {
      let difference = expected - Int(stage.swarm.table[number].matched)
      if difference > 0 { lost += difference } else { surplus -= difference }
    }
    return (lost, surplus)
  }

  private func progress() -> (() -> Void)? {
    guard let tell = bench.progress else { return nil }
    var last = moment()
    return { [self] in
      let next = moment()
      let seconds = Clock.seconds(from: last.instant, to: next.instant)
      let isWarm = next.instant >= counters.pointee.windowStart
      let elapsed = Clock.seconds(from: counters.pointee.windowStart, to: next.instant)
      var parts = [isWarm ? Decimals.fixed(elapsed, digits: 0) + " s" : "warm-up"]
      parts.append(perSecond(next.sent - last.sent, seconds) + " messages/s")
      parts.append(perSecond(next.counters.total - last.counters.total, seconds) + " deliveries/s")
      if let p99 = Report.Latencies(stage.swarm.recorder.allLatencies)?.p99 { parts.append("p99 \(Decimals.short(p99)) ms") }
      if let from = last.server, let to = next.server {
        parts.append("server \(percent(to.cpuSeconds - from.cpuSeconds, seconds))")
      }
      parts.append("generator \(percent(next.generator.cpuSeconds - last.generator.cpuSeconds, seconds))")
      tell(parts.joined(separator: "   "))
      last = next
    }
  }

  private func perSecond(_ count: Int, _ seconds: Double) -> String { Decimals.grouped(Int((Double(count) / seconds).rounded())) }

  private func percent(_ part: Double, _ whole: Double) -> String { Decimals.fixed(100 * part / whole, digits: 0) + " % CPU" }
}
