import CTransport
import Synchronization

/// Gives memory back to the system after it was needed for a while: the allocator keeps what was freed, so that after a burst the
/// process would stay as large as it was at its largest.
public final class ProcessMemory: Sendable {
  /// How much less must be in use than at the most since the last trim.
  public static let fall = 16 << 20

  private let most = Mutex(0)
  private let inUse: @Sendable () -> Int
  private let trim: @Sendable () -> Void

  /// The memory of this process.
  public convenience init() { self.init(inUse: { Int(clamping: ct_memory_in_use()) }, trim: { ct_memory_trim() }) }

  init(inUse: @escaping @Sendable () -> Int, trim: @escaping @Sendable () -> Void) {
    self.inUse = inUse
    self.trim = trim
  }

  /// Looks at what is in use, and trims after a fall. Called now and then, never on a loop: trimming a gigabyte takes a tenth of
  /// a second.
  public func trimAfterFall() {
    let now = inUse()
    let hasFallen = most.withLock { most in
      guard most - now >= ProcessMemory.fall else {
        most = max(most, now)
        return false
      }
      most = now
      return true
    }
    if hasFallen { trim() }
  }
}
