import Foundation
import GroupModel
import Synchronization
import ThrongTestKit

/// The clock of the loops of tests: each goes by the clocks of its own test. A transport asks a function
/// without a context, so it tells them by the thread of the loop.
enum LoopClock {
  private static let clocks = Mutex<[pthread_t: ManualClocks]>([:])

  /// Monotonic milliseconds. 0 on a thread that has no clocks: nothing becomes due.
  static let read: @convention(c) () -> UInt64 = {
    UInt64(clocks.withLock { $0[pthread_self()] }?.monotonic.milliseconds ?? 0)
  }

  /// Lets the loop whose thread this is go by clocks; nil = it is about to end.
  static func use(_ own: ManualClocks?) { clocks.withLock { $0[pthread_self()] = own } }
}
