import Foundation
import Testing

@testable import LoadGenerator

@Suite struct ReportTests {
  private func report() throws -> Report {
    var report = Report("room")
    report.parameters = [
      .init(name: "members", value: .integer(1000)), .init(name: "rate", value: .number(12.5)),
      .init(name: "type", value: .text("AVChatRoom")),
    ]
    report.seconds = 10
    report.messages = 1500
    report.deliveries = 1_500_000
    report.lost = 3
    report.latencies = .init(p50: 1.25, p90: 10, p99: 20.5, p999: 30, max: 31, mean: 2, count: 1_500_000)
    report.messagesPerRead = 2.5
    report.server = .init(
      pid: 7, cpuSeconds: 3, residentBytesBefore: 1_048_576, residentBytes: 3_145_728, peakBytes: 4_194_304,
      residentBytesPerConnection: 2048)
    report.generator = .init(
      cpuSeconds: 1.5, sendDelay: .init(p50: 0.05, p90: 0.06, p99: 0.1, p999: 0.2, max: 0.3, mean: 0.05, count: 9))
    report.statuses = .init(tally: .init(sent: 1500, delivered: 1490, errors: 10), errors: ["7008 \"Too\" many": 10])
    report.evaluate([try Condition("p99<50ms"), try Condition("lost<=0"), try Condition("cpu/delivery<3us")])
    return report
  }

