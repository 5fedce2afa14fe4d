import CoreMetrics
import Synchronization
import Testing
import ThrongServer

/// Values that are taken when somebody scrapes.
@Suite struct PrometheusCollectTests {
  private let registry = PrometheusRegistry()

  @Test func everyScrapeAsksAgain() async throws {
    let counted = Counted()
    registry.collect("throng_groups", help: "Groups by type.", type: .gauge) {
      let now = counted.next()
      return [(labels: [("group_type", "Work")], value: Double(now)), (labels: [("group_type", "Public")], value: 0.5)]
    }
    #expect(try PrometheusText(registry.render()).family("throng_groups")?.samples.isEmpty == true)
    for scrape in 1...3 {
      let text = try PrometheusText(await registry.renderAll())
      #expect(text.value("throng_groups", ["group_type": "Work"]) == Double(scrape))
      #expect(text.family("throng_groups")?.samples.map(\.labels) == [["group_type": "Public"], ["group_type": "Work"]])
      #expect(text.family("throng_groups")?.help == "Groups by type.")
    }
  }

  @Test func aScrapedCounterEndsInTotal() async throws {
    registry.collect("deliveries", help: "Frames handed over.", type: .counter) { [(labels: [], value: 12)] }
    let text = try PrometheusText(await registry.renderAll())
    #expect(text.value("deliveries_total") == 12)
    #expect(text.family("deliveries_total")?.type == "counter")
  }

  @Test func scrapedRowsJoinRecordedOnesAndNeverRepeatThem() async throws {
    Gauge(label: "queue", dimensions: [("loop", "0")], factory: registry).record(1)
    registry.collect("queue", help: "Waiting jobs.", type: .gauge) {
      [(labels: [("loop", "0")], value: 9), (labels: [("loop", "1")], value: 2), (labels: [("__x", "1")], value: 3)]
    }
    registry.collect("queue", help: "Waiting jobs.", type: .gauge) { [(labels: [("loop", "1")], value: 8)] }
    let text = try PrometheusText(await registry.renderAll())
    #expect(text.value("queue", ["loop": "0"]) == 1)
    #expect(text.value("queue", ["loop": "1"]) == 2)
    #expect(text.value(PrometheusRegistry.refusedName) == 3)
  }

  @Test func aHistogramThatIsCountedElsewhereIsShownWithItsBuckets() async throws {
    registry.collectHistogram("lag_seconds", help: "Lag.", bounds: [0.1, 1]) {
      [
        (labels: [("loop", "0")], reading: HistogramReading(counts: [3, 2, 1], sum: 4.5)),
        (labels: [("loop", "1")], reading: HistogramReading(counts: [0, 0, 0], sum: 0)),
        (labels: [("loop", "2")], reading: HistogramReading(counts: [1, 2], sum: 0)),
        (labels: [("loop", "0")], reading: HistogramReading(counts: [9, 9, 9], sum: 9)),
      ]
    }
    let text = try PrometheusText(await registry.renderAll())
    #expect(text.family("lag_seconds")?.type == "histogram")
    let buckets = ["0.1", "1", "+Inf"].map { text.value("lag_seconds_bucket", ["le": $0, "loop": "0"]) }
    #expect(buckets == [3, 5, 6])
    #expect(text.value("lag_seconds_count", ["loop": "0"]) == 6 && text.value("lag_seconds_sum", ["loop": "0"]) == 4.5)
    #expect(text.value("lag_seconds_count", ["loop": "1"]) == 0)
    #expect(text.value("lag_seconds_count", ["loop": "2"]) == nil)
    #expect(text.value(PrometheusRegistry.refusedName) == 2)
  }

  /// Counts how often it was asked.
  private final class Counted: Sendable {
    private let count = Atomic<Int>(0)
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }
}
