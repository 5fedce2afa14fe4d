extension Report {
  /// The report as aligned lines.
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
    if let increments { blocks.append(lines(increments)) }
    if let statusEvents { blocks.append(lines(statusEvents)) }
    if let compression { blocks.append(lines(compression)) }
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
      case .integer(let number): "\(parameter.name) \(NumberFormat.grouped(number))"
      case .number(let number): "\(parameter.name) \(NumberFormat.text(number, digits: 3))"
      }
    }
    return "\(scenario): " + parts.joined(separator: ", ")
  }

  private func traffic(_ lost: Int) -> [String] {
    var table = TextTable(["", "total", "per second"])
    table.add(["messages", NumberFormat.grouped(messages), NumberFormat.short(messagesPerSecond)])
    table.add(["deliveries", NumberFormat.grouped(deliveries), NumberFormat.short(deliveriesPerSecond)])
    // A priority's row counts the deliveries of the window's messages, whenever they arrived.
    if !priorities.isEmpty {
      table.add(["deliveries of these messages", NumberFormat.grouped(priorities.reduce(0) { $0 + $1.deliveries })])
    }
    table.add(["lost", NumberFormat.grouped(lost)])
    if surplus > 0 { table.add(["surplus", NumberFormat.grouped(surplus)]) }
    return table.lines
  }

  private func lines(_ latencies: Latencies) -> [String] {
    lines([("\(latencyName), ms", latencies), ("sent late by, ms", generator?.sendDelay)])
  }

  private func lines(_ latencies: [(name: String, figures: Latencies?)]) -> [String] {
    var table = TextTable(["", "p50", "p90", "p99", "p99.9", "max", "mean"])
    for case (let name, let figures?) in latencies {
      let values = [figures.p50, figures.p90, figures.p99, figures.p999, figures.max, figures.mean]
      table.add([name] + values.map(NumberFormat.short))
    }
    return table.lines
  }

  private func lines(_ established: Established) -> [String] {
    let name = "\(NumberFormat.grouped(established.connections)) established"
    let latencies = lines([
      ("\(name), before, ms", established.before), ("\(name), during, ms", established.during),
      ("sent late by, ms", generator?.sendDelay),
    ])
    return latencies + ["errors of theirs: \(NumberFormat.grouped(established.errors))"]
  }

  private func lines(_ increments: Increments) -> [String] {
    var table = TextTable(["", "answered", "per second", "p50 ms", "p99 ms", "max ms"])
    let latencies = [increments.latencies?.p50, increments.latencies?.p99, increments.latencies?.max]
    table.add(
      [incrementsName, NumberFormat.grouped(increments.answered), NumberFormat.short(increments.perSecond)]
        + latencies.map { $0.map(NumberFormat.short) ?? "-" })
    let shown = increments.errors.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(5)
    return table.lines + shown.map { "  error \($0.key): \(NumberFormat.grouped($0.value)) times" }
  }

  private func lines(_ statuses: StatusEvents) -> [String] {
    var table = TextTable(["", "total", "per second"])
    table.add(["status events", NumberFormat.grouped(statuses.events), NumberFormat.short(statuses.eventsPerSecond)])
    table.add(["statuses in them", NumberFormat.grouped(statuses.rows), NumberFormat.short(statuses.rowsPerSecond)])
    return table.lines
  }

  private func lines(_ compression: Compression) -> [String] {
    var table = TextTable(["", "deliveries", "compressed", "bytes, inflated", "bytes received", "compared"])
    table.add([
      "compression", NumberFormat.grouped(compression.deliveries), NumberFormat.fixed(100 * compression.share, digits: 1) + " %",
      NumberFormat.fixed(compression.messageBytesPerDelivery, digits: 1) + " each",
      NumberFormat.fixed(compression.wireBytesPerDelivery, digits: 1) + " each", NumberFormat.grouped(compression.compared),
    ])
    return table.lines
  }

  private func lines(_ statuses: Statuses) -> [String] {
    let tally = statuses.tally
    var table = TextTable(["answered", "Delivered", "Stored", "Queued", "Dropped", "dropped later", "error", "nothing"])
    let counts = [
      tally.delivered, tally.stored, tally.queued, tally.dropped, tally.droppedLater, tally.errors, tally.unanswered,
    ]
    table.add(["messages"] + counts.map(NumberFormat.grouped))
    let shown = statuses.errors.sorted { ($0.value, $1.key) > ($1.value, $0.key) }.prefix(5)
    return table.lines + shown.map { "  error \($0.key): \(NumberFormat.grouped($0.value)) times" }
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
      let latencies = [priority.latencies?.p50, priority.latencies?.p99].map { $0.map(NumberFormat.short) ?? "-" }
      table.add([priority.name, NumberFormat.text(priority.rate, digits: 1)] + counts.map(NumberFormat.grouped) + latencies)
    }
    return table.lines
  }

  private var processes: [String] {
    let perEach = lost == nil ? [] : ["µs/delivery", "µs/message"]
    var table = TextTable(["", "CPU s", "of a core"] + perEach + ["RSS before", "RSS", "RSS peak", "RSS/connection"])
    if let server {
      let memory = [server.residentBytesBefore, server.residentBytes, server.peakBytes].map { NumberFormat.bytes(Double($0)) }
      table.add(
        ["server"] + cpuCells(server.cpuSeconds) + memory + [server.residentBytesPerConnection.map(NumberFormat.bytes) ?? "-"])
    }
    if let generator { table.add(["generator"] + cpuCells(generator.cpuSeconds)) }
    return table.lines
  }

  private func cpuCells(_ cpu: Double) -> [String] {
    func perEach(_ count: Int) -> String { count > 0 ? NumberFormat.short(cpu * 1e6 / Double(count)) : "-" }
    let share = seconds > 0 ? NumberFormat.fixed(100 * cpu / seconds, digits: 0) + " %" : "-"
    return [NumberFormat.fixed(cpu, digits: 2), share] + (lost == nil ? [] : [perEach(deliveries), perEach(messages)])
  }

  private func lines(_ figures: Connecting, _ name: String) -> [String] {
    var table = TextTable(["", "connections", "seconds", "per second", "told to wait"])
    table.add([
      name, NumberFormat.grouped(figures.connections), NumberFormat.fixed(figures.seconds, digits: 3),
      NumberFormat.short(figures.perSecond),
      NumberFormat.grouped(figures.toldToWait),
    ])
    return table.lines
  }

  private var verdictLines: [String] {
    var table = TextTable(["condition", "value", ""])
    for verdict in verdicts {
      let value = verdict.value.map {
        verdict.unit.isEmpty ? NumberFormat.text($0, digits: 1) : NumberFormat.short($0) + " " + verdict.unit
      }
      table.add([verdict.condition, value ?? "none", verdict.isMet ? "met" : "NOT MET"])
    }
    return table.lines
  }
}

/// Rows of texts in columns, the first aligned left, the others right.
private struct TextTable {
  private var rows: [[String]]

  /// A table with these headings; the first is above the rows' names.
  init(_ headings: [String]) { rows = [headings] }

  mutating func add(_ cells: [String]) { rows.append(cells) }

  /// The lines, without blanks at their ends.
  var lines: [String] {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let blanks = String(repeating: " ", count: widths[column] - cell.count)
        line += column == 0 ? cell + blanks : "   " + blanks + cell
      }
      while line.hasSuffix(" ") { line.removeLast() }
      return line
    }
  }
}
