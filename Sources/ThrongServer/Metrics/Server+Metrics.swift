import CoreMetrics
import Gateway
import GroupModel
import GroupRuntime
import Logging
import SQLiteStore
import WebSocketTransport
import Webhooks
import WireProtocol

extension Server {
  /// Registers the metrics that are read at each scrape.
  func collectMetrics() {
    for one in MetricDescription.all {
      metrics.describe(one.name, help: one.help, type: one.kind == .counter ? .counter : .histogram)
    }
    metrics.describe(WebhookMetrics.total.name, help: WebhookMetrics.total.help, type: .counter)
    metrics.describe(WebhookMetrics.duration.name, help: WebhookMetrics.duration.help, type: .histogram)
    if let outbox = webhooks?.outbox {
      metrics.collect(WebhookMetrics.pending.name, help: WebhookMetrics.pending.help, type: .gauge) {
        [(labels: [], value: Double(outbox.pendingCount))]
      }
    }
    ProcessMetrics.collect(in: metrics)
    metrics.collect("throng_sessions", help: "Signed-in sessions.", type: .gauge) { [services] in
      [(labels: [], value: Double(services.sessionCount))]
    }
    metrics.collect("throng_groups", help: "Groups by type.", type: .gauge) { [store, logger] in
      do throws(StoreError) {
        let counts = try await store.groupCounts()
        return GroupType.allCases.map { (labels: [("groupType", $0.rawValue)], value: Double(counts[$0] ?? 0)) }
      } catch {
        logger.error("groups cannot be counted", metadata: ["error": "\(error)"])
        return []
      }
    }
    collectStore()
    if transport.certificateExpiry != nil {
      metrics.collect(
        "throng_tls_certificate_expiry_timestamp_seconds",
        help: "When the first certificate of the chain expires, in Unix seconds.", type: .gauge
      ) { [transport] in transport.certificateExpiry.map { [(labels: [], value: Double($0))] } ?? [] }
    }
    collectTransport("throng_connections", "Open WebSocket connections.", .gauge) { [([], Double($0.connections))] }
    collectTransport("throng_fanout_deliveries_total", "Frames handed to the system, times recipients.", .counter) {
      [([], Double($0.deliveries))]
    }
    collectTransport("throng_fanout_skipped_total", "Live chat that slow connections did not get.", .counter) {
      [([], Double($0.skippedEntries))]
    }
    collectCompression()
    collectTransport("throng_connections_closed_total", "Closed connections by close code.", .counter) {
      CloseCounts.byLabel($0.closes)
    }
  }

  private func collectCompression() {
    collectTransport("throng_compression_streams", "Groups that are compressed now, counted on each loop.", .gauge) {
      [([], Double($0.streams))]
    }
    collectTransport("throng_compression_followers", "Connections that get compressed events now.", .gauge) {
      [([], Double($0.followers))]
    }
    collectTransport("throng_compression_epochs_total", "How often a compressor has begun anew.", .counter) {
      [([], Double($0.epochs))]
    }
    collectTransport(
      "throng_compression_bytes_total", "Bytes of events that left compressed, before and after.", .counter
    ) { [([("stage", "before")], Double($0.uncompressedBytes)), ([("stage", "after")], Double($0.compressedBytes))] }
  }

  private func collectStore() {
    metrics.collect("throng_store_bytes", help: "Bytes of the database and its log on the disk.", type: .gauge) { [store] in
      [(labels: [], value: Double(store.fileBytes))]
    }
    metrics.collect("throng_messages_removed_total", help: "Messages that retention has removed.", type: .counter) { [store] in
      [(labels: [], value: Double(store.writerHolds.removedMessages))]
    }
    metrics.collect(
      "throng_store_longest_hold_seconds",
      help: "The longest time since the start for which background work has held the store's writer, by task.", type: .gauge
    ) { [store] in
      store.writerHolds.longest.sorted { $0.key < $1.key }.map { (labels: [("task", $0.key)], value: $0.value / .seconds(1)) }
    }
  }

  private func collectTransport(
    _ name: String, _ help: String, _ type: ScrapedType,
    _ read: @escaping @Sendable (TransportCounters) -> [(labels: [(String, String)], value: Double)]
  ) {
    metrics.collect(name, help: help, type: type) { [transport] in
      var sum = TransportCounters()
      for loop in transport.loops {
        sum =
          sum
          + (await withCheckedContinuation { continuation in
            loop.perform { continuation.resume(returning: loop.counters()) }
          })
      }
      return read(sum)
    }
  }
}

/// Closed connections by code. Clients may send any code from 3000 to 4999, so unknown codes share
/// a label.
enum CloseCounts {
  /// The codes of RFC 6455.
  private static let standard = 1000...1015

  /// A row for each code of the standard or of Throng's, by code, and a last row `other` for all
  /// others.
  static func byLabel(_ closes: [Int: Int]) -> [(labels: [(String, String)], value: Double)] {
    let known = closes.filter { standard.contains($0.key) || CloseCode(rawValue: $0.key) != nil }
    let others = closes.values.reduce(0, +) - known.values.reduce(0, +)
    let rows = known.sorted { $0.key < $1.key }.map { (code: String($0.key), count: $0.value) }
    return (others > 0 ? rows + [(code: "other", count: others)] : rows).map {
      (labels: [("code", $0.code)], value: Double($0.count))
    }
  }
}
