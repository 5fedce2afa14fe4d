import Testing

/// The oracle itself: it takes what the format's own page shows and refuses what breaks a rule.
@Suite struct PrometheusParserTests {
  @Test func aGoodTextIsRead() throws {
    let text = """
      # HELP http_requests_total The total \\\\ number\\nof requests.
      # TYPE http_requests_total counter
      http_requests_total{method="post",path="C:\\\\DIR\\"\\n"} 1027
      # TYPE something_weird gauge
      something_weird{problem="division by zero"} +Inf
      # TYPE latency_seconds histogram
      latency_seconds_bucket{le="0.05"} 3
      latency_seconds_bucket{le="+Inf"} 4
      latency_seconds_sum 5.5e-2
      latency_seconds_count 4

      """
    let read = try PrometheusText(Array(text.utf8))
    #expect(read.families.map(\.type) == ["counter", "gauge", "histogram"])
    #expect(read.family("http_requests_total")?.help == "The total \\ number\nof requests.")
    #expect(read.value("http_requests_total", ["method": "post", "path": "C:\\DIR\"\n"]) == 1027)
    #expect(read.value("latency_seconds_sum") == 0.055)
  }

  @Test(arguments: [
    "a_total 1\n", "# TYPE a counter\na 1\n", "# TYPE a_total counter\na_total 1", "# TYPE a_total counter\na_total -1\n",
    "# TYPE a gauge\nb 1\n", "# TYPE a gauge\na 1\na 2\n", "# TYPE a gauge\n# TYPE a gauge\n", "# HELP a b\n", "# TYPE a dial\n",
    "# TYPE a gauge\na{} 1\n", "# TYPE a gauge\na{b=\"\\t\"} 1\n", "# TYPE a gauge\na{b=\"1\"c=\"2\"} 1\n",
    "# TYPE a gauge\na{b=\"1\",b=\"2\"} 1\n", "# TYPE a gauge\na{2=\"1\"} 1\n", "# TYPE a gauge\na{__b=\"1\"} 1\n",
    "# TYPE a gauge\na one\n", "# TYPE a gauge\na inf\n", "# TYPE a gauge\na 0x10\n", "# TYPE a gauge\n\n",
    "# TYPE a gauge\na{b=\"1} 1\n",
    "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 2\n",
    "# TYPE h histogram\nh_bucket{le=\"1\"} 1\nh_sum 1\nh_count 1\n",
    "# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
    "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_count 1\n", "# TYPE h histogram\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\n",
    "# TYPE h histogram\nh_bucket{le=\"2\"} 0\nh_bucket{le=\"1\"} 0\nh_bucket{le=\"+Inf\"} 1\nh_sum 1\nh_count 1\n",
  ])
  func aBrokenTextIsRefused(text: String) {
    #expect(throws: PrometheusText.Fault.self) { try PrometheusText(Array(text.utf8)) }
  }
}
