import GroupRuntime
import Testing

@Suite struct CommitMeterTests {
  @Test func aTransactionIsInTheBucketOfItsDurationAndSize() {
    let meter = CommitMeter()
    meter.record(nanoseconds: 100_000, commits: 1, failures: 0)
    meter.record(nanoseconds: 100_001, commits: 3, failures: 2)
    meter.record(nanoseconds: 11_000_000_000, commits: 2001, failures: 0)
    let counts = meter.counts
    #expect(counts.durations.first == 1 && counts.durations[1] == 1 && counts.durations.last == 1)
    #expect(counts.sizes.first == 1 && counts.sizes[2] == 1 && counts.sizes.last == 1)
    #expect(counts.nanoseconds == 11_000_200_001 && counts.commits == 2005 && counts.failures == 2)
  }

  @Test func theBucketsAscend() {
    #expect(CommitMeter.durationBounds == CommitMeter.durationBounds.sorted())
    #expect(CommitMeter.sizeBounds == CommitMeter.sizeBounds.sorted())
    #expect(CommitMeter().counts.durations.count == CommitMeter.durationBounds.count + 1)
    #expect(CommitMeter().counts.sizes.count == CommitMeter.sizeBounds.count + 1)
  }
}
