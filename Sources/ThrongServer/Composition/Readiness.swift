import GroupRuntime
import Synchronization

/// Whether the server wants work: what `/readyz` tells a load balancer (contract section 8).
final class Readiness: Sendable {
  enum Phase: Sendable { case starting, serving, draining }

  private let phase = Mutex(Phase.starting)
  private let store: any StoreHealth

  init(store: any StoreHealth) { self.store = store }

  func set(_ phase: Phase) { self.phase.withLock { $0 = phase } }

  /// Why not, or nil when ready.
  var obstacle: String? {
    switch phase.withLock({ $0 }) {
    case .starting: "starting"
    case .draining: "draining"
    case .serving: store.canPersist ? nil : "cannot write to the store"
    }
  }
}
