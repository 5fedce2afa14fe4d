import CoreMetrics
import Testing
import ThrongServer

@Suite struct PrometheusRegistryTests {
  private let registry = PrometheusRegistry()

  private func read() throws -> PrometheusText { try PrometheusText(registry.render()) }

  private var refusals: Double? { get throws { try read().value(PrometheusRegistry.refusedName) } }

  @Test func anUnusedRegistryShowsOnlyItsOwnCounter() throws {
    let text = try read()
    #expect(text.families.map(\.name) == [PrometheusRegistry.refusedName])
    #expect(try refusals == 0)
  }

  @Test func aCounterEndsInTotalAndGrows() throws {
    let counter = Counter(label: "throng_requests", dimensions: [("method", "login"), ("code", "0")], factory: registry)
    counter.increment()
    counter.increment(by: 4)
    counter.increment(by: -3)
    #expect(try read().value("throng_requests_total", ["code": "0", "method": "login"]) == 5)
    #expect(try read().family("throng_requests_total")?.type == "counter")
    counter.reset()
    #expect(try read().value("throng_requests_total", ["code": "0", "method": "login"]) == 0)
  }

  @Test func aCounterTakesFractions() throws {
    let seconds = FloatingPointCounter(label: "cpu_seconds_total", factory: registry)
    seconds.increment(by: 0.25)
    seconds.increment(by: 1.5)
    seconds.increment(by: -1.0)
    seconds.increment(by: Double.nan)
    Counter(label: "cpu_seconds", factory: registry).increment()
    #expect(try read().value("cpu_seconds_total") == 2.75)
  }

  @Test func theSameLabelsAreTheSameSeries() throws {
    Counter(label: "sent_total", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
    Counter(label: "sent", dimensions: [("b", "2"), ("a", "1"), ("c", "")], factory: registry).increment()
    Counter(label: "sent", dimensions: [("a", "1")], factory: registry).increment()
    #expect(try read().value("sent_total", ["a": "1", "b": "2"]) == 2)
    #expect(try read().value("sent_total", ["a": "1"]) == 1)
    #expect(try read().family("sent_total")?.samples.count == 2)
  }

  @Test func metersAndRecordersThatDoNotAggregateAreGauges() throws {
    let meter = Meter(label: "groups", factory: registry)
    meter.set(10)
    meter.increment(by: 2.5)
    meter.decrement()
    Gauge(label: "sessions", factory: registry).record(-7)
    #expect(try read().value("groups") == 11.5)
    #expect(try read().value("sessions") == -7)
    meter.set(Double.infinity)
    #expect(try read().value("groups") == .infinity)
    meter.set(-Double.infinity)
    #expect(try read().value("groups") == -.infinity)
    meter.set(Double.nan)
    #expect(try read().value("groups")?.isNaN == true)
    #expect(try read().families.map(\.type) == ["gauge", "gauge", "counter"])
  }

  @Test func timersAreHistogramsInSeconds() throws {
    let timer = Timer(label: "request_duration_seconds", dimensions: [("method", "ping")], factory: registry)
    timer.recordNanoseconds(100_000)
    timer.recordNanoseconds(100_001)
    timer.recordMilliseconds(40)
    timer.recordSeconds(60)
    timer.recordNanoseconds(-5)
    let text = try read()
    func bucket(_ bound: String) -> Double? {
      text.value("request_duration_seconds_bucket", ["method": "ping", "le": bound])
    }
    #expect(text.family("request_duration_seconds")?.type == "histogram")
    #expect(bucket("0.0001") == 2)
    #expect(bucket("0.00025") == 3)
    #expect(bucket("0.025") == 3)
    #expect(bucket("0.05") == 4)
    #expect(bucket("10") == 4)
    #expect(bucket("+Inf") == 5)
    #expect(text.value("request_duration_seconds_count", ["method": "ping"]) == 5)
    let sum = try #require(text.value("request_duration_seconds_sum", ["method": "ping"]))
    #expect(abs(sum - 60.040200001) < 1e-9)
  }

  @Test func recordersAreHistogramsOfSizes() throws {
    let recorder = Recorder(label: "batch_size", factory: registry)
    for size in [1, 2, 3, 20_000_000] { recorder.record(size) }
    recorder.record(Double.nan)
    recorder.record(Double.infinity)
    let text = try read()
    #expect(text.value("batch_size_bucket", ["le": "1"]) == 1)
    #expect(text.value("batch_size_bucket", ["le": "2"]) == 2)
    #expect(text.value("batch_size_bucket", ["le": "10000000"]) == 3)
    #expect(text.value("batch_size_count") == 4)
    #expect(text.value("batch_size_sum") == 20_000_006)
  }

  @Test func whatIsNoNameBecomesOne() throws {
    Counter(label: "9 lives.of-a:cat", dimensions: [("9.x", "ü")], factory: registry).increment()
    #expect(try read().value("_9_lives_of_a:cat_total", ["_9_x": "ü"]) == 1)
    #expect(try refusals == 0)
  }

  @Test func textsAreEscaped() throws {
    let value = "back\\slash \"quoted\"\nnext {a=\"b\",} \u{0}\u{7f}\r\u{2028} 🎉"
    registry.describe("odd", help: "first \\ line\nsecond \"line\"", type: .counter)
    Counter(label: "odd", dimensions: [("value", value)], factory: registry).increment()
    #expect(try read().value("odd_total", ["value": value]) == 1)
    #expect(try read().family("odd_total")?.help == "first \\ line\nsecond \"line\"")
  }

  @Test func whatIsDescribedIsTypedBeforeItIsCounted() throws {
    registry.describe("throng_sessions", help: "Signed-in connections.", type: .gauge)
    let family = try #require(try read().family("throng_sessions"))
    #expect(family.type == "gauge" && family.help == "Signed-in connections." && family.samples.isEmpty)
  }

  @Test func theOrderDoesNotDependOnTheHistory() throws {
    func text(_ order: [Int]) -> [UInt8] {
      let registry = PrometheusRegistry()
      for index in order {
        Counter(label: "c\(index % 3)", dimensions: [("n", "\(index)")], factory: registry).increment(by: index)
        Timer(label: "t", dimensions: [("n", "\(index)")], factory: registry).recordSeconds(index)
      }
      return registry.render()
    }
    let order = Array(0..<40)
    #expect(text(order) == text(order.reversed()))
    let families = try PrometheusText(text(order)).families
    #expect(families.map(\.name) == families.map(\.name).sorted())
  }
}
