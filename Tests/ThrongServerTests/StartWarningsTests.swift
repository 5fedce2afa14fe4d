import Testing

@testable import ThrongServer

@Suite struct StartWarningsTests {
  private let day: Int64 = 86_400
  private let now: Int64 = 1_700_000_000

  @Test func aCertificateWarnsThirtyDaysBeforeItExpires() {
    #expect(StartWarnings.certificate(expiring: now + 30 * day, now: now) == nil)
    #expect(
      StartWarnings.certificate(expiring: now + 30 * day - 1, now: now)
        == "the certificate expires on 2023-12-14T22:13:19Z, in 29 days")
    #expect(StartWarnings.certificate(expiring: now + 1, now: now)?.hasSuffix("in 0 days") == true)
    #expect(StartWarnings.certificate(expiring: now, now: now) == "the certificate has expired, on 2023-11-14T22:13:20Z")
  }

  @Test func connectionsWarnWhereTheSystemAllowsFewer() {
    #expect(StartWarnings.connections(0, openFiles: 10) == nil)
    #expect(StartWarnings.connections(1936, openFiles: 2000) == nil)
    #expect(StartWarnings.connections(1937, openFiles: 2000)?.contains("limits.connections is 1937") == true)
    #expect(StartWarnings.connections(75, openFiles: 100) == nil)
    #expect(StartWarnings.connections(76, openFiles: 100)?.contains("100 files") == true)
  }
}
