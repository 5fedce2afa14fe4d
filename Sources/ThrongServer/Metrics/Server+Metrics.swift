import CoreMetrics
import Gateway
import GroupModel
import GroupRuntime
import Logging
import PostgreSQLStore
import SQLiteStore
import StoreEngine
import WebSocketTransport
import Webhooks
import WireProtocol

extension Server {
  /// Registers the metrics that are read at each scrape.
  func collectMetrics() {
    for one in MetricDescription.all {
      metrics.describe(one.name, help: one.help, type: MetricType(one.kind))
    }
    metrics.describe(WebhookMetrics.total.name, help: WebhookMetrics.total.help, type: .counter)
    metrics.describe(WebhookMetrics.duration.name, help: WebhookMetrics.duration.help, type: .histogram)
    if let outbox = webhooks?.outbox {
      metrics.collect(WebhookMetrics.pending.name, help: WebhookMetrics.pending.help, type: .gauge) {
        [(labels: [], value: Double(outbox.pendingCount))]
      }
    }
    ProcessMetrics.collect(in: metrics)
    // A shell that has become the server by exec started the process earlier.
    let startSeconds = Double(clocks.wall.milliseconds) / 1000
    metrics.collect(
      "throng_start_time_seconds", help: "When the server began to serve, in Unix seconds.", type: .gauge
    ) { [(labels: [], value: startSeconds)] }
    metrics.collect("throng_sessions", help: "Sessions, those that are signing in included.", type: .gauge) { [directory] in
      [(labels: [], value: Double(directory.sessionCount))]
    }
    metrics.collect("throng_groups", help: "Groups by type.", type: .gauge) { [store, logger] in
      do throws(StoreError) {
        let counts = try await store.groupCounts()
        return GroupType.allCases.map { (labels: $0.metricLabels, value: Double(counts[$0] ?? 0)) }
      } catch {
        logger.error("groups cannot be counted", metadata: ["error": "\(error)"])
        return []
      }
    }
    metrics.collect("throng_reports_open", help: "Reports of messages that nobody has closed.", type: .gauge) {
      [store, logger] in
      do throws(StoreError) {
        return [(labels: [], value: Double(try await store.openReports()))]
      } catch {
        logger.error("open reports cannot be counted", metadata: ["error": "\(error)"])
        return []
      }
    }
    metrics.collect("throng_ready", help: "Whether /readyz answers 200.", type: .gauge) { [readiness] in
      [(labels: [], value: readiness.obstacle == nil ? 1 : 0)]
    }
    collectCommits()
    collectSQLite()
    collectRetention()
    collectRecentMessages()
    collectStatuses()
    collectWords()
    collectDeletions()
    collectTables()
    collectKeySet()
    collectSpans()
    collectCluster()
    if let node {
      collectLinks(node)
      node.onMetrics { [metrics] in await metrics.renderAll() }
    }
    if transport.certificateExpiry != nil {
      metrics.collect(
        "throng_tls_certificate_expiry_timestamp_seconds",
        help: "When the first certificate of the chain expires, in Unix seconds.", type: .gauge
      ) { [transport] in transport.certificateExpiry.map { [(labels: [], value: Double($0))] } ?? [] }
    }
    collectTransport("throng_connections", "Open connections: WebSockets and event streams.", .gauge) {
      [([], Double($0.connections))]
    }
    collectTransport("throng_event_streams", "Open connections that are event streams.", .gauge) {
      [([], Double($0.eventStreams))]
    }
    collectTransport(
      "throng_connections_waiting", "Connections that have not sent their request, or TLS ClientHello, yet.", .gauge
    ) { [([], Double($0.waitingConnections))] }
    collectTransport("throng_fanout_deliveries_total", "Frames handed to the system, times recipients.", .counter) {
      [([], Double($0.deliveries))]
    }
    collectTransport("throng_fanout_skipped_total", "Live chat that slow connections did not get.", .counter) {
      [([], Double($0.skippedEntries))]
    }
    collectCompression()
    collectLoops()
    collectSendQueues()
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
    // The second is the name that 0.1.0 gave: it goes with 0.3.0 (Releases.md).
    for name in ["throng_compression_resets_total", "throng_compression_epochs_total"] {
      collectTransport(name, "How often a compressor has begun anew.", .counter) { [([], Double($0.resets))] }
    }
    collectTransport(
      "throng_compression_bytes_total", "Bytes of events that left compressed, before and after.", .counter
    ) { [([("stage", "before")], Double($0.uncompressedBytes)), ([("stage", "after")], Double($0.compressedBytes))] }
  }

