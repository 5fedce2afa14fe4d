import Testing

@testable import LoadGenerator

@Suite struct ConditionTests {
  /// The condition, its metric, a value (seconds, bytes, one) that meets it and one that does not.
  static let good: [(String, Metric, Double, Double)] = [
    ("p99<50ms", .p99, 0.0499, 0.05),
    ("p99 < 50 ms", .p99, 0.0499, 0.05),
    ("p99.9<=1.5s", .p999, 1.5, 1.501),
    ("p50<200us", .p50, 0.000199, 0.0002),
    ("p90<7", .p90, 0.0069, 0.0071),
    ("max>=1s", .max, 1, 0.999),
    ("mean>900ns", .mean, 1e-6, 9e-7),
    ("lost<=0", .lost, 0, 1),
    ("messages/s>=149.5", .messagesPerSecond, 149.5, 149.4),
    ("deliveries/s>1000000", .deliveriesPerSecond, 1_000_001, 1_000_000),
    ("cpu/delivery<2.5us", .cpuPerDelivery, 2.4e-6, 2.5e-6),
    ("cpu/message<2.5", .cpuPerMessage, 2.4e-6, 2.5e-6),
    ("rss/connection<8KB", .residentPerConnection, 8191, 8192),
    ("rss/connection<=1MB", .residentPerConnection, 1_048_576, 1_048_577),
    ("rss/connection<8", .residentPerConnection, 8191, 8192),
    ("cpu<3s", .cpu, 2.9, 3),
    ("connections/s>2000", .connectionsPerSecond, 2001, 2000),
    ("seconds<10", .seconds, 9.9, 10),
  ]

  @Test(arguments: good) func isReadAndCompared(_ row: (text: String, metric: Metric, meets: Double, fails: Double)) throws {
    let condition = try Condition(row.text)
    #expect(condition.metric == row.metric)
    #expect(condition.verdict(row.meets).isMet)
    #expect(!condition.verdict(row.fails).isMet)
    #expect(condition.verdict(row.meets).condition == row.text)
  }

  @Test func everyMetricCanBeAsserted() throws {
    for metric in Metric.allCases { #expect(try Condition("\(metric.rawValue)<1").metric == metric) }
  }

  @Test func theValueIsToldInTheMetricsUnit() throws {
    let verdict = try Condition("p99<1s").verdict(0.25)
    #expect(verdict.value == 250)
    #expect(verdict.unit == "ms")
    #expect(try Condition("rss/connection<1MB").verdict(2048).value == 2)
  }

  @Test func noValueMeetsNothing() throws {
    #expect(try !Condition("p99<1s").verdict(nil).isMet)
    #expect(try !Condition("p99>=0").verdict(nil).isMet)
  }

  @Test(arguments: [
    "", "p99", "<", "<5", "p99<", "p98<5", "p99=5", "p99<fast", "p99<5KB", "p99<5 lightyears", "lost<=0ms", "rss/connection<5ms",
    "p99<-5ms", "p99<5ms<6ms", "P99<5", "p99<.",
  ])
  func anyOtherTextIsRefusedWithASentence(text: String) {
    let error = #expect(throws: BenchmarkError.self) { try Condition(text) }
    #expect(error?.description.isEmpty == false)
  }
}
