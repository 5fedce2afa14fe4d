import CoreMetrics
import Foundation
import Logging
import ServerConfiguration
import Testing

@testable import ThrongServer

/// The names on `/metrics` (Operations.md, "Metrics").
@Suite struct PrometheusNamesTests {
  @Test func aServersPageKeepsTheRules() async throws {
    let page = try await page()
    #expect(page.families.count > 30)
    // 0.2 carries the name of 0.1 beside the new one.
    let carriesOldName = Release.version.hasPrefix("0.2.")
    var byType: Set<String> = []
    for family in page.families {
      let isByType = family.samples.contains { $0.labels["group_type"] != nil }
      if isByType { byType.insert(family.name) }
      let old = isByType && carriesOldName ? ["\(family.name): the label groupType is in camelCase"] : []
      #expect(PrometheusNames.complaints(about: family) == old)
      for sample in family.samples {
        #expect(sample.labels["groupType"] == (carriesOldName ? sample.labels["group_type"] : nil), "\(family.name)")
      }
    }
    #expect(
      byType == [
        "throng_groups", "throng_messages_accepted_total", "throng_messages_delivered_total", "throng_messages_dropped_total",
        "throng_messages_waiting",
      ])
  }

  /// What a server of its own shows: those that it counts itself, and those that a scrape asks for.
  private func page() async throws -> PrometheusText {
    let directory = NSTemporaryDirectory() + "throng-names-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let settings = try Settings.load(flags: [
      ("dataDir", directory), ("listen", "127.0.0.1:0"), ("internalListen", "127.0.0.1:0"),
    ])
    let registry = PrometheusRegistry()
    let bytes = try await withMetricsFactory(registry) { () async throws -> [UInt8] in
      let silent = Logger(label: "names") { _ in SwiftLogNoOpLogHandler() }
      let server = try await Server(settings, metrics: registry, logger: silent)
      server.start()
      let bytes = await registry.renderAll()
      await server.stop()
      return bytes
    }
    return try PrometheusText(bytes)
  }

  // MARK: The rules themselves

  private func complaints(_ text: String) throws -> [String] {
    try PrometheusText(Array(text.utf8)).families.flatMap { PrometheusNames.complaints(about: $0) }
  }

  private func complaints(about name: String, _ type: String, labels: String = "") throws -> [String] {
    try complaints("# HELP \(name) Help.\n# TYPE \(name) \(type)\n\(labels.isEmpty ? "" : "\(name){\(labels)} 1\n")")
  }

  @Test(arguments: [
    ("a_total", "counter"), ("a", "gauge"), ("a_seconds", "histogram"), ("a_timestamp_seconds", "gauge"),
    ("seconds_of_days", "gauge"), ("s_a", "gauge"), ("gauge", "gauge"), ("A_C", "gauge"),
  ])
  func whatIsAllowed(name: String, type: String) throws {
    #expect(try complaints(about: name, type) == [])
  }

  @Test(arguments: [
    ("a_total", "gauge", "only a counter ends in _total"), ("a_total", "histogram", "only a counter ends in _total"),
    ("a_timestamp_seconds", "histogram", "only a gauge ends in _timestamp_seconds"),
    ("a_count", "gauge", "the end of a histogram's sample"), ("a_sum", "gauge", "the end of a histogram's sample"),
    ("a_bucket", "gauge", "the end of a histogram's sample"), ("a_gauge_b", "gauge", "a type in the name"),
    ("a_counter", "gauge", "a type in the name"), ("a_histogram", "histogram", "a type in the name"),
    ("a_ms", "gauge", "an abbreviated unit"), ("a_s_b", "gauge", "an abbreviated unit"), ("a:b", "gauge", "a colon is for rules"),
    ("aB", "gauge", "camelCase"), ("a_minutes", "gauge", "another unit than the base unit"),
    ("a_milliseconds", "gauge", "another unit than the base unit"),
    ("a_kilobits_c", "gauge", "another unit than the base unit"),
  ])
  func whatIsNot(name: String, type: String, rule: String) throws {
    #expect(try complaints(about: name, type).contains("\(name): \(rule)"))
  }

  @Test func aHelpAndLabelsAreLookedAt() throws {
    #expect(try complaints("# TYPE a gauge\na 1\n") == ["a: no help"])
    #expect(try complaints(about: "a", "gauge", labels: #"one_two="x""#) == [])
    #expect(try complaints(about: "a", "gauge", labels: #"oneTwo="x""#) == ["a: the label oneTwo is in camelCase"])
    #expect(try complaints(about: "a", "gauge", labels: #"le="1""#) == ["a: only a histogram has le"])
    #expect(try complaints(about: "a", "gauge", labels: #"quantile="1""#) == ["a: only a summary has quantile"])
  }
}