  private func collectLoops() {
    func collectTimes(_ name: String, _ help: String, _ times: @escaping @Sendable (TransportCounters) -> BucketCounts) {
      metrics.collectHistogram(name, help: help, bounds: BucketCounts.lagBounds) { [transport] in
        var rows: [(labels: [(String, String)], reading: HistogramReading)] = []
        for loop in transport.loops {
          let counts = times(await loop.currentCounters())
          rows.append(([("loop", "\(loop.index)")], HistogramReading(counts: counts.counts, sum: Double(counts.sum) / 1e6)))
        }
        return rows
      }
    }
    collectTimes("throng_loop_lag_seconds", "How late a timer came that each event loop runs ten times a second, by loop.") {
      $0.lags
    }
    collectTimes(
      "throng_loop_turn_seconds", "How long an event loop was busy between two waits for events, by loop: all else waited."
    ) { $0.turns }
    metrics.collectHistogram(
      "throng_flush_deliveries", help: "Deliveries of one flush: frames times recipients that leave at the end of a loop's turn.",
      bounds: BucketCounts.flushBounds
    ) { [transport] in
      let flushes = await transport.counters().flushes
      return [([], HistogramReading(counts: flushes.counts, sum: Double(flushes.sum)))]
    }
  }

  private func collectSendQueues() {
    let reader = SendQueueReader(transport, clocks: clocks)
    func collect(_ name: String, _ help: String, _ value: @escaping @Sendable (SendQueues) -> Int) {
      metrics.collect(name, help: help, type: .gauge) { [(labels: [], value: Double(value(await reader.read())))] }
    }
    collect("throng_send_queue_bytes", "Bytes that wait to be sent, of all connections.") { $0.bytes }
    collect("throng_send_queue_largest_bytes", "Bytes that wait for the connection with the most.") { $0.largestBytes }
    collect("throng_send_queue_connections", "Connections for which anything waits.") { $0.connections }
  }

  private func collectCommits() {
    let meter = store.commitMeter
    metrics.collectHistogram(
      "throng_store_commit_duration_seconds", help: "From the beginning of a transaction until it is durable, or has failed.",
      bounds: CommitMeter.durationBounds.map { Double($0) / 1e6 }
    ) {
      let counts = meter.counts
      return [([], HistogramReading(counts: counts.durations, sum: Double(counts.nanoseconds) / 1e9))]
    }
    metrics.collectHistogram(
      "throng_store_commit_batch_size", help: "Commits of groups that share a transaction.",
      bounds: CommitMeter.sizeBounds.map(Double.init)
    ) {
      let counts = meter.counts
      return [([], HistogramReading(counts: counts.sizes, sum: Double(counts.commits)))]
    }
    metrics.collect("throng_store_commits_failed_total", help: "Commits that the store has not taken.", type: .counter) {
      [(labels: [], value: Double(meter.counts.failures))]
    }
    metrics.collect("throng_store_pending_commits", help: "Commits that wait for a transaction.", type: .gauge) { [store] in
      [(labels: [], value: Double(store.pendingCommits))]
    }
  }

