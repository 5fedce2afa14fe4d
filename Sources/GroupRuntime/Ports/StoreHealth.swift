/// Whether the store could write when it last tried; `/readyz` tells.
public protocol StoreHealth: Sendable {
  /// False from a failed write until one succeeds again; a store that failed tries again by itself about once a second.
  var canPersist: Bool { get }
}
