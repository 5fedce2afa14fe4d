import Glibc
import WireProtocol

extension Report {
  /// The whole report as one JSON object, the keys as Benchmarks.md lists them.
  public var json: String {
    String(decoding: JSONWriter.text(capacity: 4096) { $0.object(write) }, as: UTF8.self)
  }

  private func write(_ writer: inout JSONWriter) {
    writer.member("scenario", scenario)
    writer.key("parameters")
    writer.object { writer in
      for parameter in parameters {
        writer.key(named: parameter.name)
        switch parameter.value {
        case .text(let text): writer.value(text)
        case .integer(let number): writer.value(number)
        case .number(let number): writer.number(number)
        }
      }
    }
    writer.member("seconds", seconds, digits: 3)
    if let lost { writeTraffic(lost, &writer) }
    writeProcesses(&writer)
    if let statuses { write(statuses, &writer) }
    if !priorities.isEmpty { writePriorities(&writer) }
    if let increments { write(increments, &writer) }
    if let statusEvents { write(statusEvents, &writer) }
    if let compression { write(compression, &writer) }
    if let connecting { writer.member("connect", connecting) }
    if let storm { writer.member("storm", storm) }
    if let established { write(established, &writer) }
    writer.key("endings")
    writer.object { writer in
      for (label, count) in endings.sorted(by: { $0.key < $1.key }) {
        writer.key(named: label)
        writer.value(count)
      }
    }
    writer.member("notes", notes)
    writer.member("failures", failures)
    writer.key("conditions")
    writer.array(verdicts) { writer, verdict in
      writer.object { writer in
        writer.member("condition", verdict.condition)
        writer.key("value")
        if let value = verdict.value { writer.number(value) } else { writer.null() }
        writer.member("unit", verdict.unit)
        writer.member("met", verdict.isMet)
      }
    }
  }

  private func writeTraffic(_ lost: Int, _ writer: inout JSONWriter) {
    writer.member("messages", messages)
    writer.member("deliveries", deliveries)
    writer.member("lost", lost)
    writer.member("surplus", surplus)
    writer.member("messagesPerSecond", messagesPerSecond, digits: 1)
    writer.member("deliveriesPerSecond", deliveriesPerSecond, digits: 1)
    if let latencies { writer.member("latencyMs", latencies) }
    if let messagesPerRead { writer.member("messagesPerRead", messagesPerRead, digits: 2) }
  }

  private func writeProcesses(_ writer: inout JSONWriter) {
    func perEach(_ seconds: Double, _ count: Int) -> Double? { count > 0 ? seconds * 1e6 / Double(count) : nil }
    if let server {
      writer.key("server")
      writer.object { writer in
        writer.member("pid", Int(server.pid))
        writer.member("cpuSeconds", server.cpuSeconds, digits: 2)
        writer.member("cpuMicrosecondsPerDelivery", ifPresent: perEach(server.cpuSeconds, deliveries))
        writer.member("cpuMicrosecondsPerMessage", ifPresent: perEach(server.cpuSeconds, messages))
        writer.member("rssBytesBefore", server.residentBytesBefore)
        writer.member("rssBytes", server.residentBytes)
        writer.member("rssPeakBytes", server.peakBytes)
        writer.member("rssBytesPerConnection", ifPresent: server.residentBytesPerConnection)
      }
    }
    if let generator {
      writer.key("generator")
      writer.object { writer in
        writer.member("cpuSeconds", generator.cpuSeconds, digits: 3)
        writer.member("cpuMicrosecondsPerDelivery", ifPresent: perEach(generator.cpuSeconds, deliveries))
        writer.member("busy", seconds > 0 ? generator.cpuSeconds / seconds : 0, digits: 3)
        if let delay = generator.sendDelay { writer.member("sendDelayMs", delay) }
      }
    }
  }

  private func write(_ statuses: Statuses, _ writer: inout JSONWriter) {
    writer.key("statuses")
    writer.object { writer in
      writer.member("Delivered", statuses.tally.delivered)
      writer.member("Stored", statuses.tally.stored)
      writer.member("Queued", statuses.tally.queued)
      writer.member("Dropped", statuses.tally.dropped)
      writer.member("droppedLater", statuses.tally.droppedLater)
      writer.member("errors", statuses.tally.errors)
      writer.member("unanswered", statuses.tally.unanswered)
    }
    writer.key("errors")
    writer.object { writer in
      for (error, count) in statuses.errors.sorted(by: { $0.key < $1.key }) {
        writer.key(named: error)
        writer.value(count)
      }
    }
  }

