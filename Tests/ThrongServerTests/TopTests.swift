import Foundation
import GroupModel
import Testing

@testable import ThrongServer

@Suite struct TopTests {
  private func snapshot(_ text: String, seconds: Int64 = 0) -> MetricsSnapshot {
    MetricsSnapshot(text, at: MonotonicInstant(nanoseconds: seconds * 1_000_000_000))
  }

  @Test func samplesAreReadWithTheirLabels() {
    let read = snapshot(
      """
      # HELP a_total A.
      # TYPE a_total counter
      a_total{code="0",method="x"} 3
      a_total{code="1",method="say \\"a,b=c\\" \\\\ \\n"} 4
      b 1.5
      c +Inf
      broken
      """)
    #expect(read.sum("a_total") == 7 && read.sum("a_total", ["code": "0"]) == 3 && read.sum("b") == 1.5)
    #expect(read.sum("c") == .infinity && read.sum("broken") == nil && read.sum("d") == nil)
    #expect(read.sums("a_total") { $0["method"] } == ["": ["x": 3, "say \"a,b=c\" \\ \n": 4]])
  }

  @Test func ratesAreBySecondAndSurviveARestart() {
    let difference = MetricsDifference(
      before: snapshot("a_total{m=\"x\"} 10\na_total{m=\"y\"} 5\n"),
      now: snapshot("a_total{m=\"x\"} 30\na_total{m=\"y\"} 5\na_total{m=\"z\"} 4\nb_total 8\n", seconds: 4))
    #expect(difference.rate("a_total") == 6 && difference.rate("b_total") == 2 && difference.rate("none") == 0)
    #expect(difference.rates("a_total", by: "m") == ["x": 5, "z": 1])
    let restarted = MetricsDifference(before: snapshot("a_total 100\n"), now: snapshot("a_total 6\n", seconds: 2))
    #expect(restarted.rate("a_total") == 3)
  }

  @Test func nodesCountForThemselves() {
    let before = snapshot("a_total{instance=\"1\"} 100\na_total{instance=\"2\"} 50\n")
    let now = snapshot(
      "a_total{instance=\"1\"} 110\na_total{instance=\"2\"} 4\na_total{instance=\"3\"} 1000\n", seconds: 2)
    #expect(MetricsDifference(before: before, now: now).rate("a_total") == 7, "one began anew, and one has just come")
    #expect(now.instances == ["1", "2", "3"])
    let gone = snapshot("a_total{instance=\"1\"} 120\n", seconds: 4)
    #expect(MetricsDifference(before: now, now: gone).rate("a_total") == 5)
  }

  /// Samples are by type, and each node counts the groups of all.
  @Test func groupsAreThoseOfAllTypes() {
    func line(_ text: String) -> [Substring] {
      let report = TopReport(MetricsDifference(before: snapshot(""), now: snapshot(text, seconds: 1)), address: "")
      #expect(report.screen(width: 200, height: 100).contains { $0.contains("   groups ") })
      return report.line.split(separator: " ")
    }
    let alone = """
      throng_groups{groupType="Work"} 35
      throng_groups{groupType="Public"} 34
      throng_groups{groupType="Meeting"} 30
      throng_groups{groupType="AVChatRoom"} 5
      """
    #expect(line(alone).contains("groups=104"))
    let nodes = """
      throng_groups{instance="1",group_type="Work"} 35
      throng_groups{instance="1",group_type="Public"} 69
      throng_groups{instance="2",group_type="Work"} 34
      throng_groups{instance="2",group_type="Public"} 70
      """
    #expect(line(nodes).contains("groups=105"), "of each type the largest count")
    #expect(line("throng_sessions 7").contains("groups=-"))
  }

  private func histogram(_ counts: [(String, Int)], _ labels: String = "") -> String {
    counts.map { "h_bucket{\(labels)le=\"\($0.0)\"} \($0.1)\n" }.joined()
  }