  private func collectLinks(_ cluster: ClusterNode) {
    metrics.collect(
      "throng_link_gaps_total", help: "How often frames of another node were missing, and it was asked for them.", type: .counter
    ) { [(labels: [], value: Double(cluster.linkCounters.gaps))] }
    metrics.collect(
      "throng_link_resumes_total", help: "How often a link went on behind that, and nothing was missing.", type: .counter
    ) { [(labels: [], value: Double(cluster.linkCounters.resumes))] }
    metrics.collect(
      "throng_link_losses_total", help: "How often a link began again, because what was missing could not be had.", type: .counter
    ) { [(labels: [], value: Double(cluster.linkCounters.losses))] }
    metrics.collect(
      "throng_link_kept_bytes", help: "Bytes of frames that other nodes have not acknowledged.", type: .gauge
    ) { [(labels: [], value: Double(cluster.linkCounters.keptBytes))] }
    collectLinks(
      cluster, "throng_link_frames_total", "Frames between this node and each other one, which hold many messages under load.",
      .counter
    ) { [("sent", Double($0.sentFrames)), ("received", Double($0.receivedFrames))] }
    collectLinks(cluster, "throng_link_bytes_total", "Bytes of these frames.", .counter) {
      [("sent", Double($0.sentBytes)), ("received", Double($0.receivedBytes))]
    }
    metrics.collect(
      "throng_link_entries_total", help: "Entries of these frames, by kind; one for several nodes counts for each of them.",
      type: .counter
    ) { cluster.linkCounters.sentEntries.map { (labels: [("kind", $0.kind)], value: Double($0.count)) } }
    metrics.collect(
      "throng_link_silence_seconds",
      help: "For how long nothing has come from each other node: up to 0.5 as a rule.", type: .gauge
    ) {
      cluster.links.map { node, status in (labels: [("node", String(node))], value: status.silence / .seconds(1)) }
    }
    metrics.collect(
      "throng_link_missing", help: "Nodes of the cluster that this one does not hear, or that do not hear it.", type: .gauge
    ) { [(labels: [], value: Double(cluster.missingNodes.count))] }
    metrics.collect(
      "throng_link_refused_total", help: "Messages on the bus that did not open: no node of this cluster has sealed them.",
      type: .counter
    ) {
      let refused = cluster.linkCounters.refused
      return FrameSeal.Refusal.allCases.map { (labels: [("reason", $0.rawValue)], value: Double(refused[$0] ?? 0)) }
    }
    collectFollows(cluster)
    metrics.collect("throng_cluster_sessions", help: "Sessions of all nodes, as this one knows them.", type: .gauge) {
      [(labels: [], value: Double(cluster.sessionCount))]
    }
  }

  private func collectFollows(_ cluster: ClusterNode) {
    metrics.collect(
      "throng_follow_compared_total",
      help: "Groups of which an owner has said whether something is missing here, by its answer.", type: .counter
    ) { cluster.followCounters.compared.map { (labels: [("result", $0.result)], value: Double($0.count)) } }
    metrics.collect(
      "throng_follow_replayed_total", help: "How often an owner was asked to tell again what was missing of a group.",
      type: .counter
    ) { [(labels: [], value: Double(cluster.followCounters.replays))] }
    metrics.collect("throng_follow_events_total", help: "Events of groups that were told again.", type: .counter) {
      [(labels: [], value: Double(cluster.followCounters.events))]
    }
    metrics.collect(
      "throng_follow_lost_total",
      help: "Groups of which events were missing for good, so that their sessions here were closed, by reason.",
      type: .counter
    ) { cluster.followCounters.lost.map { (labels: [("reason", $0.reason)], value: Double($0.count)) } }
    metrics.collect(
      "throng_cluster_repeated_requests_total",
      help: "Stored sends that were asked again because their owner was lost: answered, or of unknown outcome.", type: .counter
    ) {
      let counts = cluster.repeatedRequests
      return [
        (labels: [("outcome", "answered")], value: Double(counts.answered)),
        (labels: [("outcome", "unknown")], value: Double(counts.unknown)),
      ]
    }
    metrics.collect(
      "throng_follow_unsure", help: "Groups of which it is not known now whether something is missing here.", type: .gauge
    ) { [(labels: [], value: Double(cluster.followCounters.unsettled))] }
  }

