import GroupModel
import GroupRuntime
import Synchronization
import Testing

@testable import ThrongServer

@Suite struct StartWarningsTests {
  private let day: Int64 = 86_400
  private let now: Int64 = 1_700_000_000

  private func warning(expiring expiry: Int64) -> String? {
    StartWarnings.certificate(expiring: expiry, now: WallInstant(milliseconds: now * 1000))
  }

  @Test func aCertificateWarnsThirtyDaysBeforeItExpires() {
    #expect(warning(expiring: now + 30 * day) == nil)
    #expect(
      warning(expiring: now + 30 * day - 1)
        == "the certificate expires on 2023-12-14T22:13:19Z, in 29 days")
    #expect(warning(expiring: now + 1)?.hasSuffix("in 0 days") == true)
    #expect(warning(expiring: now) == "the certificate has expired, on 2023-11-14T22:13:20Z")
  }

  @Test func aCertificateIsToldOnce() {
    var warnings = CertificateWarnings()
    func next(expiring expiry: Int64, after seconds: Int64) -> String? {
      warnings.next(expiring: expiry, now: WallInstant(milliseconds: (now + seconds) * 1000))
    }
    #expect(next(expiring: now + 20 * day, after: 0)?.hasSuffix("in 20 days") == true)
    #expect(next(expiring: now + 20 * day, after: day) == nil, "a reload of the same file")
    #expect(next(expiring: now + 20 * day, after: 20 * day)?.hasPrefix("the certificate has expired") == true)
    #expect(next(expiring: now + 20 * day, after: 21 * day) == nil)
    #expect(next(expiring: now + 22 * day, after: 21 * day)?.hasSuffix("in 1 days") == true, "another certificate")
    #expect(next(expiring: now + 99 * day, after: 21 * day) == nil)
    #expect(next(expiring: now + 22 * day, after: 21 * day) != nil, "the one before, in its place again")
  }

  @Test func connectionsWarnWhereTheSystemAllowsFewer() {
    #expect(StartWarnings.connections(0, openFiles: 10) == nil)
    #expect(StartWarnings.connections(1936, openFiles: 2000) == nil)
    #expect(StartWarnings.connections(1937, openFiles: 2000)?.contains("limits.connections is 1937") == true)
    #expect(StartWarnings.connections(75, openFiles: 100) == nil)
    #expect(StartWarnings.connections(76, openFiles: 100)?.contains("100 files") == true)
  }
}

@Suite struct ShutdownSignalsTests {
  private let start = ContinuousClock.now

  @Test func theFirstDrainsAndItsEchoesAreTheSame() {
    var signals = ShutdownSignals()
    #expect(signals.receive(at: start) == .drain)
    for milliseconds in [0, 1, 500, 999] {
      #expect(signals.receive(at: start + .milliseconds(milliseconds)) == .nothing)
    }
  }

  @Test(arguments: [1000, 1001, 60_000]) func aLaterOneEndsAtOnce(milliseconds: Int) {
    var signals = ShutdownSignals()
    #expect(signals.receive(at: start) == .drain)
    #expect(signals.receive(at: start + .milliseconds(900)) == .nothing, "echoes do not move the second on")
    #expect(signals.receive(at: start + .milliseconds(milliseconds)) == .endAtOnce)
  }
}

@Suite struct ReadinessTests {
  private final class Health: StoreHealth {
    let isWell = Atomic<Bool>(true)
    var canPersist: Bool { isWell.load(ordering: .acquiring) }
  }

  /// A server that is starting, draining or unable to persist is not ready (Protocol.md, "Internal
  /// listener").
  @Test func theObstacleToReadinessIsTold() {
    let health = Health()
    let readiness = Readiness(store: health)
    #expect(readiness.obstacle == "starting")
    readiness.set(.serving)
    #expect(readiness.obstacle == nil)
    health.isWell.store(false, ordering: .releasing)
    #expect(readiness.obstacle == "cannot write to the store")
    health.isWell.store(true, ordering: .releasing)
    #expect(readiness.obstacle == nil)
    readiness.set(.draining)
    #expect(readiness.obstacle == "draining")
  }
}
