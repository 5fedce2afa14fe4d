import CTransport
import Synchronization

/// Returns memory to the system after a burst: the allocator keeps freed memory, so that the
/// process would stay at its largest size.
public final class ProcessMemory: Sendable {
  /// The fall of the memory in use, in bytes, since its maximum, that triggers a trim.
  public static let fall = 16 << 20

  private let maximum = Mutex(0)
  private let inUse: @Sendable () -> Int
  private let trim: @Sendable () -> Void

  /// The memory of this process.
  public convenience init() { self.init(inUse: { Int(clamping: ct_memory_in_use()) }, trim: { ct_memory_trim() }) }

  init(inUse: @escaping @Sendable () -> Int, trim: @escaping @Sendable () -> Void) {
    self.inUse = inUse
    self.trim = trim
  }

  /// Checks the memory in use, and trims after a fall. Called now and then, never on a loop: to
  /// trim a gigabyte takes a tenth of a second.
  public func trimAfterFall() {
    let now = inUse()
    let hasFallen = maximum.withLock { maximum in
      guard maximum - now >= ProcessMemory.fall else {
        maximum = max(maximum, now)
        return false
      }
      maximum = now
      return true
    }
    if hasFallen { trim() }
  }
}
