import Synchronization

/// Whether something has happened yet.
final class Flag: Sendable {
  private let state = Mutex(false)

  /// It has happened.
  func set() { state.withLock { $0 = true } }

  var isSet: Bool { state.withLock { $0 } }
}
