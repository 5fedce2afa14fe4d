import CoreMetrics
import Testing
import ThrongServer

/// Many threads at once: nothing is lost, and every text on the way is a whole one.
@Suite struct PrometheusConcurrencyTests {
  private let registry = PrometheusRegistry()

  @Test func noIncrementIsLost() async throws {
    let whole = Counter(label: "whole", factory: registry)
    let fractional = FloatingPointCounter(label: "fractional", factory: registry)
    let meter = Meter(label: "meter", factory: registry)
    let timer = Timer(label: "seconds", factory: registry)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<8 {
        group.addTask {
          for round in 0..<5000 {
            whole.increment()
            fractional.increment(by: 0.5)
            meter.increment(by: worker.isMultiple(of: 2) ? 2 : 1)
            meter.decrement(by: 1)
            timer.recordNanoseconds(Int64(round))
          }
        }
      }
    }
    let text = try PrometheusText(registry.render())
    #expect(text.value("whole_total") == 40_000)
    #expect(text.value("fractional_total") == 20_000)
    #expect(text.value("meter") == 20_000)
    #expect(text.value("seconds_count") == 40_000)
    #expect(text.value("seconds_bucket", ["le": "0.0001"]) == 40_000)
  }

  @Test func noFractionIsLost() async throws {
    // So many that two cores meet: an addition that is not tried again after a lost race failed
    // here each time.
    let rounds = 2_000_000
    let counter = FloatingPointCounter(label: "fractional", factory: registry)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<rounds { counter.increment(by: 0.5) }
        }
      }
    }
    #expect(try PrometheusText(registry.render()).value("fractional_total") == Double(2 * rounds))
  }

  @Test func seriesMadeByManyAtOnceAreTheSame() async throws {
    let registry = registry
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for index in 0..<200 { Counter(label: "shared", dimensions: [("n", "\(index)")], factory: registry).increment() }
        }
      }
    }
    let family = try #require(try PrometheusText(registry.render()).family("shared_total"))
    #expect(family.samples.count == 200)
    #expect(family.samples.allSatisfy { $0.value == 8 })
  }

  @Test func aTextTakenMeanwhileIsWhole() async throws {
    let registry = registry
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for index in 0..<500 {
            Timer(label: "seconds", dimensions: [("n", "\(index % 7)")], factory: registry).recordMicroseconds(index * worker)
          }
        }
      }
      for _ in 0..<2 {
        group.addTask {
          for _ in 0..<20 { _ = try PrometheusText(registry.render()) }
        }
      }
      try await group.waitForAll()
    }
    let counts = try PrometheusText(registry.render()).family("seconds")?.samples.filter { $0.name == "seconds_count" }
    #expect(counts?.map(\.value).reduce(0, +) == 2000)
  }
}
