import Foundation

/// The live rates of a server, as `throng top` shows them.
struct TopReport {
  private let difference: MetricsDifference
  private let address: String

  init(_ difference: MetricsDifference, address: String) {
    self.difference = difference
    self.address = address
  }

  private static let sends: Set<String> = ["sendGroupTextMessage", "sendGroupCustomMessage"]

  private var now: MetricsSnapshot { difference.now }

  private var p99OfSends: Double? {
    difference.quantile(0.99, "throng_request_duration_seconds") { TopReport.sends.contains($0["method"] ?? "") }
  }

  // MARK: A screen

  /// The lines of a screen, none of them longer than `width`.
  func screen(width: Int, height: Int) -> [String] {
    var lines = [heading, ""]
    lines += rows.map { "\($0.name.padding(toLength: 15, withPad: " ", startingAt: 0))\($0.text)" }
    lines += [""] + methods
    return lines.prefix(max(1, height)).map { String($0.prefix(max(1, width))) }
  }

  private var heading: String {
    let version = now.all("throng_build_info").first?.labels["version"] ?? ""
    let state = areReady ? "ready" : "NOT READY"
    let nodes = now.instances.count > 1 ? "  \(now.instances.count) nodes" : ""
    return "throng \(version)  \(address)\(nodes)  \(state)  up \(TopReport.time(uptime))"
  }

  /// The time since the oldest process began to serve.
  private var uptime: Double {
    now.all("throng_start_time_seconds").map(\.value).min().map { max(0, Date().timeIntervalSince1970 - $0) } ?? 0
  }

  private var areReady: Bool {
    let values = now.all("throng_ready").map(\.value)
    return !values.isEmpty && values.allSatisfy { $0 == 1 }
  }

  private var rows: [(name: String, text: String)] {
    [
      (
        "connections",
        "\(count("throng_connections"))   sessions \(count("throng_sessions"))   groups \(groups.map(TopReport.grouped) ?? "-")"
      ),
      ("requests", "\(rate("throng_requests_total"))   errors \(codes)"),
      (
        "messages",
        "accepted \(rate("throng_messages_accepted_total"))   delivered \(rate("throng_messages_delivered_total"))"
          + "   dropped \(priorities)   waiting \(count("throng_messages_waiting"))"
      ),
      (
        "fan-out",
        "\(rate("throng_fanout_deliveries_total"))   skipped \(rate("throng_fanout_skipped_total"))"
          + "   flush \(number(difference.mean("throng_flush_deliveries")))"
      ),
      ("p99 of sends", TopReport.duration(p99OfSends)),
      ("p99 of lag", TopReport.duration(difference.quantile(0.99, "throng_loop_lag_seconds"))),
      (
        "commits",
        "p99 \(TopReport.duration(difference.quantile(0.99, "throng_store_commit_duration_seconds")))"
          + "   batch \(number(difference.mean("throng_store_commit_batch_size")))"
          + "   waiting \(count("throng_store_pending_commits"))   failed \(rate("throng_store_commits_failed_total"))"
      ),
      (
        "send queues",
        "\(bytes("throng_send_queue_bytes")) for \(count("throng_send_queue_connections")) connections"
          + "   largest \(bytes("throng_send_queue_largest_bytes"))"
      ),
      ("webhooks", "pending \(count("throng_webhooks_pending"))   \(rate("throng_webhooks_total"))"),
      ("deletions", "users \(count("throng_user_deletions"))   erased \(rate("throng_user_deletion_rows_total"))"),
      (
        "refused",
        "sign-ins \(rate("throng_sign_ins_refused_total"))   upgrades \(rate("throng_upgrades_refused_total"))"
          + "   HTTP \(rate("throng_http_refused_total"))"
      ),
      (
        "process",
        "CPU \(Int((difference.rate("process_cpu_seconds_total") * 100).rounded())) %"
          + "   memory \(bytes("process_resident_memory_bytes"))"
          + "   files \(count("process_open_fds")) of \(count("process_max_fds"))"
      ),
    ]
  }

  private var codes: String {
    let rates = difference.rates("throng_requests_total", by: "code").filter { $0.key != "0" }
    return TopReport.listed(rates)
  }

  private var priorities: String { TopReport.listed(difference.rates("throng_messages_dropped_total", by: "priority")) }

  /// The busiest methods.
  private var methods: [String] {
    let rates = difference.rates("throng_requests_total", by: "method").sorted { ($1.value, $0.key) < ($0.value, $1.key) }
    guard !rates.isEmpty else { return [] }
    return ["method                          a second        p99"]
      + rates.prefix(10).map { method, rate in
        let p99 = difference.quantile(0.99, "throng_request_duration_seconds") { $0["method"] == method }
        return method.padding(toLength: 30, withPad: " ", startingAt: 0) + TopReport.right(TopReport.perSecond(rate), 12)
          + TopReport.right(TopReport.duration(p99), 11)
      }
  }