  @Test func theTableIsAligned() throws {
    let expected = """
      room: members 1,000, rate 12.5, type AVChatRoom

                       total   per second
      messages         1,500          150
      deliveries   1,500,000      150,000
      lost                 3

                           p50     p90     p99   p99.9     max    mean
      latency, ms         1.25    10.0    20.5    30.0    31.0    2.00
      sent late by, ms   0.050   0.060   0.100   0.200   0.300   0.050

      answered   Delivered   Stored   Queued   Dropped   dropped later   error   nothing
      messages       1,490        0        0         0               0      10         0
        error 7008 "Too" many: 10 times

                  CPU s   of a core   µs/delivery   µs/message   RSS before      RSS   RSS peak   RSS/connection
      server       3.00        30 %          2.00        2,000       1.0 MB   3.0 MB     4.0 MB           2.0 KB
      generator    1.50        15 %          1.00        1,000

      condition            value
      p99<50ms           20.5 ms       met
      lost<=0                  3   NOT MET
      cpu/delivery<3us   2.00 us       met

      """
    // Line by line, so that a failure names the line.
    let lines = try report().table.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines == expected.split(separator: "\n", omittingEmptySubsequences: false))
  }

  @Test func theJSONHasTheDocumentedKeys() throws {
    let object = try #require(JSONSerialization.jsonObject(with: Data(try report().json.utf8)) as? [String: Any])
    func part(_ name: String) throws -> [String: Any] { try #require(object[name] as? [String: Any], "\(name)") }
    #expect(object["scenario"] as? String == "room")
    #expect(try part("parameters")["rate"] as? Double == 12.5)
    #expect(try part("parameters")["members"] as? Int == 1000)
    #expect(object["messages"] as? Int == 1500 && object["deliveries"] as? Int == 1_500_000 && object["lost"] as? Int == 3)
    #expect(object["messagesPerSecond"] as? Double == 150 && object["deliveriesPerSecond"] as? Double == 150_000)
    #expect(object["messagesPerRead"] as? Double == 2.5)
    let latencies = try part("latencyMs")
    #expect(Set(latencies.keys) == ["p50", "p90", "p99", "p99.9", "max", "mean", "count"])
    #expect(latencies["p99"] as? Double == 20.5)
    let server = try part("server")
    #expect(server["pid"] as? Int == 7 && server["cpuMicrosecondsPerDelivery"] as? Double == 2)
    #expect(server["cpuMicrosecondsPerMessage"] as? Double == 2000 && server["rssBytesPerConnection"] as? Double == 2048)
    #expect(server["rssBytesBefore"] as? Int == 1_048_576 && server["rssPeakBytes"] as? Int == 4_194_304)
    #expect(try part("generator")["busy"] as? Double == 0.15)
    #expect(try part("generator")["cpuMicrosecondsPerDelivery"] as? Double == 1)
    #expect(try part("statuses")["Delivered"] as? Int == 1490 && part("statuses")["errors"] as? Int == 10)
    #expect(try part("errors")["7008 \"Too\" many"] as? Int == 10)
    let conditions = try #require(object["conditions"] as? [[String: Any]])
    #expect(conditions.map { $0["met"] as? Bool } == [true, false, true])
    #expect(conditions[0]["value"] as? Double == 20.5 && conditions[0]["condition"] as? String == "p99<50ms")
  }

  @Test func figuresThatWereNotMeasuredAreLeftOut() throws {
    var report = Report("connect")
    report.connecting = .init(connections: 500, seconds: 0.25)
    report.seconds = 0.25
    report.evaluate([try Condition("connections/s>=2000"), try Condition("p99<1ms")])
    let object = try #require(JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
    for absent in ["messages", "lost", "latencyMs", "server", "statuses", "priorities", "storm", "established"] {
      #expect(object[absent] == nil, "\(absent)")
    }
    #expect((object["connect"] as? [String: Any])?["connectionsPerSecond"] as? Double == 2000)
    let conditions = try #require(object["conditions"] as? [[String: Any]])
    #expect(conditions[1]["value"] is NSNull && conditions[1]["met"] as? Bool == false)
    #expect(!report.isGood)
  }

  @Test func prioritiesHaveARowAndAnObjectEach() throws {
    var report = Report("priority")
    report.lost = 0
    report.priorities = [
      .init(name: "High", rate: 20, tally: .init(sent: 60, delivered: 60), deliveries: 600, latencies: nil),
      .init(
        name: "Low", rate: 80, tally: .init(sent: 240, queued: 9, dropped: 200, droppedLater: 8), deliveries: 10, latencies: nil),
    ]
    let object = try #require(JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
    let low = try #require((object["priorities"] as? [String: [String: Any]])?["Low"])
    #expect(low["sent"] as? Int == 240 && low["queued"] as? Int == 9 && low["dropped"] as? Int == 200)
    #expect(low["onMessageDropped"] as? Int == 8 && low["deliveries"] as? Int == 10)
    #expect(report.table.contains("\nHigh "))
    #expect(report.table.contains(/\ndeliveries of these messages +610\n/), "the sum of the rows, beside the window's deliveries")
  }

  @Test func incrementsHaveARowAndAnObject() throws {
    var report = Report("room")
    report.lost = 0
    report.increments = .init(answered: 30_000, seconds: 3, latencies: nil, errors: ["8511 Too often": 2])
    let object = try #require(JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
    let increments = try #require(object["increments"] as? [String: Any])
    #expect(increments["answered"] as? Int == 30_000 && increments["perSecond"] as? Double == 10_000)
    #expect(increments["errors"] as? [String: Int] == ["8511 Too often": 2])
    #expect(report.table.contains(/\nincrements +30,000 +10,000/) && report.table.contains("error 8511 Too often: 2 times"))
  }

  @Test func statusesHaveRowsAndAnObject() throws {
    var report = Report("presence")
    report.increments = .init(answered: 300, seconds: 3, latencies: nil, errors: [:])
    report.incrementsName = "status changes"
    report.statusEvents = .init(events: 3000, rows: 60_000, seconds: 3)
    let object = try #require(JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
    let statuses = try #require(object["statusEvents"] as? [String: Any])
    #expect(statuses["events"] as? Int == 3000 && statuses["rows"] as? Int == 60_000)
    #expect(statuses["eventsPerSecond"] as? Double == 1000 && statuses["rowsPerSecond"] as? Double == 20_000)
    #expect(report.table.contains(/\nstatus events +3,000 +1,000/) && report.table.contains(/\nstatuses in them +60,000 +20,000/))
    #expect(report.table.contains(/\nstatus changes +300 +100/))
  }

  @Test func compressionHasARowAndAnObject() throws {
    var report = Report("room")
    report.compression = .init(deliveries: 200, compressed: 190, messageBytes: 70_000, wireBytes: 13_500, compared: 400)
    let object = try #require(JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
    let compression = try #require(object["compression"] as? [String: Any])
    #expect(compression["share"] as? Double == 0.95 && compression["deliveries"] as? Int == 200)
    #expect(compression["messageBytesPerDelivery"] as? Double == 350 && compression["wireBytesPerDelivery"] as? Double == 67.5)
    #expect(compression["compared"] as? Int == 400)
    #expect(report.table.contains(/\ncompression +200 +95.0 % +350.0 each +67.5 each +400\n/))
  }

  @Test func aRunThatFailedOrMissedAConditionIsNotGood() throws {
    var report = Report("room")
    #expect(report.isGood)
    report.failures = ["the server is gone"]
    #expect(!report.isGood)
    #expect(report.table.contains("failed: the server is gone"))
    report.failures = []
    report.lost = 1
    report.evaluate([try Condition("lost<1")])
    #expect(!report.isGood)
  }

  @Test func everyMetricHasAValueWhereItWasMeasured() throws {
    var full = try report()
    full.increments = .init(answered: 300, seconds: 3, latencies: nil, errors: [:])
    for metric in Metric.allCases where metric != .connectionsPerSecond {
      #expect(full.value(of: metric) != nil, "\(metric)")
    }
    #expect(full.value(of: .p99) == 0.0205 && full.value(of: .cpuPerDelivery) == 2e-6)
    #expect(full.value(of: .connectionsPerSecond) == nil)
    full.storm = .init(connections: 10, seconds: 2)
    #expect(full.value(of: .connectionsPerSecond) == 5 && full.value(of: .seconds) == 2)
  }
}