  @Test func aQuantileIsThatOfTheInterval() {
    let before = snapshot(histogram([("0.1", 1000), ("0.2", 1000), ("0.4", 1000), ("+Inf", 1000)]))
    let now = snapshot(histogram([("0.1", 1000), ("0.2", 1050), ("0.4", 1100), ("+Inf", 1100)]), seconds: 1)
    let difference = MetricsDifference(before: before, now: now)
    #expect(difference.quantile(0.5, "h") == 0.2)
    #expect(abs((difference.quantile(0.75, "h") ?? 0) - 0.3) < 1e-9)
    #expect(difference.quantile(1, "h") == 0.4)
    #expect(MetricsDifference(before: now, now: now).quantile(0.5, "h") == nil)
  }

  @Test func beyondTheLastBoundAQuantileIsThatBound() {
    let now = snapshot(histogram([("0.1", 0), ("10", 0), ("+Inf", 3)]), seconds: 1)
    #expect(MetricsDifference(before: snapshot(""), now: now).quantile(0.99, "h") == 10)
  }

  @Test func aQuantileOfSomeSeriesLeavesTheOthersOut() {
    let now = snapshot(
      histogram([("1", 10), ("+Inf", 10)], "method=\"quick\",")
        + histogram([("1", 0), ("2", 10), ("+Inf", 10)], "method=\"slow\","))
    let difference = MetricsDifference(before: snapshot(""), now: now)
    #expect((difference.quantile(0.5, "h") { $0["method"] == "quick" } ?? 9) <= 1)
    #expect((difference.quantile(0.5, "h") { $0["method"] == "slow" } ?? 0) > 1)
  }

  @Test func textsAreForPeople() {
    #expect(TopReport.grouped(0) == "0" && TopReport.grouped(999) == "999" && TopReport.grouped(1_234_567) == "1,234,567")
    #expect(TopReport.perSecond(0.25) == "0.3/s" && TopReport.perSecond(12_345.6) == "12,346/s")
    #expect(
      TopReport.bytes(100) == "100 B" && TopReport.bytes(1536) == "1.5 KiB" && TopReport.bytes(3 * 1_073_741_824) == "3 GiB")
    #expect(TopReport.duration(nil) == "-" && TopReport.duration(0.0021) == "2.1 ms" && TopReport.duration(2.5) == "2.5 s")
    #expect(TopReport.time(59) == "59 s" && TopReport.time(3700) == "1 h 1 min" && TopReport.time(86_400 * 3) == "3 d")
  }

  @Test func theScreenFitsAndTheLineHasNumbersOnly() {
    let text = """
      throng_build_info{version="1.2"} 1
      process_start_time_seconds 1
      throng_start_time_seconds \(Date().timeIntervalSince1970 - 150)
      throng_ready 1
      throng_sessions 7
      throng_requests_total{code="0",method="ping"} 40
      throng_requests_total{code="10007",method="joinGroup"} 10
      """
    let report = TopReport(MetricsDifference(before: snapshot(""), now: snapshot(text, seconds: 10)), address: "here:1")
    let screen = report.screen(width: 60, height: 12)
    #expect(screen.count == 12 && screen.allSatisfy { $0.count <= 60 })
    #expect(screen[0].hasPrefix("throng 1.2  here:1  ready  up 2 min"))
    let whole = report.screen(width: 200, height: 100).joined(separator: "\n")
    #expect(whole.contains("errors 1/s (10007: 1)") && whole.contains("sessions 7"))
    let (first, second) = (whole.range(of: "ping"), whole.range(of: "joinGroup"))
    #expect(first.map(\.lowerBound) ?? whole.endIndex < second.map(\.lowerBound) ?? whole.startIndex)
    let fields = report.line.split(separator: " ")
    #expect(fields.contains("sessions=7") && fields.contains("requests=5") && fields.contains("sendP99Ms=-"))
    #expect(fields.allSatisfy { $0.split(separator: "=").count == 2 })
    let stopped = TopReport(MetricsDifference(before: snapshot(""), now: snapshot("throng_ready 0\n")), address: "")
    #expect(stopped.screen(width: 80, height: 1)[0].contains("NOT READY"))
  }
}