  private func collectLinks(
    _ cluster: ClusterNode, _ name: String, _ help: String, _ type: ScrapedType,
    _ read: @escaping @Sendable (LinkStatus) -> [(direction: String, value: Double)]
  ) {
    metrics.collect(name, help: help, type: type) {
      cluster.links.flatMap { node, status in
        read(status).map { (labels: [("node", String(node)), ("direction", $0.direction)], value: $0.value) }
      }
    }
  }

  /// A database server has metrics of its own.
  private func collectSQLite() {
    guard let store = store as? SQLiteStore else { return }
    metrics.collect("throng_store_bytes", help: "Bytes of the database and its log on the disk.", type: .gauge) {
      [(labels: [], value: Double(store.fileBytes))]
    }
    metrics.collect("throng_store_disk_free_bytes", help: "Bytes that may still be written to the database's disk.", type: .gauge)
    {
      store.diskFreeBytes.map { [(labels: [], value: Double($0))] } ?? []
    }
  }

  private func collectRetention() {
    let store = store
    metrics.collect("throng_messages_removed_total", help: "Messages that retention has removed.", type: .counter) {
      [(labels: [], value: Double(store.writerHolds.removedMessages))]
    }
    metrics.collect(
      "throng_store_longest_hold_seconds",
      help: "The longest time since the start for which background work has held the store's writer, by task.", type: .gauge
    ) {
      store.writerHolds.longest.sorted { $0.key < $1.key }.map { (labels: [("task", $0.key)], value: $0.value / .seconds(1)) }
    }
  }

  private func collectDeletions() {
    metrics.collect("throng_user_deletions", help: "Deletions of users that this server works on.", type: .gauge) {
      [deletions] in [(labels: [], value: Double(deletions.runningCount))]
    }
  }

  /// A table that is cleared too late shows here, hours before the memory does.
  private func collectTables() {
    let all = tables + storeTables + webhookTables + [MemoryTable("series") { [metrics] in metrics.seriesCount }]
    metrics.collect(
      "throng_table_entries", help: "Entries of the tables that the process keeps in memory, by table.", type: .gauge
    ) { all.map { (labels: [("table", $0.name)], value: Double($0.count())) } }
  }

  private var storeTables: [MemoryTable] {
    let remembered = (store as? PostgreSQLStore).map { store in MemoryTable("rememberedUsers") { store.rememberedUsers } }
    return [
      MemoryTable("pendingUsers") { [store] in store.pendingUsers },
      MemoryTable("waitingReads") { [store] in store.waitingReads },
      MemoryTable("searches") { [store] in store.openSearches },
      MemoryTable("notedGroups") { [store] in store.notedGroups },
    ] + (remembered.map { [$0] } ?? [])
  }

  private var webhookTables: [MemoryTable] {
    guard let outbox = webhooks?.outbox else { return [] }
    return [
      MemoryTable("webhooks") { outbox.entryCount },
      MemoryTable("webhookLanes") { outbox.laneCount },
      MemoryTable("erasedNames") { outbox.erasedNameCount },
    ]
  }

  private func collectKeySet() {
    guard let keySet else { return }
    metrics.describe(RemoteKeySet.readsName, help: "Readings of auth.jwksURL, by result.", type: .counter)
    metrics.collect(
      "throng_jwks_age_seconds", help: "Since the last good reading of auth.jwksURL; no sample before the first.", type: .gauge
    ) {
      guard let age = keySet.age else { return [] }
      return [(labels: [], value: age / .seconds(1))]
    }
    metrics.collect("throng_jwks_keys", help: "The keys of auth.jwksURL that are in use.", type: .gauge) {
      [(labels: [], value: Double(keySet.keyCount))]
    }
  }

