import Testing

@testable import ThrongServer

@Suite struct MetricsOfNodesTests {
  @Test func eachSampleNamesItsNodeAndEachMetricIsOnePart() {
    let one = """
      # HELP a_total A.
      # TYPE a_total counter
      a_total{code="0"} 3
      # HELP b B.
      # TYPE b gauge
      b 1.5

      """
    let two = """
      # HELP a_total A.
      # TYPE a_total counter
      a_total{code="0"} 4
      # HELP c C.
      # TYPE c gauge
      c +Inf

      """
    let text = String(decoding: MetricsOfNodes.text([(7, Array(one.utf8)), (9, Array(two.utf8))]), as: UTF8.self)
    #expect(
      text == """
        # HELP a_total A.
        # TYPE a_total counter
        a_total{instance="7",code="0"} 3
        a_total{instance="9",code="0"} 4
        # HELP b B.
        # TYPE b gauge
        b{instance="7"} 1.5
        # HELP c C.
        # TYPE c gauge
        c{instance="9"} +Inf

        """)
  }
}
