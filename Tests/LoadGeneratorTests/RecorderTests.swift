import Histogram
import Testing

@testable import LoadGenerator

@Suite struct RecorderTests {
  private static let millisecond: UInt64 = 1_000_000

  @Test func percentilesOfAThousandKnownLatencies() throws {
    let recorder = Recorder()
    for value in (1...1000).shuffled() { recorder.record(UInt64(value) * Self.millisecond, flow: 0) }
    let figures = try #require(Report.Latencies(recorder.allLatencies))
    let expected: [(Double, Double)] = [
      (figures.p50, 500), (figures.p90, 900), (figures.p99, 990), (figures.p999, 999), (figures.max, 1000), (figures.mean, 500.5),
    ]
    for (value, right) in expected { #expect(abs(value / right - 1) < 0.002, "\(value) for \(right)") }
    #expect(figures.count == 1000)
  }

  @Test func nothingRecordedHasNoPercentiles() { #expect(Report.Latencies(Recorder().allLatencies) == nil) }

  @Test func onlyStampsOfTheWindowAreMatched() {
    let recorder = Recorder()
    recorder.counters.pointee.windowStart = 1000
    recorder.counters.pointee.windowEnd = 2000
    #expect(!recorder.recordDelivery(stamp: 996, isPacer: false, now: 5000))
    #expect(recorder.recordDelivery(stamp: 1000, isPacer: false, now: 5000))
    #expect(recorder.recordDelivery(stamp: 1996, isPacer: false, now: 5000))
    #expect(!recorder.recordDelivery(stamp: 2000, isPacer: false, now: 5000))
    #expect(recorder.counters.pointee.matched == 2)
    #expect(recorder.counters.pointee.total == 4)
    #expect(recorder.allLatencies.totalCount == 2)
  }

  @Test func onlyDeliveriesWithinTheWindowAreTimely() {
    let recorder = Recorder()
    recorder.counters.pointee.windowStart = 0
    _ = recorder.recordDelivery(stamp: 4, isPacer: false, now: 8)
    recorder.counters.pointee.isMeasuring = true
    _ = recorder.recordDelivery(stamp: 4, isPacer: false, now: 8)
    recorder.counters.pointee.isMeasuring = false
    _ = recorder.recordDelivery(stamp: 4, isPacer: false, now: 8)
    #expect(recorder.counters.pointee.timely == 1)
    #expect(recorder.counters.pointee.matched == 3)
  }

  @Test func flowsAreToldApartAndAddUp() {
    let recorder = Recorder()
    recorder.counters.pointee.windowStart = 0
    for flow in 0..<Stamp.flows {
      for _ in 0...flow { _ = recorder.recordDelivery(stamp: Stamp.value(at: 4, flow: flow), isPacer: false, now: 100) }
    }
    #expect((0..<Stamp.flows).map { recorder.matchedByFlow[$0] } == [1, 2, 3, 4])
    #expect((0..<Stamp.flows).map { recorder.latencies[$0].totalCount } == [1, 2, 3, 4])
    #expect(recorder.allLatencies.totalCount == 10)
  }

  @Test func aMessageBackAtThePacerIsDoneAndUntimedWhereRepliesAreTimed() {
    let recorder = Recorder()
    recorder.counters.pointee.windowStart = 0
    recorder.counters.pointee.timesDeliveries = false
    recorder.inFlight.pointee.insert(4)
    #expect(recorder.recordDelivery(stamp: 4, isPacer: false, now: 8))
    #expect(recorder.inFlight.pointee.count == 1)
    #expect(recorder.recordDelivery(stamp: 4, isPacer: true, now: 8))
    #expect(recorder.inFlight.pointee.count == 0)
    #expect(recorder.allLatencies.totalCount == 0)
  }

  @Test func absurdLatenciesAreTheLongestOnes() {
    let recorder = Recorder()
    recorder.record(.max, flow: 0)
    #expect(recorder.allLatencies.totalCount == 1)
    #expect(recorder.allLatencies.max >= Recorder.longest - Recorder.longest / 500)
  }
}
