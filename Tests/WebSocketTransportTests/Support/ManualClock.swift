import Foundation
import Synchronization

/// The time of a server's loops, which stands still until a test lets some pass. A transport asks a
/// function without a context, so the clock is found by the thread of the loop.
final class ManualClock: Sendable {
  private static let clocks = Mutex<[pthread_t: ManualClock]>([:])

  private let milliseconds = Atomic<UInt64>(0)

  /// The clock of the loop whose thread this is; 0 where it has none.
  static let read: @convention(c) () -> UInt64 = {
    ManualClock.clocks.withLock { $0[pthread_self()] }?.milliseconds.load(ordering: .acquiring) ?? 0
  }

  /// Sets the clock of the loop whose thread this is; nil before the loop ends.
  static func use(_ clock: ManualClock?) { clocks.withLock { $0[pthread_self()] = clock } }

  /// Lets milliseconds pass.
  func advance(by milliseconds: Int64) {
    self.milliseconds.wrappingAdd(UInt64(milliseconds), ordering: .acquiringAndReleasing)
  }
}