  private func collectSpans() {
    guard let spans else { return }
    metrics.collect("throng_spans_total", help: "Spans by what became of them.", type: .counter) {
      let counts = spans.counts
      return [
        (labels: [("result", "sent")], value: Double(counts.sent)),
        (labels: [("result", "overflowed")], value: Double(counts.overflowed)),
        (labels: [("result", "refused")], value: Double(counts.refused)),
      ]
    }
    metrics.collect("throng_spans_waiting", help: "Spans on their way to the collector.", type: .gauge) {
      [(labels: [], value: Double(spans.counts.waiting))]
    }
  }

  private func collectRecentMessages() {
    guard let recent else { return }
    metrics.collect(
      "throng_recent_messages", help: "Messages that AVChatRooms remember, expired ones among them until others come.",
      type: .gauge
    ) { [(labels: [], value: Double(recent.messageCount))] }
    metrics.collect(
      "throng_recent_message_bytes", help: "About the memory of these messages (avChatRoom.recentBytes).", type: .gauge
    ) { [(labels: [], value: Double(recent.byteCount))] }
  }

  private func collectStatuses() {
    metrics.collect(
      "throng_statuses_watched", help: "Users whose status sessions of this node watch, each once.", type: .gauge
    ) { [statuses] in [(labels: [], value: Double(statuses.watchedCount))] }
    metrics.collect(
      "throng_statuses_lingering",
      help: "Users whose last session has ended within presence.grace, or a few seconds ago.", type: .gauge
    ) { [statuses] in [(labels: [], value: Double(statuses.lingeringCount))] }
  }

  private func collectWords() {
    guard let words else { return }
    metrics.collect("throng_words", help: "The words of the list in use (moderation.wordsFile).", type: .gauge) {
      [(labels: [], value: Double(words.list.count))]
    }
    metrics.collect(
      "throng_words_matched_total", help: "Texts that had one of these words, by what became of them and by parameter.",
      type: .counter
    ) {
      let counts = words.matchCounts
      return CurrentWords.Field.allCases.map { field in
        (
          labels: [("action", words.action.rawValue), ("field", field.rawValue)], value: Double(counts[field] ?? 0)
        )
      }
    }
  }

  private func collectTransport(
    _ name: String, _ help: String, _ type: ScrapedType,
    _ read: @escaping @Sendable (TransportCounters) -> [(labels: [(String, String)], value: Double)]
  ) {
    metrics.collect(name, help: help, type: type) { [transport] in read(await transport.counters()) }
  }
}

extension MetricType {
  fileprivate init(_ kind: MetricDescription.Kind) {
    switch kind {
    case .counter: self = .counter
    case .gauge: self = .gauge
    case .timer: self = .histogram
    }
  }
}

extension EventLoop {
  /// The loop's counters, from any thread.
  fileprivate func currentCounters() async -> TransportCounters {
    await withCheckedContinuation { continuation in
      perform { continuation.resume(returning: self.counters()) }
    }
  }
}

extension Transport {
  /// The sums of all loops.
  fileprivate func counters() async -> TransportCounters {
    var sum = TransportCounters()
    for loop in loops { sum = sum + (await loop.currentCounters()) }
    return sum
  }
}

/// Adds up the send queues of all loops, once for the values of a scrape.
private actor SendQueueReader {
  private static let period = Duration.milliseconds(500)
  private let transport: Transport
  private let clocks: any Clocks
  private var last: (at: MonotonicInstant, queues: SendQueues)?

  init(_ transport: Transport, clocks: any Clocks) {
    self.transport = transport
    self.clocks = clocks
  }

  func read() async -> SendQueues {
    if let last, clocks.monotonic - last.at < SendQueueReader.period { return last.queues }
    var sum = SendQueues()
    for loop in transport.loops { sum = sum + (await loop.measureSendQueues()) }
    last = (clocks.monotonic, sum)
    return sum
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
