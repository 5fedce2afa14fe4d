import CoreMetrics
import Testing
import ThrongServer

/// Series that the registry refuses: it counts them, and its text stays in the format.
@Suite struct PrometheusRefusalTests {
  private let registry = PrometheusRegistry(maxSeries: 20)

  private func read() throws -> PrometheusText { try PrometheusText(registry.render()) }

  private var refusals: Double? { get throws { try read().value(PrometheusRegistry.refusedName) } }

  @Test func aNameHasOneType() throws {
    Counter(label: "one_total", factory: registry).increment()
    Gauge(label: "one_total", factory: registry).record(5)
    registry.describe("one_total", help: "A gauge?", type: .gauge)
    #expect(try read().value("one_total") == 1)
    #expect(try refusals == 2)
  }

  @Test(arguments: ["_bucket", "_sum", "_count"])
  func theNamesOfAHistogramAreItsOwn(suffix: String) throws {
    Timer(label: "first", factory: registry).recordSeconds(1)
    Gauge(label: "first" + suffix, factory: registry).record(5)
    Gauge(label: "second" + suffix, factory: registry).record(5)
    Timer(label: "second", factory: registry).recordSeconds(1)
    let text = try read()
    #expect(text.family("first")?.samples.isEmpty == false && text.family("second") == nil)
    #expect(text.value("second" + suffix) == 5)
    #expect(try refusals == 2)
  }

  @Test(arguments: [
    [("a", "1"), ("a", "2")], [("a.b", "1"), ("a_b", "2")], [("", "1")], [("__name__", "x")],
    [("a", String(repeating: "x", count: 1025))],
  ])
  func labelsThatCannotBeUsed(dimensions: [(String, String)]) throws {
    Counter(label: "c", dimensions: dimensions, factory: registry).increment()
    #expect(try read().family("c_total") == nil)
    #expect(try refusals == 1)
  }

  @Test func theBoundOfABucketIsNoLabelOfAHistogram() throws {
    Timer(label: "t", dimensions: [("le", "1")], factory: registry).recordSeconds(1)
    Gauge(label: "g", dimensions: [("le", "1")], factory: registry).record(1)
    #expect(try read().families.map(\.name) == ["g", PrometheusRegistry.refusedName])
    #expect(try refusals == 1)
  }

  @Test func noNameIsNoMetric() throws {
    Counter(label: "", factory: registry).increment()
    #expect(try refusals == 1)
  }

  @Test func theNumberOfSeriesHasABound() throws {
    for index in 0..<50 { Counter(label: "c\(index)", factory: registry).increment() }
    for index in 0..<50 { Counter(label: "c", dimensions: [("n", "\(index)")], factory: registry).increment() }
    Counter(label: "c0", factory: registry).increment()
    let text = try read()
    #expect(text.families.count == 21)
    #expect(text.value("c0_total") == 2)
    #expect(try refusals == 80)
  }

  @Test func aForgottenSeriesMakesRoom() throws {
    let counters = (0..<20).map { Counter(label: "c\($0)", factory: registry) }
    counters[3].destroy()
    Gauge(label: "c3_total", factory: registry).record(9)
    #expect(try read().family("c3_total")?.type == "gauge")
    #expect(try refusals == 0)
    Gauge(label: "g", factory: registry).record(9)
    #expect(try refusals == 1)
    Gauge(label: "c3_total", factory: registry).destroy()
    #expect(try read().family("c3_total") == nil)
  }
}
