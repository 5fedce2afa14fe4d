extension Report {
  /// The report for people, several lines.
  public var table: String {
    var blocks: [[String]] = [[heading]]
    if let connecting { blocks.append(lines(connecting, "connecting")) }
    if let storm { blocks.append(lines(storm, "all back")) }
    if let established { blocks.append(lines(established)) }
    if let lost {
      blocks.append(traffic(lost))
      if let latencies { blocks.append(lines(latencies)) }
    }
    if let statuses { blocks.append(lines(statuses)) }
    if !priorities.isEmpty { blocks.append(priorityLines) }
    if server != nil || generator != nil { blocks.append(processes) }
    if !verdicts.isEmpty { blocks.append(verdictLines) }
    let remarks = notes.map { "note: \($0)" } + failures.map { "failed: \($0)" }
    if !remarks.isEmpty { blocks.append(remarks) }
    return blocks.map { $0.joined(separator: "\n") + "\n" }.joined(separator: "\n")
  }

  private var heading: String {
    let parts = parameters.map { parameter in
      switch parameter.value {
      case .text(let text): "\(parameter.name) \(text)"
      case .integer(let number): "\(parameter.name) \(Decimals.grouped(number))"
      case .number(let number): "\(parameter.name) \(Decimals.text(number, digits: 3))"
      }
    }
    return "\(scenario): " + parts.joined(separator: ", ")
  }

  private func traffic(_ lost: Int) -> [String] {
    var table = TextTable(["", "total", "per second"])
    table.add(["messages", Decimals.grouped(messages), Decimals.short(messagesPerSecond)])
    table.add(["deliveries", Decimals.grouped(deliveries), Decimals.short(deliveriesPerSecond)])
    // A priority's row tells what became of its messages, so that its deliveries are of another kind than those above.
    if !priorities.isEmpty {
      table.add(["deliveries of these messages", Decimals.grouped(priorities.reduce(0) { $0 + $1.deliveries })])
    }
    table.add(["lost", Decimals.grouped(lost)])
    if surplus > 0 { table.add(["surplus", Decimals.grouped(surplus)]) }
    return table.lines
  }

  private func lines(_ latencies: Latencies) -> [String] {
    lines([("\(latencyName), ms", latencies), ("sent late by, ms", generator?.sendDelay)])
  }

  private func lines(_ latencies: [(name: String, figures: Latencies?)]) -> [String] {
    var table = TextTable(["", "p50", "p90", "p99", "p99.9", "max", "mean"])
    for case (let name, let figures?) in latencies {
      let values = [figures.p50, figures.p90, figures.p99, figures.p999, figures.max, figures.mean]
      table.add([name] + values.map(Decimals.short))
    }
    return table.lines
  }

  private func lines(_ established: Established) -> [String] {
    let name = "\(Decimals.grouped(established.connections)) established"
    let latencies = lines([
      ("\(name), before, ms", established.before), ("\(name), during, ms", established.during),
      ("sent late by, ms", generator?.sendDelay),
    ])
    return latencies + ["errors of theirs: \(Decimals.grouped(established.errors))"]
  }

  private func lines(_ statuses: Statuses) -> [String] {
    let tally = statuses.tally
    var table = TextTable(["answered", "Delivered", "Stored", "Queued", "Dropped", "dropped later", "error", "nothing"])
    let counts = [
      tally.delivered, tally.stored, tally.queued, tally.dropped, tally.droppedLater, tally.errors, tally.unanswered,
    ]
    table.add(["messages"] + counts.map(Decimals.grouped))
    let shown = statuses.errors.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(5)
    return table.lines + shown.map { "  error \($0.key): \(Decimals.grouped($0.value)) times" }
  }

  private var priorityLines: [String] {
    var table = TextTable([
      "priority", "per second", "sent", "Delivered", "Queued", "Dropped", "dropped later", "error", "their deliveries",
      "p50 ms", "p99 ms",
    ])
    for priority in priorities {
      let tally = priority.tally
      let counts = [
        tally.sent, tally.delivered, tally.queued, tally.dropped, tally.droppedLater, tally.errors, priority.deliveries,
      ]
      let latencies = [priority.latencies?.p50, priority.latencies?.p99].map { $0.map(Decimals.short) ?? "-" }
      table.add([priority.name, Decimals.text(priority.rate, digits: 1)] + counts.map(Decimals.grouped) + latencies)
    }
    return table.lines
  }

  private var processes: [String] {
    let perEach = lost == nil ? [] : ["µs/delivery", "µs/message"]
    var table = TextTable(["", "CPU s", "of a core"] + perEach + ["RSS before", "RSS", "RSS peak", "RSS/connection"])
    if let server {
      let memory = [server.residentBytesBefore, server.residentBytes, server.peakBytes].map { Decimals.bytes(Double($0)) }
      table.add(
        ["server"] + cpuCells(server.cpuSeconds) + memory + [server.residentBytesPerConnection.map(Decimals.bytes) ?? "-"])
    }
    if let generator { table.add(["generator"] + cpuCells(generator.cpuSeconds)) }
    return table.lines
  }

  private func cpuCells(_ cpu: Double) -> [String] {
    func perEach(_ count: Int) -> String { count > 0 ? Decimals.short(cpu * 1e6 / Double(count)) : "-" }
    let share = seconds > 0 ? Decimals.fixed(100 * cpu / seconds, digits: 0) + " %" : "-"
    return [Decimals.fixed(cpu, digits: 2), share] + (lost == nil ? [] : [perEach(deliveries), perEach(messages)])
  }

  private func lines(_ figures: Connecting, _ name: String) -> [String] {
    var table = TextTable(["", "connections", "seconds", "per second", "told to wait"])
    table.add([
      name, Decimals.grouped(figures.connections), Decimals.fixed(figures.seconds, digits: 3), Decimals.short(figures.perSecond),
      Decimals.grouped(figures.toldToWait),
    ])
    return table.lines
  }

  private var verdictLines: [String] {
    var table = TextTable(["condition", "value", ""])
    for verdict in verdicts {
      let value = verdict.value.map {
        verdict.unit.isEmpty ? Decimals.text($0, digits: 1) : Decimals.short($0) + " " + verdict.unit
      }
      table.add([verdict.condition, value ?? "none", verdict.isMet ? "met" : "NOT MET"])
    }
    return table.lines
  }
}