  // MARK: A line

  /// One line of names and numbers, for programs and logs.
  var line: String {
    func milliseconds(_ seconds: Double?) -> String { seconds.map { TopReport.decimal($0 * 1000) } ?? "-" }
    let fields: [(String, String)] = [
      ("ready", areReady ? "1" : "0"), ("connections", count("throng_connections", separated: false)),
      ("sessions", count("throng_sessions", separated: false)), ("groups", groups.map { "\($0)" } ?? "-"),
      ("requests", plainRate("throng_requests_total")),
      ("accepted", plainRate("throng_messages_accepted_total")), ("delivered", plainRate("throng_messages_delivered_total")),
      ("dropped", plainRate("throng_messages_dropped_total")), ("deliveries", plainRate("throng_fanout_deliveries_total")),
      ("sendP99Ms", milliseconds(p99OfSends)),
      ("lagP99Ms", milliseconds(difference.quantile(0.99, "throng_loop_lag_seconds"))),
      ("commitP99Ms", milliseconds(difference.quantile(0.99, "throng_store_commit_duration_seconds"))),
      ("sendQueueBytes", count("throng_send_queue_bytes", separated: false)),
      ("webhooksPending", count("throng_webhooks_pending", separated: false)),
      ("cpu", TopReport.decimal(difference.rate("process_cpu_seconds_total"))),
      ("memoryBytes", count("process_resident_memory_bytes", separated: false)),
    ]
    return fields.map { "\($0.0)=\($0.1)" }.joined(separator: " ")
  }

  /// The groups of all types; nil where no sample tells. Each node counts those of the common store at
  /// its own moment: of a type the largest count stands.
  private var groups: Int? {
    let samples = now.all("throng_groups")
    guard !samples.isEmpty else { return nil }
    var byType: [String: Double] = [:]
    for sample in samples {
      let type = sample.labels["group_type"] ?? sample.labels["groupType"] ?? ""
      byType[type] = max(byType[type] ?? 0, sample.value)
    }
    return Int(byType.values.reduce(0, +))
  }

  // MARK: Texts

  private func plainRate(_ name: String) -> String { TopReport.decimal(difference.rate(name)) }

  private func rate(_ name: String) -> String { TopReport.perSecond(difference.rate(name)) }

  private func count(_ name: String, separated: Bool = true) -> String {
    guard let value = now.sum(name) else { return "-" }
    return separated ? TopReport.grouped(Int(value)) : "\(Int(value))"
  }

  private func bytes(_ name: String) -> String { now.sum(name).map(TopReport.bytes) ?? "-" }

  private func number(_ value: Double?) -> String { value.map(TopReport.decimal) ?? "-" }

  private static func listed(_ rates: [String: Double]) -> String {
    let total = perSecond(rates.values.reduce(0, +))
    guard !rates.isEmpty else { return total }
    let parts = rates.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(4)
    return total + " (" + parts.map { "\($0.key): \(decimal($0.value))" }.joined(separator: ", ") + ")"
  }

  static func perSecond(_ rate: Double) -> String { "\(rate < 100 ? decimal(rate) : grouped(Int(rate.rounded())))/s" }

  /// At most one place behind the point.
  static func decimal(_ value: Double) -> String {
    let tenths = (value * 10).rounded() / 10
    return tenths == tenths.rounded() ? "\(Int(tenths))" : "\(tenths)"
  }

  static func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in "\(abs(number))".reversed().enumerated() {
      if index > 0, index % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return (number < 0 ? "-" : "") + String(text.reversed())
  }

  static func bytes(_ count: Double) -> String {
    for (unit, size) in [("GiB", Double(1 << 30)), ("MiB", Double(1 << 20)), ("KiB", Double(1 << 10))] where count >= size {
      return "\(decimal(count / size)) \(unit)"
    }
    return "\(Int(count)) B"
  }

  static func duration(_ seconds: Double?) -> String {
    guard let seconds else { return "-" }
    return seconds < 1 ? "\(decimal(seconds * 1000)) ms" : "\(decimal(seconds)) s"
  }

  static func time(_ seconds: Double) -> String {
    let minutes = Int(seconds) / 60
    if minutes < 1 { return "\(Int(seconds)) s" }
    if minutes < 60 { return "\(minutes) min" }
    return minutes < 48 * 60 ? "\(minutes / 60) h \(minutes % 60) min" : "\(minutes / 1440) d"
  }

  private static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(1, width - text.count)) + text
  }
}
