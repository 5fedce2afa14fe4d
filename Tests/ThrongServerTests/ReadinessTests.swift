import GroupRuntime
import Synchronization
import Testing

@testable import ThrongServer

@Suite struct ReadinessTests {
  private final class Health: StoreHealth {
    let isWell = Atomic<Bool>(true)
    var canPersist: Bool { isWell.load(ordering: .acquiring) }
  }

  /// "503 while starting, draining, or unable to persist" (contract section 8).
  @Test func whatStandsInTheWayIsTold() {
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