  private func write(_ increments: Increments, _ writer: inout JSONWriter) {
    writer.key("increments")
    writer.object { writer in
      writer.member("answered", increments.answered)
      writer.member("perSecond", increments.perSecond, digits: 1)
      writer.member("p50", ifPresent: increments.latencies?.p50)
      writer.member("p99", ifPresent: increments.latencies?.p99)
      writer.member("max", ifPresent: increments.latencies?.max)
      writer.key("errors")
      writer.object { writer in
        for (error, count) in increments.errors.sorted(by: { $0.key < $1.key }) {
          writer.key(named: error)
          writer.value(count)
        }
      }
    }
  }

  private func write(_ statuses: StatusEvents, _ writer: inout JSONWriter) {
    writer.key("statusEvents")
    writer.object { writer in
      writer.member("events", statuses.events)
      writer.member("rows", statuses.rows)
      writer.member("eventsPerSecond", statuses.eventsPerSecond, digits: 1)
      writer.member("rowsPerSecond", statuses.rowsPerSecond, digits: 1)
    }
  }

  private func write(_ compression: Compression, _ writer: inout JSONWriter) {
    writer.key("compression")
    writer.object { writer in
      writer.member("deliveries", compression.deliveries)
      writer.member("share", compression.share, digits: 4)
      writer.member("messageBytesPerDelivery", compression.messageBytesPerDelivery, digits: 2)
      writer.member("wireBytesPerDelivery", compression.wireBytesPerDelivery, digits: 2)
      writer.member("compared", compression.compared)
    }
  }

  private func write(_ established: Established, _ writer: inout JSONWriter) {
    writer.key("established")
    writer.object { writer in
      writer.member("connections", established.connections)
      writer.member("messagesPerSecond", established.rate, digits: 1)
      if let before = established.before { writer.member("beforeMs", before) }
      if let during = established.during { writer.member("duringMs", during) }
      writer.member("errors", established.errors)
    }
  }

  private func writePriorities(_ writer: inout JSONWriter) {
    writer.key("priorities")
    writer.object { writer in
      for priority in priorities {
        writer.key(named: priority.name)
        writer.object { writer in
          writer.member("rate", priority.rate, digits: 1)
          writer.member("sent", priority.tally.sent)
          writer.member("delivered", priority.tally.delivered)
          writer.member("queued", priority.tally.queued)
          writer.member("dropped", priority.tally.dropped)
          writer.member("onMessageDropped", priority.tally.droppedLater)
          writer.member("errors", priority.tally.errors)
          writer.member("deliveries", priority.deliveries)
          writer.member("p50", ifPresent: priority.latencies?.p50)
          writer.member("p99", ifPresent: priority.latencies?.p99)
        }
      }
    }
  }
}

extension JSONWriter {
  /// A number with at most six decimals.
  fileprivate mutating func number(_ number: Double) { raw(NumberFormat.text(number, digits: 6)) }

  fileprivate mutating func member(_ name: StaticString, _ number: Double, digits: Int) {
    key(name)
    raw(NumberFormat.text(number, digits: digits))
  }

  fileprivate mutating func member(_ name: StaticString, ifPresent number: Double?) {
    if let number { member(name, number, digits: 4) }
  }

  fileprivate mutating func member(_ name: StaticString, _ connecting: Report.Connecting) {
    key(name)
    object { writer in
      writer.member("connections", connecting.connections)
      writer.member("connectionsPerSecond", connecting.perSecond, digits: 1)
      writer.member("seconds", connecting.seconds, digits: 3)
      writer.member("toldToWait", connecting.toldToWait)
    }
  }

  fileprivate mutating func member(_ name: StaticString, _ latencies: Report.Latencies) {
    key(name)
    object { writer in
      writer.member("p50", latencies.p50, digits: 4)
      writer.member("p90", latencies.p90, digits: 4)
      writer.member("p99", latencies.p99, digits: 4)
      writer.member("p99.9", latencies.p999, digits: 4)
      writer.member("max", latencies.max, digits: 4)
      writer.member("mean", latencies.mean, digits: 4)
      writer.member("count", latencies.count)
    }
  }
}
